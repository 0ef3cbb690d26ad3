"""fallow.device: buffers, copies, views, pools."""

import gc
import sys
import threading
import weakref

import pytest

from fallow import errors
from fallow.device import Device, Pool, from_bytes, from_dlpack, to_numpy
from fallow.testing import HeldMutex, faults

MIB = 1 << 20


def used(device, domain=0, type="tensor"):
    return device.statistics()["domains"][domain][type]["current_bytes"]


def test_a_buffer_is_freed_with_its_last_reference():
    device = Device("8M")
    buffer = device.allocate("1M")
    gone = []
    weakref.finalize(buffer, gone.append, True)
    assert used(device) == MIB and len(buffer) == buffer.nbytes == MIB
    buffer = None
    assert used(device) == 0 and gone == [True]


def test_a_scope_frees_its_buffer():
    device = Device("8M")
    with device.allocate(1000) as buffer:
        assert used(device) == 1024
    assert buffer.freed and used(device) == 0
    buffer.free()
    with pytest.raises(errors.UsageError, match="has been freed"):
        buffer.read()


def test_views_keep_the_memory():
    device = Device("8M")
    buffer = device.allocate(16)
    view = memoryview(buffer)
    view[:3] = b"abc"
    with pytest.raises(BufferError, match="in use"):
        buffer.free()
    assert buffer.read(3) == b"abc"
    del buffer
    assert used(device) == 128 and bytes(view[:3]) == b"abc"
    view.release()
    assert used(device) == 0


def test_copies():
    device = Device("8M")
    buffer = from_bytes(device, b"0123456789")
    buffer.write(b"ab", offset=8)
    assert buffer.read() == b"01234567ab" and buffer.read(2, offset=7) == b"7a"
    target = bytearray(4)
    buffer.read_into(target, offset=6)
    assert target == b"67ab"
    other = Device("8M", name="other").allocate(12)
    other.copy_from(buffer, offset=2)
    assert other.read(offset=2) == b"01234567ab"
    for wrong in (
        lambda: buffer.write(b"x", offset=10),
        lambda: buffer.read(11),
        lambda: buffer.read(offset=11),
        lambda: other.copy_from(buffer, offset=3),
    ):
        with pytest.raises(errors.UsageError):
            wrong()


def test_numpy_round_trip():
    numpy = pytest.importorskip("numpy")
    device = Device("8M")
    array = numpy.arange(12, dtype="float32").reshape(3, 4)
    buffer = from_bytes(device, array[:, ::-1])
    assert (to_numpy(buffer, "float32", (3, 4)) == array[:, ::-1]).all()
    shared = numpy.from_dlpack(buffer)
    assert shared.dtype == numpy.uint8 and shared.shape == (48,)
    to_numpy(buffer)[0] = 7
    assert shared[0] == 7, "no copy"
    del buffer
    assert used(device) == 128 and shared[0] == 7
    del shared
    assert used(device) == 0
    assert (to_numpy(from_dlpack(device, array), "float32", (3, 4)) == array).all()


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0)])
def test_a_dlpack_capsule_that_nobody_takes_frees_the_memory(version):
    device = Device("8M")
    capsule = device.allocate(16).__dlpack__(max_version=version)
    assert ("versioned" in repr(capsule)) == (version == (1, 0))
    assert used(device) == 128
    del capsule
    assert used(device) == 0
    with pytest.raises(BufferError):
        device.allocate(16).__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        device.allocate(16).__dlpack__(copy=True)


def test_memory_that_the_host_does_not_see():
    device = Device("1T", backed=False)
    buffer = device.allocate("100G")
    with pytest.raises(BufferError, match="does not see"):
        memoryview(buffer)
    with pytest.raises(errors.DeviceError):
        buffer.write(b"x")
    assert device.allocate(0).read() == b"" and bytes(memoryview(device.allocate(0))) == b""


def test_domains_types_and_interleaving():
    device = Device(["8M", "8M"])
    assert [chunk["domain"] for chunk in device.allocate("2M", domains=[0, 1]).chunks] == [0, 1]
    one = device.allocate(1, domains=1, type="program", alignment=4096)
    assert used(device, 1, "program") == 128 and one.chunks[0]["offset"] % 4096 == 0
    assert "domain 1, program" in repr(one)
    for wrong in ({"domains": 2}, {"domains": []}, {"alignment": 3}, {"type": "text"}):
        with pytest.raises(errors.UsageError):
            device.allocate(1, **wrong)


@pytest.mark.parametrize(
    "options",
    [
        {"capacity": "much"},
        {"fit": "worst"},
        {"regions": "any"},
        {"budget": -1},
        {"alignment": 100},
        {"soft_watermark": 2},
        {"capacity": []},
    ],
)
def test_options_that_make_no_sense(options):
    with pytest.raises(errors.OptionError):
        Device(**options)


def test_frees_wait_for_streams():
    device = Device("1M", budget=5)
    buffer = device.allocate("1M")
    device.submit(3, 0.05)
    buffer.free(streams=[3])
    assert device.try_allocate("1M") is None
    assert len(device.allocate("1M")) == MIB


def test_errors_tell_the_facts_and_are_memory_errors():
    device = Device("1M")
    live = device.allocate("900K")
    with pytest.raises(MemoryError) as caught:
        device.allocate("200K")
    error = caught.value
    assert isinstance(error, errors.OutOfDeviceMemory)
    assert (error.requested, error.free, error.capacity) == (200 << 10, 124 << 10, MIB)
    assert error.responders[0]["name"] == "python collection"
    with pytest.raises(AttributeError):
        error.nothing
    del live
    assert len(device.allocate("1M")) == MIB
    with pytest.raises(errors.RequestTooLarge) as caught:
        device.allocate("2M")
    assert caught.value.largest_possible == MIB


def test_faults_on_purpose():
    device = Device("8M")
    with faults(device, nth_allocation=2):
        device.allocate(1)
        with pytest.raises(errors.OutOfDeviceMemory, match="injected fault"):
            device.allocate(1)
        device.allocate(1)
    device.allocate(1)


def test_a_closed_device_lives_on_in_its_buffers():
    with Device("8M") as device:
        buffer = from_bytes(device, b"kept")
    assert device.closed and "closed" in repr(device)
    assert buffer.read() == b"kept"
    with pytest.raises(errors.UsageError):
        device.allocate(1)


def test_frees_in_a_collection_never_wait():
    device = Device("8M")

    class Holder:
        pass

    for _ in range(8):
        holder = Holder()
        holder.itself, holder.buffer = holder, device.allocate(MIB)
    holder = None
    held = HeldMutex(device, 1)
    gc.collect()
    held.join()
    # All of them while the mutex was held, or the collection would have waited.
    statistics = device.statistics()
    assert statistics["deferred_frees"] == 8 and used(device) == 0


def test_trace(tmp_path):
    device = Device("8M")
    with device.trace(str(tmp_path / "trace.csv")) as trace:
        device.allocate(1000)
    lines = (tmp_path / "trace.csv").read_text().splitlines()
    assert trace.error == "" and [line.split(",")[2] for line in lines[1:]] == ["allocate", "free"]


def test_dumps_and_peaks():
    device = Device("8M", name="accelerator")
    device.allocate("1M")
    assert device.statistics()["domains"][0]["tensor"]["peak_bytes"] == MIB
    device.reset_peaks()
    assert device.statistics()["domains"][0]["tensor"]["peak_bytes"] == 0
    assert device.trim() == 8 * MIB
    assert "accelerator" in repr(device) and device.dump() and device.dump(json=True)[0] == "{"


class TestPool:
    def test_frees_what_is_left(self):
        device = Device("8M")
        with Pool(device, limit="2M") as pool:
            first = pool.allocate("1M")
            second = pool.allocate("1M")
            assert pool.nbytes == 2 * MIB and "2 buffers" in repr(pool)
            with pytest.raises(errors.OutOfDeviceMemory, match="limit"):
                pool.allocate(1)
            assert pool.try_allocate(1) is None
            second = None
            assert len(pool.try_allocate("1M")) == MIB
        assert first.freed and used(device) == 0

    def test_frees_all_but_those_in_use(self):
        device = Device("8M")
        pool = Pool(device)
        buffers = [pool.allocate(1) for _ in range(3)]
        view = memoryview(buffers[1])
        with pytest.raises(BufferError):
            pool.free()
        assert [buffer.freed for buffer in buffers] == [True, False, True]
        view.release()

    def test_is_for_several_threads(self):
        device = Device("64M")
        pool = Pool(device)

        def work():
            for _ in range(200):
                pool.allocate(1000)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert pool.buffers == [] and used(device) == 0


def test_nothing_leaks_references():
    device = Device("8M")
    before = sys.getrefcount(device)
    for _ in range(100):
        device.allocate(1)
    assert sys.getrefcount(device) == before
