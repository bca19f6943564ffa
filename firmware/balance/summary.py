"""What many games of bots say: shares with their intervals, lengths, who wins; and the targets that they must meet."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from firmware.game.insel.balance import SAMPLE_TURNS, SOURCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware.game.insel.balance import Contest, Outcome

Z95: Final = 1.96
"""Half width of a 95 % interval in standard errors."""


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
