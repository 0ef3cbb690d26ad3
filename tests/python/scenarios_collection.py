"""Inside a collection, and beside one."""

import gc
import threading
import time

from fallow import pressure
from fallow.device import Device
from fallow.errors import OutOfDeviceMemory
from scenario_kit import MIB, Finalized, Holder, churn, fill_with_garbage, in_threads


def finalizer_allocates():
    """A finalizer in a collection gets what is free, or an error at once; nobody waits for nobody."""
    device = Device("8M", budget=30)
    outcomes = []

    class Allocating(Holder):
        def __del__(self):
            began = time.monotonic()
            try:
                outcomes.append(len(device.allocate(MIB)))
            except OutOfDeviceMemory as error:
                outcomes.append(error.given_up)
            assert time.monotonic() - began < 10

    for _ in range(3):
        fill_with_garbage(device, Allocating)
        in_threads(4, churn, device, 10)
        gc.collect()
    assert outcomes and all(
        each == MIB or each == "asked for inside a responder or a collection" for each in outcomes
    ), outcomes


def finalizers_have_a_reserve():
    """Finalizers that allocate get what is set aside for them, on a device that is full."""
    device = Device("8M", emergency="1M", max_regions=1)
    sizes = []

    class Allocating:
        def __init__(self):
            self.itself = self

        def __del__(self):
            sizes.append(len(device.allocate(MIB // 2)))

    kept_buffers = []
    while (buffer := device.try_allocate(MIB)) is not None:
        kept_buffers.append(buffer)
    usage = device.statistics()["domains"][0]["tensor"]
    assert usage["emergency_free_bytes"] == MIB, usage
    for _ in range(40):
        Allocating()
    gc.collect()
    assert sizes == [MIB // 2] * 40, sizes
    assert device.statistics()["domains"][0]["tensor"]["emergency_free_bytes"] == MIB
    try:
        device.allocate(MIB // 2, budget=0.1)
    except OutOfDeviceMemory:
        return
    raise AssertionError("the reserve is not for everybody")


def collection_in_another_thread():
    """A collection that another thread is in the middle of is waited for, and repeated."""
    gc.disable()  # or this thread may be the one that collects, and wait for itself
    device = Device("8M")
    inside, go_on = threading.Event(), threading.Event()

    class Blocking:
        def __init__(self):
            self.itself = self

        def __del__(self):
            inside.set()
            go_on.wait()

    Blocking()
    collector = threading.Thread(target=gc.collect)
    collector.start()
    inside.wait()
    fill_with_garbage(device)
    threading.Timer(0.2, go_on.set).start()
    device.allocate(MIB)
    collector.join()
    assert pressure.collection.statistics()["waited"] > 0


def garbage_in_two_steps():
    """A finalizer drops the last reference to a second cycle: one collection is not enough."""
    device = Device("8M")
    gc.disable()

    class Second:
        def __init__(self):
            self.itself = self
            self.buffer = device.allocate("4M")

    class First:
        def __init__(self):
            self.itself = self
            self.second = Second()
            self.buffer = device.allocate("2M")

        def __del__(self):
            self.second = None

    First()
    gc.freeze(), gc.unfreeze()
    device.allocate("6M")


def resurrection():
    """What a finalizer saves is not counted as freed."""
    device = Device("8M")
    saved = []

    class Saved(Holder):
        def __del__(self):
            saved.append(self.buffer)

    fill_with_garbage(device, Saved)
    try:
        device.allocate(MIB)
        raise AssertionError("everything was saved")
    except OutOfDeviceMemory as error:
        assert error.reclaimed == 0, error.facts
    saved.clear()
    device.allocate(MIB)


def callbacks_come_and_go():
    """gc.callbacks that allocate, are added and are removed under pressure."""
    device = Device("16M")
    stop = threading.Event()

    def allocating(phase, info):
        device.try_allocate(128)

    def change():
        while not stop.is_set():
            gc.callbacks.append(allocating)
            time.sleep(0)
            gc.callbacks.remove(allocating)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        in_threads(2, churn, device, 100)
    finally:
        stop.set()
        changer.join()
    gc.callbacks.clear()  # even so
    churn(device, 100)


def collector_at_every_object():
    """A collection at every allocation of the interpreter corrupts nothing."""
    gc.set_threshold(1)
    device = Device("16M")
    in_threads(2, churn, device, 100, Finalized)


def frozen():
    """What gc.freeze() has hidden is not found, and the error says how much that is."""
    device = Device("8M")
    fill_with_garbage(device)
    gc.freeze()
    try:
        device.allocate(MIB)
        raise AssertionError("frozen objects cannot be found")
    except OutOfDeviceMemory as error:
        assert error.frozen_objects > 0 and "frozen objects" in str(error)
    gc.unfreeze()
    device.allocate(MIB)


def application_lock():
    """A finalizer waits for a lock whose holder waits for the device: it ends with an error."""
    device = Device("8M", budget=0.5)
    lock = threading.Lock()

    class Locking(Holder):
        def __del__(self):
            with lock:
                pass

    fill_with_garbage(device, Locking)
    ready = threading.Event()
    outcome = []

    def holder():
        with lock:
            ready.set()
            time.sleep(0.1)  # the other leads by now
            try:
                device.allocate("8M")
            except OutOfDeviceMemory as error:
                outcome.append(error.holder_responder)

    thread = threading.Thread(target=holder)
    thread.start()
    ready.wait()
    try:
        device.allocate(MIB)
    except OutOfDeviceMemory:
        pass
    thread.join()
    assert outcome == ["python collection"], outcome
