"""Whole games as a family hears them, against transcripts/: the introduction and each level, both languages.

After a change of words, numbers or rules the files are made anew with

    python tests/test_transcripts.py

and the difference is read before it is committed: it is what players will hear.
"""

from __future__ import annotations

import io
import sys
from functools import cache
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pytest
from family import BOARD, STORY_S, Family
from table import Table

from firmware.console import Transcript
from firmware.game.insel import events
from firmware.game.insel.board import CREATURES
from firmware.game.kernel import Event

FOLDER = Path(__file__).with_name("transcripts")
LEVELS = {"beginner": "one", "advanced": "two", "expert": "three"}
SEEDS = {"beginner": 50, "advanced": 37, "expert": 31}
"""Chosen for what these games show; see the last test."""
GAMES = ("intro", *LEVELS)
LANGUAGES = ("de", "en")
RENEW = "renew it with python tests/test_transcripts.py, and read the difference"
EVENTS = {each.name for each in vars(events).values() if isinstance(each, type) and issubclass(each, Event)}
ONLY_INTRODUCED = {"event", "intro_started", "intro_finished"}
MISHAPS = {"interrupted", "repeated", "resumed", "rejected", "volume", "who_asked", "figure_inferred", "lapsed"}


class Tape:
    """A volcano whose rows are written as the console writes them; what was typed begins with ``>``."""

    def __init__(self, *, seed: int, language: str) -> None:
        self.table = Table("wait 30", seed=seed, language=language)
        self._text = io.StringIO()
        self._write = Transcript(self._text, colour=False)
        for row in self.table.rows:
            self._write(row)

    def play(self, line: str) -> list[dict[str, Any]]:
        rows = self.table.play(line)
        self._text.write(f"> {line}\n")
        for row in rows:
            self._write(row)
        return rows

    def state(self) -> Any:
        return self.table.console.unit.play.state

    @property
    def text(self) -> str:
        return self._text.getvalue()


@cache
def taped(name: str, language: str, seed: int | None = None) -> Tape:
    """One whole game, its result heard twice."""
    tape = Tape(seed=SEEDS.get(name, 0) if seed is None else seed, language=language)
    if name == "intro":
        play_intro(tape)
        return tape
    Family(tape.play, tape.state, level=LEVELS[name], seed=SEEDS[name] if seed is None else seed).game()
    for line in ("wait 60", "button", "wait 60"):
        tape.play(line)
    return tape


def play_intro(tape: Tape) -> None:
    """The eleven turns; once somebody errs twice, once the question is repeated."""
    for line in ("button", "wait 40"):
        tape.play(line)
    for number, turn in enumerate(BOARD.intro):
        if number == 2:
            for _ in range(2):
                tape.play(f"{turn.figure} beach-ne explore")
            tape.play("wait 20")
        tape.play(f"{turn.figure} {turn.field} explore")
        tape.play(f"wait {STORY_S}")
        if turn.then is not None:
            tape.play("button")
            tape.play("wait 40")
            tape.play(f"{turn.figure} {turn.field} {turn.then}")
            tape.play("wait 40")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GAMES)
def test_the_game_is_told_as_before(name: str, language: str) -> None:
    told = (FOLDER / f"{name}-{language}.txt").read_text(encoding="utf-8")
    assert taped(name, language).text == told, (
        "renew it with: python tests/test_transcripts.py, and read the difference"
    )


def test_the_same_game_in_both_languages() -> None:
    """Only the words differ: what happens must not depend on the language."""
    for name in GAMES:
        german, english = (
            [row for row in taped(name, language).table.all.untimed if "event" in row] for language in LANGUAGES
        )
        assert german == english


def test_the_games_show_much() -> None:
    """Else they would prove little: all kinds of events, creatures and endings, and mishaps at the table."""
    rows = [row for name in LEVELS for row in taped(name, "de").table.rows if "event" in row]
    ends = {(row["reason"], row["saved"]) for row in rows if row["event"] == "game_over"}
    assert ends == {("statues", True), ("creatures", True), ("creatures", False)}
    assert {row["creature"] for row in rows if row["event"] == "creature_met"} == set(CREATURES)
    assert {row["outcome"] for row in rows if row["event"] == "fought"} == {"vanishes", "moves", "stays"}
    assert {row["with"] for row in rows if row["event"] == "fought"} == {"relics", "tablet", "strength"}
    sources = {row["source"] for row in rows if row["event"] == "tablets"}
    assert sources == {"guardian", "resting_guardian", "set", "golem"}
    assert {row["event"] for row in rows} >= (EVENTS - ONLY_INTRODUCED) | MISHAPS


def renew() -> None:
    """Write all transcripts anew."""
    FOLDER.mkdir(exist_ok=True)
    for name in GAMES:
        for language in LANGUAGES:
            file = FOLDER / f"{name}-{language}.txt"
            file.write_text(taped(name, language).text, encoding="utf-8")
            print(f"{file}: {len(taped(name, language).text.splitlines())} lines")


if __name__ == "__main__":
    renew()
