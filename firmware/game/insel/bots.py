"""Players who play by themselves: one at random, and sensible ones with habits and skill.

A bot sees a `View` and nothing else, and is decided by its seed. It judges by `Worth`, looks one turn ahead, and errs
the more the less skill it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from firmware.game.insel.board import RELICS
from firmware.game.insel.material import Card
from firmware.game.insel.moves import (
    NOTHING,
    Again,
    Burn,
    Exchange,
    Give,
    Go,
    Land,
    Lay,
    Pass,
    Payment,
    Phase,
    Rescue,
    Take,
    Trick,
    Way,
)
from firmware.game.insel.state import FIGHT, GUARDIAN, TABLET
from firmware.game.insel.worth import CARD_WORTH, RELIC_WORTH, TABLET_WORTH, Habit, Worth
from firmware.game.kernel import next_random

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from firmware.game.insel.board import Board
    from firmware.game.insel.hand import View
    from firmware.game.insel.moves import Move, Question
    from firmware.game.insel.tuning import Tuning

HABITS: Mapping[str, Habit] = MappingProxyType(
    {
        habit.name: habit
        for habit in (
            Habit("explorer", discover=1.7, gather=1.3, people=1.4, give=0.9, fight=0.7, save=0.8),
            Habit("builder", gather=1.1, give=1.2, lay=1.2, fight=0.85),
            Habit("fighter", give=0.8, fight=1.6, save=0.8),
            Habit("cooperative", give=1.1, lay=1.2, save=2.0),
        )
    }
)
"""What a sensible player may care for most (rulebook, Overview of the points and Variant: Cooperative game)."""


@dataclass(frozen=True, slots=True)
class Skill:
    """How well somebody plays: errors of judgement in points, and how much the turn after this one counts."""

    name: str
    error_points: float
    ahead: float


SKILLS: Mapping[str, Skill] = MappingProxyType(
    {
        skill.name: skill
        for skill in (Skill("novice", 1.5, 0.2), Skill("average", 0.7, 0.4), Skill("experienced", 0.2, 0.6))
    }
)

AHEAD_PATHS: Final = 2
"""What lies so near to a field can be explored in the turn after it."""
FLIGHT_GAIN: Final = 2.0
"""A card *Flying* or *Double turn* is played for so many points more."""
AGAIN_WORTH: Final = 2.4


class Player(Protocol):
    """Somebody who plays."""

    def choose(self, view: View, moves: Callable[[], Sequence[Move]]) -> Move:
        """One of the allowed moves; `moves` gives them all."""


class RandomPlayer:
    """Any allowed move, each as likely as the others."""

    def __init__(self, seed: int) -> None:
        self.generator = seed & ((1 << 64) - 1)

    def choose(self, view: View, moves: Callable[[], Sequence[Move]]) -> Move:  # noqa: ARG002 - the protocol
        """Draw a move."""
        allowed = moves()
        return allowed[int(next_random(self) * len(allowed))]


class Bot:
    """A player with a habit and a skill."""

    def __init__(self, habit: Habit, skill: Skill, board: Board, tuning: Tuning, seed: int) -> None:
        self.habit, self.skill, self.board, self.tuning = habit, skill, board, tuning
        self.generator = seed & ((1 << 64) - 1)
        self._near = {
            field: tuple(other for other, paths in row.items() if 0 < paths <= AHEAD_PATHS)
            for field, row in board.distances.items()
        }

    def choose(self, view: View, moves: Callable[[], Sequence[Move]]) -> Move:  # noqa: ARG002 - judged, not listed
        """The move that seems best."""
        if view.phase is Phase.LAND:
            return self._land(view)
        worth = Worth(view, self.habit, self.board, self.tuning)
        if view.playable(Card.FIREPROOF_TABLET) and any(view.burned.values()):
            return Rescue(self._useful(view, [colour for colour, count in view.burned.items() if count]))
        if view.phase is Phase.START:
            return self._go(view, worth)
        if view.phase is Phase.END:
            return self._again(view, worth)
        here = view.island.places[view.figure]
        if view.asked is not None:
            return self._answer(view, worth, view.asked, here)
        if view.jump:
            values = self._values(worth)
            del values[here]
            return Go(max(values, key=lambda field: values[field]), Way.JUMP)
        if view.choices:
            return Take(max((kind for kind in RELICS if view.supply[kind]), key=worth.relic))
        exchange = worth.exchange()
        return Exchange(*exchange) if exchange else Pass()

    # --- going

    def _error(self) -> float:
        return (next_random(self) - 0.5) * 2 * self.skill.error_points

    def _land(self, view: View) -> Move:
        taken = set(view.island.places.values())
        boats = [field for field in self.board.boats if field not in taken]
        return Land(boats[int(next_random(self) * len(boats))])

    def _values(self, worth: Worth) -> dict[str, float]:
        """Every field: what it seems worth now and in the turn after."""
        plain = {field: worth.place(field) for field in self.board.fields}
        ahead = self.skill.ahead
        return {
            field: value + ahead * max([plain[near] for near in self._near[field]]) + self._error()
            for field, value in plain.items()
        }

    def _go(self, view: View, worth: Worth) -> Move:
        here = view.island.places[view.figure]
        values = self._values(worth)
        reach = view.island.reach(here)
        free, purse = view.free_steps, view.hand.relic_count
        best, score = Go(here), values[here]
        for field, paths in reach.items():
            fee = max(0, paths - free)
            if fee <= purse and (value := values[field] - fee * RELIC_WORTH) > score:
                best, score = self._walk(field, Way.FEET, fee, worth), value
        goal = max(values, key=lambda field: values[field])
        cave = view.island.place_of("hermit")
        if cave in reach and cave not in worth.occupied and goal != cave:
            fee = max(0, reach[cave] - free)
            if fee <= purse and (value := values[goal] - fee * RELIC_WORTH) > score:
                best, score = self._walk(goal, Way.CAVE, fee, worth), value
        if view.playable(Card.FLYING) and goal != here and values[goal] > score + FLIGHT_GAIN:
            best = Go(goal, Way.FLYING)
        return best

    @staticmethod
    def _walk(field: str, way: Way, fee: int, worth: Worth) -> Go:
        return Go(field, way, Payment(worth.cheapest(fee)) if fee else NOTHING)

    def _again(self, view: View, worth: Worth) -> Move:
        """Another turn, if something near is worth the card."""
        if not view.playable(Card.DOUBLE_TURN):
            return Pass()
        reach = view.island.reach(view.island.places[view.figure])
        return (
            Again()
            if max(worth.place(field) for field, paths in reach.items() if paths <= view.free_steps) > AGAIN_WORTH
            else Pass()
        )

    # --- answering

    def _answer(self, view: View, worth: Worth, asked: Question, here: str) -> Move:
        if asked.kind == FIGHT:
            return self._fight(view, worth, asked, here)
        if asked.kind == GUARDIAN:
            keeper = view.island.keepers[here]
            count = min(3, view.hand.relics[keeper.relic], keeper.missing)
            additional: tuple[int, ...] = ()
            if 0 < keeper.missing - count <= min(2, 3 - count) and worth.additional():
                additional = (keeper.missing - count,)  # the card fills what is missing
            payment = Payment((keeper.relic,) * count, additional)
            return Give(payment) if payment.count else Pass()
        if asked.kind == TABLET:
            (relic,) = asked.relics
            enough = view.hand.relics[relic] >= asked.price
            return Give(Payment((relic,) * asked.price)) if enough and worth.bought(asked.price, relic) > 0 else Pass()
        return self._lay(view, worth, here)

    def _lay(self, view: View, worth: Worth, here: str) -> Move:
        colours = worth.layable(here)
        missing = self.tuning.statues.tablets - len(view.island.laid[here])
        if view.playable(Card.COLOURLESS_TABLET) and len(colours) < min(3, missing):
            left = {colour: count - (colour in colours) for colour, count in view.hand.tablets.items()}
            double = [colour for colour, count in left.items() if count]
            if double:
                colours = [*colours, double[0]]
        return Lay(tuple(colours)) if colours else Pass()

    def _fight(self, view: View, worth: Worth, asked: Question, here: str) -> Move:
        creature, beyond = asked.creature, worth.beyond(here)
        best: Move = Pass()
        score = 0.0
        relics = worth.cheapest(3, asked.relics)
        for count in range(1, len(relics) + 1):
            value = worth.fought(creature, count, beyond, asked.relics)
            if value > score:
                best, score = Give(Payment(relics[:count])), value
        if not relics and worth.additional():
            value = worth.fought(creature, 2, beyond, ()) - CARD_WORTH
            if value > score:
                best, score = Give(Payment((), (2,))), value
        fed = worth.fed(beyond)
        if view.playable(Card.TRICKED) and fed - CARD_WORTH * 0.5 > score:
            best, score = Trick(), fed - CARD_WORTH * 0.5
        owned = [colour for colour, count in view.hand.tablets.items() if count]
        if owned and fed - TABLET_WORTH > score:
            best = Burn(self._useless(view, owned))
        return best

    @staticmethod
    def _useless(view: View, colours: Sequence[str]) -> str:
        """The colour that the player can miss most easily."""
        return max(colours, key=lambda colour: view.hand.tablets.get(colour, 0))

    @staticmethod
    def _useful(view: View, colours: Sequence[str]) -> str:
        """The colour that the player needs most."""
        return min(colours, key=lambda colour: view.hand.tablets.get(colour, 0))
