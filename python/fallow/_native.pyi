# The extension module. Private: programs use fallow.device, fallow.pressure, fallow.gc and
# fallow.testing, whose stubs describe what is made here.
from collections.abc import Callable
from typing import Any

from fallow.device import Buffer as Buffer, Device as Device, Trace as Trace
from fallow.pressure import (
    CollectionPolicy as CollectionPolicy,
    Outcome as Outcome,
    PressureInfo as PressureInfo,
    Registration as Registration,
)
from fallow.testing import HeldMutex as HeldMutex, NativeLoad as NativeLoad

__version__: str
DONE: Outcome
USELESS: Outcome
MORE_NOW: Outcome
MORE_AT_LAST: Outcome
collection: CollectionPolicy

class PauseWatch:
    def __init__(self) -> None: ...
    def by_generation(self) -> list[dict[str, Any]]: ...

def add_responder(
    device: Device, function: Callable[[PressureInfo], Outcome | None], name: str, cost: str, priority: int, /
) -> Registration: ...
def add_observer(device: Device, function: Callable[[str, dict[str, Any]], object], /) -> Registration: ...
def change_nogc_scopes(change: int, /) -> int: ...
def collecting_here() -> bool: ...
def set_faults(
    device: Device,
    *,
    nth_allocation: int = 0,
    every_allocation: int = 0,
    nth_byte: int = 0,
    nth_reserve: int = 0,
    probability: float = 0.0,
    seed: int = 1,
    thread: int = 0,
) -> None: ...
def allocate_in_new_interpreter(device: Device, nbytes: int, keep: int, count: int) -> int: ...
def linger_at_exit(seconds: float) -> None: ...
def drop_in_native_thread(object: object) -> None: ...
