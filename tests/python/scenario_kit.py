"""What the scenarios share."""

import gc
import threading
import time

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
