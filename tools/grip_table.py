"""An evening of grips at an emulated board, through chips, driver, pads, contact, figures and identity.

One `GripTable` is one board with four players. Everything follows from its seed; time is virtual.
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from firmware.game.insel.prior import AGAIN, EXPECTED, SKIPPED
from firmware.hal.backends import mock_hardware
from firmware.hal.physics import SAG_S, SAG_VOLTS, USUAL
from firmware.hal.ports import POLLS_PER_S
from firmware.hal.wiring import FigureMethod, Rail, Wiring, load_wiring
from firmware.identity import identify
from firmware.terms import FIGURES, TOUCHES, UNKNOWN, Contact, Figure, Grip, Likelihood

if TYPE_CHECKING:
    from firmware.hal.physics import Condition

POLL_S = 1 / POLLS_PER_S
PATIENCE_S = 2.5
"""So long players hold on before they give up."""
ASKED, NONE, ELSEWHERE = "asked", "none", "elsewhere"
"""Beside a figure's name, what can come of a grip: the voice asks, nothing happens, another field or Touch field."""
OUT_OF_TURN = 0.03
"""Share of turns that are nobody's turn: the card Double turn, players skipped and coming later."""
VDD_VOLTS = 3.3
RESET_SHARE = 0.1
RESET_VOLTS = 1.0
RESET_S = 0.02
SEED_STEP = 1_000_003


@cache
def wiring_of(method: FigureMethod) -> Wiring:
    """The wiring that comes with the firmware, with what the method needs on electrodes that are free there."""
    board = tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))
    wiring = replace(load_wiring(None, tuple(board["layout"])), figure_method=method)
    touch, coast, jungle = wiring.chips
    if method is FigureMethod.RAILS:
        coast = replace(coast, rails=dict(zip(Rail, (9, 10, 11), strict=True)))
    elif method is FigureMethod.COLOUR_PADS:
        first, second, third, fourth = FIGURES
        coast = replace(coast, badges={first: 9, second: 10, third: 11})
        jungle = replace(jungle, badges={fourth: 10})
    return replace(wiring, chips=(touch, coast, jungle))


@dataclass
class Tally:
    """What came of the grips of one strategy under one condition."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each figure's grip became what."""
    waits_s: Counter[float] = field(default_factory=Counter)
    """From the moment both hands have closed to the grip."""
    ghosts: int = 0
    """Grips that nobody made."""
    played_s: float = 0.0

    def add(self, other: Tally) -> None:
        """Together with another's."""
        self.outcomes += other.outcomes
        self.waits_s += other.waits_s
        self.ghosts += other.ghosts
        self.played_s += other.played_s


class GripTable:
    """One board, four players, one condition."""

    def __init__(self, method: FigureMethod, condition: Condition, seed: int) -> None:
        self.method, self.condition, self.seed = method, condition, seed
        self.random = random.Random(f"{method} {condition.name} {seed}")
        self.now = 0.0
        self.mock = mock_hardware(
            wiring_of(method),
            lambda: self.now,
            seed=seed,
            noise_counts=condition.noise_counts,
            physics=condition.physics(seed),
        )
        self.hands, self.board = self.mock.hands, self.mock.hardware.touch
        self.fields = wiring_of(method).fields
        self.tally = Tally()
        self.moment = 0
        self.drifts = self.random.choice((-1, 1)) * condition.drift_pf_per_min / 60
        self._dip_s = self._next_dip()
        self._recover_s = float("inf")
        for figure, spot in zip(FIGURES, self.random.sample(self.fields, len(FIGURES)), strict=True):
            self.hands.place(figure, spot)
        self.ghostly(1.0)

    # --- time

    def run(self, seconds: float) -> list[Grip]:
        """Poll for so long; what came."""
        grips = []
        for _ in range(max(1, round(seconds * POLLS_PER_S))):
            self.now += POLL_S
            if self.now >= min(self._dip_s, self._recover_s):
                self._dip()
            if (grip := self.board.poll(self.now)) is not None:
                grips.append(grip)
        self.tally.played_s += seconds
        return grips

    def ghostly(self, seconds: float) -> None:
        """Let time go by in which no contact is made: every grip is a ghost."""
        self.tally.ghosts += len(self.run(seconds))

    def _next_dip(self) -> float:
        rate = self.condition.dips_per_min / 60
        return self.now + self.random.expovariate(rate) if rate else float("inf")

    def _dip(self) -> None:
        if self.now >= self._recover_s:
            volts, self._recover_s = VDD_VOLTS, float("inf")
        else:
            self._dip_s = self._next_dip()
            volts, lasts_s = VDD_VOLTS - SAG_VOLTS.at(self.random.random()), SAG_S.at(self.random.random())
            if self.random.random() < RESET_SHARE:
                volts, lasts_s = RESET_VOLTS, RESET_S
            self._recover_s = self.now + lasts_s
        for chip in self.mock.chips.values():
            chip.set_vdd(volts)

    # --- grips

    def grips(self, count: int) -> Tally:
        """Play so many."""
        condition = self.condition
        spot = self.random.choice(self.fields)
        for number in range(count):
            self.moment += 1
            before_s = self.now
            figure = FIGURES[number % len(FIGURES)]
            if number and self.random.random() < OUT_OF_TURN:
                figure = FIGURES[(number + self.random.randint(1, 3)) % len(FIGURES)]
            if condition.standing:
                if number % 12 == 0:
                    spot = self._gather(condition.standing)
                if self.hands.where(figure) != spot:
                    figure = self.random.choice([each for each in FIGURES if self.hands.where(each) == spot])
            else:
                spot = self.random.choice(self.fields)
            self.one_grip(figure, spot, FIGURES[number % len(FIGURES)])
            self.hands.drift(self.drifts * (self.now - before_s))
        return self.tally

    def _gather(self, others: int) -> str:
        """A field with so many figures and one more, the rest beside the board."""
        spot = self.random.choice(self.fields)
        together = self.random.sample(FIGURES, others + 1)
        for figure in FIGURES:
            self.hands.place(figure, spot if figure in together else None)
            self.ghostly(0.9)
        return spot

    def _become(self, figure: Figure) -> None:
        """The figure's player sits down to act, with the skin and pressure of this moment."""
        player = FIGURES.index(figure)
        self.hands.change(self.condition.physics(self.seed, player, self.moment))
        if self.condition.two_players:
            self.hands.change(self.condition.physics(self.seed, (player + 1) % len(FIGURES), self.moment), player=1)

    def one_grip(self, figure: Figure, spot: str, expected: Figure) -> None:
        """Bring the figure there, make one contact, take all hands away again."""
        self._become(figure)
        hands, rnd, condition = self.hands, self.random, self.condition
        touch = rnd.choice(TOUCHES)
        if self.method is FigureMethod.COLOUR_PADS:
            self._tap_own_pad(figure)
        carried = rnd.random() < 0.3 and hands.where(figure) != spot
        if not carried and hands.where(figure) != spot:
            hands.place(figure, spot)
            self.ghostly(rnd.uniform(0.5, 1.5))
        helped = condition.two_players and self.moment % 2 == 0
        if condition.two_players:
            hands.join(not helped)
        closing_s = condition.closing_s.at(rnd.random())
        pressing_s = rnd.uniform(0.01, 0.06)

        def take() -> None:
            if carried:
                hands.carry(figure, spot, closing_s)
            else:
                hands.grip(figure, closing_s)

        def press() -> None:
            hands.touch(touch, pressing_s, player=int(helped))

        pause_s = rnd.choice((0.0, rnd.uniform(0.02, 0.6)))
        first, second = (take, press) if rnd.random() < 0.7 else (press, take)
        first()
        early = self.run(pause_s) if pause_s else []
        second()
        closed_s = self.now + (closing_s if second is take else max(pressing_s, closing_s - pause_s))
        came = self._settle_on(early, figure, Contact(expected, spot, touch), closed_s)
        held_s = rnd.uniform(0.1, 0.4)
        if came:
            self.ghostly(held_s)
        else:
            self.run(held_s)  # what comes now comes late, but of a hand
        hands.lift(touch)
        if rnd.random() < 0.5:
            self.ghostly(rnd.uniform(0.02, 0.3))
        hands.let_go(figure)
        if condition.two_players:
            hands.join(joined=False)
        self.ghostly(rnd.uniform(0.4, 0.9))

    def _tap_own_pad(self, figure: Figure) -> None:
        self.hands.touch_badge(figure, 0.03)
        self.ghostly(self.random.uniform(0.15, 0.4))
        self.hands.lift_badge(figure)
        self.ghostly(self.random.uniform(0.3, 2.0))

    def _settle_on(self, grips: list[Grip], figure: Figure, contact: Contact, closed_s: float) -> bool:
        """Wait for the grip, and write down what it became; `contact` has the figure whose turn it is. Did it come?"""
        while not grips and self.now < closed_s + PATIENCE_S:
            grips = self.run(POLL_S)
        if not grips:
            self.tally.outcomes[figure, NONE] += 1
            return False
        grip = grips[0]
        self.tally.ghosts += len(grips) - 1
        self.tally.waits_s[round(max(0.0, self.now - closed_s), 2)] += 1
        if (grip.field, grip.touch) != (contact.field, contact.touch):
            self.tally.outcomes[figure, ELSEWHERE] += 1
            return True
        who = identify(grip.likelihood, self._prior(contact.figure)).figure
        self.tally.outcomes[figure, str(who or ASKED)] += 1
        return True

    def _prior(self, expected: Figure) -> Likelihood:
        """Flat, but for figures as they were sold: those go by the turn order of Die Insel."""
        if self.method is not FigureMethod.NOTHING:
            return UNKNOWN
        last = FIGURES[FIGURES.index(expected) - 1]
        white, red, green, black = (
            EXPECTED if each is expected else AGAIN if each is last else SKIPPED for each in FIGURES
        )
        return white, red, green, black

    # --- no grips

    def haunt(self, seconds: float) -> Tally:
        """Hands, figures and fingers for so long, but never one Touch field with one field under a hand.

        With colour pads every second scene comes after somebody has said that a grip comes, which then does not.
        """
        scenes = (self._lean, self._tap, self._move, self._let_go_then_tap, self._rest)
        until_s = self.now + seconds
        while self.now < until_s:
            self.moment += 1
            before_s = self.now
            self._become(figure := self.random.choice(FIGURES))
            if self.method is FigureMethod.COLOUR_PADS and self.random.random() < 0.5:
                self._tap_own_pad(figure)
            self.random.choice(scenes)()
            self.hands.drift(self.drifts * (self.now - before_s))
        return self.tally

    def _some_s(self, longest_s: float = 1.5) -> float:
        return self.random.uniform(POLL_S, longest_s)

    def _lean(self) -> None:
        """Hands on one to four fields, nobody at a Touch field."""
        covered = self.random.sample(self.fields, self.random.randint(1, 4))
        for spot in covered:
            self.hands.lay_hand(spot)
            self.ghostly(self._some_s(0.3))
        self.ghostly(self._some_s(4.0))
        for spot in covered:
            self.hands.raise_hand(spot)
            self.ghostly(self._some_s(0.3))
        self.ghostly(USUAL.let_go_s + self._some_s(0.5))

    def _tap(self) -> None:
        """One to three Touch fields, where figures stand but nobody holds one."""
        touched = self.random.sample(TOUCHES, self.random.randint(1, 3))
        for touch in touched:
            self.hands.touch(touch, self.random.uniform(0.01, 0.1))
            self.ghostly(self._some_s(0.3))
        self.ghostly(self._some_s(3.0))
        for touch in touched:
            self.hands.lift(touch)
            self.ghostly(self._some_s(0.2))
        self.ghostly(USUAL.let_go_s + self._some_s(0.5))

    def _move(self) -> None:
        """A figure goes to another field, or beside the board, and the hand is gone before anybody touches anything.

        A field with rails is made for one figure.
        """
        figure = self.random.choice(FIGURES)
        taken = {self.hands.where(each) for each in FIGURES} if self.method is FigureMethod.RAILS else ()
        self.hands.place(figure, self.random.choice((None, *(spot for spot in self.fields if spot not in taken))))
        self.ghostly(USUAL.set_down_s + self._some_s())

    def _let_go_then_tap(self) -> None:
        """A figure is gripped and let go; right after, a Touch field is touched."""
        standing = [figure for figure in FIGURES if self.hands.where(figure)]
        if standing:
            figure = self.random.choice(standing)
            self.hands.grip(figure, self.condition.closing_s.at(self.random.random()))
            self.ghostly(0.3 + self._some_s(2.0))
            self.hands.let_go(figure)
            self.ghostly(USUAL.let_go_s + self._some_s(0.2))
            self._tap()

    def _rest(self) -> None:
        """Nobody does anything."""
        self.ghostly(self._some_s(5.0))
