#!/usr/bin/env python3
"""Measures what the Python package promises about memory pressure. Needs an installed fallow.

    pressure.py false-oom [--json]   allocations that fail although garbage was there: must be 0
    pressure.py overhead  [--json]   from pressure to success, beside CPython's own collection
    pressure.py free      [--json]   frees from inside a collection while the mutex is held
    pressure.py speed     [--json]   an allocation with its free; importing the package

Exit code: 0 when the bars are met, 1 when not, 2 for wrong usage.
"""

import argparse
import gc
import json
import platform
import statistics
import subprocess
import sys
import threading
import time

from fallow import pressure
from fallow.device import Device
from fallow.testing import HeldMutex

MIB = 1 << 20


class Holder:
    """A device buffer in a cycle."""

    def __init__(self, buffer):
        self.buffer = buffer
        self.itself = self


class SlowHolder(Holder):
    """Lets other threads run in the middle of the collection that finds it."""

    def __del__(self):
        time.sleep(0)


def false_oom(arguments):
    """1 MiB of cyclic garbage an allocation on a device of 64 MiB."""
    rows = []
    sys.setswitchinterval(1e-5)
    for threads in (1, 2, 4, 8, 16):
        for collection in ("enabled", "disabled", "in another thread"):
            rows.append(false_oom_row(threads, collection, arguments.allocations))
    return rows, all(row["false_oom"] == 0 and row["other_errors"] == 0 for row in rows)


def false_oom_row(threads, collection, allocations):
    device = Device("64M")
    failures, errors = [], []
    each = -(-allocations // threads)

    def collect_all_the_time():
        while not done.wait(0.0005):
            gc.collect()

    def work():
        for number in range(each):
            try:
                kind = SlowHolder if number % 8 == 0 else Holder
                kind(device.allocate(MIB))
            except MemoryError as error:
                failures.append(str(error))
            except BaseException as error:
                errors.append(repr(error))

    before = pressure.collection.statistics()
    (gc.enable if collection == "enabled" else gc.disable)()
    done = threading.Event()
    collector = threading.Thread(target=collect_all_the_time)
    if collection == "in another thread":
        collector.start()
    began = time.perf_counter()
    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - began
    done.set()
    if collection == "in another thread":
        collector.join()
    gc.enable()
    after = pressure.collection.statistics()
    for text in (failures + errors)[:3]:
        print(text, file=sys.stderr)
    return {
        "threads": threads,
        "collection": collection,
        "allocations": each * threads,
        "false_oom": len(failures),
        "other_errors": len(errors),
        "young": after["young"] - before["young"],
        "full": after["full"] - before["full"],
        "waited": after["waited"] - before["waited"],
        "ms": round(seconds * 1e3, 1),
    }


def overhead(arguments):
    """One dead MiB among a million live objects: the allocation's time beside CPython's part of it."""
    live = [[] for _ in range(arguments.objects)]
    device = Device("64M")
    watched = []

    def note(phase, info):
        watched.append(time.perf_counter())

    rows = []
    gc.disable()
    for old in (False, True):
        totals, inside = [], []
        for _ in range(arguments.repeat):
            hoard = []
            while (buffer := device.try_allocate(MIB)) is not None:
                hoard.append(buffer)
            Holder(hoard.pop())
            buffer = None
            if old:  # as what has survived: only a full collection finds it
                gc.freeze()
                gc.unfreeze()
            gc.callbacks.append(note)
            watched.clear()
            began = time.perf_counter()
            device.allocate(MIB)
            totals.append(time.perf_counter() - began)
            gc.callbacks.remove(note)
            inside.append(sum(watched[1::2]) - sum(watched[::2]))
        total, collector = statistics.median(totals), statistics.median(inside)
        rows.append(
            {
                "garbage": "old" if old else "young",
                "live_objects": len(live),
                "total_ms": round(total * 1e3, 3),
                "collector_ms": round(collector * 1e3, 3),
                "overhead_us": round((total - collector) * 1e6, 1),
                "overhead_percent": round((total / collector - 1) * 100, 2),
            }
        )
    gc.enable()
    return rows, rows[-1]["overhead_percent"] <= 5


def free(arguments):
    """Buffers that a collection frees while another thread holds the device's mutex for a second."""
    device = Device("64M")
    for _ in range(32):
        Holder(device.allocate(MIB))
    held = HeldMutex(device, arguments.seconds)
    began = time.perf_counter()
    gc.collect()
    took = time.perf_counter() - began
    held.join()
    statistics = device.statistics()
    row = {
        "held_s": arguments.seconds,
        "frees": statistics["frees"],
        "deferred": statistics["deferred_frees"],
        "collection_ms": round(took * 1e3, 3),
        "bytes_left": statistics["domains"][0]["tensor"]["current_bytes"],
    }
    return [row], took < arguments.seconds / 2 and row["bytes_left"] == 0 and row["deferred"] >= 32


def speed(arguments):
    device = Device("64M")
    device.allocate(4096)
    rows = []
    for name, work in (
        ("allocate and free", lambda: device.allocate(4096)),
        ("bytearray", lambda: bytearray(4096)),
    ):
        times = []
        for _ in range(arguments.repeat):
            began = time.perf_counter()
            for _ in range(100_000):
                work()
            times.append((time.perf_counter() - began) / 100_000)
        rows.append({"what": name, "ns": round(statistics.median(times) * 1e9, 1)})
    # CPU time: what a busy machine adds is not the package's.
    program = "import time; t = time.process_time(); import fallow; print(time.process_time() - t)"
    imports = [
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
        for _ in range(arguments.repeat)
    ]
    rows.append({"what": "import fallow, CPU time", "ns": round(statistics.median(imports) * 1e9)})
    return rows, rows[-1]["ns"] < 50e6


def table(rows):
    names = list(rows[0])
    cells = [names, *([str(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(line, widths)) for line in cells)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["false-oom", "overhead", "free", "speed"])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--allocations", type=int, default=2400, help="of each row of false-oom")
    parser.add_argument("--objects", type=int, default=1_000_000, help="live ones, of overhead")
    parser.add_argument("--repeat", type=int, default=7, help="of overhead and speed; medians")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long free holds the mutex")
    arguments = parser.parse_args()
    rows, met = globals()[arguments.what.replace("-", "_")](arguments)
    if arguments.json:
        print(json.dumps({"python": platform.python_version(), "met": met, "rows": rows}))
    else:
        print(f"CPython {platform.python_version()}: bar {'met' if met else 'MISSED'}")
        print(table(rows))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
