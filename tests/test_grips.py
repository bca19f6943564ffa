"""tools/grips: a few grips and a few minutes without any, as a guard over what the long runs have shown."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

TOOLS = Path(__file__).parent.parent / "tools"
sys.path.insert(0, str(TOOLS))

from grip_table import ASKED, ELSEWHERE, NONE, GripTable, Tally  # noqa: E402  # tools are no package

from firmware.hal.physics import condition  # noqa: E402
from firmware.hal.wiring import FigureMethod  # noqa: E402
from firmware.terms import FIGURES  # noqa: E402

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet


def later(*names: str) -> list[ParameterSet]:
    """Conditions for the long run of the tests only."""
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


def played(method: FigureMethod, name: str, grips: int = 40, seed: int = 90) -> Tally:
    return GripTable(method, condition(name), seed).grips(grips)


def share(tally: Tally, *what: str) -> float:
    return sum(count for (_, became), count in tally.outcomes.items() if became in what) / tally.outcomes.total()


def right(tally: Tally) -> float:
    return sum(tally.outcomes[figure, figure] for figure in FIGURES) / tally.outcomes.total()


@pytest.mark.parametrize("name", ["mains", *later("battery", "standing", "slow", "insulated", "two-players", "dips")])
def test_capacitors_name_the_figure(name: str) -> None:
    tally = played(FigureMethod.CAPACITOR, name)
    assert right(tally) >= 0.95
    assert share(tally, NONE, ELSEWHERE) == 0.0
    assert tally.ghosts == 0


@pytest.mark.slow
def test_colour_pads_name_the_figure_always() -> None:
    tally = played(FigureMethod.COLOUR_PADS, "battery")
    assert right(tally) == 1.0


@pytest.mark.slow
def test_without_any_help_the_turn_order_is_all_there_is() -> None:
    tally = played(FigureMethod.NOTHING, "mains", 120)
    assert right(tally) + share(tally, ASKED) < 1.0, "who acts out of turn is taken for whose turn it is"
    assert right(tally) > 0.9


@pytest.mark.parametrize("name", ["mains", *later("noisy", "drifting", "dips")])
def test_hands_that_lie_about_make_no_contact(name: str) -> None:
    seconds = 600.0 if name == "dips" else 120.0
    tally = GripTable(FigureMethod.CAPACITOR, condition(name), 91).haunt(seconds)
    assert tally.ghosts == 0
    assert tally.played_s >= seconds


@pytest.mark.slow
def test_fingers_that_leave_and_take_half_of_the_other_pads_down_are_no_sag_of_the_supply() -> None:
    """Wet hands on batteries, and a black figure that stands: its field's rest was lowered with the others'."""
    assert GripTable(FigureMethod.CAPACITOR, condition("wet"), 9_000_030).haunt(345.0).ghosts == 0


def test_a_table_is_its_seed_s_alone() -> None:
    one, same = (played(FigureMethod.CAPACITOR, "noisy", 8) for _ in range(2))
    assert (one.outcomes, one.waits_s) == (same.outcomes, same.waits_s)


def test_the_tool_tells_what_came_of_the_grips() -> None:
    command = [sys.executable, str(TOOLS / "grips.py"), "capacitor", "mains", "--grips", "6", "--cores", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (cell,) = json.loads(done.stdout).values()
    assert cell["grips"] == 6
    assert cell["right"] + cell["asked"] + cell["wrong"] + cell["none"] == pytest.approx(1.0)
    assert sum(sum(row.values()) for row in cell["confusion"].values()) == 6


def test_the_tool_names_what_it_does_not_know() -> None:
    command = [sys.executable, str(TOOLS / "grips.py"), "magic"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no 'magic'; choose of capacitor, rails, " in done.stderr
