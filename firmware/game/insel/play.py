"""One contact being played: the state it changes, the chance it asks, the events it tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from firmware.game.insel.events import GameOver, Points, Tablets

if TYPE_CHECKING:
    from firmware.game.insel.board import Board
    from firmware.game.insel.state import InselState
    from firmware.game.insel.tuning import Tuning
    from firmware.game.kernel import Chance, Event, Odds
    from firmware.terms import Figure

ISLAND: Final = "island"
CREATURE: Final = "creature"
"""The two kinds of points (rulebook, Object of the Game)."""


@dataclass(slots=True)
class Play:
    """What the rules of all places share while they answer one contact."""

    board: Board
    tuning: Tuning
    state: InselState
    chance: Chance
    events: list[Event] = field(default_factory=list)

    def tell(self, event: Event) -> None:
        """Something happened."""
        self.events.append(event)

    def draw(self, kind: str, odds: Odds) -> str:
        """A draw whose outcomes are words."""
        return str(self.chance.draw(self.state, kind, odds))

    def draw_number(self, kind: str, odds: Odds) -> int:
        """A draw whose outcomes are numbers."""
        return int(self.chance.draw(self.state, kind, odds))

    def score(self, figure: Figure, count: int, kind: str) -> None:
        """Points for a figure; nothing is told of none."""
        if count:
            points = self.state.island_points if kind == ISLAND else self.state.creature_points
            points[figure] += count
            self.events.append(Points(figure, count, kind))

    def grant_tablets(self, figure: Figure, count: int, source: str) -> None:
        """Tablets, and the points for them, also if the heap is empty (rulebook, No face-down stone tablets left)."""
        if count:
            self.events.append(Tablets(figure, count, source))
            self.score(figure, count * self.tuning.guardians.tablet_points, ISLAND)

    def turns_since_visit(self, place: str) -> int:
        """How many turns ago anybody was there, before this visit."""
        return self.state.turn - self.state.visited[place]

    @property
    def statues_awake(self) -> int:
        """How many statues have all their tablets."""
        return list(self.state.statues.values()).count(self.tuning.statues.tablets)

    def finish(self, reason: str) -> None:
        """The game ends now: `reason` creatures or statues (rulebook, Object of the Game)."""
        state = self.state
        state.over = reason
        state.pending = None
        saved = self.statues_awake > 0
        creature_points = dict(state.creature_points)
        points = {figure: count + state.island_points[figure] for figure, count in creature_points.items()}
        if not saved:
            points = creature_points
        best = max(points.values())
        winners = tuple(figure for figure, count in points.items() if count == best)
        self.events.append(GameOver(reason, saved, dict(points), creature_points, winners))
