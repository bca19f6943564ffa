"""What conditions of play vary: within the ranges that are written down, the same for ever, and the hold-out apart."""

from __future__ import annotations

import math
from statistics import fmean

import pytest

from firmware.hal.physics import (
    BODY_PF,
    CONDITIONS,
    DRY_FINGER_PF,
    DRY_HAND_PF,
    HOLD_OUT,
    INSULATED_PF,
    PAINT_PF,
    TUNING,
    WIRED_PAD_PF,
    Condition,
    ConditionError,
    Range,
    Supply,
    chance,
    condition,
    series_pf,
)


def test_capacitors_in_series_are_less_than_the_smallest() -> None:
    assert series_pf(10.0, 10.0) == 5.0
    assert series_pf(2.2, 200.0, 150.0) < 2.2


def test_chance_belongs_to_the_names_and_is_even() -> None:
    assert chance("body", "mains", 1, 2) == chance("body", "mains", 1, 2)
    numbers = [chance("body", "mains", board, player) for board in range(200) for player in range(4)]
    assert len(set(numbers)) == len(numbers)
    assert all(0.0 <= number < 1.0 for number in numbers)
    assert fmean(numbers) == pytest.approx(0.5, abs=0.03)
    tenths = [sum(tenth <= 10 * number < tenth + 1 for number in numbers) for tenth in range(10)]
    assert min(tenths) > 50


def test_a_range_is_even_by_factors() -> None:
    assert Range(10.0, 1000.0).at(0.0) == pytest.approx(10.0)
    assert Range(10.0, 1000.0).at(0.5) == pytest.approx(100.0)
    assert Range(10.0, 1000.0).at(1.0) == pytest.approx(1000.0)


def draws(condition: Condition) -> list[tuple[float, ...]]:
    tables = [
        condition.physics(board, player, moment) for board in range(9) for player in range(4) for moment in (1, 2)
    ]
    return [(each.hand_pf, each.touch_field_pf, each.body_pf, each.earth_pf) for each in tables]


def test_what_is_drawn_lies_within_what_is_written_down() -> None:
    for hand_pf, finger_pf, body_pf, earth_pf in draws(Condition(name="a")):
        assert DRY_HAND_PF.low <= hand_pf <= DRY_HAND_PF.high
        assert DRY_FINGER_PF.low <= finger_pf <= DRY_FINGER_PF.high
        assert BODY_PF.low <= body_pf <= BODY_PF.high
        assert Supply.MAINS.value.low <= earth_pf <= Supply.MAINS.value.high


def test_lacquer_and_batteries_make_everything_smaller() -> None:
    poor = Condition(name="b", supply=Supply.BATTERY, insulated=True, painted=True)
    for hand_pf, finger_pf, _, earth_pf in draws(poor):
        assert hand_pf < PAINT_PF.high
        assert finger_pf <= INSULATED_PF.high
        assert earth_pf <= 50.0


def test_body_and_ground_last_and_fingers_change() -> None:
    play = Condition(name="c")
    early, late, other = play.physics(1, 2, 10), play.physics(1, 2, 11), play.physics(1, 3, 10)
    assert (early.body_pf, early.earth_pf) == (late.body_pf, late.earth_pf)
    assert early.hand_pf != late.hand_pf
    assert early.body_pf != other.body_pf
    assert early.earth_pf == other.earth_pf
    assert (early.lowest_pad_pf, early.highest_pad_pf) == (WIRED_PAD_PF.low, WIRED_PAD_PF.high)


def test_the_hold_out_is_no_condition_to_tune_with() -> None:
    (held_out,) = HOLD_OUT
    assert (held_out.supply, held_out.painted, held_out.standing) == (Supply.MAINS, True, 3)
    assert len(CONDITIONS) == len(TUNING) + len(HOLD_OUT)
    for each in TUNING:
        assert not (each.painted and each.supply is Supply.MAINS)
        assert not (each.painted and each.standing)
        assert each.standing < held_out.standing
        assert math.isfinite(each.noise_counts)


def test_a_condition_that_is_not_there_is_named() -> None:
    assert condition("mains") is TUNING[0]
    with pytest.raises(ConditionError, match=r"there is no condition 'snow'; the conditions are mains, bank, "):
        condition("snow")
