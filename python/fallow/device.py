"""Device memory: devices, and buffers that are allocated from them.

    from fallow.device import Device

    device = Device("64M")
    with device.allocate("1M") as buffer:
        buffer.write(b"hello")
        memoryview(buffer)[0]

Buffers free themselves with the last reference. When the device is full, garbage is collected and
responders are asked (fallow.pressure) before an allocation fails.
"""

import threading
import weakref

from fallow._native import Buffer, Device, Trace

__all__ = ["Buffer", "Device", "Pool", "Trace", "from_bytes", "from_dlpack", "to_numpy"]


class Pool:
    """A group of buffers with a common placement, which can be limited and freed together.

        with Pool(device, domains=[0, 1], limit="16M") as pool:
            weights = pool.allocate("4M")
        # all that the pool has allocated and that still exists is freed

    limit: bytes that its buffers may have together; beyond it, allocate() raises
    OutOfDeviceMemory without reclaiming anything. Other arguments: as for Device.allocate().
    May be used from several threads.
    """

    def __init__(self, device, *, type="tensor", domains=None, alignment=0, budget=0.0, limit=None):
        self.device = device
        self.limit = _bytes(limit) if limit is not None else None
        self._arguments = {"type": type, "domains": domains, "alignment": alignment}
        self._budget = budget
        self._live = weakref.WeakSet()
        self._lock = threading.RLock()  # a finalizer may allocate from the pool it interrupts

    def allocate(self, size):
        """Allocates a buffer; raises what Device.allocate() raises."""
        size = _bytes(size)
        if self.limit is not None and self.nbytes + size > self.limit:
            raise _beyond_limit(size, self.nbytes, self.limit)
        return self._remember(
            self.device.allocate(size, budget=self._budget, **self._arguments)
        )

    def try_allocate(self, size):
        """As allocate(), but without reclaiming and waiting: None when there is no room."""
        size = _bytes(size)
        if self.limit is not None and self.nbytes + size > self.limit:
            return None
        buffer = self.device.try_allocate(size, **self._arguments)
        return None if buffer is None else self._remember(buffer)

    @property
    def buffers(self):
        """Those that exist and have not been freed."""
        with self._lock:
            return [buffer for buffer in self._live if not buffer.freed]

    @property
    def nbytes(self):
        """Bytes of its buffers together."""
        return sum(buffer.nbytes for buffer in self.buffers)

    def free(self):
        """Frees all its buffers. BufferError, after the others are freed, if some are in use."""
        failure = None
        for buffer in self.buffers:
            try:
                buffer.free()
            except BufferError as error:
                failure = error.with_traceback(None)
        if failure is not None:
            raise failure

    def _remember(self, buffer):
        with self._lock:
            self._live.add(buffer)
        return buffer

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()

    def __repr__(self):
        limit = "" if self.limit is None else f" of {self.limit}"
        return f"<fallow.device.Pool {self.nbytes}{limit} bytes in {len(self.buffers)} buffers>"


def from_bytes(device, data, **arguments):
    """A new buffer with a copy of an object that has the buffer protocol, such as bytes or an array.

    Other arguments: as for Device.allocate(). Keeps only the bytes: no shape, no type.
    """
    view = memoryview(data)
    buffer = device.allocate(view.nbytes, **arguments)
    if view.nbytes:
        buffer.write(view if view.c_contiguous else view.tobytes())
    return buffer


def from_dlpack(device, tensor, **arguments):
    """A new buffer with a copy of a tensor of any library that speaks DLPack. Needs numpy.

    Other arguments: as for Device.allocate().
    """
    import numpy

    return from_bytes(device, numpy.ascontiguousarray(numpy.from_dlpack(tensor)), **arguments)


def to_numpy(buffer, dtype="uint8", shape=-1):
    """The buffer's memory as an array, without a copy. The memory lives as long as the array."""
    import numpy

    return numpy.frombuffer(buffer, dtype=dtype).reshape(shape)


def _bytes(size):
    """65536, or "64K"."""
    if not isinstance(size, str):
        return size
    text = size.strip().upper().removesuffix("B").removesuffix("I")
    factor = 1
    if text and text[-1] in "KMGT":
        factor = 1024 ** (" KMGT".index(text[-1]))
        text = text[:-1]
    try:
        return int(float(text) * factor)
    except ValueError:
        from fallow.errors import OptionError

        raise OptionError(f"fallow: {size!r} is no size") from None


def _beyond_limit(size, used, limit):
    from fallow.errors import OutOfDeviceMemory

    return OutOfDeviceMemory(
        f"fallow: the pool's limit is {limit} bytes: {used} are in use, {size} requested",
        {"requested": size, "given_up": "limit of the pool", "capacity": limit, "free": limit - used},
    )
