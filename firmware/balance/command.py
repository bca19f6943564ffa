"""The command `volcano balance`: many games of bots as a table, as CSV and as plots; or one game told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.terms import FIGURES, VolcanoError, counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

BAR_WIDTH = 30
GAMES = 400
FILES = (".csv", ".png", ".svg")
ALL = "all"


def add_balance_command(commands: Any, clock: Callable[[], float]) -> None:
    """Add ``balance`` to the subparsers of the command line; `clock` gives seconds. It returns an exit status."""
    text = "thousands of games of bots: lengths, rescues, points, wins"
    parser = commands.add_parser("balance", help=text, description=text[0].upper() + text[1:] + ".")
    parser.add_argument("--games", type=int, default=GAMES, help="how many (default: %(default)s)")
    parser.add_argument("--players", type=int, default=len(FIGURES), help="1 to 4 (default: %(default)s)")
    parser.add_argument("--level", default=ALL, help="beginner, advanced or expert (default: all three)")
    parser.add_argument("--seed", type=int, default=0, help="chance; the same seed gives the same games (default: 0)")
    parser.add_argument(
        "--bots", default="mixed", help="who plays: mixed, random, a habit or a skill (default: %(default)s)"
    )
    parser.add_argument("--jobs", type=int, help="processes (default: one for each core)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="play on a Dask cluster, for example tcp://host:8786")
    parser.add_argument(
        "--out", type=Path, action="append", default=[], metavar="FILE", help="write .csv, .png or .svg"
    )
    parser.add_argument("--tuning", type=Path, metavar="FILE", help="an owner's copy of tuning.toml")
    parser.add_argument("--board", type=Path, metavar="FILE", help="an owner's copy of board.toml")
    parser.add_argument(
        "--show", type=int, metavar="N", help="tell game number N as the family hears it, and play no other"
    )
    parser.add_argument("--language", choices=("de", "en"), default="de", help="of --show (default: %(default)s)")
    parser.set_defaults(command=lambda options: _balance(options, clock))


def _balance(options: argparse.Namespace, clock: Callable[[], float]) -> int:
    from firmware.balance.report import report, write  # noqa: PLC0415 - none of this slows the other commands
    from firmware.balance.summary import Summary  # noqa: PLC0415
    from firmware.balance.workers import play_all  # noqa: PLC0415
    from firmware.game.insel.balance import Contest  # noqa: PLC0415
    from firmware.game.insel.tuning import LEVELS  # noqa: PLC0415

    _check(options)
    levels = range(len(LEVELS)) if options.level == ALL else [_level(options.level)]
    contests = [Contest(options.players, level, options.seed, options.bots) for level in levels]
    if options.show is not None:
        from firmware.balance.transcript import show  # noqa: PLC0415 - unit and catalogues, only here

        for contest in contests:
            show(contest, options.show, options.language, board=options.board, tuning=options.tuning)
        return 0
    summaries: list[Summary] = []
    for contest in contests:
        began = clock()
        outcomes = play_all(
            contest,
            options.games,
            jobs=options.jobs,
            scheduler=options.scheduler,
            board=options.board,
            tuning=options.tuning,
            progress=_bar(LEVELS[contest.level]),
        )
        summaries.append(Summary(contest, outcomes))
        for line in report(summaries[-1]):
            print(line)
        seconds = clock() - began
        print(f"  {counted(len(outcomes), 'game')} in {seconds:.1f} s", file=sys.stderr)
    for path in options.out:
        write(path, summaries)
    return 0


def _check(options: argparse.Namespace) -> None:
    """The numbers of the command line."""
    for name, low in (("games", 1), ("jobs", 1), ("show", 0)):
        value = getattr(options, name)
        if value is not None and value < low:
            raise VolcanoError(f"--{name}: must be at least {low}, is {value}")
    for path in options.out:
        if path.suffix not in FILES:
            raise VolcanoError(f"--out {path}: must end in .csv, .png or .svg")


def _bar(what: str) -> Callable[[int, int], None]:
    """A progress bar on a terminal, nothing elsewhere."""
    on_terminal = sys.stderr.isatty()

    def progress(done: int, of: int) -> None:
        if on_terminal:
            bar = "#" * (BAR_WIDTH * done // of)
            end = "\r\033[K" if done == of else ""
            print(f"\r{what}: [{bar:{BAR_WIDTH}}] {done} of {of}{end}", end="", file=sys.stderr, flush=True)

    return progress


def _level(name: str) -> int:
    """The index of a level by name.

    Raises:
        VolcanoError: there is no such level.
    """
    from firmware.game.insel.tuning import LEVELS  # noqa: PLC0415

    if name not in LEVELS:
        raise VolcanoError(f"--level: must be one of {', '.join(LEVELS)}, is {name!r}")
    return LEVELS.index(name)
