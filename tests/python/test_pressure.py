"""fallow.pressure: responders, events, the policy of collections, errors that hold nothing."""

import gc
import json
import subprocess
import sys
import weakref

import pytest

from fallow import pressure
from fallow.device import Device
from fallow.errors import OutOfDeviceMemory, OptionError
from fallow.gc import nogc

MIB = 1 << 20


class Holder:
    def __init__(self, buffer):
        self.buffer = buffer
        self.itself = self


def full(device):
    live = []
    while (buffer := device.try_allocate(MIB)) is not None:
        live.append(buffer)
    return live


@pytest.fixture
def policy():
    yield pressure.collection
    for name in ("enabled", "when_disabled", "in_nogc", "young_first", "wait"):
        setattr(pressure.collection, name, True)
    pressure.collection.budget = 0


@pytest.fixture
def no_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_the_cheapest_is_asked_first_and_no_more_than_needed():
    device = Device("8M")
    live = full(device)
    calls = []

    def answer(name, drop=0):
        def respond(info):
            calls.append((name, info.level, info.attempt))
            del live[:drop]
            return pressure.USELESS

        return respond

    with (
        pressure.register(device, answer("spill", 1), cost="spill"),
        pressure.register(device, answer("late"), cost="native", priority=1),
        pressure.register(device, answer("early"), cost="native"),
        pressure.register(device, answer("cache", 1), cost="cache"),
    ):
        device.allocate(MIB)
        assert calls == [("cache", "hard", 0)]
        kept = device.allocate  # nothing is kept: the next request finds the memory
        assert len(kept(MIB)) == MIB and len(calls) == 1
        names = [each["name"] for each in pressure.statistics(device)]
        assert [name.split(".")[-1] for name in names].index("python collection") == 3
    assert [each["name"] for each in pressure.statistics(device)] == ["python collection"]
    with pytest.raises(OptionError):
        pressure.register(device, print, cost="free")


def test_nobody_is_asked_while_the_pool_can_grow():
    device = Device("8M", region_bytes=["1M"])
    calls = []
    with pressure.register(device, calls.append):
        live = full(device)
        assert calls == [] and len(live) == 8
        with pytest.raises(OutOfDeviceMemory):
            device.allocate(1)
    assert calls and calls[0].wanted == 128 and "128 bytes wanted" in repr(calls[0])


def test_responders_that_fail_are_counted():
    device = Device("8M")
    live = full(device)

    def broken(info):
        raise ValueError("broken")

    def odd(info):
        return 42

    def helpful(info):
        live.pop()

    with (
        pressure.register(device, broken, name="broken"),
        pressure.register(device, odd, name="odd"),
        pressure.register(device, helpful, name="helpful"),
    ):
        device.allocate(MIB)
        first, second, third, *_ = pressure.statistics(device)
    assert (first["failures"], first["last_failure"]) == (1, "ValueError: broken")
    assert second["failures"] == 1 and "TypeError" in second["last_failure"]
    assert (third["failures"], third["bytes"]) == (0, MIB)


def test_a_responder_may_end_itself_and_allocate():
    device = Device("8M")
    live = full(device)

    def once(info):
        registration.close()
        with pytest.raises(OutOfDeviceMemory, match="inside a responder"):
            device.allocate("8M")
        live.pop()

    registration = pressure.register(device, once)
    device.allocate(MIB)
    assert not registration.active and "ended" in repr(registration)


def test_a_pending_exception_survives():
    device = Device("8M")
    live = full(device)

    def respond(info):
        live.pop()
        try:
            raise KeyError
        except KeyError:
            pass

    with pressure.register(device, respond):
        try:
            raise ValueError("mine")
        except ValueError as error:
            device.allocate(MIB)
            assert str(error) == "mine" and sys.exc_info()[1] is error


def test_cycles_through_a_registration_are_collected():
    device = Device("8M")

    class Cache:
        def respond(self, info):
            pass

    cache = Cache()
    cache.registration = pressure.register(device, cache.respond)
    gone = weakref.ref(cache)
    del cache
    gc.collect()
    assert gone() is None
    assert [each["name"] for each in pressure.statistics(device)] == ["python collection"]


def test_events():
    device = Device("8M")
    live = full(device)
    events = []
    with pressure.on_pressure(device, events.append):
        with pytest.raises(OutOfDeviceMemory):
            device.allocate(MIB)
    kinds = [type(event).__name__ for event in events]
    assert kinds == ["ResponderEvent"] * (len(kinds) - 2) + ["WindowEvent", "OutOfMemoryEvent"]
    assert events[-2].satisfied is False and events[-1].facts["requested"] == MIB
    assert events[0].responder == "python collection" and live
    with pytest.raises(OutOfDeviceMemory):
        device.allocate(MIB)
    assert len(events) == len(kinds)


class TestCollection:
    def test_finds_garbage_although_disabled(self, policy, no_collection):
        device = Device("8M")
        for _ in range(40):
            Holder(device.allocate(MIB))
        assert not gc.isenabled()

    def test_may_be_told_not_to(self, policy, no_collection):
        device = Device("8M")
        for name, skipped in (("when_disabled", "disabled"), ("enabled", "disabled")):
            setattr(policy, name, False)
            for _ in range(8):
                Holder(device.allocate(MIB))
            with pytest.raises(OutOfDeviceMemory) as caught:
                device.allocate(MIB)
            assert caught.value.responders[0]["skipped"] == skipped
            setattr(policy, name, True)
            gc.collect()

    def test_honours_nogc_if_told_to(self, policy):
        device = Device("8M")
        policy.in_nogc = False
        with nogc():
            for _ in range(8):
                Holder(device.allocate(MIB))
            with pytest.raises(OutOfDeviceMemory):
                device.allocate(MIB)
            policy.in_nogc = True
            device.allocate(MIB)

    def test_young_first_then_all(self, policy, no_collection):
        device = Device("8M")
        before = policy.statistics()
        for _ in range(8):
            Holder(device.allocate(MIB))
        device.allocate(MIB)
        young = policy.statistics()
        assert young["full"] == before["full"]
        for _ in range(8):
            Holder(device.allocate(MIB))
        gc.freeze()
        gc.unfreeze()  # all are old now
        device.allocate(MIB)
        assert policy.statistics()["full"] == young["full"] + 1
        policy.young_first = False
        for _ in range(8):
            Holder(device.allocate(MIB))
        device.allocate(MIB)
        assert policy.statistics()["full"] == young["full"] + 2

    def test_budget(self, policy, no_collection):
        device = Device("8M", damper=0)
        for _ in range(2):
            policy.budget = 1e-9
            live = full(device)
            with pytest.raises(OutOfDeviceMemory):
                device.allocate(MIB)
            del live
        with pytest.raises(ValueError):
            policy.budget = -1
        assert "budget=1e-09" in repr(policy)

    def test_can_be_left_out(self, no_collection):
        device = Device("8M", collect_garbage=False)
        assert pressure.statistics(device) == []


class TestTrueOutOfMemory:
    """Fails once; retries do not cost a collection each; the error holds nothing."""

    def test_runs_are_bounded(self):
        device = Device("8M", damper=3600)
        live = full(device)
        with pytest.raises(OutOfDeviceMemory):
            device.allocate(MIB)
        before = pressure.statistics(device)[0]["calls"]
        for _ in range(20):
            with pytest.raises(OutOfDeviceMemory, match="too early"):
                device.allocate(MIB, budget=1e-4)
        assert pressure.statistics(device)[0]["calls"] == before and live

    def test_the_error_is_kept_and_the_memory_is_not(self):
        device = Device("8M")
        errors = []

        def work():
            live = full(device)
            try:
                device.allocate(MIB)
            except OutOfDeviceMemory as error:
                errors.append(error.with_traceback(None))
            return len(live)

        assert work() == 8 and work() == 8 and len(errors) == 2

    def test_retry_after_the_frames_are_gone(self):
        device = Device("8M")
        tries = []

        def work(count):
            live = [device.allocate(MIB) for _ in range(8)]
            if count == 8:
                device.allocate(MIB)
            return live

        sizes = [8, 7]
        for attempt in pressure.retry_on_oom(attempts=3, before_retry=lambda: tries.append(1)):
            with attempt:
                work(sizes.pop(0))
        assert tries == [1] and sizes == []
        with pytest.raises(OutOfDeviceMemory):
            for attempt in pressure.retry_on_oom(attempts=2):
                with attempt:
                    work(8)
        with pytest.raises(ZeroDivisionError):
            for attempt in pressure.retry_on_oom():
                with attempt:
                    1 / 0


def test_garbage_dropped_after_a_failure_is_found_at_once():
    device = Device("8M")
    live = [Holder(buffer) for buffer in full(device)]
    for _ in range(3):
        with pytest.raises(OutOfDeviceMemory):
            device.allocate(MIB)
        live.pop()
        live.append(Holder(device.allocate(MIB)))


def test_demo():
    command = [sys.executable, "-m", "fallow.pressure", "demo", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["held"] is True
    assert len(result["scenarios"]) == 5 and all(each["held"] for each in result["scenarios"])
