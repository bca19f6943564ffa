"""The MPR121: Adafruit's driver finds and resets it, the configuration and the reading are ours.

Adafruit's driver forces ECR to 0x8F and seeds all baselines anew with five bits whenever a threshold is set, reads
every pad by itself, and knows neither auto-configuration nor over-current; so it is used for presence and reset only.
Ours writes all settings in one Stop, reads them back, and afterwards reads a whole chip in one transaction.

Sources: data sheet Rev. 4 (registers 5.1-5.13), AN3889 (charge), AN3891 and AN3892 (filters, debounce).
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from struct import Struct
from typing import TYPE_CHECKING, Self

from firmware.hal import registers as reg
from firmware.hal.bus import EREMOTEIO
from firmware.hal.mpr121_config import Charge, Mpr121Config, decode_charges
from firmware.hal.ports import BusError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware.hal.bus import Bus

_TOUCH_BITS = 0x0FFF
_SNAPSHOT = Struct(f"<HH{reg.CHANNELS}H{reg.CHANNELS}B")
"""0x00-0x2A: touch, out of range, filtered data, baselines."""
_STOP = 0x00
_FROM_REGISTERS = 0
"""CL: tracking on, each baseline goes on from its register."""
_NO_CHARGES = (Charge(0, 0),) * reg.CHANNELS


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One chip at one moment. Bits and items by electrode; item 12 is ELEPROX. Readings in counts, 0..1023."""

    touched: int
    out_of_range: int
    filtered: tuple[int, ...]
    baseline: tuple[int, ...]
    """Ten bits, of which the chip tells the upper eight."""

    @classmethod
    def decode(cls, registers: bytes) -> Self:
        """From the 43 bytes of 0x00-0x2A."""
        touched, out_of_range, *counts = _SNAPSHOT.unpack(registers)
        return cls(
            touched=touched & _TOUCH_BITS,
            out_of_range=out_of_range & _TOUCH_BITS,
            filtered=tuple([value & 0x3FF for value in counts[: reg.CHANNELS]]),
            baseline=tuple([value << 2 for value in counts[reg.CHANNELS :]]),
        )


class Mpr121:
    """One chip on `bus` at `address` with the lowest `electrodes` (1..12) in use.

    Every method that talks to the chip raises `BusError`, whose text names the address and what to check.
    """

    def __init__(
        self, bus: Bus, address: int, electrodes: int = reg.ELECTRODES, config: Mpr121Config | None = None
    ) -> None:
        if not 1 <= electrodes <= reg.ELECTRODES:
            raise ValueError(f"electrodes must be 1..{reg.ELECTRODES}, is {electrodes}")
        self.bus = bus
        self.address = address
        self.electrodes = electrodes
        self.config = config or Mpr121Config()
        self.charges = self.config.charges
        self.over_current = 0
        """How often the chip has reported over-current at REXT; it is in Stop then and needs `restart`."""
        self._baselines: bytes | None = None
        self._ecr = _STOP
        self._status = bytearray(2)
        self._snapshot = bytearray(reg.SNAPSHOT_SIZE)

    # --- start

    def start(self) -> None:
        """Find and reset the chip by Adafruit's driver (121 transactions, 362 bytes, 1 ms of sleep), then `restart`."""
        os.environ.setdefault("BLINKA_SKIP_DEPENDENCY_CHECK", "1")  # Blinka would offer to run pip
        from adafruit_mpr121 import MPR121  # noqa: PLC0415 - costs 25 ms and pulls in Blinka

        self.charges = self.config.charges
        self._baselines = None
        try:
            MPR121(self.bus, self.address)
        except ValueError as error:  # the driver's probe hides why
            cause = error.__context__
            text = str(cause) if isinstance(cause, BusError) else f"nothing answers at {self._name}: check its wires"
            raise _bus_error(text, cause if isinstance(cause, OSError) else None) from error
        except RuntimeError as error:
            text = f"{self._name} is not as after a reset (0x5D is not 0x24): is it an MPR121, is its 3V3 steady?"
            raise _bus_error(text) from error
        except OSError as error:
            raise _translate(error, self._name) from error
        self.restart()

    def restart(self) -> None:
        """Write our whole configuration in one Stop, compare, run: 7 transactions, 8 if a snapshot has been taken.

        What auto-configuration has found is kept, and so are the baselines of the last snapshot: a hand that is on a
        pad just then is still a touch. Without one they start with the first update, which comes one period later.
        """
        self.config = replace(self.config, charges=self.charges)
        blocks = self.config.blocks()
        if self._baselines is not None:
            blocks = ((reg.BASELINE, self._baselines), *blocks)
        self._write(reg.ECR, bytes((_STOP,)))
        for register, values in blocks:
            self._write(register, values)
        self._compare(blocks)
        self._run(self.config.cl if self._baselines is None else _FROM_REGISTERS)

    def relearn(self) -> None:
        """Forget the charges and let auto-configuration find them anew: for a moment when no pad is touched."""
        self.charges = None
        self._baselines = None
        self.restart()

    # --- reading

    def status(self) -> int:
        """Touch bits of ELE0-11 in one transaction. Over-current is cleared and counted."""
        self._read(reg.TOUCH_STATUS_L, self._status)
        low, high = self._status
        if high & reg.OVCF:
            self._clear_over_current()
        return (low | high << 8) & _TOUCH_BITS

    def snapshot(self) -> Snapshot:
        """Everything the chip measures, of one moment, in one transaction.

        The first one with readings is followed by one more transaction, for what auto-configuration has found.
        Over-current is cleared and counted.
        """
        self._read(reg.TOUCH_STATUS_L, self._snapshot)
        if self._snapshot[1] & reg.OVCF:
            self._clear_over_current()
        snapshot = Snapshot.decode(bytes(self._snapshot))
        if any(snapshot.filtered):  # after a reset or over-current there are no readings, and no baselines either
            if self.charges is None and not self._learn(snapshot):
                return replace(snapshot, filtered=(0,) * reg.CHANNELS)  # still those that Adafruit's driver left behind
            self._baselines = bytes(self._snapshot[reg.BASELINE :])
        return snapshot

    def healthy(self) -> bool:
        """Whether 0x5C-0x5E are as we wrote them; after a brown-out or over-current they are not."""
        found = bytearray(3)
        self._read(reg.AFE1, found)
        return bytes(found) == self.config.afe() + bytes((self._ecr,))

    @property
    def charges(self) -> tuple[Charge, ...] | None:
        """CDC and CDT of 13 channels, as stored or as auto-configuration found them; None: not known yet."""
        return self._charges

    @charges.setter
    def charges(self, charges: tuple[Charge, ...] | None) -> None:
        self._charges = charges
        config = self.config
        in_force = (Charge(each.cdc or config.cdc, each.cdt or config.cdt) for each in charges or _NO_CHARGES)
        self._counts_pf_v = tuple(each.counts_pf_v for each in in_force)

    def capacitance_pf(self, electrode: int, counts: float) -> float:
        """Picofarads of an electrode that reads `counts`, by the charge in force (AN3889); infinite at 0 counts."""
        return self._counts_pf_v[electrode] / (self.config.vdd * counts) if counts > 0 else math.inf

    def counts(self, electrode: int, picofarad: float) -> float:
        """What an electrode of `picofarad` reads, 0..1023: the inverse of `capacitance_pf`."""
        return min(self._counts_pf_v[electrode] / self.config.vdd / picofarad, 1023.0)

    # --- changing in mid-game

    def set_thresholds(
        self, thresholds: Mapping[int, tuple[int, int]], baselines: Mapping[int, float] | None = None
    ) -> None:
        """Set touch and release threshold of some electrodes in one Stop; charges stay as they are.

        Baselines stay too, but for those in `baselines`, in counts: what a pad reads at rest that is not at rest now.
        """
        pairs = list(self.config.thresholds)
        for electrode, pair in thresholds.items():
            pairs[electrode] = pair
        self.config = replace(self.config, thresholds=tuple(pairs))
        self._change((reg.TOUCH_THRESHOLD, self.config.threshold_block()), *self._seed(baselines or {}))

    def set_baselines(self, baselines: Mapping[int, float]) -> None:
        """Set what some electrodes read at rest, in counts, in one Stop; the others' baselines stay as they are."""
        self._change(*self._seed(baselines))

    def _seed(self, baselines: Mapping[int, float]) -> list[tuple[int, bytes]]:
        """The blocks to write, of neighbours together; a restart will keep these values, too."""
        kept = bytearray(self._baselines or bytes(reg.CHANNELS))
        blocks: list[tuple[int, bytes]] = []
        for electrode, counts in sorted(baselines.items()):
            kept[electrode] = min(round(counts), 1023) >> 2
            first, values = blocks[-1] if blocks else (0, b"")
            if first + len(values) == reg.BASELINE + electrode:
                blocks[-1] = first, values + kept[electrode : electrode + 1]
            else:
                blocks.append((reg.BASELINE + electrode, bytes(kept[electrode : electrode + 1])))
        if self._baselines is not None:
            self._baselines = bytes(kept)
        return blocks

    def rebase(self, electrode: int) -> None:
        """Make the present reading of one electrode its baseline (for a pad that is stuck); the others keep theirs."""
        reading = bytearray(2)
        self._read(reg.FILTERED_DATA + 2 * electrode, reading)
        self._change((reg.BASELINE + electrode, bytes(((reading[0] | (reading[1] & 3) << 8) >> 2,))))

    def _change(self, *blocks: tuple[int, bytes]) -> None:
        """Write blocks in Stop and run on from the baselines as they stand, without auto-configuration.

        Before auto-configuration has been read back its results may not be complete: then it must run again.
        """
        self.config = replace(self.config, charges=self.charges)
        self._write(reg.ECR, bytes((_STOP,)))
        for register, values in blocks:
            self._write(register, values)
        self._write(reg.AUTO_CONFIG0, self.config.auto_config()[:1])
        self._compare(blocks)
        self._run(self.config.cl if self.charges is None else _FROM_REGISTERS)

    def _run(self, cl: int) -> None:
        self._ecr = self.config.ecr(self.electrodes, cl)
        self._write(reg.ECR, bytes((self._ecr,)))
        found = bytearray(1)
        self._read(reg.ECR, found)
        if found[0] != self._ecr:
            raise self._mismatch(reg.ECR, self._ecr, found[0])

    def _compare(self, blocks: tuple[tuple[int, bytes], ...]) -> None:
        """Read the blocks back, in one transaction."""
        first = min(register for register, _ in blocks)
        found = bytearray(max(register + len(values) for register, values in blocks) - first)
        self._read(first, found)
        for register, values in blocks:
            for offset, value in enumerate(values):
                if (answer := found[register - first + offset]) != value:
                    raise self._mismatch(register + offset, value, answer)

    def _mismatch(self, register: int, written: int, found: int) -> BusError:
        check = "is REXT (75 kOhm) sound?" if register == reg.ECR else "check 3V3, SDA, SCL and their pull-ups"
        values = f"reads 0x{found:02X}, written was 0x{written:02X}"
        return _bus_error(f"{self._name}: register 0x{register:02X} {values}: {check}")

    def _learn(self, snapshot: Snapshot) -> bool:
        """Read back the charges; False while auto-configuration has not come to any: they come with the first update.

        Before, the readings are those of the run in which Adafruit's driver leaves the chip (5.1: Stop keeps them).
        """
        block = bytearray(reg.GPIO_CTL0 - reg.CDC)
        self._read(reg.CDC, block)
        charges = decode_charges(bytes(block))
        if self.config.ace and not any(charge.cdc for charge in charges) and not snapshot.out_of_range:
            return False
        self.charges = charges
        return True

    def _clear_over_current(self) -> None:
        self.over_current += 1
        self._write(reg.TOUCH_STATUS_H, bytes((reg.OVCF,)))

    # --- the wire

    @property
    def _name(self) -> str:
        return f"MPR121 at 0x{self.address:02X}"

    def _write(self, register: int, values: bytes) -> None:
        try:
            self.bus.writeto(self.address, bytes((register,)) + values)
        except OSError as error:
            raise _translate(error, self._name) from error

    def _read(self, register: int, values: bytearray) -> None:
        try:
            self.bus.writeto_then_readfrom(self.address, bytes((register,)), values)
        except OSError as error:
            raise _translate(error, self._name) from error


def _translate(error: OSError, name: str) -> BusError:
    """A `BusError` already says what to check; a foreign bus may raise less."""
    if isinstance(error, BusError):
        return error
    return _bus_error(
        f"{name} does not answer ({error.strerror or error}): check SDA, SCL, 3V3 and the ADDR wire", error
    )


def _bus_error(text: str, cause: OSError | None = None) -> BusError:
    error = BusError(text)
    error.errno = cause.errno if cause is not None else EREMOTEIO
    return error
