"""What a game costs the card: lines, bytes and syncs of one whole game; and what a contact waits for them."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from bench_figures import Figures

from firmware.game.insel.balance import Contest, new_game
from firmware.game.insel.material import load_material
from firmware.game.insel.rules import InselRules
from firmware.game.kernel import Begun, Ended, Played
from firmware.hal.ports import POLLS_PER_S
from firmware.journal import Store, encode
from firmware.loop import DISK_GRACE_S
from firmware.terms import SOUND_MS
from firmware.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firmware.game.kernel import Record

POLL_MS = 1000 / POLLS_PER_S
SHORTEST_MS = min(SOUND_MS.values())
"""The shortest that can be heard first; the second waits for the disk."""


def whole_game(seed: int) -> list[Record]:
    """The records of a game of four bots, from the first contact to the end."""
    rules = InselRules()
    game = new_game(Contest(seed=seed), 0, rules, load_material())
    records: list[Record] = []
    while not game.table.over:
        step = game.step()
        if step.contact is None:
            continue
        if not records:
            records.append(Begun(rules.name, rules.start(step.contact, game.seed).dump()))
        records.append(Played(step.contact, step.draws, tuple(event.row() for event in step.events)))
    return [*records, Ended("over")]


def disk(seed: int) -> list[Figures]:
    """Bytes and syncs of a game, and how long its records are on their way to the disk."""
    records = whole_game(seed)
    lines = [encode(record) for record in records]
    syncs = 0
    real_sync = os.fsync

    def sync(descriptor: int) -> None:
        nonlocal syncs
        syncs += 1
        real_sync(descriptor)

    loop_ms: list[float] = []
    ours_ms: list[float] = []
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:  # /tmp may be memory
        writer = Writer(Store(Path(folder) / "state", print), print)

        def hand_over(record: Record) -> None:
            writer.append(record)
            loop_ms.append(_ms(lambda: writer.settled(DISK_GRACE_S)))
            writer.settled(60)

        with mock.patch.object(os, "fsync", sync):
            ours_ms += [_ms(lambda record=record: hand_over(record)) for record in records]  # type: ignore[misc]
        writer.close()
        with (Path(folder) / "bare").open("ab", buffering=0) as file:

            def bare(line: bytes) -> None:
                file.write(line)
                os.fsync(file.fileno())

            bare_ms = [_ms(lambda line=line: bare(line)) for line in lines]  # type: ignore[misc]
    size = sum(map(len, lines))
    return [
        Figures(
            "a whole game of four on the card",
            f"{len(records) - 2} contacts, {len(lines)} lines, {size / 1024:.0f} KiB, {syncs} syncs",
            f"one sync a record: {len(lines)}",
            f"{syncs - len(lines)} more, for the new file's name",
            "at most 2 more",
            syncs - len(lines) <= 2,
        ),
        Figures(
            "a record, from the loop to the disk, ms",
            _spread(ours_ms),
            f"write and fsync of the same bytes: {_spread(bare_ms)}",
            f"{statistics.median(ours_ms) / statistics.median(bare_ms):.2f} times",
            f"p99 at most {SHORTEST_MS}, the shortest sound: then nobody waits",
            _p99(ours_ms) <= SHORTEST_MS,
        ),
        Figures(
            "... of which the loop waits, ms",
            _spread(loop_ms),
            "-",
            f"{sum(each > POLL_MS for each in loop_ms)} of {len(lines)} cost a poll",
            "none",
            max(loop_ms) <= POLL_MS,
        ),
    ]


def _ms(work: Callable[[], object]) -> float:
    before = time.perf_counter()
    work()
    return (time.perf_counter() - before) * 1e3


def _p99(values: Sequence[float]) -> float:
    return sorted(values)[len(values) * 99 // 100]


def _spread(values: Sequence[float]) -> str:
    return f"p50 {statistics.median(values):.2f}, p99 {_p99(values):.1f}, max {max(values):.1f}"
