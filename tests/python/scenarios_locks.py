"""The device's lock, the GIL, threads of all kinds, signals."""

import gc
import os
import signal
import sys
import threading
import time

from fallow import pressure
from fallow.device import Device
from fallow.errors import OutOfDeviceMemory
from fallow.testing import HeldMutex, NativeLoad, drop_in_native_thread
from scenario_kit import MIB, Finalized, Holder, churn, fill_with_garbage, in_threads


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


def collections_of_another_thread():
    """The same while another thread collects all the time, and is interrupted in the middle."""
    sys.setswitchinterval(1e-5)
    device = Device("64M")
    done = threading.Event()

    def collect():
        while not done.wait(0.0005):
            gc.collect()

    collector = threading.Thread(target=collect)
    collector.start()
    in_threads(8, churn, device, 60, Finalized)
    done.set()
    collector.join()
    assert device.statistics()["domains"][0]["pressure"]["failed"] == 0


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
        drop_in_native_thread(device.allocate(MIB // 8))
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
