"""What a pad measures at rest follows what is measured; the whole of it is tried through the chips in test_pads.py."""

from __future__ import annotations

import pytest

from firmware.hal.rest import DOUBT_S, RestLevels

COUNT_PF = 0.2
SPIKE_PF = 0.8


@pytest.mark.parametrize("age_s", [0.2, 4.0], ids=["just begun", "long known"])
def test_a_spike_and_a_hand_much_later_are_no_rise_that_has_lasted(age_s: float) -> None:
    """Between the two the level was at rest again."""
    levels_pf = [80.0]
    rest = RestLevels(levels_pf)
    rest.begin(0, 80.0, 0.0)
    if age_s > 1.0:
        for second in range(int(age_s)):
            rest.follow(0, 80.0, COUNT_PF, float(second))
    rest.follow(0, 80.0 + SPIKE_PF, COUNT_PF, age_s)
    rest.follow(0, 80.0, COUNT_PF, age_s + 0.1)
    assert not rest.doubtful
    rest.follow(0, 80.0 + SPIKE_PF, COUNT_PF, age_s + DOUBT_S + 0.1)
    assert levels_pf[0] == pytest.approx(80.0, abs=0.1)


def test_a_rise_that_lasts_is_the_new_rest() -> None:
    levels_pf = [80.0]
    rest = RestLevels(levels_pf)
    for moment_s in (0.0, 0.2, 0.4, DOUBT_S):
        rest.follow(0, 81.0, COUNT_PF, moment_s)
    assert levels_pf == [81.0]
