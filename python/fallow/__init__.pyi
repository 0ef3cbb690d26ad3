from fallow import device as device, errors as errors, gc as gc, pressure as pressure

__version__: str
__all__ = ["__version__", "device", "errors", "gc", "pressure"]
