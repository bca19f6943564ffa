"""Learning a board: its idle levels and noise, and which wire is which pad.

Everything here is fed step by step and neither waits nor talks: a command, a page or a test looks at the progress and
tells the owner what to do. All results become parts of a `Calibration`, as do the figures' `signatures`.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from firmware.hal.calibration import Calibration, CalibrationError, ChipCalibration, PadCalibration
from firmware.hal.levels import SILENT, usual_touch_pf
from firmware.hal.mpr121 import Mpr121
from firmware.hal.ports import BusError
from firmware.hal.registers import ELECTRODES
from firmware.hal.wiring import HIGHEST_ADDRESS, LOWEST_ADDRESS
from firmware.terms import Fault, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firmware.hal.bus import Bus
    from firmware.hal.calibration import Place
    from firmware.hal.wiring import Wiring

READING_GAP_S = 0.018
"""Readings that are further apart are different updates, with short charge times at least (ESI x SFI is 10 ms)."""

SCAN_READINGS = 100
"""Two seconds at 50 Hz: the mean of so many is ten times as quiet as one."""

MOST_MISSES = 50
"""A chip may miss so many readings in a row, one second: a disturbance, or its start."""

MOVED_PF = 0.5
MOVED_NOISE = 4.0
"""A pad whose last five readings lie further than this from its first was moved by a hand (one nearby adds 1 pF)."""

NOISE_MARGIN = 6.0
"""A threshold is at least so many standard deviations. A baseline follows upward at once, so noise makes it creep up by
two or three of them; what is left of the threshold two updates in a row pass once in hours.
"""

LIGHTEST_PF = 1.7
"""What the lightest figure (3.3 pF) adds at least when it is gripped where it stood: on batteries."""


class Survey:
    """All chips on the bus, wired or not, with all twelve electrodes, read raw.

    While it is used, nobody else may poll the chips; afterwards the board must be opened anew (`Mpr121Board.adopt`).

    Args:
        bus: that the chips are on.
        reopen_bus: called before every start, and when a chip falls silent: the first remedy for a bus that hangs.
    """

    def __init__(self, bus: Bus, reopen_bus: Callable[[], None] = lambda: None) -> None:
        self._bus = bus
        self._reopen_bus = reopen_bus
        self._heard: frozenset[int] = frozenset()
        """The chips that had a reading at the last look."""
        self.chips: dict[int, Mpr121] = {}
        """Those that answer, by address."""
        self.missing: dict[int, str] = {}
        """What those say that do not: one line for each address."""
        self.out_of_range: frozenset[Place] = frozenset()
        """Electrodes that auto-configuration cannot bring into range: a torn wire or a short."""
        self.start()

    def start(self) -> None:
        """Find the chips, and let each configure itself for what is on its pads now."""
        self._reopen_bus()
        self._heard = frozenset()
        self.chips.clear()
        self.missing.clear()
        for address in range(LOWEST_ADDRESS, HIGHEST_ADDRESS + 1):
            chip = Mpr121(self._bus, address, ELECTRODES)
            try:
                chip.start()
            except BusError as error:
                self.missing[address] = str(error)
            else:
                self.chips[address] = chip

    def read(self) -> dict[Place, float]:
        """Picofarads of every electrode; a chip that does not answer or has no reading yet is left out."""
        levels: dict[Place, float] = {}
        beyond: set[Place] = set()
        for address, chip in self.chips.items():
            try:
                snapshot = chip.snapshot()
            except BusError as error:
                self.missing[address] = str(error)
                continue
            self.missing.pop(address, None)
            if not any(snapshot.filtered):
                continue
            config = chip.config
            for electrode, counts in enumerate(snapshot.filtered[:ELECTRODES]):
                levels[address, electrode] = chip.capacitance_pf(electrode, counts)
                if snapshot.out_of_range >> electrode & 1 or not config.lsl <= counts >> 2 <= config.usl:
                    beyond.add((address, electrode))
        self.out_of_range = frozenset(beyond)
        before, self._heard = self._heard, frozenset(address for address, _ in levels)
        if before - self._heard:
            self._reopen_bus()
        return levels


class IdleScan:
    """Measures every pad of `wiring` with nothing on the board; call `step` at every poll until it is `done`."""

    def __init__(self, survey: Survey, wiring: Wiring) -> None:
        self._survey = survey
        self._chips = {chip.address: chip for chip in wiring.chips}
        self._places: dict[str, Place] = wiring.places
        self._wiring = wiring
        self._levels: dict[str, list[float]] = {pad: [] for pad in self._places}
        self._readings = 0
        self._misses = 0
        self._read_s = -math.inf
        survey.start()

    @property
    def progress(self) -> float:
        """0 to 1."""
        return self._readings / SCAN_READINGS

    @property
    def done(self) -> bool:
        """Whether there are enough readings for `calibration`."""
        return self._readings >= SCAN_READINGS

    def step(self, now: float) -> None:
        """Take a reading if there is a new one; `now` in seconds.

        Raises:
            CalibrationError: a pad moved, which is named: begin again with hands and figures off the board. Or a chip
                that answered at the start has fallen silent.
        """
        if self.done or now - self._read_s < READING_GAP_S:
            return
        self._read_s = now
        levels = self._survey.read()
        heard = {address for address, _ in levels}
        for address, chip in self._chips.items():
            if address in self._survey.chips and address not in heard:
                self._miss(chip.title, self._survey.missing.get(address))
                return
        self._misses = 0
        self._readings += 1
        for pad, place in self._places.items():
            if place in levels and place not in self._survey.out_of_range:
                self._levels[pad].append(levels[place])
                self._check_still(pad)

    def _miss(self, chip: str, why: str | None) -> None:
        self._misses += 1
        if self._misses >= MOST_MISSES:
            raise CalibrationError(f"{chip} {SILENT if why is None else f'is lost: {why}'}")

    def _check_still(self, pad: str) -> None:
        levels = self._levels[pad]
        if len(levels) < 10:
            return
        moved_pf = abs(median(levels[-5:]) - median(levels[: len(levels) // 2]))
        if moved_pf > max(MOVED_PF, MOVED_NOISE * _noise_pf(levels)):
            raise CalibrationError(
                f"pad {pad} moved by {moved_pf:.1f} pF while it was measured: "
                "take figures and hands off the board and begin again"
            )

    def faults(self) -> list[Fault]:
        """What cannot be calibrated: chips that do not answer, pads out of range or too noisy."""
        faults: list[Fault] = []
        for address, chip in self._chips.items():
            if address not in self._survey.chips:
                faults.append(Fault(Part.CHIP, str(chip.number), f"{chip.title}: {self._survey.missing[address]}"))
        for pad, (address, _) in self._places.items():
            where = self._chips[address].pad_title(pad)
            noise_pf = _noise_pf(self._levels[pad])
            if address not in self._survey.chips:
                continue
            if not self._is_measured(pad):
                faults.append(Fault(Part.PAD, pad, f"{where} is out of range: check for a broken wire or a short"))
            elif pad in self._wiring.fields and NOISE_MARGIN * noise_pf > LIGHTEST_PF:
                text = f"{where} is noisy ({noise_pf:.2f} pF), light figures are missed: check supply, wire and ground"
                faults.append(Fault(Part.PAD, pad, text))
        return faults

    def _is_measured(self, pad: str) -> bool:
        return len(self._levels[pad]) > self._readings / 2

    def calibration(self, made: str, before: Calibration | None = None) -> Calibration:
        """What was learnt; figures, map and absent pads stay as they were `before`. `made` is ISO 8601.

        Raises:
            CalibrationError: the scan is not done.
        """
        if not self.done:
            raise CalibrationError("the idle scan is not done: measure on")
        pads = {}
        for pad, place in self._places.items():
            if self._is_measured(pad):
                noise_pf = round(_noise_pf(self._levels[pad]), 4)
                touch_pf = max(usual_touch_pf(self._wiring.chip_of(pad), pad), round(NOISE_MARGIN * noise_pf, 4))
                pads[pad] = PadCalibration(round(median(self._levels[pad]), 4), noise_pf, touch_pf, place)
        chips = {
            address: ChipCalibration(charges)
            for address in self._chips
            if address in self._survey.chips and (charges := self._survey.chips[address].charges)
        }
        return replace(before or Calibration(made), made=made, chips=chips, pads=pads)


def left_on_the_board(before: Calibration, after: Calibration) -> list[str]:
    """Pads that rose by a hand's or more since `before` and the others did not: one line each, no fault.

    A scan cannot tell what lies still on a pad from the pad; what was learnt before can, if the wire is the same.
    """
    rises_pf = {
        pad: known.idle_pf - before.pads[pad].idle_pf
        for pad, known in after.pads.items()
        if pad in before.pads and before.pads[pad].place == known.place
    }
    usual_pf = median(rises_pf.values()) if rises_pf else 0.0
    return [
        f"{pad} shows {rise_pf:.1f} pF more than on {before.made}: was something on it? Then measure again"
        for pad, rise_pf in rises_pf.items()
        if rise_pf - usual_pf > RISEN_PF
    ]


def threshold_reason(wiring: Wiring, pad: str, calibrated: PadCalibration) -> str:
    """Why a pad's threshold is what it is, for people."""
    if calibrated.touch_pf > usual_touch_pf(wiring.chip_of(pad), pad):
        return f"{NOISE_MARGIN:g} x its noise of {calibrated.noise_pf:.2f} pF"
    return "usual"


def _noise_pf(levels: list[float]) -> float:
    """Standard deviation of single readings, by what each differs from the one before: slow drift is none."""
    if len(levels) < 2:
        return 0.0
    squares = [(later - sooner) ** 2 for sooner, later in itertools.pairwise(levels)]
    return math.sqrt(sum(squares) / len(squares) / 2)


# --- the map

RISEN_PF = 3.0
"""A finger on a bare pad adds 50 pF, through print and lacquer 5 to 10; a hand over the board 1 or 2."""

CLEARLY = 1.6
"""The pad that is touched rises so many times as much as any other; two that rise more alike are bridged. A hand on a
field with rails lies over each ring with half of what is over the field.
"""

STILL_READINGS = 8
"""A touch is named when so many readings in a row (0.16 s) say the same."""

REST_READINGS = 10
"""Rest is the median of the last so many readings without a touch."""


class PadMap:
    """Which electrode is which pad: the owner touches pad after pad, and `step` says which electrode rose."""

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        """What has been found so far; becomes `Calibration.places`."""
        self._rest: dict[Place, deque[float]] = {}
        self._seen: tuple[Place, ...] = ()
        self._count = 0
        self._told = False

    @property
    def ready(self) -> bool:
        """Whether the rest is known and nothing is touched: the next pad may be asked for."""
        return not self._seen and any(len(levels) == REST_READINGS for levels in self._rest.values())

    def step(self, levels: Mapping[Place, float]) -> tuple[Place, ...]:
        """Take a `Survey.read`; once per touch the electrodes that rose: one, or several that rose alike.

        Several mean a solder bridge or two fingers: nothing can be told until they are parted.
        """
        risen = self._risen(levels)
        if not risen:
            self._count = 0 if self._seen else self._count + 1
            for place, level_pf in levels.items():
                if math.isfinite(level_pf):
                    self._rest.setdefault(place, deque(maxlen=REST_READINGS)).append(level_pf)
            self._seen, self._told = (), False
            return ()
        self._count = self._count + 1 if risen == self._seen else 1
        self._seen = risen
        if self._told or self._count < STILL_READINGS:
            return ()
        self._told = True
        return risen

    def _risen(self, levels: Mapping[Place, float]) -> tuple[Place, ...]:
        rises = {
            place: levels[place] - median(rest)
            for place, rest in self._rest.items()
            if len(rest) == REST_READINGS and place in levels
        }
        most_pf = max(rises.values(), default=0.0)
        if most_pf < RISEN_PF:
            return ()
        return tuple(sorted(place for place, rise_pf in rises.items() if rise_pf > most_pf / CLEARLY))

    def assign(self, pad: str, place: Place) -> None:
        """Note that `pad` is at `place`; what was known of `pad` is forgotten.

        Raises:
            CalibrationError: another pad is there already, which is named.
        """
        for other, taken in self.places.items():
            if taken == place and other != pad:
                raise CalibrationError(
                    f"that is the wire of {other} (electrode {place[1]} of the chip at 0x{place[0]:02X}) already: "
                    f"touch {pad}, or begin the map again"
                )
        self.places[pad] = place
