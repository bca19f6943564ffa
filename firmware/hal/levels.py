"""The levels of one chip's pads in picofarads: now, at rest, and what a hand has to add to count.

Pure: snapshots in, levels and thresholds out. With a calibration it is known from the first snapshot on which pads have
a hand on them; without one, the first snapshot is taken for rest, and a hand that goes later mends it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

from firmware.hal.rest import DRIFT_PF, RestLevels, drift_pf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from firmware.hal.calibration import Calibration
    from firmware.hal.mpr121 import Mpr121, Snapshot
    from firmware.hal.wiring import ChipWiring

FIELD_RISE_PF = 0.7
"""A field counts as touched from here: the lightest figure (3.3 pF) adds 1.7 pF or more when gripped where it stood."""

TOUCH_RISE_PF = 4.0
"""A finger on a bare Touch field adds 50 pF or more, through 1 mm of lacquer still 10 pF; a hand nearby 1 or 2."""

RELEASE_SHARE = 0.5
"""Release threshold as a share of the touch threshold."""

LOWEST_COUNTS = 4
"""No threshold lies below twice the noise of one to two counts."""

IDLE_COUNTS = 724
"""What auto-configuration makes an idle pad read (MPR121 data sheet, 5.11): by that a count is so many picofarads."""

LOWEST_IDLE = 50
HIGHEST_IDLE = 1000
"""Counts that an untouched pad may read; auto-configuration aims at 724. Outside, it is shorted or torn off."""

SAG = 0.003
MOST_SAG = 0.1
SAG_SPREAD = 0.01
SAGGING_PADS = 4
SAG_FOLLOWED = 0.992
LONGEST_SAG_S = 1.5
"""If pads, and at least so many, have changed by more than the first share and hardly differ in that, the supply has;
for so long, and never by more than the second share. "Hardly" is said of the half of them that agree best.
Baselines that stand for a smaller share of rest together have followed a sag that nobody measured.
"""

STEP_NOISE = 6.0
"""So many standard deviations of a reading the pads must have fallen together since the last measurement for a sag."""

NOISE_COUNTS = 0.5
LEAST_NOISE_COUNTS = 0.35
MOST_NOISE_COUNTS = 2.0
NOISE_SHARE = 0.05
QUIETER_PADS = 0.42
"""Standard deviation of a reading before any is known, rounding alone, and the most that is believed; what a chip's
pads at rest show from one measurement to the next renews such a share of it. The quieter seven of ten have 0.42 of the
variance of all (normal distribution): the others may have a hand coming.
"""

STANDING_MOST_PF = 6.0
"""Four figures that stand on one field show 1.1 + 1.4 + 1.5 + 1.6 pF, their metal's 1.7 pF behind each foot."""

HAND_PF = 1.7
"""No figure shows so much that stands alone, whatever is in its foot: its metal has no more."""

MISSED_PF = 1.6
"""From here a hand that the chip has missed is believed: a little below what no figure shows, for noise."""

GONE_SHARE = 0.65
"""A hand that was there at the start has gone when its field's rise is below this share of its highest."""

NO_HAND_S = 10.0
"""A hand that stays longer than this from power-on may as well be taken for rest: when it goes, the level follows."""

FINGER_PF = 6.0
"""From here a Touch field or colour pad has a finger on it at the start: pads drift apart by less between calibrations,
and a finger through lacquer adds at least so much on the weakest return.
"""

FITTING = (0.8, 1.25)
"""Moisture and supply change all pads of a chip alike, by less than this factor; more is another board."""

UNSEEN_PF = 0.9
UNSEEN_SHARE = 1.3
UNSEEN_COUNTS = 7.0
UNSEEN_S = 10.0
"""If the chip's own baseline says that a pad rests lower by so much, by such a multiple of what counts as touched, and
by so many counts (its lowest two bits are not told), then its hand went when nobody measured: the lightest figure's
leaves 1.7 pF less. So little is believed in the first seconds only.
"""


SILENT = "measures nothing: check its 3V3, REXT (75 kOhm), and its pads for shorts to ground"
"""What a chip does that answers and has no counts."""


def has_no_counts(snapshot: Snapshot, electrodes: Iterable[int]) -> bool:
    """Whether none of these electrodes has any but for noise: the chip starts, or is damaged, or they are shorted."""
    return all(snapshot.filtered[electrode] < LOWEST_IDLE for electrode in electrodes)


def usual_touch_pf(wiring: ChipWiring, pad: str) -> float:
    """The rise from which `pad` of this chip counts as touched, unless its noise asks for more."""
    return FIELD_RISE_PF if pad in wiring.fields else TOUCH_RISE_PF


@dataclass(slots=True)
class _Hand:
    """A hand that was there at the start: since when, and the highest and the last rise in picofarads."""

    since_s: float
    highest_pf: float
    last_pf: float


class Levels:
    """What the pads of one chip measure. Lists are by electrode, in picofarads; nan where nothing is known.

    Args:
        wiring: the chip's pads.
        mpr121: tells picofarads by the charges in force.
        calibration: of this board.
        standing_pf: what figures that stand on a field show at most.
    """

    def __init__(self, wiring: ChipWiring, mpr121: Mpr121, calibration: Calibration | None, standing_pf: float) -> None:
        self.pads = {electrode: pad for pad, electrode in wiring.wires.items()}
        """The pad of each electrode in use."""
        self.touchable = sum(1 << electrode for electrode, pad in self.pads.items() if pad not in wiring.rails)
        """Bits of the electrodes whose touch means something; rails are measured only."""
        self.now_pf = [math.nan] * wiring.electrodes
        self.idle_pf = [math.nan] * wiring.electrodes
        """At rest, with whatever figure stands there."""
        self.out_of_range = 0
        self._mpr121 = mpr121
        self._fields = frozenset(wiring.fields.values())
        self._standing_pf = standing_pf
        self._touch_pf = {electrode: usual_touch_pf(wiring, pad) for electrode, pad in self.pads.items()}
        self._empty_pf: dict[int, float] = {}
        """The stored level of each calibrated electrode with nothing on the board."""
        self._rest = RestLevels(self.idle_pf)
        self._noise2 = NOISE_COUNTS**2
        self._counts: dict[int, int] = {}
        """The last readings of the pads at rest."""
        self._sagging_since_s = math.inf
        self._sagged = False
        self._began_s = math.inf
        self._hands: dict[int, _Hand] = {}
        """What a hand is on since the start."""
        for electrode, pad in self.pads.items():
            if calibration is not None and pad in calibration.pads:
                self._empty_pf[electrode] = calibration.pads[pad].idle_pf
                self._touch_pf[electrode] = calibration.pads[pad].touch_pf

    @property
    def doubtful(self) -> bool:
        """Some level has changed by more than drift and is to be seen once more."""
        return self._rest.doubtful

    @property
    def noise_counts(self) -> float:
        """Standard deviation of a reading, rounding included."""
        return math.sqrt(self._noise2)

    def known(self) -> list[int]:
        """The electrodes whose level at rest is known; that of a pad that is shorted to ground is infinite."""
        return [electrode for electrode in self.pads if 0.0 < self.idle_pf[electrode] < math.inf]

    def rise_pf(self, electrode: int) -> float:
        """How far an electrode was above rest at the last measurement."""
        return self.now_pf[electrode] - self.idle_pf[electrode]

    def touched(self) -> int:
        """Bits of the electrodes that are touched by the last measurement's picofarads, whatever the chip says."""
        touched = 0
        for electrode, touch_pf in self._touch_pf.items():
            if self.touchable >> electrode & 1 and self.rise_pf(electrode) > RELEASE_SHARE * touch_pf:
                touched |= 1 << electrode
        return touched

    def missed(self, touched: int) -> frozenset[int]:
        """The fields that show a hand by the last measurement's picofarads and have no bit in `touched`."""
        touched |= self.out_of_range
        fields = [electrode for electrode in self.known() if electrode in self._fields and not touched >> electrode & 1]
        return frozenset(each for each in fields if self.rise_pf(each) > max(MISSED_PF, self._touch_pf[each]))

    def rest_counts(self) -> dict[int, float]:
        """What each pad whose rest is known reads at rest."""
        return {electrode: self._mpr121.counts(electrode, self.idle_pf[electrode]) for electrode in self.known()}

    def _measured_pf(self, electrode: int, snapshot: Snapshot) -> float:
        return self._mpr121.capacitance_pf(electrode, snapshot.filtered[electrode])

    # --- the start

    def drift(self, snapshot: Snapshot) -> float:
        """By which factor the chip's pads are above their stored levels together, 1 without a calibration.

        The lower quartile: hands and figures raise some pads only.
        """
        ratios = [self._measured_pf(electrode, snapshot) / empty_pf for electrode, empty_pf in self._empty_pf.items()]
        return sorted(ratios)[len(ratios) // 4] if ratios else 1.0

    def forget_calibration(self) -> None:
        """It is another board's."""
        self._empty_pf.clear()

    def find_hands(self, snapshot: Snapshot, now: float) -> dict[int, float]:
        """Electrodes that a hand is on at the start, by the calibration, and their baselines in counts.

        Their level at rest is the stored one from now on; figures that merely stand are no hand.
        """
        drift = self.drift(snapshot)
        baselines = {}
        for electrode, empty_pf in self._empty_pf.items():
            at_rest_pf = self._standing_pf if electrode in self._fields else FINGER_PF
            rise_pf = self._measured_pf(electrode, snapshot) - drift * empty_pf
            if self.touchable >> electrode & 1 and rise_pf > max(at_rest_pf, self._touch_pf[electrode]):
                self.idle_pf[electrode] = drift * empty_pf
                baselines[electrode] = self._mpr121.counts(electrode, drift * empty_pf)
                self._hands[electrode] = _Hand(now, rise_pf, rise_pf)
        return baselines

    def thresholds(self, snapshot: Snapshot) -> dict[int, tuple[int, int]]:
        """Touch and release threshold of each pad in counts: dC on C lowers a reading by dC / (C + dC) (AN3889)."""
        pairs = {}
        for electrode, touch_pf in self._touch_pf.items():
            idle_pf = self.idle_pf[electrode]
            if not math.isfinite(idle_pf):
                idle_pf = self._measured_pf(electrode, snapshot)
            fall = self._mpr121.counts(electrode, idle_pf) * touch_pf / (idle_pf + touch_pf)
            touch = min(max(round(fall), LOWEST_COUNTS), 0xFF)
            pairs[electrode] = touch, max(round(touch * RELEASE_SHARE), 1)
        return pairs

    def hands_gone(self, now: float) -> list[int]:
        """Electrodes that a hand was thought to be on at the start, and whose level is rest all the same.

        The hand has gone and figures that were there already stand alone: from the empty board several may show much.
        Or nothing has been let go for so long that it is no hand, but the board that has changed since its calibration.
        """
        return [
            electrode
            for electrode, hand in self._hands.items()
            if now - hand.since_s >= NO_HAND_S
            or (
                electrode in self._fields
                and hand.last_pf < min(self._standing_pf, GONE_SHARE * hand.highest_pf)
                and abs(self.rise_pf(electrode) - hand.last_pf) < DRIFT_PF
            )
        ]

    # --- from measurement to measurement

    def learn(self, snapshot: Snapshot, touched: int, now: float) -> None:
        """Take a snapshot over; levels at rest follow where `touched` has no bit. `now` in seconds."""
        self.out_of_range = snapshot.out_of_range
        for electrode, hand in list(self._hands.items()):
            hand.last_pf = self.rise_pf(electrode)
            hand.highest_pf = max(hand.highest_pf, hand.last_pf)
            if hand.last_pf < self._touch_pf[electrode]:
                del self._hands[electrode]
        self._hear_noise(snapshot, touched)
        measured_pf = {electrode: self._measured_pf(electrode, snapshot) for electrode in self.pads}
        sag = self._sag(measured_pf, touched, now)
        followed = self._followed(snapshot)
        self._sagged = self._sagged or followed < SAG_FOLLOWED
        self._began_s = min(self._began_s, now)
        for electrode in self.pads:
            counts = snapshot.filtered[electrode]
            self.now_pf[electrode] = measured_pf[electrode] / sag
            if touched >> electrode & 1:
                self._rest.touched(electrode, now)
                self._believe_baseline(electrode, self._baseline_pf(electrode, snapshot) / followed, now)
                continue
            if sag == 1.0:  # what is corrected is no truth to follow
                self._rest.follow(electrode, self.now_pf[electrode], self._count_pf(electrode), now)
            if not LOWEST_IDLE <= counts <= HIGHEST_IDLE and not self._rest.is_new(electrode):  # it may be learnt anew
                self.out_of_range |= 1 << electrode

    def _hear_noise(self, snapshot: Snapshot, touched: int) -> None:
        """Learn the noise from the middle change of the pads at rest: a hand changes few, a sag of the supply all."""
        counts = {electrode: snapshot.filtered[electrode] for electrode in self.pads if not touched >> electrode & 1}
        changes = sorted(abs(now - self._counts[each]) for each, now in counts.items() if each in self._counts)
        self._counts = counts
        if len(changes) >= SAGGING_PADS:
            change2 = fmean([change * change for change in changes[: len(changes) * 7 // 10]]) / (2 * QUIETER_PADS)
            seen2 = min(max(change2, LEAST_NOISE_COUNTS**2), MOST_NOISE_COUNTS**2)
            self._noise2 += NOISE_SHARE * (seen2 - self._noise2)

    def doubt_baselines(self) -> None:
        """A sag of the supply has moved the chip's baselines: they say little about pads that nobody measured."""
        self._sagged = True

    def rest(self, electrode: int, now: float) -> None:
        """The present level is rest from now on; `now` in seconds."""
        self._rest.begin(electrode, self.now_pf[electrode], now)
        self._hands.pop(electrode, None)

    def _sag(self, measured_pf: Mapping[int, float], touched: int, now: float) -> float:
        """By which factor all pads seem to have changed at once: VDD scales every reading (AN3889), a hand only some.

        What lasts is no dip of the supply and becomes the pads' new rest.
        """
        sag = self._common(measured_pf, touched)
        if sag == 1.0:
            self._sagging_since_s = math.inf
            return 1.0
        self._sagging_since_s = min(self._sagging_since_s, now)
        self._sagged = True
        if now - self._sagging_since_s < LONGEST_SAG_S:
            return sag
        self._sagging_since_s = math.inf
        for electrode in self.pads:  # what is touched, too
            self.idle_pf[electrode] *= sag
        return 1.0

    def _that_sag(self) -> list[int]:
        """The electrodes by which a sag is known: no rails, where there are pads enough; black raises all three."""
        known = self.known()
        no_rails = [electrode for electrode in known if self.touchable >> electrode & 1]
        return no_rails if len(no_rails) >= SAGGING_PADS else known

    def _followed(self, snapshot: Snapshot) -> float:
        """By which factor the baselines stand for less than rest together, after a sag of the supply; at most 1."""
        known = self._that_sag()
        if len(known) < SAGGING_PADS:
            return 1.0
        return min(1.0, median(self._baseline_pf(each, snapshot) / self.idle_pf[each] for each in known))

    def _baseline_pf(self, electrode: int, snapshot: Snapshot) -> float:
        return self._mpr121.capacitance_pf(electrode, snapshot.baseline[electrode] + 2)  # its two low bits are lost

    def _common(self, measured_pf: Mapping[int, float], touched: int) -> float:
        """By which factor the pads seem to have changed alike: since the last measurement, or from rest; 1 if not.

        Fingers change the pads beside them a little, each differently, until that is their rest: what all have changed
        at once shows a sag more clearly. But who looks once a second may have missed how it began.
        """
        known = self._that_sag()
        if any(not self.touchable >> each & 1 for each in known) and not self._moves_as_one(measured_pf, touched):
            return 1.0
        before = [electrode for electrode in known if 0.0 < self.now_pf[electrode] < math.inf]
        step = _alike([measured_pf[electrode] / self.now_pf[electrode] for electrode in before])
        if step is not None and max(SAG, STEP_NOISE * self.noise_counts / IDLE_COUNTS) < 1.0 - step < MOST_SAG:
            return step
        at_rest = [electrode for electrode in known if not touched >> electrode & 1]
        heard = at_rest if len(at_rest) >= SAGGING_PADS else known
        ratios = [measured_pf[electrode] / self.idle_pf[electrode] for electrode in heard]
        if 2 * sum(abs(ratio - 1.0) <= SAG for ratio in ratios) >= len(ratios):
            return 1.0  # half of them are at rest: fingers that leave take the others down with them, all alike
        common = _alike(ratios)
        return common if common is not None and SAG < abs(common - 1.0) < MOST_SAG else 1.0

    def _moves_as_one(self, measured_pf: Mapping[int, float], touched: int) -> bool:
        """Whether all pads that nobody touches are above rest, or all below."""
        untouched = [electrode for electrode in self.known() if not touched >> electrode & 1]
        changes = [measured_pf[electrode] / self.idle_pf[electrode] - 1.0 for electrode in untouched]
        return bool(changes) and (max(changes) < -SAG or min(changes) > SAG)

    def _believe_baseline(self, electrode: int, rest_pf: float, now: float) -> None:
        """The chip's baseline follows at once when a hand goes; here that may have been missed.

        It follows a sag of the supply as well, by less than `MOST_SAG`: so little is believed at the start only. What
        all baselines have followed together is taken out of `rest_pf`.
        """
        idle_pf = self.idle_pf[electrode]
        early = now - self._began_s < UNSEEN_S and not self._sagged
        if electrode in self._fields and abs(self.rise_pf(electrode)) <= drift_pf(self._count_pf(electrode)):
            early = False  # a sag of the greeting rather than a figure that was let go and gripped alike
        if idle_pf - rest_pf > (self._unseen_pf(electrode) if early else MOST_SAG * idle_pf):
            self.idle_pf[electrode] = rest_pf

    def _unseen_pf(self, electrode: int) -> float:
        unseen_pf = max(UNSEEN_PF, UNSEEN_SHARE * self._touch_pf[electrode])
        return max(unseen_pf, UNSEEN_COUNTS * self._count_pf(electrode))

    def _count_pf(self, electrode: int) -> float:
        """How many picofarads a count is at the present level."""
        return self.now_pf[electrode] ** 2 / self._mpr121.capacitance_pf(electrode, 1.0)

    def learnt_under_a_hand(self, snapshot: Snapshot) -> bool:
        """Whether a pad at rest reads more than auto-configuration would leave it, and no hand moves."""
        highest = self._mpr121.config.usl << 2 | 3
        high = [electrode for electrode in self.pads if snapshot.filtered[electrode] > highest]
        leaving = any(self._rest.is_new(electrode) for electrode in high)
        return bool(high) and not leaving and all(self.rise_pf(electrode) < DRIFT_PF for electrode in self.pads)


def _alike(ratios: list[float]) -> float | None:
    """The middle of the half of them that agree best, four at least; None if they do not agree, or are fewer."""
    ratios = sorted(ratios)
    most = max(SAGGING_PADS, (len(ratios) + 1) // 2)
    spreads = [high - low for low, high in zip(ratios, ratios[most - 1 :], strict=False)]
    if not spreads or min(spreads) >= SAG_SPREAD:
        return None
    first = spreads.index(min(spreads))
    return median(ratios[first : first + most])
