"""The I2C bus as five methods: those that Adafruit's drivers expect of one.

`LinuxBus` is the real one, `CountingBus` wraps any and writes down what goes over the wire. The emulated bus lives in
`emulated_bus`. Every error is a `BusError`, which keeps its errno and says in words what to check.
"""

from __future__ import annotations

import errno
import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol, cast

from firmware.hal.bus_clear import BusRescue, pi_lines
from firmware.hal.ports import BusError

if TYPE_CHECKING:
    from collections.abc import Callable

    from smbus2 import SMBus, i2c_msg

log = logging.getLogger(__name__)

EREMOTEIO = 121
"""Linux: an address or a byte was not acknowledged. Not in Python's `errno` on every platform."""
ETIMEDOUT = 110
"""Linux: the bus did not come free in time."""

I2C_TIMEOUT = 0x0702
"""The request of Linux' i2c-dev.h that sets how long a transfer may take, in units of 10 ms."""

LONGEST_TRANSFER_MS = 100
"""Linux waits a whole second for a bus that hangs. Ours has 417 clocks at most: 42 ms at the slowest 10 kHz."""


class Bus(Protocol):
    """One I2C bus. Each of the three transfers is one transaction: START ... STOP.

    Every transfer raises `BusError` (an `OSError`) if the chip or the bus fails.
    """

    def try_lock(self) -> bool:
        """Take the bus for several transactions; False if another has it."""

    def unlock(self) -> None:
        """Give the bus back."""

    def writeto(self, address: int, buffer: bytes | bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Write `buffer[start:end]`; nothing at all is a probe of the address."""

    def readfrom_into(self, address: int, buffer: bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Fill `buffer[start:end]`."""

    def writeto_then_readfrom(
        self,
        address: int,
        out_buffer: bytes | bytearray,
        in_buffer: bytearray,
        *,
        out_start: int = 0,
        out_end: int | None = None,
        in_start: int = 0,
        in_end: int | None = None,
    ) -> None:
        """Write `out_buffer[out_start:out_end]`, repeated START, fill `in_buffer[in_start:in_end]`."""


def read_registers(bus: Bus, address: int, first: int, size: int) -> bytes:
    """`size` registers of the chip at `address` from `first` on, in one transaction.

    Raises:
        BusError: the chip or the bus fails.
    """
    values = bytearray(size)
    bus.writeto_then_readfrom(address, bytes((first,)), values)
    return bytes(values)


def bus_error(number: int | None, address: int, bus: str, detail: str = "") -> BusError:
    """The error for a Linux `errno` number at `address` on `bus` (its name in the text); `errno` is kept in it."""
    chip = f"0x{address:02X}"
    match number:
        case 121 | errno.ENXIO:
            text = f"nothing answers at {chip} on {bus}: check SDA, SCL, 3V3 and the ADDR wire"
        case 110:
            check = "check SDA and SCL for short circuits, then switch the power off and on"
            text = f"{bus} does not come free (timeout at {chip}): {check}"
        case errno.EIO:
            text = f"{bus} lost a transfer with {chip} (I/O error): check pull-ups, wire length and 3V3, try 100 kHz"
        case _:
            reason = detail or (os.strerror(number) if number else "unknown error")
            text = f"{bus} fails at {chip}: {reason}: check that I2C is enabled and the wires are sound"
    return _numbered(text, number)


def stuck_error(trouble: str) -> BusError:
    """The error for a bus whose lines have been seen held low."""
    return _numbered(trouble, ETIMEDOUT)


def _numbered(text: str, number: int | None) -> BusError:
    error = BusError(text)
    error.errno = number
    return error


class LinuxBus:
    """`/dev/i2c-N` through smbus2, opened at the first transfer.

    Every transfer is one I2C_RDWR call, so a register is always read with a repeated START: with a STOP in between the
    MPR121 answers from register 0. The speed is the kernel's (`dtparam=i2c_arm_baudrate`).

    Args:
        number: of the bus.
        clock: seconds; with it, `reopen` looks at the lines and frees an SDA that a chip holds. While a line stays low
            no transfer is tried: a Pi up to 4 takes a held SDA for an acknowledge and for zeros.
        clock_hz: the speed that the wiring asks for; another one is told in the log.
    """

    def __init__(self, number: int = 1, clock: Callable[[], float] | None = None, clock_hz: int | None = None) -> None:
        self.number = number
        self._clock_hz = clock_hz
        self.name = f"I2C bus {number}"
        self._lock = Lock()
        self._smbus: SMBus | None = None
        self._rescue = BusRescue(self.name, lambda: pi_lines(number, clock)) if clock else None

    def try_lock(self) -> bool:
        """Take the bus for several transactions; False if another has it."""
        return self._lock.acquire(blocking=False)

    def unlock(self) -> None:
        """Give the bus back."""
        self._lock.release()

    def writeto(self, address: int, buffer: bytes | bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Write `buffer[start:end]` in one transaction."""
        from smbus2 import i2c_msg  # noqa: PLC0415 - a desktop need not pay for it

        self._transfer(address, i2c_msg.write(address, bytes(buffer[start:end])))

    def readfrom_into(self, address: int, buffer: bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Fill `buffer[start:end]` in one transaction."""
        from smbus2 import i2c_msg  # noqa: PLC0415 - as above

        view = memoryview(buffer)[start:end]
        message = i2c_msg.read(address, len(view))
        self._transfer(address, message)
        view[:] = bytes(message)

    def writeto_then_readfrom(
        self,
        address: int,
        out_buffer: bytes | bytearray,
        in_buffer: bytearray,
        *,
        out_start: int = 0,
        out_end: int | None = None,
        in_start: int = 0,
        in_end: int | None = None,
    ) -> None:
        """Write and read in one transaction with a repeated START."""
        from smbus2 import i2c_msg  # noqa: PLC0415 - as above

        view = memoryview(in_buffer)[in_start:in_end]
        message = i2c_msg.read(address, len(view))
        self._transfer(address, i2c_msg.write(address, bytes(out_buffer[out_start:out_end])), message)
        view[:] = bytes(message)

    def _transfer(self, address: int, *messages: i2c_msg) -> None:
        if self._rescue and (trouble := self._rescue.still()):
            raise stuck_error(trouble)
        if self._smbus is None:
            self._smbus = self._open()
        try:
            self._smbus.i2c_rdwr(*messages)
        except OSError as error:
            raise bus_error(error.errno, address, self.name, error.strerror or "") from error

    def _open(self) -> SMBus:
        from fcntl import ioctl  # noqa: PLC0415 - not on every desktop

        from smbus2 import SMBus  # noqa: PLC0415 - as above

        node = f"/dev/i2c-{self.number}"
        try:
            smbus = SMBus(self.number)
        except OSError as error:
            match error.errno:
                case errno.ENOENT:
                    text = f"{node} is missing: enable I2C (dtparam=i2c_arm=on in config.txt, module i2c-dev)"
                case errno.EACCES:
                    text = f"{node} may not be opened: add the user to the group i2c"
                case _:
                    text = f"{node} cannot be opened: {error.strerror}"
            raise _numbered(text, error.errno) from error
        with suppress(OSError):  # a driver without it keeps its own time
            ioctl(cast("int", smbus.fd), I2C_TIMEOUT, LONGEST_TRANSFER_MS // 10)
        self._compare_speed()
        return smbus

    def _compare_speed(self) -> None:
        """Say once if the bus runs at another speed than the wiring asks for."""
        asked, self._clock_hz = self._clock_hz, None
        found = bus_speed_hz(self.number)
        if asked and found and asked != found:
            log.warning(
                "%s runs at %d Hz, wiring.toml asks for %d: set dtparam=i2c_arm_baudrate=%d in config.txt",
                *(self.name, found, asked, asked),
            )

    def reopen(self) -> None:
        """Close the bus, and free SDA if a chip holds it; the next transfer opens the bus anew. Never raises."""
        self.close()
        if self._rescue:
            self._rescue.attempt()

    def close(self) -> None:
        """Close the device node; harmless when called again."""
        if self._smbus is not None:
            self._smbus.close()
            self._smbus = None


def bus_speed_hz(number: int, adapters: Path = Path("/sys/class/i2c-adapter")) -> int | None:
    """The speed of /dev/i2c-`number` in the kernel's device tree, in Hz; None where there is none."""
    try:
        cell = (adapters / f"i2c-{number}" / "of_node" / "clock-frequency").read_bytes()
    except OSError:
        return None
    return int.from_bytes(cell, "big")


@dataclass(frozen=True, slots=True)
class Transaction:
    """What went over the wire from START to STOP; `received` is empty if it failed."""

    address: int
    written: bytes | None
    """None: there was no write message."""
    received: bytes | None
    """None: there was no read message."""


class CountingBus:
    """Any bus, with its transactions and bytes counted.

    `wire_bytes` includes the address byte of every message; acknowledge bits and START/STOP are not counted. A failed
    transaction counts as if it had been carried out. With `record` every transaction is kept in `log`.
    """

    def __init__(self, bus: Bus, *, record: bool = False) -> None:
        self.bus = bus
        self.transactions = 0
        self.wire_bytes = 0
        self.record = record
        self.log: list[Transaction] = []

    def clear(self) -> None:
        """Counts to zero, log empty."""
        self.transactions = 0
        self.wire_bytes = 0
        self.log.clear()

    def try_lock(self) -> bool:
        """Take the bus beneath."""
        return self.bus.try_lock()

    def unlock(self) -> None:
        """Give the bus beneath back."""
        self.bus.unlock()

    def writeto(self, address: int, buffer: bytes | bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Write, counted."""
        written = bytes(buffer[start:end])
        self._count(1 + len(written))
        try:
            self.bus.writeto(address, written)
        finally:
            self._log(address, written, None)

    def readfrom_into(self, address: int, buffer: bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Read, counted."""
        view = memoryview(buffer)[start:end]
        self._count(1 + len(view))
        received = bytearray(len(view))
        done = b""
        try:
            self.bus.readfrom_into(address, received)
            view[:] = done = bytes(received)
        finally:
            self._log(address, None, done)

    def writeto_then_readfrom(
        self,
        address: int,
        out_buffer: bytes | bytearray,
        in_buffer: bytearray,
        *,
        out_start: int = 0,
        out_end: int | None = None,
        in_start: int = 0,
        in_end: int | None = None,
    ) -> None:
        """Write and read, counted."""
        written = bytes(out_buffer[out_start:out_end])
        view = memoryview(in_buffer)[in_start:in_end]
        self._count(2 + len(written) + len(view))
        received = bytearray(len(view))
        done = b""
        try:
            self.bus.writeto_then_readfrom(address, written, received)
            view[:] = done = bytes(received)
        finally:
            self._log(address, written, done)

    def _count(self, wire_bytes: int) -> None:
        self.transactions += 1
        self.wire_bytes += wire_bytes

    def _log(self, address: int, written: bytes | None, received: bytes | None) -> None:
        if self.record:
            self.log.append(Transaction(address, written, received))
