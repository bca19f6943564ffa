"""A game of Die Insel in progress: what the volcano knows, and nothing else.

Hands of cards, tablets on the statues by colour and the paths walked are the players' affair. Turn numbers count the
accepted Explores of the game from 1; what lies long ago is told by them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from firmware.game.insel.tuning import LEVELS

if TYPE_CHECKING:
    from firmware.game.kernel import Json
    from firmware.terms import Figure

FIGHT: Final = "fight"
GUARDIAN: Final = "guardian"
TABLET: Final = "tablet"
STATUE: Final = "statue"
HERMIT: Final = "hermit"
QUESTIONS = (FIGHT, GUARDIAN, TABLET, STATUE)
"""Decisions that One, Two, Three or Fire answers. A Hermit's jump is answered by an Explore."""


@dataclass(frozen=True, slots=True)
class Pending:
    """The open decision of `figure` on `field`.

    A fight has its `creature` and the `relics` it can be fought with; an offered tablet has its `price` in relics.
    """

    kind: str
    figure: Figure
    field: str
    creature: str = ""
    relics: tuple[str, ...] = ()
    price: int = 0


@dataclass(frozen=True, slots=True)
class Guardian:
    """A guardian on his ruin: what he wants, and who gave how many relics, in the order of the first gifts."""

    relic: str
    demand: int
    gifts: tuple[tuple[Figure, int], ...] = ()
    resting: bool = False

    @property
    def missing(self) -> int:
        """How many relics he still wants."""
        return max(0, self.demand - sum([count for _, count in self.gifts]))

    def given(self, figure: Figure, count: int) -> Guardian:
        """The guardian after a gift."""
        gifts = dict(self.gifts)
        gifts[figure] = gifts.get(figure, 0) + count
        return Guardian(self.relic, self.demand, tuple(gifts.items()))


@dataclass(slots=True)
class InselState:
    """One game. Mappings by figure keep the order of entering; all values in mappings are immutable: cheap to copy."""

    generator: int
    level: int
    """Index into `LEVELS`."""
    turn: int = 0
    last: Figure | None = None
    """Who acted last."""
    pending: Pending | None = None
    over: str = ""
    """How the game ended: ``creatures`` or ``statues``; empty while it runs."""

    landed: dict[Figure, str] = field(default_factory=dict)
    """The boat field of every figure that entered."""
    places: dict[Figure, str] = field(default_factory=dict)
    """Where each figure explored last."""
    turns: dict[Figure, int] = field(default_factory=dict)
    """How many turns each figure has had."""
    last_turn: dict[Figure, int] = field(default_factory=dict)
    """The number of each figure's last turn."""
    island_points: dict[Figure, int] = field(default_factory=dict)
    """Points for saving the island."""
    creature_points: dict[Figure, int] = field(default_factory=dict)
    """Points for fighting creatures."""
    explored: dict[Figure, tuple[str, ...]] = field(default_factory=dict)
    """Fields with relic sites that each figure has explored; the third of a kind has brought its tablet."""
    triton_fights: dict[Figure, int] = field(default_factory=dict)
    strong: tuple[Figure, ...] = ()
    """Who has the strength of the griffin's crystals."""
    gnome_driver: Figure | None = None
    """Who drove the gnome off last; None if that was already the second time."""

    sites: dict[str, str] = field(default_factory=dict)
    """Discovered field -> relic site or person."""
    visited: dict[str, int] = field(default_factory=dict)
    """Field -> turn of anybody's last visit: relic sites, the Ariki, the Beachcomber, guardians."""
    guardians: dict[str, Guardian] = field(default_factory=dict)
    statues: dict[str, int] = field(default_factory=dict)
    """Statue -> tablets laid."""
    ariki_turn: int = 0
    """The turn in which the Ariki was discovered, 0 while she is not."""
    beachcomber_paid: bool = False
    """Her bonus after the first awakening has been given."""

    creatures: dict[str, str] = field(default_factory=dict)
    """Creature on the island -> its field."""
    ambush: bool = False
    """The dragon waits for the next turn."""
    fed: tuple[str, ...] = ()
    """Creatures that were driven off by a tablet and are not back yet."""
    sent_turn: int = 0
    """The turn of the last creature, or of the Ariki's discovery."""

    @property
    def level_name(self) -> str:
        """``beginner``, ``advanced`` or ``expert``."""
        return LEVELS[self.level]

    def creature_on(self, where: str) -> str | None:
        """The creature on a field."""
        for creature, place in self.creatures.items():
            if place == where:
                return creature
        return None

    def clone(self) -> InselState:
        """An independent copy."""
        return InselState(
            self.generator,
            self.level,
            self.turn,
            self.last,
            self.pending,
            self.over,
            self.landed.copy(),
            self.places.copy(),
            self.turns.copy(),
            self.last_turn.copy(),
            self.island_points.copy(),
            self.creature_points.copy(),
            self.explored.copy(),
            self.triton_fights.copy(),
            self.strong,
            self.gnome_driver,
            self.sites.copy(),
            self.visited.copy(),
            self.guardians.copy(),
            self.statues.copy(),
            self.ariki_turn,
            self.beachcomber_paid,
            self.creatures.copy(),
            self.ambush,
            self.fed,
            self.sent_turn,
        )

    def dump(self) -> Json:
        """The state as a JSON object; `saved.load` reads it back. The order of keys carries no meaning."""
        pending = self.pending
        return {
            "generator": self.generator,
            "level": self.level_name,
            "turn": self.turn,
            "last": self.last and self.last.value,
            "pending": pending
            and {
                "kind": pending.kind,
                "figure": pending.figure.value,
                "field": pending.field,
                "creature": pending.creature,
                "relics": list(pending.relics),
                "price": pending.price,
            },
            "over": self.over,
            "figures": [
                {
                    "figure": figure.value,
                    "landed": landed,
                    "place": self.places[figure],
                    "turns": self.turns[figure],
                    "last_turn": self.last_turn[figure],
                    "island_points": self.island_points[figure],
                    "creature_points": self.creature_points[figure],
                    "explored": list(self.explored[figure]),
                    "triton_fights": self.triton_fights[figure],
                    "strong": figure in self.strong,
                }
                for figure, landed in self.landed.items()
            ],
            "gnome_driver": self.gnome_driver and self.gnome_driver.value,
            "sites": dict(self.sites),
            "visited": dict(self.visited),
            "guardians": {
                place: {
                    "relic": guardian.relic,
                    "demand": guardian.demand,
                    "gifts": [[figure.value, count] for figure, count in guardian.gifts],
                    "resting": guardian.resting,
                }
                for place, guardian in self.guardians.items()
            },
            "statues": dict(self.statues),
            "ariki_turn": self.ariki_turn,
            "beachcomber_paid": self.beachcomber_paid,
            "creatures": dict(self.creatures),
            "ambush": self.ambush,
            "fed": list(self.fed),
            "sent_turn": self.sent_turn,
        }
