"""Any sequence of contacts, presses, waits, Rock and power cuts leaves a valid volcano.

What is looked at after every line is in `watched`; here people make the lines, and two volcanoes are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from watched import ANSWERS, BOARD, Watched

from firmware.game.insel.board import CREATURES
from firmware.game.insel.state import InselState
from firmware.terms import FIGURES, TOUCHES, Contact, Figure, Touch
from firmware.unit_state import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable

OF_THE_UNIT = {"rejected", "repeated", "interrupted", "creature_places", "signals", "ready", "resumed", "volume"}
"""Events that tell of a disturbance, not of the game."""

FEW = settings(
    max_examples=60, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)
MANY = settings(FEW, max_examples=600, stateful_step_count=150)

figures, fields, touches = st.sampled_from(FIGURES), st.sampled_from(BOARD.fields), st.sampled_from(TOUCHES)
boats, answers = st.sampled_from(BOARD.boats), st.sampled_from(ANSWERS)
seconds = st.sampled_from([0.3, 3, 12, 40, 100, 1300])


class Volcano(RuleBasedStateMachine):
    """People at one volcano. Every line is looked at by `Watched`; what it says at the end must be read back."""

    def __init__(self) -> None:
        super().__init__()
        self.volcanoes: list[Watched] = []

    @initialize(seed=st.integers(0, 2**32), low=st.booleans())
    def switch_on(self, seed: int, low: bool) -> None:
        self.volcanoes = [self.volcano(seed, low)]
        self.all("button" if low else "wait 4")
        self.all("wait 40")

    def volcano(self, seed: int, low: bool) -> Watched:
        return Watched(seed=seed, low_battery=low)

    @property
    def first(self) -> Watched:
        return self.volcanoes[0]

    @property
    def game(self) -> InselState | None:
        game = self.first.game
        return game if isinstance(game, InselState) and not game.over else None

    def all(self, line: str) -> None:
        for each in self.volcanoes:
            each.play(line)

    @rule(figure=figures, boat=boats, touch=st.sampled_from(["explore", "one", "two", "three", "fire"]))
    def land(self, figure: Figure, boat: str, touch: str) -> None:
        self.all(f"{figure} {boat} {touch}")

    @precondition(lambda self: self.game is not None)
    @rule(number=st.integers(0, 3), field=fields, pause=seconds)
    def explore(self, number: int, field: str, pause: float) -> None:
        assert self.game is not None
        entered = list(self.game.landed)
        self.all(f"{entered[number % len(entered)]} {field} explore")
        self.all(f"wait {pause}")

    @precondition(lambda self: self.game is not None and self.game.pending is not None)
    @rule(answer=answers)
    def answer(self, answer: str) -> None:
        assert self.game is not None
        assert self.game.pending is not None
        self.all(f"{self.game.pending.figure} {self.game.pending.field} {answer}")

    @precondition(lambda self: self.game is not None and bool(self.game.pending))
    @rule()
    def lay_or_give_as_much_as_goes(self) -> None:
        """So that statues awake and guardians rest within few steps."""
        assert self.game is not None
        assert self.game.pending is not None
        pending = self.game.pending
        left = 7 - self.game.statues.get(pending.field, 0)
        self.all(f"{pending.figure} {pending.field} {('three', 'one', 'two', 'three')[min(left, 3)]}")

    @rule(creature=st.sampled_from(CREATURES))
    def the_volcano_grows_restless(self, creature: str) -> None:
        self.all(f"chance spawn {creature}")

    @rule(figure=figures, field=fields, touch=touches)
    def touch_anything(self, figure: Figure, field: str, touch: Touch) -> None:
        self.all(f"{figure} {field} {touch}")

    @rule(pause=seconds)
    def wait(self, pause: float) -> None:
        self.all(f"wait {pause}")

    @rule(held=st.booleans())
    def cut_the_power(self, held: bool) -> None:
        self.all("power off")
        self.all("power on held" if held else "power on")
        self.all("button" if held or self.first.console.unit.mode is Mode.WEAK else "wait 1")
        self.all("wait 20")

    def teardown(self) -> None:
        for each in self.volcanoes:
            each.look_back()


class Alone(Volcano):
    """Also with what can happen to one volcano only."""

    @rule(field=fields, touch=touches)
    def hold_a_figure_that_is_not_felt(self, field: str, touch: Touch) -> None:
        self.all(f"? {field} {touch}")

    @rule(long=st.booleans())
    def press(self, long: bool) -> None:
        self.all("button long" if long else "button")


class Twins(Volcano):
    """Two volcanoes alike; one is disturbed by errors, Rock and repetitions. What follows must be the same game."""

    def volcano(self, seed: int, low: bool) -> Watched:
        return Watched(seed=seed, low_battery=low)

    @initialize(seed=st.integers(0, 2**32), low=st.booleans())
    def switch_on(self, seed: int, low: bool) -> None:
        self.volcanoes = [self.volcano(seed, low), self.volcano(seed, low)]
        self.told = [0, 0]
        self.all("button" if low else "wait 4")
        self.all("wait 40")

    @property
    def second(self) -> Watched:
        return self.volcanoes[1]

    @rule(figure=figures, field=fields, touch=touches)
    def err(self, figure: Figure, field: str, touch: Touch) -> None:
        """An input error, found by asking the rules; anything else is no disturbance and is left out."""
        unit = self.second.console.unit
        contact = Contact(figure, field, touch)
        if touch is not Touch.ROCK and unit.mode in (Mode.READY, Mode.PLAYING) and unit.play.refusal(contact):
            rows = self.second.play(f"{figure} {field} {touch}")
            assert [row["event"] for row in rows if "event" in row] == ["rejected"]

    @rule(figure=figures, field=fields)
    def ask_for_the_creatures(self, figure: Figure, field: str) -> None:
        self.second.play(f"{figure} {field} rock")

    @precondition(lambda self: self.game is not None and not self.second.console.unit._resumed)
    @rule()
    def have_it_repeated(self) -> None:
        """Not right after a power cut, where a second press ends the game."""
        self.second.play("button")

    def all(self, line: str) -> None:
        super().all(line)
        self.compare()

    def compare(self) -> None:
        events = [list(told(each.rows[begin:])) for each, begin in zip(self.volcanoes, self.told, strict=True)]
        assert events[0] == events[1]
        self.told = [len(each.rows) for each in self.volcanoes]
        for each in self.volcanoes:
            assert each.console.unit.mode == self.first.console.unit.mode
        assert dumped(self.first) == dumped(self.second)


def told(rows: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """The events of the game, without their times."""
    for row in rows:
        if "event" in row and row["event"] not in OF_THE_UNIT:
            yield {key: value for key, value in row.items() if key != "t"}


def dumped(volcano: Watched) -> Any:
    return volcano.game.dump() if volcano.game is not None else None


@pytest.mark.parametrize("people", [Alone, Twins])
def test_whatever_people_do(people: type[Volcano]) -> None:
    run_state_machine_as_test(people, settings=FEW)


@pytest.mark.slow
@pytest.mark.parametrize("people", [Alone, Twins])
def test_whatever_people_do_for_long(people: type[Volcano]) -> None:
    run_state_machine_as_test(people, settings=MANY)
