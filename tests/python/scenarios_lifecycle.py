"""The interpreter's end, forks, subinterpreters. After a shutdown there is nothing to assert: the
process has to end with 0, and soon."""

import _thread
import atexit
import ctypes
import gc
import os
import sys
import threading
import time

from fallow import pressure
from fallow.device import Device
from fallow.errors import DeviceUnusable, OutOfDeviceMemory
from fallow.testing import NativeLoad, allocate_in_new_interpreter, linger_at_exit
from scenario_kit import MIB, Finalized, Holder, churn, fill_with_garbage, in_threads, kept


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


def native_code_in_subinterpreter(threads):
    """A thread in which another interpreter is current allocates and frees in native code.

    The garbage that it needs is the main interpreter's.
    """
    device = Device("64M", budget=20)
    fill_with_garbage(device, Finalized)
    before = pressure.statistics(device)[0]["bytes"]

    def work():
        for _ in range(5):
            assert allocate_in_new_interpreter(device, MIB, 4, 100) == 0
            churn(device, 20)

    if threads == "one":
        work()
    else:
        in_threads(3, work)
    assert pressure.statistics(device)[0]["bytes"] > before


def import_is_quiet():
    """Importing has started no thread and changed nothing."""
    assert threading.active_count() == 1 and _thread._count() == 0
    assert len(os.listdir("/proc/self/task")) == 1
    assert gc.callbacks == [] and gc.isenabled()
