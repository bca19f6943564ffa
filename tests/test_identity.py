"""Who touched: what the sensors saw, times what the game expects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.identity import ENOUGH, SURE, Identity, identify
from firmware.terms import FIGURES, UNKNOWN, Figure, certain

WEIGHTS = st.tuples(*[st.floats(0.0, 1.0)] * 4)


@pytest.mark.parametrize("figure", FIGURES)
def test_sure_sensors_are_believed_whatever_the_game_expects(figure: Figure) -> None:
    for other in FIGURES:
        assert identify(certain(figure), certain(other)) == Identity(figure)


@pytest.mark.parametrize("figure", FIGURES)
def test_blind_sensors_leave_it_to_the_game_which_is_an_inference(figure: Figure) -> None:
    assert identify(UNKNOWN, certain(figure)) == Identity(figure, inferred=True)


def test_nothing_known_is_unknown() -> None:
    assert identify(UNKNOWN, UNKNOWN) == Identity(None)


def test_two_that_may_be_next_are_unknown() -> None:
    assert identify(UNKNOWN, (1.0, 1.0, 0.01, 0.01)) == Identity(None)


def test_the_game_decides_between_two_that_the_sensors_confuse() -> None:
    assert identify((0.5, 0.5, 0.0, 0.0), (1.0, 0.02, 1.0, 1.0)) == Identity(Figure.WHITE, inferred=True)


def test_likely_sensors_and_a_willing_game_are_no_inference() -> None:
    assert identify((0.95, 0.05, 0.0, 0.0), UNKNOWN) == Identity(Figure.WHITE)


def test_likely_sensors_against_the_game_are_an_inference_or_unknown() -> None:
    seen = (0.9, 0.1, 0.0, 0.0)
    assert identify(seen, (0.0001, 1.0, 0.0001, 0.0001)) == Identity(Figure.RED, inferred=True)
    assert identify(seen, (0.1, 1.0, 0.1, 0.1)) == Identity(None)


def test_what_cannot_be_is_unknown() -> None:
    assert identify((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 1.0, 1.0)) == Identity(Figure.WHITE), "the sensors are sure"
    assert identify((0.6, 0.4, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0)) == Identity(None)
    assert identify((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)) == Identity(None)


@given(WEIGHTS, WEIGHTS, st.floats(0.001, 1000.0))
def test_the_scale_of_the_prior_does_not_matter(
    seen: tuple[float, float, float, float], expected: tuple[float, float, float, float], scale: float
) -> None:
    white, red, green, black = (weight * scale for weight in expected)
    together = [one * other for one, other in zip(seen, expected, strict=True)]
    total = sum(together)
    alone = sum(seen)
    margins = [abs(part / total - ENOUGH) for part in together] if total > 1e-6 else [0.0]
    if alone > 1e-6 and min(margins) > 1e-6 and len({*together}) == 4:
        assert identify(seen, (white, red, green, black)) == identify(seen, expected)


@given(WEIGHTS, WEIGHTS)
def test_the_verdict_is_the_best_or_none(
    seen: tuple[float, float, float, float], expected: tuple[float, float, float, float]
) -> None:
    who = identify(seen, expected)
    if who.figure is not None:
        chosen = FIGURES.index(who.figure)
        together = [one * other for one, other in zip(seen, expected, strict=True)]
        assert seen[chosen] >= SURE * sum(seen) * 0.999 or together[chosen] >= ENOUGH * sum(together) * 0.999
