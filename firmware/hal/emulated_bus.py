"""An I2C bus with emulated chips on it, and with everything that goes wrong on a real one."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import TYPE_CHECKING

from firmware.hal.bus import EREMOTEIO, ETIMEDOUT, bus_error, stuck_error
from firmware.hal.bus_clear import BusRescue
from firmware.hal.ports import PinError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from firmware.hal.bus_clear import BusLines
    from firmware.hal.emulator import Chip

EIO = 5
BYTE = 8
"""Bits of a byte; the acknowledge follows."""


class Disturbance(Enum):
    """What can be injected."""

    NACK = EREMOTEIO
    """The address is not acknowledged."""
    TIMEOUT = ETIMEDOUT
    """The bus does not come free."""
    IO_ERROR = EIO
    """A transfer breaks off."""
    STUCK_SDA = "stuck SDA"
    """A chip is in the middle of sending zeros and holds SDA low until it is clocked to its end and sees a STOP."""
    SHORTED_SDA = "shorted SDA"
    """SDA is joined to ground: clocking does not help."""
    STUCK_SCL = "stuck SCL"
    """SCL is joined to ground."""
    TORN_READ = "torn read"
    """The first half of a read comes from before, the rest from now (two moments in one answer)."""
    BYTE_FLIP = "byte flip"
    """Bits of one byte of a read are inverted."""


HELD = (Disturbance.STUCK_SDA, Disturbance.SHORTED_SDA, Disturbance.STUCK_SCL)
"""What keeps a line low."""


@dataclass(slots=True)
class _Injected:
    fault: Disturbance
    address: int | None
    left: int | None
    byte: int
    mask: int
    bits: int


class EmulatedLines:
    """SDA and SCL of an emulated bus as bare lines (port `BusLines`), and the chip that holds SDA.

    The chip moves on at each falling edge of SCL. After its last bit it lets SDA go for the acknowledge: if that is
    low when SCL rises it sends a further byte of zeros, else it is done. A STOP (SDA
    rises while SCL is high) ends all.
    """

    def __init__(self, held: list[_Injected]) -> None:
        self._held = held
        self._taken = False
        self._sda_pulled = self._scl_pulled = False
        self.pulses = 0
        """Rising edges of SCL so far."""
        self.stops = 0
        """STOP conditions so far."""

    def levels(self) -> tuple[bool, bool]:
        """Whether SDA and SCL are high."""
        low_sda = self._sda_pulled or any(
            each.fault is Disturbance.SHORTED_SDA or (each.fault is Disturbance.STUCK_SDA and each.bits)
            for each in self._held
        )
        low_scl = self._scl_pulled or any(each.fault is Disturbance.STUCK_SCL for each in self._held)
        return not low_sda, not low_scl

    def take(self) -> None:
        """From here on the lines may be pulled."""
        self._taken = True

    def give_back(self) -> None:
        """From here on they may not."""
        self._taken = False

    def pull(self, *, sda: bool, scl: bool) -> None:
        """Pull these lines low and let the others go."""
        if not self._taken:
            raise ValueError("the lines belong to the I2C controller: take them first")
        before_sda, before_scl = self.levels()
        self._sda_pulled, self._scl_pulled = sda, scl
        after_sda, after_scl = self.levels()
        stuck = [each for each in self._held if each.fault is Disturbance.STUCK_SDA]
        if before_scl and not after_scl:
            for each in stuck:
                each.bits = each.bits - 1 if each.bits else BYTE
        elif after_scl and not before_scl:
            self.pulses += 1
            if after_sda:  # no acknowledge
                self._let_go(stuck)
        elif after_scl and after_sda and not before_sda:
            self.stops += 1
            self._let_go(stuck)

    def _let_go(self, stuck: list[_Injected]) -> None:
        for each in stuck:
            self._held.remove(each)

    def wait(self) -> None:
        """No time passes."""


class EmulatedBus:
    """The five methods over `chips` by address. Where no chip is, and under a fault, transfers raise `BusError`.

    Args:
        chips: by address.
        arbitrates: whether the master notices that SDA is held, as that of a Pi 5 does. That of the others takes it for
            an acknowledge of every address, and for zeros.
    """

    name = "the emulated I2C bus"

    def __init__(self, chips: Mapping[int, Chip], *, arbitrates: bool = True) -> None:
        self.chips = dict(chips)
        self.arbitrates = arbitrates
        self.lines_seen = True
        """Whether SDA and SCL can be had as bare lines; not so where a kernel has no /dev/gpiomem."""
        self._rescue = BusRescue(self.name, self._lines)
        self._lock = Lock()
        self._faults: list[_Injected] = []
        self._earlier: dict[tuple[int, int], bytes] = {}  # last answer by address and register, for torn reads

    # --- faults

    def inject(
        self,
        fault: Disturbance,
        *,
        address: int | None = None,
        count: int | None = None,
        byte: int = 0,
        mask: int = 0x01,
        bits: int = BYTE,
    ) -> None:
        """Let the next `count` transfers (None: all until `clear`) with `address` (None: any) suffer `fault`.

        Torn reads and byte flips wait for reads. `byte` and `mask` say what a byte flip inverts, `bits` (1..8) how much
        of its byte a chip that holds SDA has still to send.
        """
        self._faults.append(_Injected(fault, address, count, byte, mask, bits))

    def clear(self) -> None:
        """The bus is sound again."""
        self._faults.clear()

    @contextmanager
    def _lines(self) -> Iterator[BusLines]:
        if not self.lines_seen:
            raise PinError("/dev/gpiomem is missing")
        held = [each for each in self._faults if each.fault in HELD]
        lines = EmulatedLines(held)
        yield lines
        self._faults = [each for each in self._faults if each.fault not in HELD or each in held]

    def reopen(self) -> None:
        """What the real bus does: opening anew alone helps nothing, so the lines are looked at."""
        self._rescue.attempt()

    def close(self) -> None:
        """Nothing to give back."""

    # --- the five methods

    def try_lock(self) -> bool:
        """Take the bus for several transactions; False if another has it."""
        return self._lock.acquire(blocking=False)

    def unlock(self) -> None:
        """Give the bus back."""
        self._lock.release()

    def writeto(self, address: int, buffer: bytes | bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Write `buffer[start:end]`, STOP."""
        chip = self._select(address)
        if chip:
            chip.write(bytes(buffer[start:end]))
            chip.stop()

    def readfrom_into(self, address: int, buffer: bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Read into `buffer[start:end]`, STOP."""
        chip = self._select(address)
        view = memoryview(buffer)[start:end]
        view[:] = self._answer(address, chip, 0, len(view))

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
        """Write, repeated START, read, STOP."""
        chip = self._select(address)
        written = bytes(out_buffer[out_start:out_end])
        if chip:
            chip.write(written)
        view = memoryview(in_buffer)[in_start:in_end]
        view[:] = self._answer(address, chip, written[0] if written else 0, len(view))

    def _select(self, address: int) -> Chip | None:
        """The chip that acknowledges; None: a held SDA does. A fault that stops the whole transfer comes first."""
        trouble = self._rescue.still()
        if self._faults:
            for fault in HELD:
                if self._strikes(fault, address):
                    if trouble:
                        raise stuck_error(trouble)
                    if fault is Disturbance.STUCK_SCL or self.arbitrates:
                        raise bus_error(ETIMEDOUT, address, self.name)
                    return None
            for fault in (Disturbance.NACK, Disturbance.TIMEOUT, Disturbance.IO_ERROR):
                if self._strikes(fault, address):
                    raise bus_error(int(fault.value), address, self.name)
        chip = self.chips.get(address)
        if chip is None or not chip.powered:
            raise bus_error(EREMOTEIO, address, self.name)
        return chip

    def _strikes(self, fault: Disturbance, address: int) -> _Injected | None:
        for injected in self._faults:
            if injected.fault is fault and injected.address in (None, address):
                if injected.left is not None:
                    injected.left -= 1
                    if injected.left <= 0:
                        self._faults.remove(injected)
                return injected
        return None

    def _answer(self, address: int, chip: Chip | None, register: int, size: int) -> bytes:
        if chip is None:
            return bytes(size)
        answer = chip.read(size)
        chip.stop()
        key = (address, register)
        earlier = self._earlier.get(key, b"")
        self._earlier[key] = answer
        if not self._faults:
            return answer
        if self._strikes(Disturbance.TORN_READ, address):
            half = (size + 1) // 2
            answer = earlier[:half].ljust(half, b"\0") + answer[half:]
        if (flip := self._strikes(Disturbance.BYTE_FLIP, address)) and size:
            flipped = bytearray(answer)
            flipped[flip.byte % size] ^= flip.mask
            answer = bytes(flipped)
        return answer
