"""A game of Die Insel for tests, driven by the console's lines, without console and unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.game.insel.rules import InselRules
from firmware.game.kernel import Rejected, ScriptedChance
from firmware.terms import Contact, Figure, Touch

if TYPE_CHECKING:
    from firmware.game.insel.state import InselState
    from firmware.game.kernel import Odds, Outcome

RULES = InselRules()

QUIET: dict[str, Outcome] = {
    "spawn": "none",
    "attack": "no",
    "cards": 0,
    "relics": 1,
    "gnome_cards": 0,
    "golem_tablet": "no",
}
"""What is drawn when a test scripts nothing: an island where little happens."""

TWO = """
chance site temple
white beach-s explore
chance site well
red beach-sw explore
"""

FOUR = (
    TWO
    + """
chance site crystal
green beach-ne explore
chance site tower
black beach-nw explore
"""
)

ARIKI = """
chance site ariki
white jungle-w explore
"""


class QuietChance(ScriptedChance):
    """Scripted; what is not scripted is quiet, or drawn from the seed. Remembers the odds of each kind's last draw."""

    def __init__(self) -> None:
        super().__init__()
        self.odds: dict[str, dict[Outcome, float]] = {}

    def choose(self, kind: str, odds: Odds, drawn: Outcome) -> Outcome:
        self.odds[kind] = dict(odds)
        if not self.queues.get(kind) and kind in QUIET and QUIET[kind] in odds:
            return QUIET[kind]
        return super().choose(kind, odds, drawn)


class Game:
    """One game; `play` gives the events as rows, and holds that every scripted draw was allowed and made."""

    def __init__(self, lines: str = "", seed: int = 7) -> None:
        self.rules = RULES
        self.chance = QuietChance()
        self.seed = seed
        self.states: list[InselState] = []
        self.draws: list[str] = []
        self.rows: list[dict[str, Any]] = []
        if lines:
            self.play(lines)

    @property
    def state(self) -> InselState:
        """The state; there is none before the first contact."""
        return self.states[0]

    def contact(self, line: str) -> Contact:
        figure, field, touch = line.split()
        return Contact(Figure(figure), field, Touch(touch))

    def play(self, lines: str) -> list[dict[str, Any]]:
        """Play lines as the console takes them; the rows that they made. `draws` are their draws, ``kind outcome``."""
        rows: list[dict[str, Any]] = []
        self.draws = []
        for line in filter(None, map(str.strip, lines.splitlines())):
            if line.startswith("chance"):
                _, kind, word = line.split()
                self.chance.queue(kind, int(word) if word.isdigit() else word)
                continue
            contact = self.contact(line)
            if not self.states:
                self.states.append(self.rules.start(contact, self.seed))
            rows += [event.row() for event in self.rules.accept(self.state, contact, self.chance)]
            self.draws += [f"{kind} {outcome}" for kind, outcome in self.chance.take_drawn()]
        assert not self.chance.refused
        assert not any(self.chance.queues.values()), f"never drawn: {self.chance.queues}"
        self.rows += rows
        return rows

    def rejects(self, line: str) -> str:
        """The reason for which a contact is rejected; the state stays the same."""
        before = self.state.dump()
        try:
            self.rules.accept(self.state, self.contact(line), self.chance)
        except Rejected as error:
            assert self.state.dump() == before
            assert not self.chance.take_drawn()
            return error.reason
        raise AssertionError(f"accepted: {line}")

    def pass_turns(self, count: int) -> None:
        """So many turns in which nothing but time passes."""
        for _ in range(count):
            self.play("white beach-s explore")


def names(rows: list[dict[str, Any]]) -> list[str]:
    """The events' names."""
    return [row["event"] for row in rows]


def only(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The fields of the only event of this name."""
    (row,) = [row for row in rows if row["event"] == name]
    return {key: value for key, value in row.items() if key != "event"}


def points(rows: list[dict[str, Any]], figure: str, kind: str) -> int:
    """All points of a figure."""
    return sum(
        row["count"] for row in rows if row["event"] == "points" and row["figure"] == figure and row["kind"] == kind
    )
