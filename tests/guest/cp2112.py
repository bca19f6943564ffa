"""Eight GPIO lines of a USB bridge that is not there: a CP2112 as the kernel's UHID sees it.

The kernel's own driver (hid-cp2112) makes a real gpiochip of it. Pure: an event as read from `/dev/uhid` goes in, the
reply to write there comes out. Sources: the bridge's interface specification (Silicon Labs AN495, reports 0x02 to
0x06 and 0x20) and the kernel's interface header uhid.h. Its I2C side is declared and not served: the bus is `cuse`'s.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct

EVENT_BYTES = 4380
"""The longest event: its type and a request to create a device."""
LINES = 8
LABEL = "cp2112_gpio"
"""What the kernel calls the chip."""

TYPE = Struct("<I")
CREATE = Struct("<I128s64s64sHHIIII4096s")
GET = Struct("<IIBB")
SET = Struct("<IIBBH")
GET_REPLY = Struct("<IIHH")
SET_REPLY = Struct("<IIH")
USB = 3
VENDOR_PRODUCT = (0x10C4, 0xEA90)
EIO = 5


class Event(IntEnum):
    """Of uhid.h."""

    GET_REPORT = 9
    GET_REPORT_REPLY = 10
    CREATE = 11
    SET_REPORT = 13
    SET_REPORT_REPLY = 14


class Report(IntEnum):
    """Feature reports of the bridge."""

    GPIO_CONFIG = 0x02
    GPIO_GET = 0x03
    GPIO_SET = 0x04
    VERSION = 0x05
    SMBUS_CONFIG = 0x06
    LOCK_BYTE = 0x20


FEATURES = {
    Report.GPIO_CONFIG: 4,
    Report.GPIO_GET: 1,
    Report.GPIO_SET: 2,
    Report.VERSION: 2,
    Report.SMBUS_CONFIG: 13,
    Report.LOCK_BYTE: 1,
}
"""Bytes of each feature report, its number not counted."""
TRANSFERS_IN = (0x13, 0x16)
TRANSFERS_OUT = (0x10, 0x11, 0x12, 0x14, 0x15, 0x17)
"""Reports of the I2C side, 63 bytes each: declared, since the driver looks for them."""
PART_AND_VERSION = bytes((0x0C, 2))
NOTHING_LOCKED = b"\xff"
SMBUS_AT_100_KHZ = bytes((0x00, 0x01, 0x86, 0xA0, 0x02, *bytes(8)))


def report_descriptor() -> bytes:
    """What the bridge says of its reports (HID 1.11, 6.2.2): one vendor's collection of bytes."""
    items = b"\x06\x00\xff\x09\x01\xa1\x01\x15\x00\x26\xff\x00\x75\x08"  # page, usage, collection, bytes of 0..255
    for numbers, kind in ((TRANSFERS_IN, 0x81), (TRANSFERS_OUT, 0x91)):
        for number in numbers:
            items += bytes((0x85, number, 0x95, 63, 0x09, 0x01, kind, 0x02))
    for report, size in FEATURES.items():
        items += bytes((0x85, report, 0x95, size, 0x09, 0x01, 0xB1, 0x02))
    return items + b"\xc0"


class Bridge:
    """The bridge with its eight lines. The outside may pull a line; what nobody drives is high."""

    def __init__(self) -> None:
        self._config = bytes(FEATURES[Report.GPIO_CONFIG])
        self._latch = 0
        self._outside = 0xFF

    @property
    def outputs(self) -> int:
        """The lines that are outputs and high, as bits."""
        return self._config[0] & self._latch

    @property
    def _levels(self) -> int:
        directions = self._config[0]
        return directions & self._latch | ~directions & self._outside & 0xFF

    def drive(self, line: int, *, high: bool) -> None:
        """Let the outside pull `line` up or down; it counts where the line is an input."""
        self._outside = self._outside & ~(1 << line) | high << line

    def create(self) -> bytes:
        """The event that lets the kernel find the bridge."""
        descriptor = report_descriptor()
        return CREATE.pack(
            *(Event.CREATE, b"Emulated CP2112", b"volcano/cp2112", b"0001", len(descriptor), USB),
            *(*VENDOR_PRODUCT, 0, 0, descriptor),
        )

    def answer(self, event: bytes) -> bytes | None:
        """The reply to one event; None if none is expected."""
        match TYPE.unpack_from(event)[0]:
            case Event.GET_REPORT:
                _, number, report, _ = GET.unpack_from(event)
                data = self._get(report)
                if data is None:
                    return GET_REPLY.pack(Event.GET_REPORT_REPLY, number, EIO, 0)
                return GET_REPLY.pack(Event.GET_REPORT_REPLY, number, 0, 1 + len(data)) + bytes((report,)) + data
            case Event.SET_REPORT:
                _, number, report, _, size = SET.unpack_from(event)
                self._set(report, event[SET.size + 1 : SET.size + size])
                return SET_REPLY.pack(Event.SET_REPORT_REPLY, number, 0)
        return None

    def _get(self, report: int) -> bytes | None:
        match report:
            case Report.GPIO_CONFIG:
                return self._config
            case Report.GPIO_GET:
                return bytes((self._levels,))
            case Report.VERSION:
                return PART_AND_VERSION
            case Report.SMBUS_CONFIG:
                return SMBUS_AT_100_KHZ
            case Report.LOCK_BYTE:
                return NOTHING_LOCKED
        return None

    def _set(self, report: int, data: bytes) -> None:
        match report:
            case Report.GPIO_CONFIG:
                self._config = data[: FEATURES[Report.GPIO_CONFIG]]
            case Report.GPIO_SET:
                values, mask = data[:2]
                self._latch = self._latch & ~mask | values & mask
