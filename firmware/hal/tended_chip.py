"""One MPR121 of the board, kept alive: started, watched, restarted, and given up for a while when it does not answer.

Nothing here raises: what fails is logged once, named in `faults()`, and tried again with growing pauses. The rest of
the board plays on.
"""

from __future__ import annotations

import logging
from enum import Enum
from typing import TYPE_CHECKING

from firmware.hal.baselines import Baselines
from firmware.hal.levels import FITTING, SILENT, STANDING_MOST_PF, Levels, has_no_counts
from firmware.hal.mpr121 import Mpr121
from firmware.hal.mpr121_config import Mpr121Config
from firmware.hal.ports import BusError
from firmware.hal.rest import DRIFT_PF
from firmware.terms import Fault, Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.hal.bus import Bus
    from firmware.hal.calibration import Calibration
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

SILENT_S = 1.0
"""A chip that is in Run and has no counts on any pad for so long is damaged, or its pads are shorted to ground."""

BLIND_S = 0.06
"""After a start, or a re-based pad, a chip counts afresh: its status means nothing for two or three updates."""

READY_S = 0.05
"""The first reading after a start comes with the first update, 10 to 35 ms later by the charge times; until then the
registers hold what was measured before, with other charges (5.1: Stop keeps them).
"""

KEPT_S = 2.0
"""So long a lost chip's mask is kept; what is held longer than it is lost is one touch."""

RELEARN_PAUSE_S = 60.0
"""A chip that auto-configured itself under a hand does it again without, at most so often."""


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

    `mask` has a bit for each Touch field, field and colour pad that is touched. It keeps its last value while the chip
    is set up anew or lost for a moment: a dip of the supply is no release, and what is held through it no second touch.

    With a calibration it starts with the charges that were found when nothing was on the board, and a pad that is far
    above its level then has a hand on it: it is touched from the start, and at rest once the hand has gone.
    """

    def __init__(
        self,
        wiring: ChipWiring,
        bus: Bus,
        reopen_bus: Callable[[], None],
        calibration: Calibration | None = None,
        standing_pf: float = STANDING_MOST_PF,
    ) -> None:
        self.wiring = wiring
        self.address = wiring.address
        self.state = ChipState.LOST
        self.mask = 0
        self.resets = 0
        """How often it was found reset or in Stop and configured anew."""
        charges = None
        if calibration is not None and wiring.address in calibration.chips:
            charges = calibration.chips[wiring.address].charges
        self._stored_charges = charges is not None
        self._mpr121 = Mpr121(bus, wiring.address, wiring.electrodes, Mpr121Config(charges=charges))
        self.levels = Levels(wiring, self._mpr121, calibration if self._stored_charges else None, standing_pf)
        self.baselines = Baselines(self.levels)
        self._reopen_bus = reopen_bus
        self._started = False
        self._settled = False
        self._relearn_s = float("-inf")
        self._blind_until_s = float("-inf")
        self._ready_s: float | None = None
        self._lost_s = float("-inf")
        self._failures = 0
        self._pause_s = FIRST_PAUSE_S
        self._again_s = float("-inf")
        self._well_since_s = float("inf")
        self._over_currents_s: list[float] = []
        self._silent_since_s: float | None = None
        self.lost_by = ""
        """Why it was lost last, and what to check."""
        self._fault: Fault | None = None
        self._logged = ""

    # --- what is wrong

    def faults(self) -> list[Fault]:
        """The chip if it does not work, or each of its pads that cannot be measured."""
        if self._fault:
            return [self._fault]
        return [
            Fault(
                Part.PAD,
                pad,
                f"{self.wiring.pad_title(pad)} is out of range: check for a broken wire or a short",
            )
            for electrode, pad in sorted(self.levels.pads.items())
            if self.levels.out_of_range >> electrode & 1
        ]

    def _report(self, text: str) -> None:
        self._fault = Fault(Part.CHIP, str(self.wiring.number), text)
        if text != self._logged:
            log.warning("%s", text)
            self._logged = text

    # --- alive

    def revive(self, now: float) -> None:
        """Start the chip, or restart it, if its pause is over; measure it if it has just been configured."""
        if self.state is ChipState.LOST and now - self._lost_s >= KEPT_S:
            self.mask = 0
        if self.state is ChipState.LOST and now >= self._again_s:
            try:
                if self._started:
                    self._mpr121.status()  # clears an over-current, which locks the chip in Stop
                    self._mpr121.restart()
                else:
                    self._mpr121.start()
                    self._started = True
            except BusError as error:
                self._started = self._settled = False  # the next try begins with a soft reset
                self._lose(error, now)
            else:
                self._recover()
                self._failures = 0
        elif self.state is ChipState.RECOVERING:
            if self._ready_s is None:  # by this poll's clock: how long the setting up took nobody knows
                self._ready_s = now + READY_S
            if now >= self._ready_s:
                self._settle(now)

    def _recover(self) -> None:
        """It has been set up; its first reading is due a little later."""
        self.state = ChipState.RECOVERING
        self._ready_s = None

    def _settle(self, now: float) -> None:
        """Take the first measurement after a start: levels, hands that are there already, thresholds."""
        snapshot = self._measured(now)
        if snapshot is None or self._has_no_counts(snapshot, now):
            return
        if not self._settled and not self._fits(snapshot):
            self._relearn(now)
            return
        baselines = self.levels.rest_counts() if self._settled else self.levels.find_hands(snapshot, now)
        try:
            self._mpr121.set_thresholds(self.levels.thresholds(snapshot), baselines)
        except BusError as error:
            self._fail(error, now)
            return
        held = 0 if self._settled else sum(1 << electrode for electrode in baselines)
        self._settled = True
        self.levels.learn(snapshot, held | self.mask, now)
        self.state = ChipState.OK
        self._blind_until_s = now + BLIND_S
        self._well_since_s = now
        if self._logged:
            log.warning("%s works again", self.wiring.title)
        self._fault, self._logged = None, ""

    def _has_no_counts(self, snapshot: Snapshot, now: float) -> bool:
        """Whether no pad has any but for noise; if that lasts, the chip is lost and set up anew.

        It is damaged, or its pads are shorted; or it was reset again before it had settled.
        """
        if not has_no_counts(snapshot, self.levels.pads):
            self._silent_since_s = None
            return False
        if self._silent_since_s is None:
            self._silent_since_s = now
        elif now - self._silent_since_s >= SILENT_S:
            self._silent_since_s = None
            self._lose(BusError(SILENT), now)
        return True

    def _mend_baselines(self, snapshot: Snapshot, now: float) -> None:
        if not (wrong := self.baselines.wrong(snapshot, self.mask, now)):
            return
        try:
            self._mpr121.set_baselines(wrong)
        except BusError as error:
            self._fail(error, now)
            return
        if self.baselines.sagged_s == now:
            self.mask &= self.levels.touched()
        self._blind_until_s = now + BLIND_S

    def _fits(self, snapshot: Snapshot) -> bool:
        """Whether the calibration is this chip's; if not, it is forgotten until the next start."""
        lowest, highest = FITTING
        drift = self.levels.drift(snapshot)
        if lowest <= drift <= highest:
            return True
        log.warning(
            "%s: its pads are at %.2f times their calibration: run volcano calibrate again", self.wiring.title, drift
        )
        self.levels.forget_calibration()
        self._stored_charges = False
        return False

    def _fail(self, error: BusError, now: float) -> None:
        """A transfer has failed."""
        self._failures += 1
        if self._failures >= PATIENCE:
            self._lose(error, now)
        elif self.state is ChipState.OK:
            self.state = ChipState.DEGRADED

    def _lose(self, error: BusError, now: float) -> None:
        if self.state is not ChipState.LOST:
            self.state, self._lost_s = ChipState.LOST, now
        if now - self._well_since_s >= SOUND_S:
            self._pause_s = FIRST_PAUSE_S
        self._again_s = now + self._pause_s
        self._well_since_s = now
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        self.lost_by = str(error)
        self._report(f"{self.wiring.title} is lost ({', '.join(self.wiring.pads)} are dead): {error}")
        self._reopen_bus()

    def _reconfigure(self, why: str, now: float) -> None:
        """It answers, but not as we left it: configure it again at once."""
        self.resets += 1
        log.warning("%s %s and is configured again", self.wiring.title, why)
        try:
            self._mpr121.restart()
        except BusError as error:
            self._lose(error, now)
        else:
            self._recover()

    def _answered(self) -> None:
        if self._failures:
            self._failures = 0
            if self.state is ChipState.DEGRADED:
                self.state = ChipState.OK

    # --- reading

    def read_mask(self, now: float) -> None:
        """Read the touch status into `mask`; harmless while the chip is lost or recovering.

        Before a release is believed the chip is asked whether it has been reset: then its status is empty as well.
        """
        if self.state is ChipState.LOST or self.state is ChipState.RECOVERING or now < self._blind_until_s:
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
        mask &= self.levels.touchable
        if not self.mask & ~mask or self._is_ours(now):
            self.mask = mask

    def check(self, now: float) -> None:
        """Whether it is still configured as we left it: a dip of the supply resets it without a sign."""
        if self.state is ChipState.OK:
            self._is_ours(now)

    def _is_ours(self, now: float) -> bool:
        """The same; if it is not, it is configured again."""
        try:
            healthy = self._mpr121.healthy()
        except BusError as error:
            self._fail(error, now)
            return False
        if not healthy:
            self._reconfigure("was reset (a dip of its 3V3?)", now)
        return healthy

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
        if snapshot is None or not (any(snapshot.filtered) or self._is_ours(now)):
            return False  # no readings at all: it has been reset
        if self._has_no_counts(snapshot, now):
            return False
        touched = (self.mask | snapshot.touched) & self.levels.touchable
        self.levels.learn(snapshot, touched, now)
        may_relearn = not self._stored_charges and now - self._relearn_s >= RELEARN_PAUSE_S
        if may_relearn and not touched and self.levels.learnt_under_a_hand(snapshot):
            self._relearn(now)
        else:
            self._mend_baselines(snapshot, now)
        return True

    def _relearn(self, now: float) -> None:
        """Let the chip configure itself anew, for pads without a hand."""
        self._relearn_s = now
        self.levels.out_of_range = 0
        try:
            self._mpr121.relearn()
        except BusError as error:
            self._fail(error, now)
        else:
            self._recover()

    def rebase(self, electrode: int, now: float) -> bool:
        """Make the present level of one electrode its rest, in the chip and here.

        False if it could not be done: the chip does not answer, or the level is on the move again.
        """
        before_pf = self.levels.now_pf[electrode]
        if not self.measure(now) or abs(self.levels.now_pf[electrode] - before_pf) > DRIFT_PF:
            return False
        try:
            self._mpr121.rebase(electrode)
        except BusError as error:
            self._fail(error, now)
            return False
        self.levels.rest(electrode, now)
        self.mask &= ~(1 << electrode)
        self._blind_until_s = now + BLIND_S
        return True
