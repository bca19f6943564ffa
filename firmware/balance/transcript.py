"""One game of bots as the family hears it: through the real unit, script and catalogue, with a clock of its own."""

from __future__ import annotations

import os
import sys
from dataclasses import fields
from typing import IO, TYPE_CHECKING, Any

from firmware.catalogue import load
from firmware.console import Console, Transcript
from firmware.game.insel.balance import new_game
from firmware.game.insel.material import load_material
from firmware.game.registry import load_title
from firmware.terms import MS_PER_CHARACTER, SOUND_MS, SoundName, VolcanoError

if TYPE_CHECKING:
    from pathlib import Path

    from firmware.game.insel.balance import Contest
    from firmware.game.insel.moves import Move

BETWEEN_S = 2.0
"""From the end of an announcement to the next touch."""
PAUSE_S = 0.6
"""Longer than any silence inside an announcement."""


class Listener:
    """Writes what is heard and seen, and knows when it will be over."""

    def __init__(self, stream: IO[str], *, colour: bool) -> None:
        self.ends = 0.0
        self._write = Transcript(stream, colour=colour)
        self.refused: list[str] = []

    def __call__(self, row: dict[str, Any]) -> None:
        """One row of the console: a cue is written, of the events only a refusal is kept."""
        if row.get("event") == "rejected":
            self.refused.append(row["reason"])
        elif "cue" in row:
            self._write(row)
            if row["cue"] == "say":
                self.ends = row["t"] + len(row["text"]) * MS_PER_CHARACTER / 1000
            elif row["cue"] == "sound":
                self.ends = row["t"] + SOUND_MS[SoundName(row["name"])] / 1000


def show(
    contest: Contest,
    number: int,
    language: str,
    *,
    board: Path | None = None,
    tuning: Path | None = None,
    stream: IO[str] | None = None,
) -> None:
    """Tell game `number` of a contest: every move, every word, sound and light.

    Raises:
        VolcanoError: the unit refused what the players' side thought allowed.
    """
    stream = stream or sys.stdout
    title = load_title(board=board, tuning=tuning)
    game = new_game(contest, number, title.game, load_material())  # type: ignore[arg-type]  # Die Insel's title
    listener = Listener(stream, colour=stream.isatty() and not os.environ.get("NO_COLOR"))
    complaints: list[str] = []
    console = Console(title, load, language=language, write=listener, complain=complaints.append)

    def listen() -> None:
        """Until nothing more is said."""
        while listener.ends > console.now - PAUSE_S:
            console.command(f"wait {listener.ends - console.now + PAUSE_S + 0.001:.3f}")
        console.command(f"wait {BETWEEN_S}")

    console.power_on()
    listen()
    seats = zip(game.table.figures, game.seats, strict=True)
    stream.write(f"# {', '.join(f'{figure}: {skill} {habit}'.strip() for figure, (habit, skill) in seats)}\n")
    while not game.table.over:
        figure = game.table.figure
        step = game.step()
        stream.write(f"\n> {figure}: {_told(step.move)}\n")
        if step.contact is not None:
            for kind, outcome in step.draws:
                console.chance.queue(kind, outcome)
            contact = step.contact
            console.command(f"{contact.figure} {contact.field} {contact.touch}")
            listen()
        if complaints or listener.refused:
            raise VolcanoError(f"game {number}: the unit refused {step.contact}: {complaints or listener.refused}")


def _told(move: Move) -> str:
    """A move in plain words: its name and what it is about."""
    name = type(move).__name__
    return " ".join([name.lower(), *(part for each in fields(move) if (part := _part(getattr(move, each.name))))])


def _part(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if hasattr(value, "relics"):
        relics = [*value.relics, *(f"card-as-{each}" for each in value.additional)]
        return f"with {' '.join(relics)}" if relics else ""
    return f"by {value.value}"
