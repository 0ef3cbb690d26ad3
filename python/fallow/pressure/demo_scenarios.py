"""The five scenarios of the demonstration. Each says what it shows and whether that held."""

import gc
import threading
import time

from fallow import pressure
from fallow.device import Device
from fallow.errors import OutOfDeviceMemory

MIB = 1 << 20


class Holder:
    """A buffer in a cycle: only the collector finds it."""

    def __init__(self, buffer):
        self.buffer = buffer
        self.itself = self


class Recorder:
    """A small device, and what happened to it: use over time, and what responders gave."""

    def __init__(self, title, note, **options):
        self.title = title
        self.note = note  # called after every step, for a live display
        self.device = Device("64M", **options)
        self.use = []  # (seconds, bytes)
        self.runs = []  # (seconds, bytes freed)
        self.windows = 0
        self.failures = 0
        self.allocations = 0
        self.held = None
        self.verdict = ""
        self._began = time.perf_counter()
        self._registration = pressure.on_pressure(self.device, self._on_event)

    @property
    def seconds(self):
        return time.perf_counter() - self._began

    def allocate(self, **arguments):
        buffer = self.device.allocate(MIB, **arguments)
        self.allocations += 1
        self.sample()
        return buffer

    def sample(self):
        tensor = self.device.statistics()["domains"][0]["tensor"]
        self.use.append((self.seconds, tensor["current_bytes"]))
        self.note(self)

    def finish(self, held, verdict):
        self.held = bool(held)
        self.verdict = verdict
        self.sample()
        self._registration.close()

    @property
    def freed(self):
        return sum(freed for _, freed in self.runs)

    def as_dict(self):
        return {
            "title": self.title,
            "held": self.held,
            "verdict": self.verdict,
            "allocations": self.allocations,
            "failures": self.failures,
            "windows": self.windows,
            "responder_runs": len(self.runs),
            "responders": pressure.statistics(self.device),
            "freed_bytes": self.freed,
            "seconds": self.use[-1][0] if self.use else 0.0,
        }

    def _on_event(self, event):
        if isinstance(event, pressure.ResponderEvent):
            self.runs.append((self.seconds, event.freed))
        elif isinstance(event, pressure.WindowEvent):
            self.windows += 1
        else:
            self.failures += 1


def dropped_references(note):
    """Reference counting alone frees what is dropped: nobody has to be asked."""
    recorder = Recorder("dropped references", note)
    for _ in range(4):
        live = [recorder.allocate() for _ in range(64)]
        live.clear()
        recorder.sample()
    recorder.finish(
        recorder.allocations == 256 and not recorder.runs,
        f"{recorder.allocations} allocations, no responder was needed",
    )
    return recorder


def true_out_of_memory(note):
    """Everything is in use: one error, soon, with the facts; and no collection at every retry."""
    recorder = Recorder("true out of memory", note, damper=3600)
    live = [recorder.allocate() for _ in range(64)]
    began = time.perf_counter()
    facts = None
    for attempt in range(10):
        try:
            recorder.allocate(budget=0 if attempt == 0 else 0.001)
        except OutOfDeviceMemory as error:
            facts = facts or error.facts
    seconds = time.perf_counter() - began
    live.pop()
    recorder.allocate()
    runs = len(recorder.runs)
    held = recorder.failures == 10 and runs <= 3 and seconds < 10 and facts["free"] == 0
    recorder.finish(
        held, f"10 tries failed within {seconds:.2f} s, {runs} collections, then one succeeded"
    )
    return recorder


def gil_hand_off(note):
    """While one thread reclaims and another waits for the device, Python goes on."""
    recorder = Recorder("GIL hand-off", note)
    live = [recorder.allocate() for _ in range(64)]
    beats = 0
    seen = []
    inside = threading.Event()

    def slow(info):
        inside.set()
        before = beats
        time.sleep(0.2)
        seen.append(beats - before)
        del live[:2]

    def waiting():
        inside.wait()
        results.append(recorder.allocate())

    results = []
    with pressure.register(recorder.device, slow, name="slow responder"):
        done = threading.Event()

        def heart():
            nonlocal beats
            while not done.wait(0.001):
                beats += 1

        threads = [threading.Thread(target=heart), threading.Thread(target=waiting)]
        for thread in threads:
            thread.start()
        results.append(recorder.allocate())
        threads[1].join()
        done.set()
        threads[0].join()
    recorder.finish(
        len(results) == 2 and seen and seen[0] > 10,
        f"a third thread ran {seen[0] if seen else 0} times while two waited for the device",
    )
    return recorder


def cycles(note):
    """Cyclic garbage comes back although collection is disabled, and stays disabled."""
    recorder = Recorder("cycles", note)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(400):
            Holder(recorder.allocate())
        still_disabled = not gc.isenabled()
    finally:
        if was_enabled:
            gc.enable()
    recorder.finish(
        recorder.failures == 0 and recorder.freed >= 300 * MIB and still_disabled,
        f"{recorder.allocations} MiB on 64 MiB, {recorder.freed >> 20} MiB came back from "
        f"{len(recorder.runs)} collections",
    )
    return recorder


def many_threads(note):
    """Eight threads make cyclic garbage: one collects for all, and nobody fails."""
    recorder = Recorder("many threads", note)
    errors = []

    def work():
        try:
            for _ in range(100):
                Holder(recorder.allocate())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.finish(
        not errors and recorder.failures == 0 and recorder.allocations == 800,
        f"{recorder.allocations} allocations, {recorder.failures} failed, "
        f"{len(recorder.runs)} collections",
    )
    return recorder


SCENARIOS = [dropped_references, true_out_of_memory, gil_hand_off, cycles, many_threads]
