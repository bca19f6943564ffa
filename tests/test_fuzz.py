"""tools/fuzz: random sequences break nothing; what is broken on purpose is found, shrunk, and reproduced."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from watched import Watched

from firmware.game.insel import guardians, sites

if TYPE_CHECKING:
    from firmware.game.insel.play import Play
    from firmware.terms import Figure

TOOL = Path(__file__).parent.parent / "tools/fuzz.py"
FUZZ = runpy.run_path(str(TOOL))


def played(sequences: int, *, first: int = 0, longest: int = 200) -> Any:
    tally = FUZZ["Tally"]()
    for number in range(first, first + sequences):
        FUZZ["play"](number, 1, tally, longest)
    return tally


def test_random_sequences_break_nothing() -> None:
    tally = played(150)
    assert [each.what for each in tally.broken] == []
    assert tally.lines > 150 * 60
    for event in ("game_over", "statue_awakened", "guardian_rests", "fought", "resumed", "figure_inferred"):
        assert tally.events[event], f"{event} has not come: the sequences prove little"


@pytest.mark.slow
def test_many_long_sequences_break_nothing() -> None:
    tally = played(3000, first=1_000_000, longest=600)
    assert [each.what for each in tally.broken] == []


def test_the_same_seed_is_the_same_sequences() -> None:
    assert played(10).events == played(10).events
    assert played(10).events != played(10, first=500).events


def test_a_statue_that_takes_too_much_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    right = guardians.lay_tablets

    def greedy(play: Play, figure: Figure, place: str, count: int) -> None:
        right(play, figure, place, count)
        if play.state.statues[place] == 6:
            play.state.statues[place] = 8

    monkeypatch.setattr(guardians, "lay_tablets", greedy)
    broken = played(60).broken
    assert broken
    found = FUZZ["shrink"](min(broken, key=lambda each: len(each.lines)))
    assert "tablets at statues" in found.what
    assert len(found.lines) <= 12
    assert all(re.search(r"explore|one|two|three|wait|chance", line) for line in found.lines), found.lines
    assert "tablets at statues" in FUZZ["broken_by"](found.seed, found.lines)
    monkeypatch.undo()
    assert FUZZ["broken_by"](found.seed, found.lines) == ""


def test_points_that_nobody_is_told_of_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = sites.visit_site

    def secret(play: Play, figure: Figure, place: str) -> None:
        right(play, figure, place)
        play.state.island_points[figure] += 1

    monkeypatch.setattr("firmware.game.insel.rules.sites.visit_site", secret)
    watched = Watched()
    watched.play("wait 40")
    watched.play("chance site temple")
    with pytest.raises(AssertionError, match="island points of white: 0 told, 1 now"):
        watched.play("white beach-s explore")


def test_the_program_reports_what_it_played() -> None:
    ran = subprocess.run(
        [sys.executable, str(TOOL), "--sequences", "20", "--cores", "2"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert re.match(r"20 sequences, \d+ lines in \d+ s; 0 broken\nevents: ", ran.stdout)


def test_the_program_refuses_nonsense() -> None:
    ran = subprocess.run([sys.executable, str(TOOL), "--sequences", "0"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "at least 1" in ran.stderr
