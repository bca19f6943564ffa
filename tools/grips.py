"""Play thousands of grips on emulated boards and tell what the volcano made of them: right, asked, wrong, nothing.

Each strategy of telling figures apart is played under each condition of firmware/hal/physics.py, through emulated
chips, driver, pads, contact, figures and identity. The rows are the figures that were held, the columns what came of
it; a wrong figure is worse than a question. The hold-out is no condition to tune with: look at it last.

  tools/grips                                   every strategy and condition, 20,000 grips each: two hours on two cores
  tools/grips --grips 2000 capacitor battery    a quarter of a minute for one strategy under one condition
  tools/grips --ghosts 1                        an hour of play without any contact per condition: no grip may come
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from grip_table import ASKED, ELSEWHERE, NONE, SEED_STEP, GripTable, Tally

from firmware.hal.physics import CONDITIONS, HOLD_OUT, condition
from firmware.hal.wiring import FigureMethod
from firmware.terms import FIGURES

if TYPE_CHECKING:
    from collections.abc import Sequence

PER_BOARD = 200
"""Grips on one board: an evening. What is learnt of the players' return starts anew with the next."""
HAUNT_S = 900.0
BAR_CHARACTERS = 40
HELD_OUT = frozenset(each.name for each in HOLD_OUT)
COLUMNS = (*map(str, FIGURES), ASKED, NONE, ELSEWHERE)

Cell = tuple[FigureMethod, str]


def _work(task: tuple[Cell, int, int, float]) -> tuple[Cell, Tally]:
    (method, name), seed, grips, haunt_s = task
    logging.getLogger("firmware").setLevel(logging.ERROR)  # dips and swarms are what is played here
    table = GripTable(method, condition(name), seed)
    return (method, name), table.haunt(haunt_s) if haunt_s else table.grips(grips)


def play(
    cells: Sequence[Cell], seed: int, cores: int, *, grips: int = 0, ghost_hours: float = 0.0
) -> dict[Cell, Tally]:
    """Play every cell; the progress is shown on standard error."""
    tasks: list[tuple[Cell, int, int, float]] = []
    amount, share = (round(ghost_hours * 3600), round(HAUNT_S)) if ghost_hours else (grips, PER_BOARD)
    for number, start in enumerate(range(0, amount, share)):
        part = min(share, amount - start)
        work = (0, float(part)) if ghost_hours else (part, 0.0)
        tasks += [(cell, seed * SEED_STEP + number, *work) for cell in cells]
    tallies = {cell: Tally() for cell in cells}
    began = time.monotonic()
    with multiprocessing.Pool(cores) as pool:
        for done, (cell, tally) in enumerate(pool.imap_unordered(_work, tasks), 1):
            tallies[cell].add(tally)
            _show(done, len(tasks), time.monotonic() - began)
    return tallies


def _show(done: int, tasks: int, seconds: float) -> None:
    share = done / tasks
    if sys.stderr.isatty():
        bar = "#" * round(share * BAR_CHARACTERS)
        text = f"\r[{bar:<{BAR_CHARACTERS}}] {share:4.0%}, {seconds / share - seconds:.0f} s left "
        print(text, end="\n" if done == tasks else "", file=sys.stderr, flush=True)
    elif done * 20 // tasks != (done - 1) * 20 // tasks:
        print(f"{share:4.0%} after {seconds:.0f} s", file=sys.stderr, flush=True)


def rates(tally: Tally) -> dict[str, Any]:
    """The numbers of one cell."""
    grips = max(1, tally.outcomes.total())
    right = sum(count for (figure, became), count in tally.outcomes.items() if figure == became)
    asked, none = (sum(c for (_, became), c in tally.outcomes.items() if became == what) for what in (ASKED, NONE))
    waits = sorted(tally.waits_s.elements())
    return {
        "grips": grips,
        "right": right / grips,
        "asked": asked / grips,
        "wrong": (grips - right - asked - none) / grips,
        "none": none / grips,
        "median_ms": round(1000 * waits[len(waits) // 2]) if waits else None,
        "p95_ms": round(1000 * waits[len(waits) * 95 // 100]) if waits else None,
        "ghosts": tally.ghosts,
        "played_s": round(tally.played_s),
        "confusion": {str(figure): {each: tally.outcomes[figure, each] for each in COLUMNS} for figure in FIGURES},
    }


def report(tallies: dict[Cell, Tally], *, confusion: bool) -> None:
    """Tables for people."""
    name_width = max(len(name) for _, name in tallies) + 1
    print(f"{'':11} {'':{name_width}}   grips   right   asked   wrong    none  median    p95  ghosts")
    for (method, name), tally in tallies.items():
        row = rates(tally)
        shares = " ".join(f"{row[each]:7.2%}" for each in ("right", "asked", "wrong", "none"))
        mark = "*" if name in HELD_OUT else " "
        print(
            f"{method:11} {name + mark:{name_width}} {row['grips']:7} {shares} {row['median_ms']!s:>4} ms"
            f" {row['p95_ms']!s:>3} ms {row['ghosts']:7}"
        )
        if confusion:
            print(f"{'':13}{'held':7}" + "".join(f"{each:>10}" for each in COLUMNS))
            for figure, counts in row["confusion"].items():
                print(f"{'':13}{figure:7}" + "".join(f"{counts[each]:10}" for each in COLUMNS))
    if HELD_OUT & {name for _, name in tallies}:
        print("* held out: nothing is tuned with it")


def report_ghosts(tallies: dict[Cell, Tally]) -> None:
    """How many grips came of nothing."""
    for (method, name), tally in tallies.items():
        print(f"{method:11} {name:18} {tally.played_s / 3600:6.2f} h  {tally.ghosts} ghosts")


def main(arguments: Sequence[str] | None = None) -> int:
    """Play; exit status 1 if a ghost was seen."""
    parser = argparse.ArgumentParser(
        prog="tools/grips", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*FigureMethod, *CONDITIONS]
    parser.add_argument("what", nargs="*", metavar="WHAT", help=f"strategies and conditions: {', '.join(names)}")
    parser.add_argument("--grips", type=int, default=20_000, help="of each cell (default: %(default)s)")
    parser.add_argument("--ghosts", type=float, metavar="HOURS", help="play so long without contacts instead")
    parser.add_argument("--seed", type=int, default=1, help="of the boards (default: %(default)s)")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all, %(default)s")
    parser.add_argument("--confusion", action="store_true", help="show which figure was taken for which")
    parser.add_argument("--json", action="store_true", help="all numbers as JSON")
    options = parser.parse_args(arguments)
    if unknown := [what for what in options.what if what not in names]:
        parser.error(f"there is no {unknown[0]!r}; choose of {', '.join(names)}")
    if options.grips < 1 or options.cores < 1 or (options.ghosts is not None and options.ghosts <= 0):
        parser.error("--grips, --ghosts and --cores must be positive")
    methods = [method for method in FigureMethod if method in options.what] or list(FigureMethod)
    chosen = [name for name in CONDITIONS if name in options.what] or list(CONDITIONS)
    cells = [(method, name) for method in methods for name in chosen]
    tallies = play(cells, options.seed, options.cores, grips=options.grips, ghost_hours=options.ghosts or 0.0)
    if options.json:
        print(json.dumps({f"{method} {name}": rates(tally) for (method, name), tally in tallies.items()}, indent=1))
    elif options.ghosts:
        report_ghosts(tallies)
    else:
        report(tallies, confusion=options.confusion)
    return 1 if any(tally.ghosts for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
