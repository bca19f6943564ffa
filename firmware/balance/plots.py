"""What a contest says, drawn: one column of small pictures for each level."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from firmware.balance.summary import FULL_RESCUES, LENGTHS, SAVED, SEATS, quantile
from firmware.game.insel.tuning import LEVELS
from firmware.terms import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from firmware.balance.summary import Share, Summary

TURNS_A_BAR = 5
BAND = {"color": "#3b8", "alpha": 0.18, "linewidth": 0}
"""Where the target lies."""
STYLE: Any = {
    "svg.hashsalt": "volcano",
    "svg.fonttype": "none",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
"""The same picture from the same numbers, byte for byte; letters stay letters."""
BARE = dict.fromkeys(("Creator", "Date", "Format", "Type"))
"""No note of when and by what it was drawn."""
COLOUR = "#37b"
ROWS = 5


def draw(summaries: Sequence[Summary], path: Path) -> None:
    """Draw all contests into a PNG or SVG file.

    Raises:
        OSError: the file cannot be written.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(3.6 * len(summaries), 2.1 * ROWS), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(ROWS, len(summaries), squeeze=False)
        for column, summary in enumerate(summaries):
            _lengths(grid[0][column], summary)
            _rescues(grid[1][column], summary)
            _points(grid[2][column], summary)
            _wins(grid[3][column], summary)
            _creatures(grid[4][column], summary)
        figure.savefig(path, metadata=BARE if path.suffix == ".svg" else None, dpi=120)


def _lengths(axes: Any, summary: Summary) -> None:
    level, turns = summary.contest.level, summary.turns
    counts = Counter(each // TURNS_A_BAR * TURNS_A_BAR for each in turns)
    axes.axvspan(*LENGTHS[level], **BAND)
    axes.bar([*counts], [*counts.values()], width=TURNS_A_BAR, align="edge", color=COLOUR)
    for percent in (10, 50, 90):
        axes.axvline(quantile(turns, percent), color="black", linewidth=0.8, linestyle=":")
    axes.set_title(f"{LEVELS[level]}, {counted(len(turns), 'game')} of {summary.contest.players}")
    axes.set_xlabel("turns (dotted: 10, 50, 90 %)")


def _rescues(axes: Any, summary: Summary) -> None:
    level = summary.contest.level
    shares = {"saved": summary.saved} | {f"{count} awake": summary.awake(count) for count in range(5)}
    for name, (low, high) in (("saved", SAVED[level]), ("4 awake", FULL_RESCUES[level])):
        place = list(shares).index(name)
        axes.fill_between([place - 0.5, place + 0.5], low, high, **BAND)
    _bars(axes, shares)
    axes.set_title("rescues and statues awake")


def _points(axes: Any, summary: Summary) -> None:
    points = summary.points_by_source()
    names = list(points)
    axes.barh(range(len(names)), [points[name] for name in names], color=COLOUR)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_title("points a game by source")


def _wins(axes: Any, summary: Summary) -> None:
    habits = {f"{name[:4]}.": share for name, share in summary.wins_by_habit().items()}
    seats = {f"seat {seat}": share for seat, share in enumerate(summary.wins_by_seat(), 1)}
    axes.fill_between([len(habits) - 0.5, len(habits) + len(seats) - 0.5], *SEATS, **BAND)
    _bars(axes, habits | seats)
    axes.set_title("wins: habits in saved games, seats")


def _bars(axes: Any, shares: dict[str, Share]) -> None:
    """Shares with their intervals."""
    values = [share.value for share in shares.values()]
    lows = [share.value - share.interval[0] for share in shares.values()]
    highs = [share.interval[1] - share.value for share in shares.values()]
    axes.bar(range(len(values)), values, yerr=[lows, highs], capsize=2, color=COLOUR, error_kw={"linewidth": 0.8})
    axes.set_xticks(range(len(values)), list(shares), rotation=30)
    axes.set_ylim(0, max(0.45, *values) * 1.1)


def _creatures(axes: Any, summary: Summary) -> None:
    over_time = summary.creatures_over_time()
    axes.plot([turn for turn, _ in over_time], [mean for _, mean in over_time], color=COLOUR)
    axes.set_ylim(0, 7)
    axes.set_xlabel("turns")
    axes.set_title("creatures on the island, games still running")
