"""The island of Die Insel: its fields, zones and paths, and what can lie or stand on them.

Read from `board.toml`; an owner whose printed paths differ edits a copy and names it. Nothing in the code names a path.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from firmware.config import read_table
from firmware.terms import FIGURES, Figure, Touch, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from firmware.config import Table

OWN_BOARD = Path(__file__).with_name("board.toml")

SITES = ("temple", "well", "crystal", "tower")
"""The relic sites; every zone has each of them once (rulebook, The appearance of the creatures)."""

RELICS = ("amulet", "elixir", "crystal", "stone")
"""The relics, in the order of the sites where they are found."""

RELIC_OF = MappingProxyType(dict(zip(SITES, RELICS, strict=True)))

PEOPLE = ("ariki", "hermit", "beachcomber")
"""Who lives on the three remaining fields for a red plastic figure."""

CREATURES = ("spider", "snake", "griffin", "dragon", "gnome", "triton", "golem")
"""The seven Creatures of Fire."""

RUIN_COUNT = STATUE_COUNT = 4
"""One ruin for each guardian, one statue for each compass point (rulebook, Contents)."""

BOAT_COUNT = 5
"""Beach fields with a rowing boat (rulebook, White Adventurer)."""


class Kind(Enum):
    """What a field is: a place for a red plastic figure, a ruin (round field) or a statue."""

    SITE = "site"
    RUIN = "ruin"
    STATUE = "statue"


@dataclass(frozen=True, slots=True)
class IntroTurn:
    """One turn of the introductory game: what is expected, and what the volcano answers.

    `figure` explores `field`. There lies `site`, or `guardian` (a relic) with his `demand` appears, or `fights` (a
    creature) stands. `then` is the Touch field that answers, None if no answer follows. Afterwards the creature
    `appears` on field `at`; a fight has `outcome` and brings `creature_points`.
    """

    figure: Figure
    field: str
    site: str | None = None
    guardian: str | None = None
    demand: int = 0
    then: Touch | None = None
    appears: str | None = None
    at: str | None = None
    fights: str | None = None
    outcome: str | None = None
    creature_points: int = 0


@dataclass(frozen=True, slots=True)
class Board:
    """The island. Mappings are read only; every field id is a key of `kinds`, `zone_of`, `neighbours` and `layout`."""

    fields: tuple[str, ...]
    """All fields: the zones' fields, then the ruins, then the statues."""
    zones: Mapping[str, tuple[str, ...]]
    """Zone -> its fields for red plastic figures."""
    people_in: Mapping[str, tuple[str, ...]]
    """Zone -> who lives there beside the four relic sites."""
    ruins: tuple[str, ...]
    statues: tuple[str, ...]
    boats: tuple[str, ...]
    kinds: Mapping[str, Kind]
    zone_of: Mapping[str, str]
    """Field -> zone; of ruins and statues for pictures and the voice only."""
    neighbours: Mapping[str, tuple[str, ...]]
    """Field -> the fields one path away."""
    distances: Mapping[str, Mapping[str, int]]
    layout: Mapping[str, tuple[float, float]]
    """Field -> (compass angle in degrees, radius 0..1 from the crater)."""
    intro: tuple[IntroTurn, ...]

    def distance(self, start: str, end: str) -> int:
        """How many paths lie between two fields at least."""
        return self.distances[start][end]


def load_board(path: Path | None = None) -> Board:
    """Read the board that comes with the game, or an owner's copy.

    Raises:
        ConfigError: something in the file is missing, unknown or contradictory; names file, line and key.
    """
    table = read_table(path or OWN_BOARD)
    zones = _zones(table)
    special = table.table("special")
    in_zones = tuple(field for fields in zones.values() for field in fields)
    ruins = _distinct(special, "ruins", RUIN_COUNT)
    statues = _distinct(special, "statues", STATUE_COUNT)
    boats = _distinct(special, "boats", BOAT_COUNT)
    for field in boats:
        if field not in in_zones:
            raise special.error("boats", f"{field!r} is not one of the zones' fields")
    fields = in_zones + ruins + statues
    for key, names in (("ruins", ruins), ("statues", statues)):
        for field in names:
            if fields.count(field) > 1:
                raise special.error(key, f"{field!r} stands twice on the board")
    kinds = dict.fromkeys(in_zones, Kind.SITE) | dict.fromkeys(ruins, Kind.RUIN) | dict.fromkeys(statues, Kind.STATUE)
    where = special.table("zone")
    zone_of = {field: zone for zone, names in zones.items() for field in names}
    zone_of |= dict.fromkeys(ruins, where.text("ruins", choices=tuple(zones)))
    zone_of |= dict.fromkeys(statues, where.text("statues", choices=tuple(zones)))
    people_in = _people(table.table("specials_in_zone"), zones)
    neighbours = _neighbours(table.table("paths"), fields)
    board = Board(
        fields=fields,
        zones=MappingProxyType(zones),
        people_in=MappingProxyType(people_in),
        ruins=ruins,
        statues=statues,
        boats=boats,
        kinds=MappingProxyType(kinds),
        zone_of=MappingProxyType(zone_of),
        neighbours=MappingProxyType(neighbours),
        distances=MappingProxyType({field: _distances(neighbours, field) for field in fields}),
        layout=MappingProxyType(_layout(table.table("layout"), fields)),
        intro=_intro(table.table("intro"), kinds),
    )
    for each in (special, where, table):
        each.done()
    return board


def _distinct(table: Table, key: str, size: int | None = None) -> tuple[str, ...]:
    names = table.list_of(key, str, size=size)
    for name in names:
        if names.count(name) > 1:
            raise table.error(key, f"{name!r} stands there twice")
    return tuple(names)


def _zones(table: Table) -> dict[str, tuple[str, ...]]:
    section = table.table("zones")
    zones = {zone: _distinct(section, zone) for zone in section}
    seen: set[str] = set()
    for zone, fields in zones.items():
        for field in fields:
            if field in seen:
                raise section.error(zone, f"{field!r} is in another zone too")
            seen.add(field)
    if not zones:
        raise table.error("zones", "has no zone")
    return zones


def _people(section: Table, zones: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Who lives in which zone; with the four relic sites they must fill the zone's fields."""
    found: list[str] = []
    people: dict[str, tuple[str, ...]] = {}
    for zone, fields in zones.items():
        names = _distinct(section, zone) if zone in section else ()
        for name in names:
            if name not in PEOPLE:
                raise section.error(zone, f"must be of {', '.join(PEOPLE)}, one is {name!r}")
            if name in found:
                raise section.error(zone, f"{name!r} lives in another zone too")
            found.append(name)
        if len(fields) != len(SITES) + len(names):
            raise section.error(
                zone,
                f"has {counted(len(names), 'person', 'people')}, with {len(SITES)} relic sites it needs "
                f"{counted(len(SITES) + len(names), 'field')}, the zone has {len(fields)}",
            )
        people[zone] = names
    section.done()
    for name in PEOPLE:
        if name not in found:
            raise section.error(next(iter(zones)), f"no zone has the {name}")
    return people


def _neighbours(section: Table, fields: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    joined: dict[str, list[str]] = {field: [] for field in fields}
    edges: list[list[Any]] = section.list_of("edges", list)
    for edge in edges:
        if len(edge) != 2 or edge[0] == edge[1]:
            raise section.error("edges", f"each path must join two different fields, one is {edge!r}")
        for field in edge:
            if field not in fields:
                raise section.error("edges", f"{field!r} in {edge!r} is no field of the board")
        one, other = edge
        if other in joined[one]:
            raise section.error("edges", f"the path {edge!r} is there twice")
        joined[one].append(other)
        joined[other].append(one)
    section.done()
    neighbours = {field: tuple(others) for field, others in joined.items()}
    reached = _distances(neighbours, fields[0])
    for field in fields:
        if field not in reached:
            raise section.error("edges", f"no paths lead from {fields[0]!r} to {field!r}")
    return neighbours


def _distances(neighbours: Mapping[str, Iterable[str]], start: str) -> dict[str, int]:
    """Breadth first: field -> paths from `start`."""
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        field = waiting.popleft()
        for other in neighbours[field]:
            if other not in found:
                found[other] = found[field] + 1
                waiting.append(other)
    return found


def _layout(section: Table, fields: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    layout: dict[str, tuple[float, float]] = {}
    for field in fields:
        angle_deg, radius = section.list_of(field, float, size=2)
        if not (0 <= angle_deg < 360 and 0 <= radius <= 1):
            raise section.error(
                field, f"must be an angle from 0 to below 360 and a radius 0..1, is {angle_deg}, {radius}"
            )
        layout[field] = (angle_deg, radius)
    section.done()
    return layout


def _intro(section: Table, kinds: Mapping[str, Kind]) -> tuple[IntroTurn, ...]:
    fields = tuple(kinds)
    turns: list[IntroTurn] = []
    for row in section.tables("turns"):

        def optional(key: str, choices: tuple[str, ...], row: Table = row) -> str | None:
            return row.text(key, choices=choices) if key in row else None

        then = optional("then", (Touch.ONE, Touch.TWO, Touch.THREE))
        turn = IntroTurn(
            figure=Figure(row.text("figure", choices=FIGURES)),
            field=row.text("field", choices=fields),
            site=optional("site", SITES + PEOPLE),
            guardian=optional("guardian", RELICS),
            demand=row.whole("demand", 0, low=0),
            then=Touch(then) if then else None,
            appears=optional("appears", CREATURES),
            at=optional("at", fields),
            fights=optional("fights", CREATURES),
            outcome=optional("outcome", ("vanishes", "stays")),
            creature_points=row.whole("creature_points", 0, low=0),
        )
        row.done()
        _check_turn(row, turn, kinds[turn.field])
        turns.append(turn)
    section.done()
    if not turns:
        raise section.error("turns", "has no turn")
    return tuple(turns)


def _check_turn(row: Table, turn: IntroTurn, kind: Kind) -> None:
    """What an introductory turn names must go together."""
    if turn.site and kind is not Kind.SITE:
        raise row.error("site", f"{turn.field!r} takes no red plastic figure")
    if turn.guardian and (kind is not Kind.RUIN or turn.demand < 1):
        raise row.error("guardian", f"needs a ruin and a demand, is at {turn.field!r} with demand {turn.demand}")
    if (turn.appears is None) != (turn.at is None):
        raise row.error("appears", "needs a field `at`, and the other way round")
    if turn.fights and not (turn.outcome and turn.then):
        raise row.error("fights", "needs an outcome and the Touch field that fights (`then`)")
