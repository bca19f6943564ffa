"""Games of bots, and what is measured in each: the balance of Die Insel.

A game is decided by its number and the contest's seed alone, so any share of a contest can be played anywhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import permutations
from typing import TYPE_CHECKING, Final

from firmware.game.insel import events as told
from firmware.game.insel.bots import HABITS, SKILLS, Bot, RandomPlayer
from firmware.game.insel.material import load_material
from firmware.game.insel.rules import InselRules
from firmware.game.insel.table import Table
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
