"""What a typed program does with the package. `mypy --strict` checks the stubs with it."""

import weakref

from fallow import gc, pressure, testing
from fallow.device import Buffer, Device, Pool
from fallow.errors import OutOfDeviceMemory


def give_back(info: pressure.PressureInfo) -> None:
    print(info.wanted)


def main() -> None:
    device = Device("64M", emergency="1M")
    buffer: Buffer = device.allocate("1M")
    alive = weakref.ref(buffer)
    with buffer:
        buffer.write(b"hello")
    with Pool(device, limit="16M") as pool:
        pool.allocate(1024)
    with pressure.register(device, give_back), gc.nogc():
        try:
            kept = [device.allocate("8M", budget=0.1) for _ in range(10)]
        except OutOfDeviceMemory as error:
            print(len(str(error)), alive() is buffer)
        else:
            raise AssertionError(kept)
    assert testing.allocate_in_new_interpreter(device, 1024, 2, 10) == 0


if __name__ == "__main__":
    main()
