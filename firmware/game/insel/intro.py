"""The introductory game: the eleven turns of `board.toml`, of which only the next is accepted.

Rulebook, Introductory Game and Course of Play. What it gives is fixed, so nothing is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from firmware.game.insel import events as told
from firmware.game.insel.board import RELIC_OF
from firmware.game.insel.state import FIGHT, GUARDIAN, Pending
from firmware.game.kernel import Event, Rejected, StateError
from firmware.terms import UNKNOWN, Contact, Touch, certain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firmware.game.insel.board import Board, IntroTurn
    from firmware.game.kernel import Chance, Json, Outcome
    from firmware.terms import Figure, Likelihood

ARIKI_POINTS = 3
"""Rulebook, Red Adventurer: three short tones."""
TABLETS_AT_A_STATUE = 7
"""Rulebook, Giving stone tablets to statues."""
RELICS_FOUND = CARDS_GIVEN = RELICS_OF_CHOICE = 1
"""Rulebook, turns 1 to 6."""


@dataclass(slots=True)
class IntroState:
    """How far the introductory game has come."""

    generator: int = 0
    step: int = 0
    """The turn that is expected, from 0; the number of turns when all have been played."""
    pending: Pending | None = None
    """The answer that the turn `step` still awaits."""
    last: Figure | None = None
    sites: dict[str, str] = field(default_factory=dict)
    """Discovered field -> relic site or person."""
    creatures: dict[str, str] = field(default_factory=dict)
    """Creature -> field."""

    def clone(self) -> IntroState:
        """An independent copy."""
        return replace(self, sites=self.sites.copy(), creatures=self.creatures.copy())

    def dump(self) -> Json:
        """The state as a JSON object; all but the step and the open answer follows from the turns."""
        return {"step": self.step, "asked": self.pending is not None, "generator": self.generator}


class IntroRules:
    """The introductory game on one board."""

    name = "insel-intro"
    resumes = False
    chances: Mapping[str, frozenset[Outcome]] = {}
    opening: Sequence[Event] = (told.IntroStarted(),)

    def __init__(self, board: Board) -> None:
        self.turns = board.intro

    def start(self, contact: Contact | None, seed: int) -> IntroState:
        """A new introductory game; only the push button starts one."""
        if contact is not None:
            raise Rejected("no_game")
        return IntroState(generator=seed)

    def expected(self, state: IntroState) -> Contact | None:
        """The only contact that is accepted now, None when all turns have been played."""
        if state.step >= len(self.turns):
            return None
        turn = self.turns[state.step]
        touch = turn.then if state.pending and turn.then else Touch.EXPLORE
        return Contact(turn.figure, turn.field, touch)

    def accept(self, state: IntroState, contact: Contact, chance: Chance) -> list[Event]:
        """Play the expected contact."""
        if contact != self.expected(state):
            raise Rejected("not_expected")
        turn = self.turns[state.step]
        answered = state.pending is not None
        events = _answered(turn) if answered else _explored(turn)
        if turn.site:
            state.sites[turn.field] = turn.site
        if turn.then and not answered:
            state.pending = _pending(turn)
        else:
            state.pending = None
            state.step += 1
            if turn.appears and turn.at:
                events.append(told.CreatureAppeared(turn.appears, turn.at))
                state.creatures[turn.appears] = turn.at
            if turn.fights:
                state.creatures.pop(turn.fights, None)
                events += self._site_again(state, turn)
        state.last = turn.figure
        if self.over(state):
            events.append(told.IntroFinished())
        return events

    def _site_again(self, state: IntroState, turn: IntroTurn) -> list[Event]:
        """Once the creature has left, the field itself speaks in the same turn."""
        site = state.sites.get(turn.field)
        return [told.Relics(turn.figure, RELIC_OF[site], RELICS_FOUND)] if site and site in RELIC_OF else []

    def rock(self, state: IntroState, contact: Contact) -> list[Event]:
        """Before and in the introductory game Rock gives the four signals, which is the unit's affair."""
        return []

    def load(self, row: Json) -> IntroState:
        """The state that `dump` gave."""
        try:
            step, asked, generator = row["step"], row["asked"], row["generator"]
        except (KeyError, TypeError) as error:
            raise StateError(f"{self.name}: the state lacks {error}") from error
        if type(step) is not int or not 0 <= step <= len(self.turns):
            raise StateError(f"{self.name}: step must be 0 to {len(self.turns)}, is {step!r}")
        if type(generator) is not int or type(asked) is not bool:
            raise StateError(f"{self.name}: generator must be a whole number and asked true or false")
        state = IntroState(generator=generator, step=step)
        for turn in self.turns[:step]:
            state.last = turn.figure
            if turn.site:
                state.sites[turn.field] = turn.site
            if turn.appears and turn.at:
                state.creatures[turn.appears] = turn.at
            if turn.fights:
                state.creatures.pop(turn.fights, None)
        if asked:
            if step == len(self.turns) or self.turns[step].then is None:
                raise StateError(f"{self.name}: step {step} awaits no answer, yet asked is true")
            state.pending = _pending(self.turns[step])
        return state

    def over(self, state: IntroState) -> bool:
        """Whether all turns have been played."""
        return state.step == len(self.turns)

    def pending(self, state: IntroState) -> str | None:
        """The open answer."""
        return state.pending.kind if state.pending else None

    def last(self, state: IntroState) -> Figure | None:
        """The figure that acted last."""
        return state.last

    def prior(self, state: IntroState, field: str, touch: Touch) -> Likelihood:
        """The expected contact is the expected figure's; of another nothing is known."""
        expected = self.expected(state)
        if expected and (field, touch) == (expected.field, expected.touch):
            return certain(expected.figure)
        return UNKNOWN


def _pending(turn: IntroTurn) -> Pending:
    if turn.fights:
        return Pending(FIGHT, turn.figure, turn.field, turn.fights, _fought_with(turn))
    return Pending(GUARDIAN, turn.figure, turn.field, relics=(turn.guardian or "",))


def _fought_with(turn: IntroTurn) -> tuple[str, ...]:
    """The giant spider shows the Elixir symbol (rulebook, Red Adventurer)."""
    return ("elixir",) if turn.fights else ()


def _explored(turn: IntroTurn) -> list[Event]:
    """What Explore brings, before any answer."""
    figure, field = turn.figure, turn.field
    if turn.guardian:
        return [told.GuardianAppeared(figure, field, turn.guardian, turn.demand)]
    if turn.fights:
        return [told.CreatureMet(figure, turn.fights, field, _fought_with(turn))]
    if turn.site is None:
        return [told.StatueAsks(figure, field, TABLETS_AT_A_STATUE)]
    events: list[Event] = [told.Discovered(figure, field, turn.site)]
    if turn.site in RELIC_OF:
        events.append(told.Relics(figure, RELIC_OF[turn.site], RELICS_FOUND))
    elif turn.site == "ariki":
        events += [
            told.Points(figure, ARIKI_POINTS, "island"),
            told.ArikiCards(figure, CARDS_GIVEN),
            told.Story(),
        ]
    elif turn.site == "beachcomber":
        events.append(told.RelicChoice(figure, RELICS_OF_CHOICE))
    elif turn.site == "hermit":
        events.append(told.Hermit(figure))
    return events


def _answered(turn: IntroTurn) -> list[Event]:
    """What the Touch field with a number brings."""
    figure, count = turn.figure, turn.then.number if turn.then else 0
    if turn.fights:
        return [
            told.Fought(figure, turn.fights, "relics", count, turn.outcome or ""),
            told.Points(figure, turn.creature_points, "creature"),
        ]
    return [told.RelicsHanded(figure, turn.field, count, turn.demand - count)]
