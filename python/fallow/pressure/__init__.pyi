from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, final

from typing_extensions import Self

from fallow.device import Device

_Cost = Literal["cache", "native", "script", "spill"]
_Event = ResponderEvent | WindowEvent | OutOfMemoryEvent

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

@final
class Outcome: ...

DONE: Outcome
USELESS: Outcome
MORE_NOW: Outcome
MORE_AT_LAST: Outcome

@final
class PressureInfo:
    @property
    def wanted(self) -> int: ...
    @property
    def alignment(self) -> int: ...
    @property
    def domain(self) -> int: ...
    @property
    def type(self) -> Literal["tensor", "program"]: ...
    @property
    def level(self) -> Literal["soft", "hard", "last"]: ...
    @property
    def attempt(self) -> int: ...
    @property
    def round(self) -> int: ...
    @property
    def largest_free(self) -> int: ...
    @property
    def free(self) -> int: ...
    @property
    def seconds_left(self) -> float: ...
    @property
    def depth(self) -> int: ...

@final
class Registration:
    def close(self) -> None: ...
    @property
    def active(self) -> bool: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class CollectionPolicy:
    enabled: bool
    when_disabled: bool
    in_nogc: bool
    young_first: bool
    wait: bool
    budget: float
    def statistics(self) -> dict[str, Any]: ...

collection: CollectionPolicy

class ResponderEvent(NamedTuple):
    responder: str
    level: Literal["soft", "hard", "last"]
    domain: int
    wanted: int
    attempt: int
    round: int
    freed: int
    seconds: float
    skipped: str | None
    failed: bool

class WindowEvent(NamedTuple):
    domain: int
    wanted: int
    satisfied: bool
    reclaimed: int
    seconds: float

class OutOfMemoryEvent(NamedTuple):
    facts: dict[str, Any]

def register(
    device: Device,
    function: Callable[[PressureInfo], Outcome | None],
    *,
    name: str | None = None,
    cost: _Cost = "cache",
    priority: int = 0,
) -> Registration: ...
def on_pressure(device: Device, function: Callable[[_Event], object]) -> Registration: ...
def statistics(device: Device) -> list[dict[str, Any]]: ...
def retry_on_oom(
    attempts: int = 2, before_retry: Callable[[], object] | None = None
) -> Iterator[AbstractContextManager[object, bool]]: ...
