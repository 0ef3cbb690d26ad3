from contextlib import AbstractContextManager
from typing import Literal, final

from fallow.device import Device

__all__ = [
    "HeldMutex",
    "NativeLoad",
    "allocate_in_new_interpreter",
    "drop_in_native_thread",
    "faults",
    "linger_at_exit",
]

@final
class HeldMutex:
    def __init__(self, device: Device, seconds: float) -> None: ...
    def join(self) -> None: ...

@final
class NativeLoad:
    def __init__(
        self,
        device: Device,
        threads: int = 1,
        nbytes: int = 1048576,
        keep: int = 1,
        standing: Literal["none", "detached", "attached"] = "none",
    ) -> None: ...
    def stop(self) -> None: ...
    def abandon(self) -> None: ...
    @property
    def allocations(self) -> int: ...
    @property
    def failures(self) -> int: ...
    @property
    def other_errors(self) -> int: ...

def faults(
    device: Device,
    *,
    nth_allocation: int = 0,
    every_allocation: int = 0,
    nth_byte: int = 0,
    nth_reserve: int = 0,
    probability: float = 0.0,
    seed: int = 1,
    thread: int = 0,
) -> AbstractContextManager[None]: ...
def allocate_in_new_interpreter(device: Device, nbytes: int, keep: int, count: int) -> int: ...
def linger_at_exit(seconds: float) -> None: ...
def drop_in_native_thread(value: object) -> None: ...
