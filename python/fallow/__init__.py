"""fallow: device memory that reclaims Python's garbage before it fails, and control over collections.

fallow.device    devices, pools and buffers
fallow.pressure  who gives memory back when it is short: responders, statistics, events
fallow.gc        CPython's collector: pauses, scopes without collection, collecting at safe points
fallow.errors    exceptions
fallow.testing   what a program needs to test itself
"""

from fallow import device, errors, gc, pressure
from fallow._native import __version__

__all__ = ["__version__", "device", "errors", "gc", "pressure"]
