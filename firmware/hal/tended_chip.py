"""One MPR121 of the board, kept alive: started, watched, restarted, and given up for a while when it does not answer.

Nothing here raises: what fails is logged once, named in `faults()`, and tried again with growing pauses. The rest of
the board plays on.
"""

from __future__ import annotations

import logging
import math
from enum import Enum
from typing import TYPE_CHECKING

from firmware.hal.mpr121 import Mpr121
from firmware.hal.ports import BusError
from firmware.hal.wiring import LOWEST_ADDRESS
from firmware.terms import Fault, Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.hal.bus import Bus
    from firmware.hal.mpr121 import Snapshot
    from firmware.hal.wiring import ChipWiring

log = logging.getLogger(__name__)

PATIENCE = 3
"""Failed transfers in a row until a chip is lost; the first two may be a disturbance."""

FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 8.0
"""A lost chip is tried again after a pause that doubles from the first to the longest."""

SOUND_S = 10.0
"""A chip that has worked this long starts again with the first pause."""

OVER_CURRENTS = 3
OVER_CURRENT_WINDOW_S = 60.0
"""So many over-currents within the window mean a wrong or broken REXT: the chip is named as faulty."""

FIELD_RISE_PF = 0.7
"""A field counts as touched from here: the lightest figure (2.2 pF) adds 1.1 pF when gripped where it stood."""

TOUCH_RISE_PF = 4.0
"""A finger on a bare Touch field adds 50 pF or more, through 1 mm of lacquer still 10 pF; a hand nearby 1 or 2."""

RELEASE_SHARE = 0.5
"""Release threshold as a share of the touch threshold."""

LOWEST_COUNTS = 4
"""No threshold lies below twice the noise of one to two counts."""

LOWEST_IDLE = 50
HIGHEST_IDLE = 1000
"""Counts that an untouched pad may read; auto-configuration aims at 724. Outside, it is shorted or torn off."""

DRIFT_PF = 0.3
DOUBT_S = 0.5
"""Idle levels follow changes up to this at once, and smoothly; a greater rise is believed when it is there still after
so long: what a hand does the chip calls a touch by then.
"""

DRIFT_SHARE = 0.25
"""Share of a small change that one measurement moves the idle level by."""


class ChipState(Enum):
    """How a chip is doing.

    OK: answers. DEGRADED: its last transfer failed. LOST: left alone until its next try. RECOVERING: configured, its
    first measurement is due.
    """

    OK = "ok"
    DEGRADED = "degraded"
    LOST = "lost"
    RECOVERING = "recovering"


class TendedChip:
    """One chip with its state, its touch mask, and its pads' levels in picofarads.

    `mask` has a bit for each electrode that is touched; it keeps its last value through a short disturbance and is 0
    while the chip is lost.
    """

    def __init__(self, wiring: ChipWiring, bus: Bus, reopen_bus: Callable[[], None]) -> None:
        self.wiring = wiring
        self.address = wiring.address
        self.state = ChipState.LOST
        self.mask = 0
        self.resets = 0
        """How often it was found reset or in Stop and configured anew."""
        self.level_pf = [math.nan] * wiring.electrodes
        """Capacitance of each electrode at the last measurement."""
        self.idle_pf = [math.nan] * wiring.electrodes
        """Capacitance of each electrode at rest, with whatever figure stands there."""
        self._mpr121 = Mpr121(bus, wiring.address, wiring.electrodes)
        self._reopen_bus = reopen_bus
        self._touch_electrodes = frozenset(wiring.touches.values())
        self._pads = {
            electrode: str(pad) for pads in (wiring.touches, wiring.fields) for pad, electrode in pads.items()
        }
        self._doubted: dict[int, tuple[float, float]] = {}
        self._out_of_range = 0
        self._started = False
        self._failures = 0
        self._pause_s = FIRST_PAUSE_S
        self._again_s = float("-inf")
        self._well_since_s = float("inf")
        self._over_currents_s: list[float] = []
        self._fault: Fault | None = None
        self._logged = ""

    # --- what is wrong

    @property
    def name(self) -> str:
        """For people: name and address."""
        return f"MPR121 {self.wiring.name!r} at 0x{self.address:02X}"

    def faults(self) -> list[Fault]:
        """The chip if it does not work, or each of its pads that cannot be measured."""
        if self._fault:
            return [self._fault]
        return [
            Fault(
                Part.PAD,
                self._pads[electrode],
                f"pad {self._pads[electrode]} ({self.name}, electrode {electrode}) is out of range: "
                "check for a broken wire or a short",
            )
            for electrode in sorted(self._pads)
            if self._out_of_range >> electrode & 1
        ]

    def _report(self, text: str) -> None:
        self._fault = Fault(Part.CHIP, str(self.address - LOWEST_ADDRESS + 1), text)
        if text != self._logged:
            log.warning("%s", text)
            self._logged = text

    # --- alive

    def revive(self, now: float) -> None:
        """Start the chip, or restart it, if its pause is over; measure it if it has just been configured."""
        if self.state is ChipState.LOST and now >= self._again_s:
            try:
                if self._started:
                    self._mpr121.status()  # clears an over-current, which locks the chip in Stop
                    self._mpr121.restart()
                else:
                    self._mpr121.start()
                    self._started = True
            except BusError as error:
                self._lose(error, now)
            else:
                self.state = ChipState.RECOVERING
                self._failures = 0
        elif self.state is ChipState.RECOVERING:
            self._settle(now)

    def _settle(self, now: float) -> None:
        """Take the first measurement after a start: levels, thresholds in picofarads."""
        snapshot = self._measured(now)
        if snapshot is None or not any(snapshot.filtered[electrode] for electrode in self._pads):
            return
        try:
            self._mpr121.set_thresholds({electrode: self._thresholds(electrode, snapshot) for electrode in self._pads})
        except BusError as error:
            self._fail(error, now)
            return
        self._learn_levels(snapshot, 0, now)
        self.state = ChipState.OK
        self._well_since_s = now
        if self._logged:
            log.warning("%s works again", self.name)
        self._fault, self._logged = None, ""

    def _thresholds(self, electrode: int, snapshot: Snapshot) -> tuple[int, int]:
        """Touch and release threshold in counts: dC more on C lowers a reading by its dC / (C + dC)th (AN3889)."""
        counts = snapshot.filtered[electrode]
        rise_pf = TOUCH_RISE_PF if electrode in self._touch_electrodes else FIELD_RISE_PF
        idle_pf = self._mpr121.capacitance_pf(electrode, counts)
        touch = min(max(round(counts * rise_pf / (idle_pf + rise_pf)), LOWEST_COUNTS), 0xFF)
        return touch, max(round(touch * RELEASE_SHARE), 1)

    def _fail(self, error: BusError, now: float) -> None:
        """A transfer has failed."""
        self._failures += 1
        if self._failures >= PATIENCE:
            self._lose(error, now)
        elif self.state is ChipState.OK:
            self.state = ChipState.DEGRADED

    def _lose(self, error: BusError, now: float) -> None:
        self.state = ChipState.LOST
        self.mask = 0
        if now - self._well_since_s >= SOUND_S:
            self._pause_s = FIRST_PAUSE_S
        self._again_s = now + self._pause_s
        self._well_since_s = now
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        self._report(f"{self.name} is lost ({', '.join(self.wiring.pads)} are dead): {error}")
        self._reopen_bus()

    def _reconfigure(self, why: str, now: float) -> None:
        """It answers, but not as we left it: configure it again at once."""
        self.resets += 1
        log.warning("%s %s and is configured again", self.name, why)
        self.mask = 0
        try:
            self._mpr121.restart()
        except BusError as error:
            self._lose(error, now)
        else:
            self.state = ChipState.RECOVERING

    def _answered(self) -> None:
        if self._failures:
            self._failures = 0
            if self.state is ChipState.DEGRADED:
                self.state = ChipState.OK

    # --- reading

    def read_mask(self, now: float) -> None:
        """Read the touch status into `mask`; harmless while the chip is lost or recovering."""
        if self.state is ChipState.LOST or self.state is ChipState.RECOVERING:
            return
        over_currents = self._mpr121.over_current
        try:
            mask = self._mpr121.status()
        except BusError as error:
            self._fail(error, now)
            return
        if self._failures:
            self._answered()
        if self._mpr121.over_current != over_currents:
            self._trip(now)
            return
        self.mask = mask

    def check(self, now: float) -> None:
        """Whether it is still configured as we left it: a dip of the supply resets it without a sign."""
        if self.state is not ChipState.OK:
            return
        try:
            healthy = self._mpr121.healthy()
        except BusError as error:
            self._fail(error, now)
            return
        if not healthy:
            self._reconfigure("was reset (a dip of its 3V3?)", now)

    def _trip(self, now: float) -> None:
        """It has reported over-current and is in Stop."""
        recent = [time_s for time_s in self._over_currents_s if now - time_s < OVER_CURRENT_WINDOW_S]
        self._over_currents_s = [*recent, now]
        if len(self._over_currents_s) >= OVER_CURRENTS:
            self._over_currents_s = []
            self._pause_s, self._well_since_s = LONGEST_PAUSE_S, now
            self._lose(BusError("over-current again and again: check REXT (75 kOhm, 1 %) and the chip"), now)
        else:
            self._reconfigure("reported over-current at REXT", now)

    def _measured(self, now: float) -> Snapshot | None:
        over_currents = self._mpr121.over_current
        try:
            snapshot = self._mpr121.snapshot()
        except BusError as error:
            self._fail(error, now)
            return None
        self._answered()
        if self._mpr121.over_current != over_currents:
            self._trip(now)
            return None
        return snapshot

    def measure(self, now: float) -> bool:
        """Measure all electrodes in one transaction; False if it could not be done.

        Levels at rest follow where nothing is touched, in `mask` or in the chip's own status.
        """
        if self.state is ChipState.LOST or self.state is ChipState.RECOVERING:
            return False
        snapshot = self._measured(now)
        if snapshot is None:
            return False
        self._learn_levels(snapshot, self.mask | snapshot.touched, now)
        return True

    def _learn_levels(self, snapshot: Snapshot, touched: int, now: float) -> None:
        self._out_of_range = snapshot.out_of_range
        for electrode in self._pads:
            counts = snapshot.filtered[electrode]
            if not touched >> electrode & 1 and not LOWEST_IDLE <= counts <= HIGHEST_IDLE:
                self._out_of_range |= 1 << electrode
            level_pf = self._mpr121.capacitance_pf(electrode, counts)
            self.level_pf[electrode] = level_pf
            if touched >> electrode & 1:
                self._doubted.pop(electrode, None)
            else:
                self._follow(electrode, level_pf, now)

    def _follow(self, electrode: int, level_pf: float, now: float) -> None:
        """Let the level at rest follow.

        A fall is believed at once: a figure was lifted off. A rise might be a hand on its way, which the chip will call
        a touch in a moment; so it must still be there a while later.
        """
        idle_pf = self.idle_pf[electrode]
        change_pf = level_pf - idle_pf
        if change_pf > DRIFT_PF:
            doubted_pf, since_s = self._doubted.get(electrode, (math.inf, now))
            if abs(level_pf - doubted_pf) > DRIFT_PF:
                self._doubted[electrode] = level_pf, now
                return
            if now - since_s < DOUBT_S:
                return
        self._doubted.pop(electrode, None)
        if abs(change_pf) <= DRIFT_PF:
            self.idle_pf[electrode] += DRIFT_SHARE * change_pf
        else:
            self.idle_pf[electrode] = level_pf

    def rise_pf(self, electrode: int) -> float:
        """How far an electrode was above rest at the last measurement, in picofarads."""
        return self.level_pf[electrode] - self.idle_pf[electrode]

    def rebase(self, electrode: int, now: float) -> bool:
        """Make the present level of one electrode its rest, in the chip and here.

        False if it could not be done: the chip does not answer, or the level is on the move again.
        """
        before_pf = self.level_pf[electrode]
        if not self.measure(now) or abs(self.level_pf[electrode] - before_pf) > DRIFT_PF:
            return False
        try:
            self._mpr121.rebase(electrode)
        except BusError as error:
            self._fail(error, now)
            return False
        self.idle_pf[electrode] = self.level_pf[electrode]
        return True
