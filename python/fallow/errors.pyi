from typing import Any

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
    facts: dict[str, Any]
    def __init__(self, text: str = "", facts: dict[str, Any] | None = None) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

class DeviceError(FallowError): ...

class OutOfDeviceMemory(DeviceError, MemoryError):
    requested: int
    type: str
    given_up: str
    domain: int
    wanted: int
    capacity: int
    reserved: int
    free: int
    largest_free: int
    in_flight: int
    fragmentation: float
    waited_seconds: float
    reclaimed: int
    rounds: int
    holder_thread: int
    holder_responder: str
    frozen_objects: int
    responders: list[dict[str, Any]]

class RequestTooLarge(DeviceError, MemoryError):
    requested: int
    largest_possible: int

class StaleAllocation(DeviceError): ...
class DeviceUnusable(DeviceError): ...
class OptionError(FallowError, ValueError): ...
class UsageError(FallowError, ValueError): ...
