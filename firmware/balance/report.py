"""What contests say: lines for the terminal, a row for every game, pictures."""

from __future__ import annotations

import csv
from dataclasses import asdict
from typing import TYPE_CHECKING

from firmware.balance.summary import quantile, quantile_interval, targets
from firmware.game.insel.balance import SOURCES
from firmware.game.insel.tuning import LEVELS
from firmware.terms import VolcanoError, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from firmware.balance.summary import Share, Summary
    from firmware.game.insel.balance import Contest, Outcome

FOUR = 4
"""The targets are those of a game of four."""


# --- as a table


def report(summary: Summary) -> Iterator[str]:
    """The lines that are printed for one contest; every number with its 95 % interval."""
    contest, turns = summary.contest, summary.turns
    who = f"{counted(contest.players, 'player')}, bots {contest.bots}, seed {contest.seed}"
    yield f"{LEVELS[contest.level]}: {counted(len(turns), 'game')}, {who}"
    for percent in (10, 50, 90):
        low, high = quantile_interval(turns, percent)
        yield f"  turns, {percent:2} %             {quantile(turns, percent):5}  ({low} to {high})"
    yield f"  island saved            {summary.saved}"
    for statues in range(5):
        yield f"  {counted(statues, 'statue') + ' awake':23} {summary.awake(statues)}"
    yield from _shares("wins in saved games", summary.wins_by_habit())
    yield from _shares("wins in lost games", summary.wins_by_habit(saved=False))
    yield from _shares("wins of a skill's seats", summary.wins_by_skill())
    yield from _shares("wins", {f"seat {seat}": share for seat, share in enumerate(summary.wins_by_seat(), 1)})
    for source, points in summary.points_by_source().items():
        yield f"  points, {source:15} {points:6.1f} a game"
    over_time = [f"{turn}: {mean:.1f}" for turn, mean in summary.creatures_over_time()]
    yield f"  creatures by turn       {', '.join(over_time)}"
    if contest.players == FOUR and contest.bots == "mixed":
        for target in targets(summary):
            verdict = "met   " if target.met else "MISSED"
            yield f"  target {verdict} {target.what}: {target.found}, wanted {target.wanted}"


def _shares(what: str, shares: dict[str, Share]) -> Iterator[str]:
    for name, share in shares.items():
        yield f"  {f'{what}, {name}':38} {share}"


# --- into files


def write(path: Path, summaries: Sequence[Summary]) -> None:
    """CSV with a row for every game, or a picture of all contests.

    Raises:
        VolcanoError: the file cannot be written, or matplotlib is missing.
    """
    try:
        if path.suffix == ".csv":
            with path.open("w", encoding="utf-8", newline="") as file:
                table = csv.writer(file)
                table.writerow(_columns())
                for summary in summaries:
                    table.writerows(_row(summary.contest, outcome) for outcome in summary.outcomes)
        else:
            from firmware.balance.plots import draw  # noqa: PLC0415 - matplotlib, and only here

            draw(summaries, path)
    except OSError as error:
        raise VolcanoError(f"{path}: cannot be written: {error.strerror}") from error
    except ImportError as error:
        raise VolcanoError(f"plots need matplotlib: pip install volcano[balance] ({error})") from error


def _columns() -> list[str]:
    seats = [f"{name}_{seat}" for name in ("habit", "skill", "points", "island", "creature") for seat in range(1, 5)]
    game = ["level", "players", "seed", "number", "turns", "contacts", "saved", "statues", "reason", "winner_seats"]
    return [*game, *seats, *(f"points_{source.replace(' ', '_')}" for source in SOURCES)]


def _row(contest: Contest, outcome: Outcome) -> list[object]:
    row = asdict(outcome)
    by_seat = ("habits", "skills", "points", "island_points", "creature_points")
    cells = [[*row[name], "", "", "", ""][:4] for name in by_seat]
    return [
        LEVELS[contest.level],
        contest.players,
        contest.seed,
        *(row[name] for name in ("number", "turns", "contacts")),
        int(outcome.saved),
        outcome.statues,
        outcome.reason,
        " ".join(str(seat + 1) for seat in outcome.winners),
        *(cell for each in cells for cell in each),
        *outcome.sources,
    ]
