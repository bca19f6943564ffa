"""A family at the table: plays whole games of Die Insel through the console, sensibly and always alike.

It sees what people see: where the figures stand, its cards, its tablets, what the volcano has said. It walks two fields
along the paths and stops at a creature (rulebook, Moving); further steps, colours and most cards are left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from firmware.game.insel.board import RELICS, load_board
from firmware.game.insel.state import FIGHT, GUARDIAN, HERMIT, STATUE, TABLET
from firmware.game.kernel import next_random
from firmware.terms import FIGURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from firmware.game.insel.state import InselState, Pending
    from firmware.terms import Figure

BOARD = load_board()
STEPS = 2
"""Fields that a figure moves without paying (rulebook, Moving)."""
MOST_TURNS = 400
STORY_S, ANNOUNCEMENT_S = 75, 25
NUMBERS = ("", "one", "two", "three")
ANSWERS = dict(zip(FIGURES, ("one", "two", "three", "fire"), strict=True))
"""What each figure touches when the volcano asks who it is."""


@dataclass
class Dice:
    """The family's own chance: a generator of the kernel's kind."""

    generator: int

    def below(self, count: int) -> int:
        return int(next_random(self) * count)

    def one_of(self, things: Any) -> Any:
        return things[self.below(len(things))]


@dataclass
class Hand:
    """What one player holds."""

    relics: Counter[str] = field(default_factory=Counter)
    tablets: int = 0


class Family:
    """Plays on a volcano: `play` carries out one line of the console and returns its rows, `state` is the running game.

    With `clumsy` they also ask, press, err, hold a figure that cannot be felt, and lose the power.
    """

    def __init__(
        self,
        play: Callable[[str], list[dict[str, Any]]],
        state: Callable[[], InselState],
        *,
        players: int = 4,
        level: str = "one",
        seed: int = 1,
        clumsy: bool = True,
    ) -> None:
        self._play, self._state, self.level, self.clumsy = play, state, level, clumsy
        self.dice = Dice(seed)
        self.figures = FIGURES[:players]
        self.hands = {figure: Hand() for figure in self.figures}
        self.turns = 0

    def game(self) -> None:
        """One whole game, from ready to the end."""
        homes = iter(sorted(BOARD.boats, key=lambda _: self.dice.below(1000)))
        touch = self.level
        for figure in self._round():
            if figure not in self._places():
                self._explore(figure, next(homes), touch)
                touch = "explore"
            else:
                self._explore(figure, self._destination(figure), "explore")
            self._answer()
            if self._state().over:
                return
        raise AssertionError(f"no end after {MOST_TURNS} turns")

    def _round(self) -> Iterator[Figure]:
        while self.turns < MOST_TURNS:
            for figure in self.figures:
                self.turns += 1
                yield figure
                if self.clumsy:
                    self._mishap(figure)

    def _places(self) -> dict[Figure, str]:
        state = self._state()
        return state.places if state is not None else {}

    # --- lines

    def _do(self, line: str) -> None:
        """One contact; the family listens to the end and takes what it is told to take."""
        rows = self._play(line)
        assert not [row for row in rows if row.get("event") == "rejected"], line
        self._listen(rows)

    def _explore(self, figure: Figure, place: str, touch: str) -> None:
        """Explore; sometimes the volcano cannot feel who it is, and is told if it guesses wrong."""
        if not self.clumsy or self.dice.below(12):
            self._do(f"{figure} {place} {touch}")
            return
        rows = self._play(f"? {place} {touch}")
        guessed = [row["figure"] for row in rows if row.get("event") == "figure_inferred"]
        if guessed and guessed[0] != figure:
            rows += self._play("button")
        if guessed and guessed[0] == figure:
            rows += self._play("wait 3")
        else:
            self._play("wait 8")
            rows += self._play(f"? {place} {ANSWERS[figure]}")
        self._listen(rows)

    def _listen(self, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            self._take(row)
        if not any(row.get("event") == "story" for row in rows):
            self._play(f"wait {ANNOUNCEMENT_S}")
        elif self.clumsy and self.dice.below(2):
            self._play("wait 20")
            self._play("button")
            self._play("wait 10")
        else:
            self._play(f"wait {STORY_S}")

    def _take(self, row: dict[str, Any]) -> None:
        """Cards and tablets into the hand that they are for."""
        hand = self.hands.get(row.get("figure", ""))
        if hand is None or "event" not in row:
            return
        if row["event"] == "relics":
            hand.relics[row["relic"]] += row["count"]
        elif row["event"] == "relic_choice":
            hand.relics[self.dice.one_of(RELICS)] += row["count"]
        elif row["event"] == "exchange_offered":
            self._exchange(hand)
        elif row["event"] == "tablets":
            hand.tablets += row["count"]

    def _exchange(self, hand: Hand) -> None:
        """All for one kind that a guardian at work still wants."""
        wanted = [each.relic for each in self._state().guardians.values() if not each.resting]
        if wanted:
            hand.relics = Counter({wanted[0]: hand.relics.total()})

    def _mishap(self, figure: Figure) -> None:
        """Now and then somebody asks, presses, errs, or stumbles over the switch."""
        if self._state().pending:
            return
        place = self._places()[figure]
        for line in {
            0: (f"{figure} {place} rock", "wait 20"),
            1: ("button", "wait 25"),
            2: (f"{figure} {place} three", "wait 2", f"{figure} {place} fire", "wait 10"),
            3: ("button long", "wait 5"),
            4: ("power off", "power on", "wait 30"),
        }.get(self.dice.below(60), ()):
            self._play(line)

    # --- decisions

    def _answer(self) -> None:
        """Answer what is asked, until nothing is, or leave it open."""
        while (pending := self._state().pending) and not self._state().over:
            if pending.kind == HERMIT:
                self._do(f"{pending.figure} {self._jump(pending.figure)} explore")
                continue
            word = self._decision(pending, self.hands[pending.figure])
            if not word:
                if self.clumsy and self.dice.below(6) == 0:
                    self._play("wait 100")
                return
            self._do(f"{pending.figure} {pending.field} {word}")

    def _decision(self, pending: Pending, hand: Hand) -> str:
        state = self._state()
        if pending.kind == FIGHT:
            return self._fight(pending, hand)
        if pending.kind == STATUE:
            count = min(3, hand.tablets, 7 - state.statues[pending.field])
            hand.tablets -= count
        elif pending.kind == TABLET:
            relic = state.guardians[pending.field].relic
            count = pending.price if hand.relics[relic] >= pending.price else 0
            hand.relics[relic] -= count
        else:
            assert pending.kind == GUARDIAN
            guardian = state.guardians[pending.field]
            count = min(3, hand.relics[guardian.relic], guardian.missing + 1)
            hand.relics[guardian.relic] -= count
        return NUMBERS[count]

    def _fight(self, pending: Pending, hand: Hand) -> str:
        held = min(3, sum(hand.relics[relic] for relic in pending.relics))
        if held and self.dice.below(10) < 9:
            left = held
            for relic in pending.relics:
                spent = min(left, hand.relics[relic])
                hand.relics[relic] -= spent
                left -= spent
            return NUMBERS[held]
        if hand.tablets and self.dice.below(10) < 3:
            hand.tablets -= 1
            return "fire"
        return ""

    def _value(self, figure: Figure, target: str) -> int:
        """What a player hopes for on a field."""
        state, hand = self._state(), self.hands[figure]
        creature = state.creature_on(target)
        if creature and creature != "gnome" and not hand.tablets:
            return 2 if hand.relics.total() > 2 else -1
        if target in state.statues:
            missing = 7 - state.statues[target]
            return (10 + state.statues[target]) if missing and hand.tablets else -2
        if target in BOARD.ruins:
            guardian = state.guardians.get(target)
            if guardian is None:
                return 3 if state.ariki_turn else -3
            if guardian.resting:
                return 4 if hand.relics[guardian.relic] >= 3 else -1
            return 4 * min(2, hand.relics[guardian.relic])
        site = state.sites.get(target)
        if site is None:
            return 5
        if site in ("ariki", "hermit", "beachcomber"):
            return 2
        return min(6, (state.turn - state.visited[target]) // 8)

    def _jump(self, figure: Figure) -> str:
        fields = [each for each in BOARD.fields if self._state().sites.get(each) != "hermit"]
        return max(fields, key=lambda each: (self._value(figure, each), self.dice.below(1000)))

    def _destination(self, figure: Figure) -> str:
        """Towards the best field, as far as two steps lead; a creature on the way stops the figure."""
        here = self._places()[figure]
        if self.clumsy and self.dice.below(15) == 0:
            return str(self.dice.one_of(BOARD.neighbours[here]))
        ways = _ways(here)
        best = max(
            (each for each in BOARD.fields if each != here),
            key=lambda each: (2 * self._value(figure, each) - len(ways[each]), self.dice.below(1000)),
        )
        for step in ways[best][:STEPS]:
            here = step
            if self._state().creature_on(step):
                break
        return here


def _ways(start: str) -> dict[str, tuple[str, ...]]:
    """The shortest way to every field, without the start."""
    ways: dict[str, tuple[str, ...]] = {start: ()}
    waiting = [start]
    for here in waiting:
        for near in BOARD.neighbours[here]:
            if near not in ways:
                ways[near] = (*ways[here], near)
                waiting.append(near)
    return ways
