"""What a game costs the card: lines, bytes and syncs of one whole game, and how long a contact waits for them."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from bench import Figures

from firmware.game.insel.balance import Contest, new_game
from firmware.game.insel.material import load_material
from firmware.game.insel.rules import InselRules
from firmware.game.kernel import Begun, Ended, Played
from firmware.journal import Store, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firmware.game.kernel import Record

POLL_MS = 20.0
"""Between two polls: a contact that waits longer costs one."""


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
    """Bytes and syncs of a game, and the time of one append against writing and syncing the same bytes."""
    records = whole_game(seed)
    syncs = 0
    real_sync = os.fsync

    def sync(descriptor: int) -> None:
        nonlocal syncs
        syncs += 1
        real_sync(descriptor)

    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:  # /tmp may be memory
        store = Store(Path(folder) / "state", print)
        with mock.patch.object(os, "fsync", sync):
            ours_ms = [_ms(lambda record=record: store.append(record)) for record in records]  # type: ignore[misc]
        with (Path(folder) / "bare").open("ab", buffering=0) as file:

            def bare(line: bytes) -> None:
                file.write(line)
                os.fsync(file.fileno())

            lines = [encode(record) for record in records]
            bare_ms = [_ms(lambda line=line: bare(line)) for line in lines]  # type: ignore[misc]
    size = sum(map(len, lines))
    ratio = statistics.median(ours_ms) / statistics.median(bare_ms)
    contacts = len(records) - 2
    late = sum(each > POLL_MS for each in ours_ms)
    return [
        Figures(
            "a whole game of four on the card",
            f"{contacts} contacts, {len(lines)} lines, {size / 1024:.0f} KiB, {syncs} syncs",
            f"one sync a record: {len(lines)}",
            f"{syncs - len(lines)} more, for the new file's name",
            "at most 2 more",
            syncs - len(lines) <= 2,
        ),
        Figures(
            "a record, checked, written and synced, ms",
            _spread(ours_ms),
            f"write and fsync of the same bytes: {_spread(bare_ms)}",
            f"{ratio:.2f} times; {late} of {len(lines)} cost a poll",
            "at most 1.5 times",
            ratio <= 1.5,
        ),
    ]


def _ms(work: Callable[[], None]) -> float:
    before = time.perf_counter()
    work()
    return (time.perf_counter() - before) * 1e3


def _spread(values: Sequence[float]) -> str:
    return (
        f"p50 {statistics.median(values):.2f}, p99 {sorted(values)[len(values) * 99 // 100]:.1f}, max {max(values):.1f}"
    )
