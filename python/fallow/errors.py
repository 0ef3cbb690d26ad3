"""What can go wrong. Raised by fallow.device and fallow.pressure.

None of these holds a buffer. But an exception has a traceback, and that keeps the frames alive in
which it passed, with their local variables: see fallow.pressure.retry_on_oom.
"""

__all__ = [
    "DeviceError",
    "DeviceUnusable",
    "FallowError",
    "OptionError",
    "OutOfDeviceMemory",
    "RequestTooLarge",
    "StaleAllocation",
    "UsageError",
]


class FallowError(Exception):
    """Base of all exceptions of this package. `facts` has what they know, by name; each is an
    attribute, too."""

    def __init__(self, text="", facts=None):
        super().__init__(text)
        self.facts = dict(facts or {})

    def __getattr__(self, name):
        try:
            return self.__dict__["facts"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}") from None


class DeviceError(FallowError):
    """Something about a device's memory."""


class OutOfDeviceMemory(DeviceError, MemoryError):
    """There is no memory for a request, after everything was tried. Nothing was allocated.

    Its facts: requested, type, given_up, domain, wanted, capacity, reserved, free, largest_free,
    in_flight, fragmentation, waited_seconds, reclaimed, rounds, holder_thread, holder_responder,
    frozen_objects (which Python's collector may not look at), and responders, a list of what each
    of them gave or why it did not. Sizes are bytes.
    """


class RequestTooLarge(DeviceError, MemoryError):
    """No region of the device can ever hold so much. Nothing was reclaimed.

    Its facts: requested, largest_possible.
    """


class StaleAllocation(DeviceError):
    """Memory that was freed already, or belongs to another device."""


class DeviceUnusable(DeviceError):
    """The device was created before a fork, by the parent process."""


class OptionError(FallowError, ValueError):
    """An option with a value that makes no sense."""


class UsageError(FallowError, ValueError):
    """A call that the object's state or the arguments do not permit."""
