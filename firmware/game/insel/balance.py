"""Games of bots, what is measured in each, and what many of them say: the balance of Die Insel.

A game is decided by its number and the contest's seed alone, so any share of a contest can be played anywhere.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import permutations
from typing import TYPE_CHECKING, Final

from firmware.game.insel import events as told
from firmware.game.insel.bots import HABITS, SKILLS, Bot, RandomPlayer
from firmware.game.insel.material import load_material
from firmware.game.insel.rules import InselRules
from firmware.game.insel.table import Table
from firmware.game.insel.tuning import LEVELS
from firmware.game.kernel import Chance, next_random
from firmware.terms import FIGURES, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from firmware.game.insel.bots import Player
    from firmware.game.insel.material import Material
    from firmware.game.insel.moves import Move
    from firmware.game.insel.state import InselState
    from firmware.game.kernel import Event
    from firmware.game.kernel import Outcome as Drawn
    from firmware.terms import Contact

MOST_TURNS: Final = 2000
"""The volcano's clock ends a game long before; a game beyond it would be a fault."""
SAMPLE_TURNS: Final = 10
"""The creatures on the island are counted every so many turns."""
SOURCES: Final = ("ariki", "tablets granted", "tablets laid", "statues awakened", "beachcomber", "creatures")
"""Where points come from (rulebook, Overview of the points)."""
BOTS: Final = ("mixed", "random", *HABITS, *SKILLS)
"""What `Contest.bots` may be."""
Z95: Final = 1.96
"""Half width of a 95 % interval in standard errors."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Which games: so many players at a level, one seed for all. `figures` sit in the rulebook's order."""

    players: int = 4
    level: int = 0
    seed: int = 0
    bots: str = "mixed"
    """``mixed``, ``random``, a habit or a skill (then all have it)."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            VolcanoError: no such game can be played.
        """
        if not 1 <= self.players <= len(FIGURES):
            raise VolcanoError(f"--players: must be 1 to {len(FIGURES)}, is {self.players}")
        if self.bots not in BOTS:
            raise VolcanoError(f"--bots: must be one of {', '.join(BOTS)}, is {self.bots!r}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one game came to; lists go by seat."""

    number: int
    turns: int
    contacts: int
    saved: bool
    statues: int
    reason: str
    habits: tuple[str, ...]
    skills: tuple[str, ...]
    points: tuple[int, ...]
    """Those that count at the end."""
    island_points: tuple[int, ...]
    creature_points: tuple[int, ...]
    winners: tuple[int, ...]
    """Seats."""
    sources: tuple[int, ...]
    """Points of all players by `SOURCES`, counted or not."""
    creatures: tuple[int, ...]
    """On the island after every `SAMPLE_TURNS` turns."""


class _Draws:
    """Draws of a game's line-up."""

    def __init__(self, seed: int) -> None:
        self.generator = seed

    def below(self, count: int) -> int:
        return int(next_random(self) * count)

    def seed(self) -> int:
        return int(next_random(self) * 2**53)


def game_seed(contest: Contest, number: int) -> int:
    """The seed of one game: mixed, so that neighbouring numbers and seeds have nothing in common."""
    draws = _Draws((contest.seed * 0x9E3779B97F4A7C15 + number * 0xD1B54A32D192ED03) & ((1 << 64) - 1))
    return draws.seed()


def line_up(contest: Contest, number: int, draws: _Draws) -> list[tuple[str, str]]:
    """Habit and skill of every seat.

    Mixed: every order of different habits equally often, so every habit sits in every seat; skills are drawn.
    """
    orders = list(permutations(HABITS, min(contest.players, len(HABITS))))
    habits = orders[number % len(orders)]
    skills = tuple(SKILLS)
    seats = [(habit, skills[draws.below(len(skills))]) for habit in habits]
    if contest.bots in HABITS:
        return [(contest.bots, skill) for _, skill in seats]
    if contest.bots in SKILLS:
        return [(habit, contest.bots) for habit, _ in seats]
    if contest.bots == "random":
        return [("random", "")] * contest.players
    return seats


@dataclass(frozen=True, slots=True)
class Step:
    """One move and, if it touches the board, its contact with what the volcano told and drew."""

    move: Move
    contact: Contact | None = None
    events: Sequence[Event] = ()
    draws: tuple[tuple[str, Drawn], ...] = ()


@dataclass(slots=True)
class Game:
    """One game being played. `contacts` counts what the volcano has felt."""

    rules: InselRules
    table: Table
    players: list[Player]
    seats: list[tuple[str, str]]
    seed: int
    state: InselState | None = None
    chance: Chance = field(default_factory=Chance)
    contacts: int = 0

    def step(self) -> Step:
        """Carry out the next move; one with a contact has the volcano's answer and draws."""
        table = self.table
        move = self.players[table.seat].choose(table.view(), table.moves)
        contact = table.play(move)
        if contact is None:
            return Step(move)
        if self.state is None:
            self.state = self.rules.start(contact, self.seed)
        events = self.rules.accept(self.state, contact, self.chance)
        table.hear(contact, events)
        self.contacts += 1
        return Step(move, contact, events, self.chance.take_drawn())


def new_game(contest: Contest, number: int, rules: InselRules, material: Material) -> Game:
    """Set up one game."""
    draws = _Draws(game_seed(contest, number))
    seats = line_up(contest, number, draws)
    table = Table(
        rules.board,
        material,
        FIGURES[: contest.players],
        seed=draws.seed(),
        level=contest.level,
        tablets_needed=rules.tuning.statues.tablets,
    )
    players: list[Player] = [
        RandomPlayer(draws.seed())
        if habit == "random"
        else Bot(HABITS[habit], SKILLS[skill], rules.board, rules.tuning, draws.seed())
        for habit, skill in seats
    ]
    return Game(rules, table, players, seats, draws.seed())


def play(contest: Contest, number: int, rules: InselRules, material: Material) -> Outcome:
    """Play one game to its end."""
    game = new_game(contest, number, rules, material)
    island = game.table.island
    sources: Counter[str] = Counter()
    creatures: list[int] = []
    while not game.table.over and island.turn < MOST_TURNS:
        step = game.step()
        if step.contact is not None:
            _count(step.events, sources)
            if island.turn // SAMPLE_TURNS > len(creatures):
                creatures.append(len(island.creatures))
    end, state = island.end, game.state
    if end is None or state is None:
        raise VolcanoError(f"game {number} of {contest} has not ended after {MOST_TURNS} turns")
    figures = game.table.figures
    return Outcome(
        number=number,
        turns=state.turn,
        contacts=game.contacts,
        saved=end.saved,
        statues=len(island.awake),
        reason=end.reason,
        habits=tuple(habit for habit, _ in game.seats),
        skills=tuple(skill for _, skill in game.seats),
        points=tuple(end.points.get(figure, 0) for figure in figures),
        island_points=tuple(island.island_points.get(figure, 0) for figure in figures),
        creature_points=tuple(island.creature_points.get(figure, 0) for figure in figures),
        winners=tuple(seat for seat, figure in enumerate(figures) if figure in end.winners),
        sources=tuple(sources[source] for source in SOURCES),
        creatures=tuple(creatures),
    )


def _count(events: Iterable[Event], sources: Counter[str]) -> None:
    """Points by where they come from: what was told just before them says it."""
    source = ""
    for event in events:
        match event:
            case told.Points(_, count, kind):
                sources["creatures" if kind == "creature" else source] += count
            case told.Discovered():
                source = "ariki"
            case told.Tablets():
                source = "tablets granted"
            case told.TabletsLaid():
                source = "tablets laid"
            case told.StatueAwakened():
                source = "statues awakened"
            case told.BeachcomberBonus():
                source = "beachcomber"


def play_some(contest: Contest, numbers: Sequence[int], rules: Callable[[], InselRules] = InselRules) -> list[Outcome]:
    """Play these games of a contest one after another."""
    material, own = load_material(), rules()
    return [play(contest, number, own, material) for number in numbers]


# --- what many games say


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole with its 95 % interval (Wilson 1927), all 0..1."""

    count: float
    of: int

    @property
    def value(self) -> float:
        """The share, 0 of nothing."""
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Between which bounds the true share lies in 95 of 100 such samples."""
        if not self.of:
            return 0.0, 1.0
        share, squared = self.value, Z95 * Z95 / self.of
        middle = (share + squared / 2) / (1 + squared)
        half = Z95 * math.sqrt(share * (1 - share) / self.of + squared / self.of / 4) / (1 + squared)
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:6.1%}  ({low:.1%} to {high:.1%})"


def quantile(values: Sequence[int], percent: int) -> int:
    """The value that `percent` of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def quantile_interval(values: Sequence[int], percent: int) -> tuple[int, int]:
    """A 95 % interval of a quantile, from the ranks that bracket it (binomial)."""
    ordered, count, share = sorted(values), len(values), percent / 100
    half = Z95 * math.sqrt(count * share * (1 - share))
    low, high = math.floor(count * share - half) - 1, math.ceil(count * share + half) - 1
    return ordered[max(0, low)], ordered[min(count - 1, max(0, high))]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a contest says."""

    contest: Contest
    outcomes: Sequence[Outcome]

    @property
    def turns(self) -> list[int]:
        """The lengths."""
        return [outcome.turns for outcome in self.outcomes]

    @property
    def saved(self) -> Share:
        """How many islands were saved."""
        return Share(sum(outcome.saved for outcome in self.outcomes), len(self.outcomes))

    def awake(self, statues: int) -> Share:
        """Games that ended with so many statues awake."""
        return Share(sum(outcome.statues == statues for outcome in self.outcomes), len(self.outcomes))

    def wins_by_habit(self, *, saved: bool = True) -> dict[str, Share]:
        """Games won by each habit; a shared win counts in parts. Only saved games, or only lost ones."""
        games = [outcome for outcome in self.outcomes if outcome.saved is saved]
        names = sorted({habit for outcome in self.outcomes for habit in outcome.habits})
        return {
            name: Share(
                sum(
                    _won(outcome, [seat for seat, habit in enumerate(outcome.habits) if habit == name])
                    for outcome in games
                ),
                len(games),
            )
            for name in names
        }

    def wins_by_skill(self) -> dict[str, Share]:
        """Seats of each skill that won."""
        names = sorted({skill for outcome in self.outcomes for skill in outcome.skills})
        wins: Counter[str] = Counter()
        sat: Counter[str] = Counter()
        for outcome in self.outcomes:
            for seat, skill in enumerate(outcome.skills):
                sat[skill] += 1
                wins[skill] += _won(outcome, [seat])  # type: ignore[assignment]  # parts of a shared win
        return {name: Share(wins[name], sat[name]) for name in names}

    def wins_by_seat(self) -> list[Share]:
        """Games won in each seat."""
        return [
            Share(sum(_won(outcome, [seat]) for outcome in self.outcomes), len(self.outcomes))
            for seat in range(self.contest.players)
        ]

    def points_by_source(self) -> dict[str, float]:
        """Points a game, all players together."""
        count = max(1, len(self.outcomes))
        return {
            source: sum(outcome.sources[place] for outcome in self.outcomes) / count
            for place, source in enumerate(SOURCES)
        }

    def creatures_over_time(self) -> list[tuple[int, float]]:
        """Turn and creatures on the island, the mean of the games that still run, while at least a tenth do."""
        means: list[tuple[int, float]] = []
        place = 0
        while True:
            running = [outcome.creatures[place] for outcome in self.outcomes if len(outcome.creatures) > place]
            if not running or len(running) * 10 < len(self.outcomes):
                return means
            means.append(((place + 1) * SAMPLE_TURNS, sum(running) / len(running)))
            place += 1


def _won(outcome: Outcome, seats: Sequence[int]) -> float:
    """The part of the win that these seats have."""
    return sum(seat in outcome.winners for seat in seats) / len(outcome.winners)


# --- targets


@dataclass(frozen=True, slots=True)
class Target:
    """What a number must be, and what it is."""

    what: str
    wanted: str
    found: str
    met: bool


LENGTHS: Final = ((90, 130), (75, 115), (60, 105))
"""Turns of a game of four, 10 to 90 % (the box says 45 to 75 minutes), by level."""
SAVED: Final = ((0.75, 0.85), (0.50, 0.60), (0.25, 0.35))
FULL_RESCUES: Final = ((0.10, 0.20), (0.01, 0.05), (0.0, 0.01))
MOST_OF_A_HABIT: Final = 0.40
SEATS: Final = (0.22, 0.28)


def targets(summary: Summary) -> list[Target]:
    """The targets of a game of four at the contest's level."""
    level = summary.contest.level
    short, long = quantile(summary.turns, 10), quantile(summary.turns, 90)
    shortest, longest = LENGTHS[level]
    habits = summary.wins_by_habit()
    best = max(habits, key=lambda name: habits[name].value)
    seats = [share.value for share in summary.wins_by_seat()]
    rescued = summary.awake(4)
    return [
        Target(
            "turns, 10 to 90 %",
            f"within {shortest} to {longest}",
            f"{short} to {long}",
            shortest <= short and long <= longest,
        ),
        _in_range("island saved", summary.saved, SAVED[level]),
        _in_range("all four statues awake", rescued, FULL_RESCUES[level]),
        Target(
            "best habit in saved games",
            f"at most {MOST_OF_A_HABIT:.0%} of the wins",
            f"{best} {habits[best].value:.1%}",
            habits[best].value <= MOST_OF_A_HABIT,
        ),
        Target(
            "wins by seat",
            f"{SEATS[0]:.0%} to {SEATS[1]:.0%}",
            f"{min(seats):.1%} to {max(seats):.1%}",
            SEATS[0] <= min(seats) and max(seats) <= SEATS[1],
        ),
    ]


def _in_range(what: str, share: Share, bounds: tuple[float, float]) -> Target:
    low, high = bounds
    return Target(what, f"{low:.0%} to {high:.0%}", f"{share.value:.1%}", low <= share.value <= high)


def level_of(name: str) -> int:
    """The index of a level by name.

    Raises:
        VolcanoError: there is no such level.
    """
    if name not in LEVELS:
        raise VolcanoError(f"--level: must be one of {', '.join(LEVELS)}, is {name!r}")
    return LEVELS.index(name)
