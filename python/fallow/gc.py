"""CPython's own collector: how long it pauses, when it may run, and when it should.

    with watch() as pauses:
        work()
    print(pauses)                     # how often and how long

    with nogc():                      # no automatic collection in here
        answer(request)

    with Driver() as driver:          # collections at moments that the program chooses
        for event in events:
            handle(event)
            driver.safe_point()
"""

import gc as _gc
import threading
import time

from fallow import _native

__all__ = ["Driver", "PauseSummary", "Pauses", "nogc", "watch"]

_lock = threading.Lock()
_scopes = 0
_was_enabled = False


class nogc:
    """While one is entered, CPython starts no collection by itself, in no thread.

    Nests, and may be entered in several threads at once: when the last one ends, automatic
    collection is what it was before the first. gc.collect() still collects. A device that is out of
    memory does too, unless fallow.pressure.collection.in_nogc is set to False. One object may be
    entered once at a time.
    """

    def __enter__(self):
        global _scopes, _was_enabled
        with _lock:
            if _scopes == 0:
                _was_enabled = _gc.isenabled()
                _gc.disable()
            _scopes += 1
            _native.change_nogc_scopes(1)
        return self

    def __exit__(self, *exception):
        global _scopes
        with _lock:
            _scopes -= 1
            _native.change_nogc_scopes(-1)
            if _scopes == 0 and _was_enabled:
                _gc.enable()

    def __repr__(self):
        return f"<fallow.gc.nogc, {_scopes} entered>"


class PauseSummary:
    """Pauses of one generation, in seconds. Percentiles and the longest are exact to 1/32."""

    def __init__(self, facts):
        self.count = facts["count"]
        self.seconds = facts["seconds"]
        self.p50 = facts["p50"]
        self.p99 = facts["p99"]
        self.longest = facts["longest"]

    def __repr__(self):
        return (
            f"<fallow.gc.PauseSummary {self.count} pauses, p50 {_show(self.p50)}, "
            f"p99 {_show(self.p99)}, longest {_show(self.longest)}, together {_show(self.seconds)}>"
        )


class Pauses:
    """What watch() has measured: `generations`, a PauseSummary for each, and the sums of all."""

    def __init__(self):
        self._watch = _native.PauseWatch()
        self._ended = None

    @property
    def generations(self):
        facts = self._ended if self._ended is not None else self._watch.by_generation()
        return [PauseSummary(each) for each in facts]

    @property
    def count(self):
        return sum(each.count for each in self.generations)

    @property
    def seconds(self):
        return sum(each.seconds for each in self.generations)

    @property
    def longest(self):
        return max(each.longest for each in self.generations)

    def stop(self):
        """Later pauses do not count. May be called again."""
        if self._ended is None:
            self._ended = self._watch.by_generation()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()

    def __repr__(self):
        parts = [
            f"generation {number}: {each.count} pauses, longest {_show(each.longest)}, "
            f"together {_show(each.seconds)}"
            for number, each in enumerate(self.generations)
            if each.count
        ]
        return f"<fallow.gc.Pauses {'; '.join(parts) or 'none'}>"


def watch():
    """Measures the collector's pauses from now on; in `with`, until the end of the block.

    Wall time between the "start" and the "stop" that gc.callbacks are told of, of all threads
    together. Costs about a microsecond a collection, from the first call on or the first Device.
    """
    return Pauses()


class Driver:
    """Collects at safe points: moments that the program chooses because nobody waits then.

    While it is entered, CPython starts no collection by itself (nogc). safe_point() decides as
    CPython does: the young generation when `young` more container objects exist than after the last
    collection; everything when the objects that have become old since the last full collection are
    more than `growth` of those that survived it.

    young    objects; default: CPython's threshold of the moment
    growth   a fraction, 0.25 as in CPython
    """

    def __init__(self, *, young=None, growth=0.25):
        if growth <= 0:
            raise ValueError("Driver: growth must be positive")
        self._young = young if young is not None else _gc.get_threshold()[0] or 2000
        self._growth = growth
        self._scope = nogc()
        self._old_objects = 0
        self._since_full = 0
        self._full_seconds = 0.0
        self.young_collections = 0
        self.full_collections = 0

    def safe_point(self, idle_seconds=None):
        """Collects if it is time to; returns the generation collected (1 or 2), or None.

        idle_seconds: how long nobody will wait; a full collection that took longer last time is put
        off. None: any time is permitted.
        """
        if _gc.get_count()[0] < self._young:
            return None
        if self._full_is_due() and (idle_seconds is None or self._full_seconds <= idle_seconds):
            return self.collect()
        before = _gc.get_count()[0]
        found = _gc.collect(1)
        self._since_full += max(before - found, 0)
        self.young_collections += 1
        return 1

    def collect(self):
        """A full collection now."""
        began = time.perf_counter()
        _gc.collect(2)
        self._full_seconds = time.perf_counter() - began
        self._old_objects = len(_gc.get_objects(2)) or 1
        self._since_full = 0
        self.full_collections += 1
        return 2

    def _full_is_due(self):
        return self._since_full > self._growth * self._old_objects

    def __enter__(self):
        self._scope.__enter__()
        return self

    def __exit__(self, *exception):
        self._scope.__exit__(*exception)

    def __repr__(self):
        return (
            f"<fallow.gc.Driver {self.young_collections} young and {self.full_collections} full "
            "collections>"
        )


def _show(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
