"""The emulated devices of the image's guest: what passes between them and the kernel (tests/guest, docs/image.md)."""

from __future__ import annotations

import errno
import struct

import pytest
from guest import cp2112, cuse
from guest.cp2112 import Bridge, Event, Report
from guest.cuse import I2cDevice, Opcode

from firmware.hal.bus import CountingBus
from firmware.hal.emulated_bus import Disturbance, EmulatedBus
from firmware.hal.emulator import Chip

# --- the bus, as the kernel asks for it


class Kernel:
    """The kernel's half of CUSE: it fetches what it is asked for from the caller's memory, and asks again."""

    def __init__(self, device: I2cDevice) -> None:
        self.device = device
        self.asked = 0

    def request(self, opcode: int, body: bytes = b"") -> tuple[int, bytes]:
        """Error number and body of the reply."""
        self.asked += 1
        length = cuse.IN_HEADER.size + len(body)
        reply = self.device.answer(cuse.IN_HEADER.pack(length, opcode, self.asked, 0, 0, 0, 0, 0, 0) + body)
        assert reply is not None
        length, error, unique = cuse.OUT_HEADER.unpack_from(reply)
        assert (length, unique) == (len(reply), self.asked)
        return -error, reply[cuse.OUT_HEADER.size :]

    def ioctl(self, memory: dict[int, bytearray], command: int, pointer: int) -> int:
        """An ioctl of a program with this memory (address -> bytes); its result, or minus the error number."""
        seen, room = b"", 0
        pieces: list[cuse.Piece] = []
        for _ in range(5):
            body = cuse.IOCTL_IN.pack(1, 1, command, pointer, len(seen), room) + seen
            error, reply = self.request(Opcode.IOCTL, body)
            if error:
                return -error
            result, flags, ins, outs = cuse.IOCTL_OUT.unpack_from(reply)
            rest = reply[cuse.IOCTL_OUT.size :]
            if not flags & cuse.RETRY:
                for where, length in pieces:
                    memory[where][:length], rest = rest[:length], rest[length:]
                return int(result)
            asked = list(cuse.IOVEC.iter_unpack(rest))
            assert len(asked) == ins + outs
            seen = b"".join(bytes(memory[where][:length]) for where, length in asked[:ins])
            pieces = [(where, length) for where, length in asked[ins:]]
            room = sum(length for _, length in pieces)
        raise AssertionError("it is never content")


def transfer(kernel: Kernel, *messages: tuple[int, int, bytes]) -> tuple[int, list[bytes]]:
    """I2C_RDWR with messages (address, flags, bytes or room); the result, and the bytes of each afterwards."""
    memory = {0x1000 * number: bytearray(data) for number, (_, _, data) in enumerate(messages, 3)}
    table = b"".join(
        struct.pack("<HHHxxQ", address, flags, len(data), 0x1000 * number)
        for number, (address, flags, data) in enumerate(messages, 3)
    )
    memory |= {0x1000: bytearray(struct.pack("<QI4x", 0x2000, len(messages))), 0x2000: bytearray(table)}
    result = kernel.ioctl(memory, cuse.I2C_RDWR, 0x1000)
    return result, [bytes(memory[0x1000 * number]) for number in range(3, 3 + len(messages))]


@pytest.fixture
def bus() -> EmulatedBus:
    return EmulatedBus({0x5A: Chip(lambda: 0.0)})


@pytest.fixture
def kernel(bus: EmulatedBus) -> Kernel:
    return Kernel(I2cDevice("i2c-1", bus))


def test_the_device_is_named_and_may_look_into_the_caller_s_memory(kernel: Kernel) -> None:
    error, reply = kernel.request(Opcode.INIT, cuse.INIT_IN.pack(7, 41, 0, 0))
    assert error == 0
    major, minor, _, flags, longest_read, longest_write, *_ = cuse.INIT_OUT.unpack_from(reply)
    assert (major, minor, flags) == (7, 31, cuse.UNRESTRICTED_IOCTL)
    assert longest_read == longest_write == 4096
    assert 80 + longest_write <= cuse.REQUEST_BYTES, "fuse.h: the kernel refuses a read with less room"
    assert reply[cuse.INIT_OUT.size :] == b"DEVNAME=i2c-1\0"


def test_a_register_is_read_with_a_repeated_start(kernel: Kernel) -> None:
    result, (_, read) = transfer(kernel, (0x5A, 0, b"\x5c"), (0x5A, cuse.READ, b"??"))
    assert (result, read) == (2, b"\x10\x24")  # MPR121 data sheet, 5.8: after a reset
    assert kernel.asked == 4, "head, table, bytes, answer"


def test_registers_are_written(kernel: Kernel) -> None:
    assert transfer(kernel, (0x5A, 0, b"\x41\x0c\x06"))[0] == 1
    assert transfer(kernel, (0x5A, 0, b"\x41"), (0x5A, cuse.READ, b"??"))[1][1] == b"\x0c\x06"


def test_without_a_register_a_read_is_a_transfer_of_its_own(kernel: Kernel) -> None:
    assert transfer(kernel, (0x5A, cuse.READ, b"??")) == (1, [b"\0\0"])


def test_an_empty_write_probes_an_address(kernel: Kernel) -> None:
    assert transfer(kernel, (0x5A, 0, b""))[0] == 1
    assert transfer(kernel, (0x5B, 0, b""))[0] == -121  # EREMOTEIO


def test_an_error_of_the_bus_reaches_the_caller_with_its_number(kernel: Kernel, bus: EmulatedBus) -> None:
    bus.inject(Disturbance.TIMEOUT, count=1)
    assert transfer(kernel, (0x5A, 0, b"\x00"))[0] == -errno.ETIMEDOUT
    assert transfer(kernel, (0x5A, 0, b"\x00"))[0] == 1


def test_each_transfer_is_one_on_the_bus(bus: EmulatedBus) -> None:
    counting = CountingBus(bus)
    transfer(Kernel(I2cDevice("i2c-1", counting)), (0x5A, 0, b"\x00"), (0x5A, cuse.READ, bytes(43)))
    assert (counting.transactions, counting.wire_bytes) == (1, 1 + 1 + 1 + 43)


@pytest.mark.parametrize(
    "messages",
    [
        [(0x5A, 0, b"\x00"), (0x5B, cuse.READ, b"?")],
        [(0x5A, cuse.READ, b"?"), (0x5A, 0, b"\x00")],
        [(0x5A, 0, b"\x00")] * 3,
    ],
)
def test_a_transfer_that_the_bus_does_not_know_is_refused(
    kernel: Kernel, messages: list[tuple[int, int, bytes]]
) -> None:
    assert transfer(kernel, *messages)[0] == -errno.EOPNOTSUPP


def test_what_it_can_is_told_and_what_it_cannot_is_refused(kernel: Kernel) -> None:
    memory = {0x1000: bytearray(8)}
    assert kernel.ioctl(memory, cuse.I2C_FUNCS, 0x1000) == 0
    assert memory[0x1000] == b"\x01" + bytes(7)
    assert kernel.ioctl(memory, 0x0720, 0x1000) == -errno.ENOTTY  # I2C_SMBUS
    assert kernel.request(99) == (errno.ENOSYS, b"")


def test_every_file_is_opened_and_closed(kernel: Kernel) -> None:
    handles = []
    for _ in range(2):
        error, reply = kernel.request(Opcode.OPEN, bytes(8))
        assert error == 0
        handles.append(cuse.OPEN_OUT.unpack(reply)[0])
    assert len(set(handles)) == 2
    assert kernel.request(Opcode.FLUSH, bytes(24)) == kernel.request(Opcode.RELEASE, bytes(24)) == (0, b"")


# --- the header, as the kernel's driver of the bridge asks for it


class Driver:
    """The driver's half of UHID: feature reports are got and set."""

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge

    def get(self, report: int) -> tuple[int, bytes]:
        reply = self.bridge.answer(struct.pack("<IIBB", Event.GET_REPORT, 7, report, 0))
        assert reply is not None
        kind, number, error, size = struct.unpack_from("<IIHH", reply)
        assert (kind, number, size) == (Event.GET_REPORT_REPLY, 7, len(reply) - 12)
        return error, reply[12:]

    def set(self, report: int, *values: int) -> None:
        data = bytes((report, *values))
        event = struct.pack("<IIBBH", Event.SET_REPORT, 8, report, 0, len(data)) + data.ljust(4096, b"\0")
        assert self.bridge.answer(event) == struct.pack("<IIH", Event.SET_REPORT_REPLY, 8, 0)

    def levels(self) -> int:
        return self.get(Report.GPIO_GET)[1][1]


@pytest.fixture
def driver() -> Driver:
    return Driver(Bridge())


def test_the_bridge_says_what_it_is(driver: Driver) -> None:
    event = driver.bridge.create()
    assert len(event) <= cp2112.EVENT_BYTES
    kind, name, _, _, size, bus, vendor, product, _, _, descriptor = cp2112.CREATE.unpack(event)
    assert (kind, bus, vendor, product) == (Event.CREATE, 3, 0x10C4, 0xEA90)
    assert name.rstrip(b"\0") == b"Emulated CP2112"
    assert descriptor[:size] == cp2112.report_descriptor()
    assert driver.get(Report.VERSION) == (0, bytes((0x05, 0x0C, 2)))  # AN495, 0x05: part number of a CP2112


@pytest.mark.parametrize(("report", "size"), [(0x02, 5), (0x03, 2), (0x05, 3), (0x06, 14), (0x20, 2)])
def test_every_report_has_the_length_that_the_driver_insists_on(driver: Driver, report: int, size: int) -> None:
    error, data = driver.get(report)
    assert (error, len(data), data[0]) == (0, size, report)


def test_an_unknown_report_is_an_error(driver: Driver) -> None:
    assert driver.get(0x21) == (cp2112.EIO, b"")


def test_lines_are_inputs_and_high_at_first(driver: Driver) -> None:
    assert driver.levels() == 0xFF
    assert driver.bridge.outputs == 0


def test_an_output_follows_the_driver_and_only_the_masked_lines_change(driver: Driver) -> None:
    driver.set(Report.GPIO_CONFIG, 0b0001_1111, 0xFF, 0, 0)
    driver.set(Report.GPIO_SET, 0b0000_0101, 0b0000_0111)
    assert driver.bridge.outputs == 0b0000_0101
    assert driver.levels() == 0b1110_0101
    driver.set(Report.GPIO_SET, 0b0000_0000, 0b0000_0001)
    assert driver.bridge.outputs == 0b0000_0100


def test_an_input_follows_the_outside_and_an_output_does_not(driver: Driver) -> None:
    driver.set(Report.GPIO_CONFIG, 0b0001_1111, 0xFF, 0, 0)
    driver.bridge.drive(5, high=False)
    driver.bridge.drive(0, high=True)
    assert driver.levels() == 0b1100_0000
    driver.bridge.drive(5, high=True)
    assert driver.levels() == 0b1110_0000


def test_other_events_need_no_answer(driver: Driver) -> None:
    assert driver.bridge.answer(struct.pack("<I", 2).ljust(cp2112.EVENT_BYTES, b"\0")) is None  # the device is started
