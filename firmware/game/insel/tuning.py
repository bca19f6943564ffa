"""The numbers of Die Insel, read from `tuning.toml`: points, odds, curves, the volcano's clock.

Each table of the file has a grade (K known, I inferred, D designed) and a source. Levels are indexed 0 beginner,
1 advanced, 2 expert. Odds are outcome -> weight and hold every outcome that the rules allow.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from firmware.config import read_table
from firmware.game.insel.board import CREATURES
from firmware.terms import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firmware.config import Table
    from firmware.game.kernel import Odds, Outcome

OWN_TUNING = Path(__file__).with_name("tuning.toml")

LEVELS = ("beginner", "advanced", "expert")
GRADES = ("K", "I", "D")
FIGHT_OUTCOMES = ("vanishes", "moves", "stays")
MOST_AT_ONCE = 3
"""One, Two, Three: more than three relics or tablets cannot be touched (rulebook, Contents)."""
RELIC_CARDS = 15
"""Of each kind (rulebook, Contents)."""
MOST_RELICS = 4
"""From a relic site (rulebook, Relic sites and relics)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Curve(Generic[T]):
    """A value that depends on how many turns ago somebody was there."""

    from_turns: tuple[int, ...]
    values: tuple[T, ...]

    def at(self, turns: int) -> T:
        """The value `turns` turns after the last visit."""
        return self.values[bisect_right(self.from_turns, turns) - 1]


@dataclass(frozen=True, slots=True)
class SiteNumbers:
    """Relic sites and the three people."""

    discovery_relics: int
    relics: Curve[Odds]
    set_tablets: int
    ariki_points: int
    ariki_cards: int
    cards: Curve[Odds]
    choice: int
    choices: Curve[Odds]
    beachcomber_bonus: int


@dataclass(frozen=True, slots=True)
class GuardianNumbers:
    """Guardians; `demand` by level."""

    demand: tuple[Odds, ...]
    credit_from_turns: int
    credit_relics: int
    by_rank: tuple[int, ...]
    few_players: int
    much_relics: int
    much_tablets: int
    little_relics: int
    little_tablets: int
    price: Curve[int]
    tablet_points: int


@dataclass(frozen=True, slots=True)
class StatueNumbers:
    """Statues."""

    tablets: int
    tablet_points: int
    awakening_points: int


@dataclass(frozen=True, slots=True)
class CreatureNumbers:
    """Creatures; `fight` by level and number of relics - 1, shares are 0..1."""

    values: Mapping[str, int]
    moved_points: int
    fed_points: int
    fight: tuple[tuple[Odds, ...], ...]
    griffin_leaves: float
    strength_relics: int
    golem_leaves: float
    golem_at_statue: float
    golem_tablet: Odds
    triton_fled: int
    gnome_at_hermit: float
    gnome_cards: Odds
    gnome_twice_points: int
    ambush: float
    attack: tuple[Odds, ...]
    range_paths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClockNumbers:
    """The volcano's clock; shares are 0..1."""

    quiet_turns: int
    sooner_every_turns: tuple[int, ...]
    sooner_each_fed: int
    chance: tuple[float, ...]
    rise: float
    fed_weight: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """All numbers of the game."""

    enter_turns: int
    sites: SiteNumbers
    guardians: GuardianNumbers
    statues: StatueNumbers
    creatures: CreatureNumbers
    clock: ClockNumbers
    grades: Mapping[str, str]
    """Table of the file -> its grade."""


class _Sheet:
    """The file's tables: each is graded, and every key must be known."""

    def __init__(self, root: Table) -> None:
        self.root = root
        self.grades: dict[str, str] = {}
        self._open: list[Table] = [root]

    def table(self, key: str) -> Table:
        """A table with its grade and source taken."""
        table = self.root.table(key)
        self.grades[key] = table.text("grade", choices=GRADES)
        if not table.text("source").strip():
            raise table.error("source", "must say where the number comes from")
        self._open.append(table)
        return table

    def done(self) -> None:
        """Complain about unknown keys."""
        for table in self._open:
            table.done()


def load_tuning(path: Path | None = None) -> Tuning:
    """Read the numbers that come with the game, or an owner's copy.

    Raises:
        ConfigError: something in the file is missing, unknown or out of range; names file, line and key.
    """
    sheet = _Sheet(read_table(path or OWN_TUNING))
    tuning = Tuning(
        enter_turns=sheet.table("entering").whole("turns_of_each", low=1),
        sites=_sites(sheet),
        guardians=_guardians(sheet),
        statues=StatueNumbers(
            tablets=sheet.table("statue").whole("tablets", low=1),
            tablet_points=(points := sheet.table("statue_points")).whole("each_tablet", low=0),
            awakening_points=points.whole("awakening", low=0),
        ),
        creatures=_creatures(sheet),
        clock=_clock(sheet.table("clock")),
        grades=MappingProxyType(sheet.grades),
    )
    sheet.done()
    return tuning


MOST_WEIGHT = 1_000_000
"""Above any percentage and below what floats cannot add up."""


def _odds(table: Table, key: str, outcomes: Sequence[Outcome], weights: Sequence[float]) -> Odds:
    """Weights as odds."""
    if len(weights) != len(outcomes):
        raise table.error(
            key, f"needs {counted(len(outcomes), 'weight')} (of {', '.join(map(str, outcomes))}), has {len(weights)}"
        )
    for weight in weights:
        if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 <= weight <= MOST_WEIGHT:
            raise table.error(key, f"a weight must be a number from 0 to {MOST_WEIGHT}, one is {weight!r}")
    if sum(weights) <= 0:
        raise table.error(key, "needs at least one weight above 0")
    return MappingProxyType(dict(zip(outcomes, map(float, weights), strict=True)))


def _curve(table: Table, key: str, values: Sequence[T]) -> Curve[T]:
    """Values by turns since the last visit."""
    from_turns = table.list_of("from_turns", int)
    if not from_turns or from_turns[0] != 0 or sorted(set(from_turns)) != from_turns:
        raise table.error("from_turns", f"must rise from 0, is {from_turns!r}")
    if len(values) != len(from_turns):
        raise table.error(key, f"must have {counted(len(from_turns), 'item')} like from_turns, has {len(values)}")
    return Curve(tuple(from_turns), tuple(values))


def _odds_curve(table: Table, most: int) -> Curve[Odds]:
    """Odds of 0..most by turns since the last visit."""
    rows: list[list[float]] = table.list_of("weights", list)
    return _curve(table, "weights", [_odds(table, "weights", range(most + 1), row) for row in rows])


def _levels(table: Table, key: str, low: int, high: int | None = None) -> tuple[int, ...]:
    """One whole number for each level."""
    values = table.list_of(key, int, size=len(LEVELS))
    for value in values:
        if value < low or (high is not None and value > high):
            raise table.error(
                key, f"each must be at least {low}{'' if high is None else f', at most {high}'}, is {value}"
            )
    return tuple(values)


def _share(table: Table, key: str) -> float:
    """A percentage as a share 0..1."""
    return table.number(key, low=0, high=100) / 100


def _yes_no(share: float) -> Odds:
    return MappingProxyType({"yes": share, "no": 1 - share})


def _sites(sheet: _Sheet) -> SiteNumbers:
    relics = sheet.table("relics")
    ariki = sheet.table("ariki")
    return SiteNumbers(
        discovery_relics=sheet.table("discovery").whole("relics", low=0, high=MOST_RELICS),
        relics=_scattered(relics, _odds_curve(relics, MOST_RELICS)),
        set_tablets=sheet.table("set").whole("tablets", low=0),
        ariki_points=ariki.whole("points", low=0),
        ariki_cards=ariki.whole("cards", low=0),
        cards=_odds_curve(sheet.table("ariki_cards"), 2),
        choice=sheet.table("beachcomber").whole("choice", low=0),
        choices=_odds_curve(sheet.table("beachcomber_later"), 2),
        beachcomber_bonus=sheet.table("beachcomber_bonus").whole("points", low=0),
    )


def _scattered(table: Table, curve: Curve[Odds]) -> Curve[Odds]:
    """The relic curve with one more or one less now and then; what would leave 0..4 stays."""
    more, less = _share(table, "one_more_percent"), _share(table, "one_less_percent")
    if more + less > 1:
        raise table.error("one_more_percent", "and one_less_percent together must be at most 100")
    spread: list[Odds] = []
    for odds in curve.values:
        row: dict[Outcome, float] = dict.fromkeys(range(MOST_RELICS + 1), 0.0)
        for count in range(MOST_RELICS + 1):
            weight = odds[count]
            row[count] += weight * (1 - more - less)
            row[min(count + 1, MOST_RELICS)] += weight * more
            row[max(count - 1, 0)] += weight * less
        spread.append(MappingProxyType(row))
    return Curve(curve.from_turns, tuple(spread))


def _guardians(sheet: _Sheet) -> GuardianNumbers:
    demand, credit = sheet.table("guardian_demand"), sheet.table("guardian_credit")
    pay, price = sheet.table("guardian_pay"), sheet.table("resting_price")
    by_rank = pay.list_of("by_rank", int)
    if not by_rank or min(by_rank) < 0:
        raise pay.error("by_rank", f"must be at least one number from 0, is {by_rank!r}")
    prices = price.list_of("relics", int)
    if any(not 1 <= each <= MOST_AT_ONCE for each in prices):
        raise price.error("relics", f"each must be from 1 to {MOST_AT_ONCE}, is {prices!r}")
    return GuardianNumbers(
        demand=_demand(demand),
        credit_from_turns=credit.whole("from_turns", low=1),
        credit_relics=credit.whole("relics", low=1),
        by_rank=tuple(by_rank),
        few_players=pay.whole("few_players", low=0, high=4),
        much_relics=pay.whole("much_relics", low=1),
        much_tablets=pay.whole("much_tablets", low=0),
        little_relics=pay.whole("little_relics", low=0),
        little_tablets=pay.whole("little_tablets", low=0),
        price=_curve(price, "relics", prices),
        tablet_points=sheet.table("granted_tablet").whole("points", low=0),
    )


def _demand(table: Table) -> tuple[Odds, ...]:
    """Each level draws from its own range; the rules would allow whatever there are cards for."""
    lowest, highest = _levels(table, "lowest", 1), _levels(table, "highest", 1)
    for low, high in zip(lowest, highest, strict=True):
        if low > high:
            raise table.error("lowest", f"is {low} where highest is {high}")
    span = range(1, max(*highest, RELIC_CARDS) + 1)
    return tuple(
        MappingProxyType({number: float(low <= number <= high) for number in span})
        for low, high in zip(lowest, highest, strict=True)
    )


def _creatures(sheet: _Sheet) -> CreatureNumbers:
    values, driven, fight = sheet.table("values"), sheet.table("driven"), sheet.table("fight")
    griffin, golem, triton = sheet.table("griffin"), sheet.table("golem"), sheet.table("triton")
    gnome, dragon = sheet.table("gnome"), sheet.table("dragon")
    weights = gnome.list_of("cards_weights", float)
    return CreatureNumbers(
        values=MappingProxyType({creature: values.whole(creature, low=0) for creature in CREATURES}),
        moved_points=driven.whole("moves", low=0),
        fed_points=driven.whole("tablet", low=0),
        fight=tuple(_fight(fight, level) for level in LEVELS),
        griffin_leaves=griffin.number("leave_factor", low=0, high=1),
        strength_relics=griffin.whole("strength_relics", low=1, high=MOST_AT_ONCE),
        golem_leaves=golem.number("leave_factor", low=0, high=1),
        golem_at_statue=_share(golem, "at_statue_percent"),
        golem_tablet=_yes_no(_share(golem, "tablet_percent")),
        triton_fled=triton.whole("fled_fights", low=0),
        gnome_at_hermit=_share(gnome, "at_hermit_percent"),
        gnome_cards=_odds(gnome, "cards_weights", range(3), weights),
        gnome_twice_points=gnome.whole("twice_points", low=0),
        ambush=_share(dragon, "ambush_percent"),
        attack=tuple(_yes_no(percent / 100) for percent in _levels(dragon, "attack_percent", 0, 100)),
        range_paths=_levels(dragon, "range_paths", 0),
    )


def _fight(table: Table, level: str) -> tuple[Odds, ...]:
    """The odds of one level with 1, 2 and 3 relics, as shares of 1."""
    rows: list[list[float]] = table.list_of(level, list, size=MOST_AT_ONCE)
    by_relics: list[Odds] = []
    for row in rows:
        odds = _odds(table, level, FIGHT_OUTCOMES, row)
        whole = sum(odds.values())
        by_relics.append(MappingProxyType({outcome: weight / whole for outcome, weight in odds.items()}))
    return tuple(by_relics)


def _clock(table: Table) -> ClockNumbers:
    return ClockNumbers(
        quiet_turns=table.whole("quiet_turns", low=0),
        sooner_every_turns=_levels(table, "sooner_every_turns", 1),
        sooner_each_fed=table.whole("sooner_each_fed", low=0),
        chance=tuple(percent / 100 for percent in _levels(table, "chance_percent", 0, 100)),
        rise=_share(table, "rise_percent"),
        fed_weight=table.number("fed_weight", low=0.001),
    )
