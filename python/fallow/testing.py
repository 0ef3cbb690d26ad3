"""What a program needs to test what it does with device memory.

Deterministic failures, native threads, and a device whose mutex is held for a while. Nothing here is
meant for programs in use.
"""

import contextlib

from fallow import _native
from fallow._native import HeldMutex, NativeLoad

__all__ = [
    "HeldMutex",
    "NativeLoad",
    "allocate_in_new_interpreter",
    "drop_in_native_thread",
    "faults",
    "linger_at_exit",
]


@contextlib.contextmanager
def faults(device, **plan):
    """Allocations of a device fail on purpose in this block.

    nth_allocation    this one fails, counted from 1
    every_allocation  each n-th fails
    nth_byte          the one that brings the sum of bytes to this
    nth_reserve       this acquisition of a region is refused
    probability,      each fails with this probability, drawn from the seed
    seed
    thread            only those of the thread with this native id count

    No other thread may use the device when the block begins and ends.
    """
    _native.set_faults(device, **plan)
    try:
        yield
    finally:
        _native.set_faults(device)


def allocate_in_new_interpreter(device, nbytes, keep, count):
    """Allocates and frees in native code while a new interpreter is current in this thread.

    Holds `keep` blocks. Returns how many of the `count` allocations failed.
    """
    return _native.allocate_in_new_interpreter(device, nbytes, keep, count)


def linger_at_exit(seconds):
    """The process goes on so long after the interpreter's end, with its native threads."""
    _native.linger_at_exit(seconds)


def drop_in_native_thread(value):
    """Drops one reference to `value` in a thread that Python did not make."""
    _native.drop_in_native_thread(value)
