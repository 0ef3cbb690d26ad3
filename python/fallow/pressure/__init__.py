"""Who gives device memory back when it is short.

When a device has no room, it completes frees that are due, gives up empty regions, waits for work in
flight, and then asks responders, in the order of their cost:

    cache    gives up what it holds for speed
    native   collects a native heap
    script   collects the heap of a script language; Python's own is asked here by itself
    spill    moves live data away

One thread reclaims at a time; the others wait in the order in which they came, without the GIL.

    def drop_caches(info):
        cache.clear()               # info.wanted bytes would be enough

    registration = register(device, drop_caches, cost="cache")

`python -m fallow.pressure demo` plays five scenarios on a small device.
"""

import collections as _collections

from fallow import _native
from fallow._native import (
    DONE,
    MORE_AT_LAST,
    MORE_NOW,
    USELESS,
    Outcome,
    PressureInfo,
    Registration,
    collection,
)
from fallow.errors import OutOfDeviceMemory

__all__ = [
    "DONE",
    "MORE_AT_LAST",
    "MORE_NOW",
    "USELESS",
    "OutOfMemoryEvent",
    "Outcome",
    "PressureInfo",
    "Registration",
    "ResponderEvent",
    "WindowEvent",
    "collection",
    "on_pressure",
    "register",
    "retry_on_oom",
    "statistics",
]


class ResponderEvent(
    _collections.namedtuple(
        "ResponderEvent",
        "responder level domain wanted attempt round freed seconds skipped failed",
    )
):
    """A responder has answered. `skipped`: why it did nothing, or None."""

    __slots__ = ()


class WindowEvent(
    _collections.namedtuple("WindowEvent", "domain wanted satisfied reclaimed seconds")
):
    """A thread has finished reclaiming."""

    __slots__ = ()


class OutOfMemoryEvent(_collections.namedtuple("OutOfMemoryEvent", "facts")):
    """An allocation is about to fail. `facts`: those of the exception."""

    __slots__ = ()


def register(device, function, *, name=None, cost="cache", priority=0):
    """Has `function(info)` called when the device is short of memory; returns a Registration.

    Keep the registration: it ends with the last reference to it. The function runs in the thread
    that needs the memory, one thread at a time, and may do anything but wait for that thread: it may
    allocate (what does not fit then fails at once), free, and end its own registration. It returns
    None or one of

        DONE          the same as None: called again while bytes come back
        USELESS       not to be called again for this request
        MORE_NOW      there is more to give, even if nothing came back so far
        MORE_AT_LAST  could do more as the last resort: called again with info.level "last"

    What came back is measured. Exceptions are counted, and the next responder is asked.

    name      for statistics and errors; default: the function's
    cost      cache, native, script or spill: the cheapest are called first
    priority  among those of the same cost, lower is earlier
    """
    if name is None:
        name = getattr(function, "__qualname__", None) or type(function).__name__
    return _native.add_responder(device, function, name, cost, priority)


def on_pressure(device, function):
    """Has `function(event)` called with what happens under pressure; returns a Registration.

    Events are ResponderEvent, WindowEvent and OutOfMemoryEvent. The function runs in the thread that
    it happens to. It must not raise: what it raises is reported as an unraisable exception.
    """

    def tell(kind, facts):
        function(_event(kind, facts))

    return _native.add_observer(device, tell)


def statistics(device):
    """What each responder of a device has done so far, in the order in which they are called.

    Dictionaries with name, cost, priority, calls, bytes, seconds, failures, skips (by reason) and
    last_failure.
    """
    return device.responder_statistics()


def _event(kind, facts):
    if kind == "responder":
        return ResponderEvent(**facts)
    if kind == "window":
        return WindowEvent(**facts)
    return OutOfMemoryEvent(facts)


def retry_on_oom(attempts=2, before_retry=None):
    """Runs a block again after OutOfDeviceMemory, when the frames that the exception keeps are gone.

        for attempt in retry_on_oom(attempts=3, before_retry=halve_the_batch):
            with attempt:
                run_the_batch()

    In an `except` block the failed call's local variables still exist, and with them the memory that
    was to be released; so a retry there fails again. Here the exception is dropped first, the local
    variables of its frames are cleared, and then `before_retry()` is called. The exception of the
    last attempt is raised.
    """
    if attempts < 1:
        raise ValueError("retry_on_oom: attempts must be at least 1")
    for number in range(attempts):
        attempt = _Attempt(is_last=number + 1 == attempts)
        yield attempt
        if not attempt.failed:
            return
        if before_retry is not None:
            before_retry()


class _Attempt:
    """One run of the block."""

    def __init__(self, is_last):
        self.failed = False
        self._is_last = is_last

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None or not issubclass(kind, OutOfDeviceMemory) or self._is_last:
            return False
        self.failed = True
        import traceback  # not needed before

        while error is not None:  # those that were being handled meanwhile hold frames, too
            traceback.clear_frames(error.__traceback__)
            error.__traceback__ = None
            error = error.__context__
        return True
