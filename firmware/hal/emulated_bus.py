"""An I2C bus with emulated chips on it, and with everything that goes wrong on a real one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import TYPE_CHECKING

from firmware.hal.bus import EREMOTEIO, ETIMEDOUT, bus_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.emulator import Chip

EIO = 5
UNSTICK_PULSES = 9
"""Clock pulses that free a chip which holds SDA in the middle of a byte (I2C specification, bus clear)."""


class Disturbance(Enum):
    """What can be injected."""

    NACK = EREMOTEIO
    """The address is not acknowledged."""
    TIMEOUT = ETIMEDOUT
    """The bus does not come free."""
    IO_ERROR = EIO
    """A transfer breaks off."""
    STUCK_SDA = "stuck SDA"
    """A chip holds SDA low: every transfer on the bus times out until `reopen` or nine `clock_pulses`."""
    TORN_READ = "torn read"
    """The first half of a read comes from before, the rest from now (two moments in one answer)."""
    BYTE_FLIP = "byte flip"
    """Bits of one byte of a read are inverted."""


@dataclass(slots=True)
class _Injected:
    fault: Disturbance
    address: int | None
    left: int | None
    byte: int
    mask: int


class EmulatedBus:
    """The five methods over `chips` by address. Where no chip is, and under a fault, transfers raise `BusError`."""

    name = "the emulated I2C bus"

    def __init__(self, chips: Mapping[int, Chip]) -> None:
        self.chips = dict(chips)
        self._lock = Lock()
        self._faults: list[_Injected] = []
        self._pulses = 0
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
    ) -> None:
        """Let the next `count` transfers (None: all until `clear`) with `address` (None: any) suffer `fault`.

        Torn reads and byte flips wait for reads. `byte` and `mask` say what a byte flip inverts.
        """
        if fault is Disturbance.STUCK_SDA:
            self._pulses = 0
        self._faults.append(_Injected(fault, address, count, byte, mask))

    def clear(self) -> None:
        """The bus is sound again."""
        self._faults.clear()

    def clock_pulses(self, number: int) -> None:
        """The master clocks SCL by hand; nine pulses in all free a stuck SDA."""
        self._pulses += number
        if self._pulses >= UNSTICK_PULSES:
            self._release_sda()

    def reopen(self) -> None:
        """Close and open the bus, which frees a stuck SDA."""
        self._release_sda()

    def close(self) -> None:
        """Nothing to give back."""

    def _release_sda(self) -> None:
        self._faults = [injected for injected in self._faults if injected.fault is not Disturbance.STUCK_SDA]

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
        chip.write(bytes(buffer[start:end]))
        chip.stop()

    def readfrom_into(self, address: int, buffer: bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Read into `buffer[start:end]`, STOP."""
        chip = self._select(address)
        view = memoryview(buffer)[start:end]
        view[:] = self._answer(address, chip, 0, len(view))
        chip.stop()

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
        chip.write(written)
        view = memoryview(in_buffer)[in_start:in_end]
        view[:] = self._answer(address, chip, written[0] if written else 0, len(view))
        chip.stop()

    def _select(self, address: int) -> Chip:
        """The chip that acknowledges, unless a fault that stops the whole transfer comes first."""
        if self._faults:
            for fault in (Disturbance.STUCK_SDA, Disturbance.NACK, Disturbance.TIMEOUT, Disturbance.IO_ERROR):
                if self._strikes(fault, address):
                    number = ETIMEDOUT if fault is Disturbance.STUCK_SDA else int(fault.value)
                    raise bus_error(number, address, self.name)
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

    def _answer(self, address: int, chip: Chip, register: int, size: int) -> bytes:
        answer = chip.read(size)
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
