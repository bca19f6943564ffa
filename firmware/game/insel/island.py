"""What everybody at the table knows: where figures and creatures stand, what lies open, what the volcano has told."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from firmware.game.insel import events as told
from firmware.game.insel.play import CREATURE
from firmware.terms import Touch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from firmware.game.insel.board import Board
    from firmware.game.kernel import Event
    from firmware.terms import Contact, Figure


@dataclass(slots=True)
class Keeper:
    """A guardian as the players know him: his relic, what he still wants, who gave how much, whether he rests."""

    relic: str
    missing: int
    gifts: dict[Figure, int] = field(default_factory=dict)
    resting: bool = False


@dataclass(slots=True)
class Island:
    """The open knowledge; built from contacts and events alone, so a person could keep it with pen and paper."""

    board: Board
    turn: int = 0
    """Turns so far, all figures together; an Explore that only ended the turn before, and with it the game, counts."""
    places: dict[Figure, str] = field(default_factory=dict)
    sites: dict[str, str] = field(default_factory=dict)
    """Discovered field -> relic site or person."""
    visited: dict[str, int] = field(default_factory=dict)
    """Field -> the turn in which anybody was last served there."""
    keepers: dict[str, Keeper] = field(default_factory=dict)
    """Ruin -> its guardian."""
    laid: dict[str, list[str]] = field(default_factory=dict)
    """Statue -> the colours that lie there; seven awaken it."""
    awake: set[str] = field(default_factory=set)
    """Statues that are awake."""
    creatures: dict[str, str] = field(default_factory=dict)
    """Creature -> its field."""
    explored: dict[Figure, set[str]] = field(default_factory=dict)
    """Fields with relic sites that each figure has explored."""
    island_points: dict[Figure, int] = field(default_factory=dict)
    creature_points: dict[Figure, int] = field(default_factory=dict)
    triton_fights: dict[Figure, int] = field(default_factory=dict)
    strong: set[Figure] = field(default_factory=set)
    gnome_driver: Figure | None = None
    ariki_known: bool = False
    bonus_open: bool = False
    """A statue is awake and the Beachcomber has not yet paid for it."""
    jumper: Figure | None = None
    """Whose next Explore continues the turn, by the Hermit's leave."""
    end: told.GameOver | None = None

    def place_of(self, site: str) -> str | None:
        """Where a person lives, None while unknown."""
        for place, found in self.sites.items():
            if found == site:
                return place
        return None

    def occupied(self) -> Mapping[str, str]:
        """Field -> creature on it."""
        return {place: creature for creature, place in self.creatures.items()}

    def reach(self, start: str) -> dict[str, int]:
        """Field -> paths from `start`; a creature's field can be entered, not passed (rulebook, A player's turn)."""
        neighbours, stops = self.board.neighbours, set(self.creatures.values())
        found = {start: 0}
        waiting = deque((start,))
        while waiting:
            here = waiting.popleft()
            paths = found[here] + 1
            for other in neighbours[here]:
                if other not in found:
                    found[other] = paths
                    if other not in stops:
                        waiting.append(other)
        return found

    def hear(self, contact: Contact, events: Iterable[Event]) -> None:
        """Follow an accepted contact and what the volcano told of it."""
        figure = contact.figure
        if figure not in self.places:
            self.island_points[figure] = self.creature_points[figure] = self.triton_fights[figure] = 0
            self.explored[figure] = set()
        if contact.touch is Touch.EXPLORE or figure not in self.places:
            self.turn += figure is not self.jumper  # the figure that the Hermit let jump goes on with its turn
            self.jumper = None
            self.places[figure] = contact.field
        for event in events:
            follow = _FOLLOW.get(type(event))
            if follow is not None:
                follow(self, event)

    def clone(self) -> Island:
        """An independent copy."""
        keepers = {
            place: Keeper(each.relic, each.missing, each.gifts.copy(), each.resting)
            for place, each in self.keepers.items()
        }
        return Island(
            self.board,
            self.turn,
            self.places.copy(),
            self.sites.copy(),
            self.visited.copy(),
            keepers,
            {statue: colours.copy() for statue, colours in self.laid.items()},
            self.awake.copy(),
            self.creatures.copy(),
            {figure: fields.copy() for figure, fields in self.explored.items()},
            self.island_points.copy(),
            self.creature_points.copy(),
            self.triton_fights.copy(),
            self.strong.copy(),
            self.gnome_driver,
            self.ariki_known,
            self.bonus_open,
            self.jumper,
            self.end,
        )


# --- what each event tells


def _discovered(island: Island, event: told.Discovered) -> None:
    island.sites[event.field] = event.site
    island.ariki_known = island.ariki_known or event.site == "ariki"
    if event.site != "hermit":  # whose answer does not depend on when he was visited
        island.visited[event.field] = island.turn


def _relics(island: Island, event: told.Relics) -> None:
    place = island.places[event.figure]
    island.visited[place] = island.turn
    island.explored[event.figure].add(place)


def _served(island: Island, event: told.Standings | told.ExchangeOffered) -> None:
    """The Ariki or the Beachcomber speaks to whoever explores."""
    site = "ariki" if isinstance(event, told.Standings) else "beachcomber"
    for place, found in island.sites.items():
        if found == site:
            island.visited[place] = island.turn


def _points(island: Island, event: told.Points) -> None:
    kept = island.creature_points if event.kind == CREATURE else island.island_points
    kept[event.figure] += event.count


def _appeared(island: Island, event: told.GuardianAppeared) -> None:
    island.keepers[event.field] = Keeper(event.relic, event.demand)
    island.visited[event.field] = island.turn


def _given(island: Island, event: told.GuardianCredit | told.RelicsHanded) -> None:
    keeper = island.keepers[event.field]
    keeper.gifts[event.figure] = keeper.gifts.get(event.figure, 0) + event.count
    keeper.missing = max(0, keeper.missing - event.count)
    island.visited[event.field] = island.turn


def _asked(island: Island, event: told.GuardianAsks | told.TabletOffered) -> None:
    island.visited[event.field] = island.turn


def _rests(island: Island, event: told.GuardianRests) -> None:
    island.keepers[event.field].resting = True


def _awakened(island: Island, event: told.StatueAwakened) -> None:
    island.bonus_open = island.bonus_open or not island.awake
    island.awake.add(event.field)


def _bonus(island: Island, event: told.BeachcomberBonus) -> None:  # noqa: ARG001 - the table's signature
    island.bonus_open = False


def _creature(island: Island, event: told.CreatureAppeared) -> None:
    island.creatures[event.creature] = event.field


def _attack(island: Island, event: told.DragonAttacks) -> None:
    island.creatures["dragon"] = event.field


def _fought(island: Island, event: told.Fought) -> None:
    if event.to is not None:
        island.creatures[event.creature] = event.to
    elif event.outcome == "vanishes":
        del island.creatures[event.creature]
    if event.with_ == "strength":
        island.strong.discard(event.figure)
    if event.creature == "triton" and event.with_ == "relics":
        island.triton_fights[event.figure] += 1
    if event.creature == "gnome" and event.outcome != "stays":
        island.gnome_driver = None if island.gnome_driver == event.figure else event.figure


def _strengthened(island: Island, event: told.Strengthened) -> None:
    island.strong.add(event.figure)


def _hermit(island: Island, event: told.Hermit) -> None:
    island.jumper = event.figure


def _over(island: Island, event: told.GameOver) -> None:
    island.end = event


_FOLLOW: dict[type[Event], Callable[[Island, Any], None]] = {
    told.Discovered: _discovered,
    told.Relics: _relics,
    told.Standings: _served,
    told.ExchangeOffered: _served,
    told.Points: _points,
    told.GuardianAppeared: _appeared,
    told.GuardianCredit: _given,
    told.RelicsHanded: _given,
    told.GuardianAsks: _asked,
    told.TabletOffered: _asked,
    told.GuardianRests: _rests,
    told.StatueAwakened: _awakened,
    told.BeachcomberBonus: _bonus,
    told.CreatureAppeared: _creature,
    told.DragonAttacks: _attack,
    told.Fought: _fought,
    told.Strengthened: _strengthened,
    told.Hermit: _hermit,
    told.GameOver: _over,
}
