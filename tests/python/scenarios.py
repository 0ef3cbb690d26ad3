"""What may go wrong between a device's lock, the GIL and the life of the interpreter.

`scenarios.py NAME [ARGUMENT...]` plays one. It exits with 0 when it went as it should; whoever starts
it watches the time. Names and meanings: the functions below.
"""

import _thread
import atexit
import ctypes
import gc
import os
import signal
import sys
import threading
import time

from fallow import pressure
from fallow.device import Device
from fallow.errors import DeviceUnusable, OutOfDeviceMemory
from fallow.testing import HeldMutex, NativeLoad, drop_in_native_thread, linger_at_exit

MIB = 1 << 20
kept = []  # module globals live until the interpreter tears the module down


class Holder:
    """Garbage that only the collector finds."""

    def __init__(self, buffer):
        self.buffer = buffer
        self.itself = self


class Finalized(Holder):
    """The same with a finalizer that lets other threads run."""

    def __del__(self):
        time.sleep(0.001)


def fill_with_garbage(device, kind=Holder):
    """Until there is no room; everything is garbage of `kind` in cycles."""
    gc.disable()
    while (buffer := device.try_allocate(MIB)) is not None:
        kind(buffer)
    buffer = None


def churn(device, count=50, kind=Holder):
    for _ in range(count):
        kind(device.allocate(MIB))


def in_threads(count, work, *arguments):
    """Runs `work` in threads, and raises what they raised."""
    failures = []

    def run():
        try:
            work(*arguments)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure


# Locks.


def mutex_held_over_collection(finalizers):
    """The device is locked while garbage is collected, and attached threads want the device."""
    device = Device("64M")
    fill_with_garbage(device, Finalized if finalizers == "yes" else Holder)
    held = HeldMutex(device, 1.0)
    waiter = threading.Thread(target=churn, args=(device, 3))
    waiter.start()
    began = time.monotonic()
    gc.collect()
    held.join()
    waiter.join()
    assert time.monotonic() - began < 30
    assert device.statistics()["deferred_frees"] > 0


def threads_of_python(kind, enabled):
    """Eight threads of Python under pressure, with collections that other threads interrupt."""
    sys.setswitchinterval(1e-5)
    (gc.enable if enabled == "enabled" else gc.disable)()
    device = Device("64M")
    in_threads(8, churn, device, 60, Finalized if kind == "finalized" else Holder)
    assert device.statistics()["domains"][0]["pressure"]["failed"] == 0
    assert gc.isenabled() == (enabled == "enabled")


def threads_without_python(standing):
    """Native threads under pressure, while the memory is in Python's garbage."""
    device = Device("64M")
    load = NativeLoad(device, threads=4, nbytes=MIB, keep=2, standing=standing)
    for _ in range(20):
        churn(device, 30)
    load.stop()
    assert load.failures == 0 and load.other_errors == 0, (load.failures, load.other_errors)
    assert pressure.collection.statistics()["young"] > 0


def native_thread_drops_garbage():
    """The last reference to a buffer goes in a thread that Python did not make."""
    device = Device("64M")
    for _ in range(200):
        drop_in_native_thread(device.allocate(MIB))
    deadline = time.monotonic() + 30
    while device.statistics()["frees"] < 200 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert device.statistics()["frees"] == 200


def observer_in_allocation():
    """Hooks that allocate and take the GIL are called without the device's lock."""
    device = Device("64M")
    seen = []

    def note(event):
        seen.append(type(event).__name__)
        device.try_allocate(128)

    with pressure.on_pressure(device, note):
        in_threads(4, churn, device, 60, Finalized)
    assert "WindowEvent" in seen and "ResponderEvent" in seen


# Inside a collection.


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


def collection_in_another_thread():
    """A collection that another thread is in the middle of is waited for, and repeated."""
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


# Signals.


def interrupt_while_waiting():
    """Control-C ends a wait for the device."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # may have been ignored
    device = Device("8M", budget=60)
    live = []
    while (buffer := device.try_allocate(MIB)) is not None:
        live.append(buffer)
    go_on = threading.Event()
    inside = threading.Event()

    def slow(info):
        inside.set()
        go_on.wait()

    registration = pressure.register(device, slow)

    def lead():
        try:
            device.allocate(MIB)
        except OutOfDeviceMemory:
            pass

    leader = threading.Thread(target=lead)
    leader.start()
    inside.wait()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    try:
        device.allocate(MIB)
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        assert time.monotonic() - began < 30
    go_on.set()
    leader.join()
    registration.close()


# The interpreter's end. Nothing to assert: the process has to end with 0, and soon.


def shutdown_with_daemons():
    """Daemon threads of Python are in the middle of allocations and collections."""
    device = Device("64M")
    sys.setswitchinterval(1e-5)
    for _ in range(4):
        threading.Thread(target=churn, args=(device, 10**9, Finalized), daemon=True).start()
    churn(device, 70)


def shutdown_with_native(standing):
    """Native threads allocate under pressure, before, during and after the interpreter's end."""
    device = Device("64M")
    fill_with_garbage(device)
    load = NativeLoad(device, threads=3, nbytes=MIB, keep=4, standing=standing)
    while load.allocations < 50:
        time.sleep(0.001)
    load.abandon()
    for _ in range(20):
        kept.append(Holder(device.allocate(MIB)))
    linger_at_exit(0.05)


def shutdown_with_full_device():
    """Native threads meet a device that is full of Python's live memory when Python ends."""
    device = Device("64M", budget=0.2)
    while (buffer := device.try_allocate(MIB)) is not None:
        kept.append(buffer)
    NativeLoad(device, threads=3, nbytes=MIB, keep=0).abandon()
    daemon = threading.Thread(target=lambda: device.allocate(MIB), daemon=True)
    daemon.start()
    linger_at_exit(0.05)


def shutdown_with_finalizers():
    """atexit functions and finalizers of modules allocate and free under pressure."""
    device = Device("8M", budget=0.5)

    class Late(Holder):
        def __del__(self):
            try:
                device.allocate("8M")
            except (OutOfDeviceMemory, TypeError):
                pass

    def late():
        churn(device, 20)

    atexit.register(late)
    for _ in range(5):
        kept.append(Late(device.allocate(MIB)))
    kept.append(pressure.register(device, lambda info: None))
    kept.append(pressure.on_pressure(device, lambda event: None))


def shutdown_with_gil_holder():
    """A responder of Python runs when the interpreter wants to end."""
    device = Device("8M", budget=0.5)
    while (buffer := device.try_allocate(MIB)) is not None:
        kept.append(buffer)
    inside = threading.Event()

    def slow(info):
        inside.set()
        time.sleep(0.1)

    kept.append(pressure.register(device, slow))
    NativeLoad(device, threads=1, nbytes=MIB, keep=0).abandon()
    inside.wait()


# Forks.


def fork(when):
    """The child may not use its parent's device, may free, and may have devices of its own."""
    device = Device("64M")
    live = [device.allocate(MIB)]
    load = None
    if when == "busy":
        load = NativeLoad(device, threads=2, nbytes=MIB, keep=4)
        for _ in range(2):
            threading.Thread(target=churn, args=(device, 10**9), daemon=True).start()
        while load.allocations < 100:
            time.sleep(0.001)
    for _ in range(5):
        child = os.fork()
        if child == 0:
            try:
                assert not device.usable
                try:
                    device.allocate(1)
                    os._exit(3)
                except DeviceUnusable:
                    pass
                live.clear()
                own = Device("8M")
                churn(own, 30)
                assert pressure.statistics(own)[0]["bytes"] > 0
                os._exit(0)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(4)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    if load is not None:
        load.stop()
    assert device.usable


def fork_without_python():
    """After the C library's own fork, in which Python is not repaired, nothing enters Python."""
    device = Device("8M")
    fill_with_garbage(device)
    child = ctypes.CDLL(None).fork()
    if child == 0:
        code = 0
        try:
            device.allocate(MIB)
            code = 3
        except DeviceUnusable:
            pass
        except BaseException:
            code = 4
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    device.allocate(MIB)


# Subinterpreters.


def subinterpreter():
    """One exists: it is refused the import, with a reason; the main one goes on under pressure."""
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        import _interpreters as interpreters
    identity = interpreters.create()
    program = """
try:
    import fallow
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("imported")
"""
    trouble = interpreters.run_string(identity, program)
    assert trouble is None, trouble
    device = Device("64M")
    in_threads(4, churn, device, 60)
    load = NativeLoad(device, threads=2, nbytes=MIB, keep=2)
    while load.allocations < 300:
        churn(device, 30)
    load.stop()
    assert load.failures == 0
    interpreters.destroy(identity)
    churn(device)


def import_is_quiet():
    """Importing has started no thread and changed nothing."""
    assert threading.active_count() == 1 and _thread._count() == 0
    assert len(os.listdir("/proc/self/task")) == 1
    assert gc.callbacks == [] and gc.isenabled()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
