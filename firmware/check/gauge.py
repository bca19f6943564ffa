"""What the chips read, seen beside the driver: every pad in counts and picofarads, with its noise.

A check must not believe the driver whose board it checks: charges, baselines and readings are taken from the chips'
own registers. Reading them changes nothing.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from firmware.hal import registers as reg
from firmware.hal.bus import read_registers
from firmware.hal.levels import has_no_counts
from firmware.hal.mpr121 import Snapshot
from firmware.hal.mpr121_config import Charge, decode_charges
from firmware.hal.wiring import HIGHEST_ADDRESS, LOWEST_ADDRESS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from firmware.hal.bus import Bus
    from firmware.hal.wiring import ChipWiring

VDD = 3.3
"""Supply in volts; a reading in picofarads is as wrong as this is."""

MOST_READINGS = 200
"""Four seconds of polls: what noise is told from."""

SILENT_READINGS = 10
"""A chip without any counts so often in a row is not just starting: 0.2 s of polls, a second of the table."""

KINDS = ("Touch field", "field", "rail", "colour pad")


@dataclass(frozen=True, slots=True)
class PadReading:
    """One pad as it is now. `counts` and `pf` are means over the last readings, `noise_counts` their deviation."""

    pad: str
    kind: str
    electrode: int
    counts: float
    noise_counts: float
    baseline: int
    pf: float
    touched: bool
    out_of_range: bool
    charge: Charge


@dataclass(slots=True)
class ChipGauge:
    """One chip: its readings so far, newest last, all with the same charges; and its other registers."""

    wiring: ChipWiring
    snapshots: list[Snapshot] = field(default_factory=list)
    charges: tuple[Charge, ...] = ()
    """What every electrode was charged with when these were read."""
    setup: bytes = b""
    """0x2B-0x7F, as they are now."""
    error: str = ""
    """Why the last reading failed; empty if it did not."""
    empty: int = 0
    """How many readings in a row had no counts on any pad, but for noise."""

    @property
    def silent(self) -> bool:
        """Whether it answers and measures nothing, for longer than it takes to start."""
        return self.empty >= SILENT_READINGS

    @property
    def trouble(self) -> str:
        """Why it tells nothing now; empty if it does."""
        return self.error or ("measures nothing" if self.silent or not self.snapshots else "")

    def take(self, registers: bytes) -> None:
        """Take one reading of 0x00-0x7F. A chip that starts, or is dead, has no counts: it keeps what it had."""
        self.setup = registers[reg.MHDR :]
        snapshot = Snapshot.decode(registers[: reg.SNAPSHOT_SIZE])
        if has_no_counts(snapshot, self.wiring.wires.values()):
            self.empty += 1
            return
        self.empty = 0
        charges = _charges(registers)
        if charges != self.charges:  # set up anew: counts from before say nothing of these charges
            self.snapshots = []
            self.charges = charges
        self.snapshots = [*self.snapshots[1 - MOST_READINGS :], snapshot]

    def pads(self) -> list[PadReading]:
        """Every wired pad, by electrode; empty if nothing has been read."""
        if not self.snapshots:
            return []
        newest = self.snapshots[-1]
        wiring = self.wiring
        tables: tuple[Mapping[Any, int], ...] = (wiring.touches, wiring.fields, wiring.rails, wiring.badges)
        readings = []
        for kind, table in zip(KINDS, tables, strict=True):
            for pad, electrode in table.items():
                counts = [snapshot.filtered[electrode] for snapshot in self.snapshots]
                mean, charge = fmean(counts), self.charges[electrode]
                reading = PadReading(
                    pad=str(pad),
                    kind=kind,
                    electrode=electrode,
                    counts=mean,
                    noise_counts=noise(counts),
                    baseline=newest.baseline[electrode],
                    pf=charge.picofarad(mean, VDD),
                    touched=bool(newest.touched >> electrode & 1),
                    out_of_range=bool(newest.out_of_range >> electrode & 1),
                    charge=charge,
                )
                readings.append(reading)
        return sorted(readings, key=lambda reading: reading.electrode)

    def pf(self, electrode: int) -> float:
        """An electrode at the newest reading, nan if there is none."""
        if not self.snapshots or self.silent:
            return math.nan
        return self.charges[electrode].picofarad(self.snapshots[-1].filtered[electrode], VDD)


def _charges(registers: bytes) -> tuple[Charge, ...]:
    """What every electrode is charged with: its own values, or the chip's where those are 0 (5.8)."""
    cdc, cdt = registers[reg.AFE1] & 0x3F, registers[reg.AFE2] >> 5
    return tuple(Charge(own.cdc or cdc, own.cdt or cdt) for own in decode_charges(registers[reg.CDC : reg.GPIO_CTL0]))


def noise(counts: Sequence[float]) -> float:
    """Standard deviation of single readings, by what each differs from the one before.

    The largest fifth of the differences is left out, so a hand that comes or goes is no noise; 0.66 is what normal
    deviates have left then.
    """
    squares = sorted((later - sooner) ** 2 / 2 for sooner, later in itertools.pairwise(counts))
    kept = squares[: round(0.8 * len(squares))]
    return math.sqrt(fmean(kept)) / 0.66 if kept else 0.0


class Gauge:
    """All chips of a board."""

    def __init__(self, bus: Bus, chips: Sequence[ChipWiring]) -> None:
        self._bus = bus
        self.chips = [ChipGauge(chip) for chip in chips]

    def read(self) -> None:
        """One reading of every chip; a chip that does not answer keeps what it had."""
        for chip in self.chips:
            try:
                registers = read_registers(self._bus, chip.wiring.address, 0, reg.TL + 1)
            except OSError as error:
                chip.error, chip.empty = str(error), 0
            else:
                chip.error = ""
                chip.take(registers)

    def forget(self) -> None:
        """Begin anew: what was read while chips started is no noise."""
        for chip in self.chips:
            chip.snapshots.clear()

    def strangers(self, named: Collection[int]) -> list[int]:
        """Addresses of the MPR121 at which something answers, though it is none of those that are `named`."""
        return [
            address
            for address in range(LOWEST_ADDRESS, HIGHEST_ADDRESS + 1)
            if address not in named and self._answers(address)
        ]

    def _answers(self, address: int) -> bool:
        try:
            read_registers(self._bus, address, 0, 1)
        except OSError:
            return False
        return True
