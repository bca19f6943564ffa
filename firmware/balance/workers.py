"""Who plays the games of a contest: all cores of this machine, or a Dask cluster. The games are the same anywhere."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from firmware.game.insel.balance import play_some
from firmware.game.insel.board import load_board
from firmware.game.insel.rules import InselRules
from firmware.game.insel.tuning import load_tuning
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from firmware.game.insel.balance import Contest, Outcome

GAMES_A_JOB = 20
"""About a second of work, so that the bar moves and nobody waits long for the last one."""
CONNECT_S = 10


def play_all(
    contest: Contest,
    games: int,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    board: Path | None = None,
    tuning: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,  # noqa: ARG005 - told to nobody
) -> list[Outcome]:
    """All games of a contest, by number. `progress` is told how many are done, of how many.

    Raises:
        ConfigError: a data file is wrong.
        VolcanoError: the cluster cannot be reached, or `distributed` is missing.
    """
    load_board(board)
    load_tuning(tuning)  # what is wrong is said here, once, and not by every worker
    texts = tuple(None if path is None else path.read_text(encoding="utf-8") for path in (board, tuning))
    work = partial(_work, contest, texts)
    shares = [range(first, min(first + GAMES_A_JOB, games)) for first in range(0, games, GAMES_A_JOB)]
    done = _on_cluster(work, shares, scheduler) if scheduler else _on_this_machine(work, shares, jobs)
    outcomes: list[Outcome] = []
    for share in done:
        outcomes += share
        progress(len(outcomes), games)
    return sorted(outcomes, key=lambda outcome: outcome.number)


def _work(contest: Contest, texts: Sequence[str | None], numbers: Sequence[int]) -> list[Outcome]:
    """One share, in whatever process; the data files travel as text, so that another machine needs no copy."""
    with TemporaryDirectory() as folder:
        paths: list[Path | None] = []
        for name, text in zip(("board.toml", "tuning.toml"), texts, strict=True):
            path = None if text is None else Path(folder, name)
            if path is not None and text is not None:
                path.write_text(text, encoding="utf-8")
            paths.append(path)
        board, tuning = paths
        return play_some(contest, numbers, lambda: InselRules(load_board(board), load_tuning(tuning)))


def _on_this_machine(
    work: Callable[[Sequence[int]], list[Outcome]], shares: Sequence[Sequence[int]], jobs: int | None
) -> Iterator[list[Outcome]]:
    processes = min(jobs or len(os.sched_getaffinity(0)), len(shares))
    if processes == 1:
        yield from map(work, shares)
        return
    # Fresh processes: a copy of this one could hold locks of its threads for ever.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(work, share) for share in shares]):
            yield future.result()


def _on_cluster(
    work: Callable[[Sequence[int]], list[Outcome]], shares: Sequence[Sequence[int]], scheduler: str
) -> Iterator[list[Outcome]]:
    try:
        import distributed  # noqa: PLC0415 - an extra of its own
    except ImportError as error:
        raise VolcanoError(f"--scheduler needs distributed: pip install volcano[cluster] ({error})") from error
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_S)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise VolcanoError(f"--scheduler {scheduler}: no Dask scheduler answers there: {error}") from error
    with client:
        # The same share played twice would be the same games: results are not taken from an earlier run's memory.
        futures = client.map(work, shares, pure=False)
        for future in distributed.as_completed(futures):  # type: ignore[no-untyped-call]
            yield future.result()
