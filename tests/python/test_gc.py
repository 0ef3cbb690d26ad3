"""fallow.gc: scopes without collection, pauses, collecting at safe points."""

import gc
import threading

import pytest

from fallow.gc import Driver, nogc, watch


def test_nogc_restores_what_was():
    assert gc.isenabled()
    with nogc():
        with nogc():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    with nogc():
        pass
    assert not gc.isenabled()
    gc.enable()


def test_nogc_in_several_threads():
    inside, leave = threading.Event(), threading.Event()

    def other():
        with nogc():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with nogc():
        thread.start()
        inside.wait()
    assert not gc.isenabled(), "the other is still inside"
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_pauses_are_counted_by_generation():
    with nogc(), watch() as pauses:
        gc.collect(0)
        gc.collect(2)
        gc.collect(2)
    gc.collect(2)
    counts = [each.count for each in pauses.generations]
    assert sum(counts) == 3 and counts[2] == 2 and pauses.count == 3
    full = pauses.generations[2]
    assert 0 < full.p50 <= full.longest <= full.seconds * 33 / 32
    assert "2 pauses" in repr(pauses) and "p99" in repr(full)
    assert repr(watch()) == "<fallow.gc.Pauses none>"


def test_a_driver_collects_at_safe_points_only():
    with Driver(young=100, growth=0.01) as driver:
        with watch() as pauses:
            live = [[] for _ in range(1000)]
        assert pauses.count == 0 and not gc.isenabled()
        assert driver.safe_point() in (1, 2)
        assert driver.safe_point() is None
        live.extend([] for _ in range(10000))
        driver.collect()
        live.extend([] for _ in range(10000))
        assert driver.safe_point() == 1
        live.extend([] for _ in range(200))
        assert driver.safe_point(idle_seconds=0) == 1, "a full one would take longer"
        live.extend([] for _ in range(200))
        assert driver.safe_point() == 2
    assert gc.isenabled() and "full" in repr(driver)
    with pytest.raises(ValueError):
        Driver(growth=0)
