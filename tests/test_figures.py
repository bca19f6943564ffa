"""Picofarads to likelihoods: sure where they are clear, torn where they are not, flat where they fit nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.hal.figures import CapacitorFigures, NoFigures, least_grip_pf
from firmware.hal.physics import series_pf
from firmware.hal.ports import GripReading
from firmware.identity import Identity, identify
from firmware.terms import FIGURES, UNKNOWN, Figure, Likelihood

CAPACITOR_PF = {Figure.WHITE: 3.3, Figure.RED: 6.8, Figure.GREEN: 15.0, Figure.BLACK: 33.0}
MAINS_PF, BANK_PF, BATTERY_PF = 130.0, 45.0, 25.0
"""From the body back to the chip's ground, through earth."""
HAND_PF, BARE_PF, INSULATED_PF = 200.0, 450.0, 15.0
PAINTED_PF = 40.0


def reader() -> CapacitorFigures:
    return CapacitorFigures(CAPACITOR_PF, frozenset({"near"}))


def gripped(
    figure: Figure,
    field: str,
    return_pf: float,
    *,
    stood: bool,
    finger_pf: float = BARE_PF,
    hand_pf: float = HAND_PF,
    beside_pf: float = 0.0,
) -> GripReading:
    """What pads of 80 pF show (AN3889): the capacitor, then hand and body, beside the figure's own metal of 1.7 pF."""
    helps = finger_pf if field == "near" else series_pf(finger_pf, 80.0)
    capacitor_pf = CAPACITOR_PF[figure]
    rise_pf = series_pf(capacitor_pf, series_pf(hand_pf, return_pf + helps) + 1.7) + beside_pf
    if stood:
        rise_pf -= series_pf(capacitor_pf, 1.7)
    through_pf = series_pf(capacitor_pf, hand_pf)
    beside = through_pf if field == "near" else series_pf(through_pf, 80.0)
    touch_pf = series_pf(finger_pf, return_pf + beside)
    return GripReading(field, rise_pf, error_pf=0.05, idle_pf=80.0, touch_pf=touch_pf, touch_idle_pf=80.0)


def posterior(likelihood: Likelihood, figure: Figure) -> float:
    return likelihood[FIGURES.index(figure)] / sum(likelihood)


@pytest.mark.parametrize("stood", [False, True], ids=["carried", "stood there"])
@pytest.mark.parametrize("return_pf", [MAINS_PF, BANK_PF, BATTERY_PF], ids=["mains", "bank", "battery"])
@pytest.mark.parametrize("field", ["near", "far"])
@pytest.mark.parametrize("figure", FIGURES)
def test_a_clean_reading_beside_a_bare_touch_field_names_the_figure_at_the_first_grip(
    figure: Figure, field: str, return_pf: float, stood: bool
) -> None:
    assert posterior(reader().likelihood(gripped(figure, field, return_pf, stood=stood)), figure) > 0.95


@pytest.mark.parametrize("stood", [False, True], ids=["carried", "stood there"])
@pytest.mark.parametrize("figure", FIGURES)
def test_a_clean_reading_is_believed_out_of_turn(figure: Figure, stood: bool) -> None:
    """Rulebook, What happens if a player was skipped? and the card Double turn: the figure decides."""
    white, red, green, black = (0.0001 if each is figure else 1.0 for each in FIGURES)
    for field in ("near", "far"):
        seen = reader().likelihood(gripped(figure, field, MAINS_PF, stood=stood))
        assert identify(seen, (white, red, green, black)) == Identity(figure)


@pytest.mark.parametrize("figure", FIGURES)
def test_three_figures_beside_it_hide_no_figure(figure: Figure) -> None:
    reading = gripped(figure, "far", MAINS_PF, stood=True, beside_pf=0.45)
    assert posterior(reader().likelihood(reading), figure) > 0.9


@pytest.mark.parametrize("stood", [False, True], ids=["carried", "stood there"])
@pytest.mark.parametrize("figure", FIGURES)
def test_painted_heads_are_learnt_from_the_grips(figure: Figure, stood: bool) -> None:
    figures = reader()
    for _ in range(3):
        for other in FIGURES:
            figures.likelihood(gripped(other, "far", MAINS_PF, stood=True, hand_pf=PAINTED_PF))
    reading = gripped(figure, "far", MAINS_PF, stood=stood, hand_pf=PAINTED_PF)
    assert posterior(figures.likelihood(reading), figure) > 0.9


@pytest.mark.parametrize("figure", FIGURES)
def test_an_insulated_touch_field_tells_less_but_the_return_is_learnt(figure: Figure) -> None:
    figures = reader()
    for _ in range(4):
        for other in FIGURES:
            figures.likelihood(gripped(other, "far", BATTERY_PF, stood=True, finger_pf=INSULATED_PF))
    reading = gripped(figure, "far", BATTERY_PF, stood=True, finger_pf=INSULATED_PF)
    assert posterior(figures.likelihood(reading), figure) > 0.9


@pytest.mark.parametrize("figure", FIGURES)
def test_what_was_learnt_is_given_up_when_the_supply_changes(figure: Figure) -> None:
    figures = reader()
    for return_pf in (BATTERY_PF, MAINS_PF):
        for _ in range(8):
            for other in FIGURES:
                figures.likelihood(gripped(other, "far", return_pf, stood=True))
    assert posterior(figures.likelihood(gripped(figure, "far", MAINS_PF, stood=True)), figure) > 0.9


def test_between_two_figures_the_likelihood_is_torn() -> None:
    likelihood = reader().likelihood(GripReading("near", 4.1, error_pf=0.05, touch_pf=100.0))
    assert 0.1 < posterior(likelihood, Figure.WHITE) < 0.9
    assert 0.1 < posterior(likelihood, Figure.RED) < 0.9


def test_a_touch_field_that_cannot_be_measured_is_done_without() -> None:
    for field in ("near", "far"):
        for figure in FIGURES:
            clean = gripped(figure, field, MAINS_PF, stood=True)
            reading = GripReading(field, clean.rise_pf, error_pf=0.05)
            assert posterior(reader().likelihood(reading), figure) > 0.7


@pytest.mark.parametrize("rise_pf", [300.0, 60.0, 0.05, 0.0, -2.0, float("nan"), float("inf")])
@pytest.mark.parametrize("touch_pf", [None, 100.0, 0.0, -3.0])
def test_a_reading_that_fits_nobody_is_flat(rise_pf: float, touch_pf: float | None) -> None:
    likelihood = reader().likelihood(GripReading("near", rise_pf, touch_pf=touch_pf))
    assert max(likelihood) == 1.0
    assert min(likelihood) > 0.4


@pytest.mark.parametrize("touch_pf", [None, 1e-9, 0.2, 8.0, 40.0, 100.0, 290.0, 5000.0, 1e9])
@pytest.mark.parametrize("field", ["near", "far"])
def test_every_likelihood_is_positive_and_at_most_one(field: str, touch_pf: float | None) -> None:
    figures = reader()
    for rise_pf in (0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 39.0):
        likelihood = figures.likelihood(GripReading(field, rise_pf, touch_pf=touch_pf))
        assert all(0 < value <= 1 for value in likelihood)


def test_figures_as_they_were_sold_say_nothing() -> None:
    assert NoFigures().likelihood(GripReading("far", 9.0)) == UNKNOWN


def test_light_figures_that_stand_show_less_than_the_lightest_grip() -> None:
    lightest = gripped(Figure.WHITE, "far", BATTERY_PF, stood=True).rise_pf
    assert series_pf(6.8, 1.7) < least_grip_pf(CAPACITOR_PF) < 0.8 * lightest


def test_a_wrong_guess_teaches_no_more_wrong_guesses() -> None:
    """Painted heads on a power bank: the first black ones look like green, and are not learnt as such."""
    figures = reader()
    for _ in range(8):
        for other in FIGURES:
            figures.likelihood(gripped(other, "far", BANK_PF, stood=True, hand_pf=26.0))
    for figure in FIGURES:
        likelihood = figures.likelihood(gripped(figure, "far", BANK_PF, stood=True, hand_pf=26.0))
        assert posterior(likelihood, figure) > 0.9


@pytest.mark.parametrize("field", ["near", "far"])
@pytest.mark.parametrize("figure", FIGURES)
def test_another_player_s_body_brings_earth_nearer_and_that_is_known(figure: Figure, field: str) -> None:
    """Batteries, bodies of 150 pF: the way back is 30 pF for one alone, and 79 pF while another one helps."""
    body_pf, earth_pf, finger_pf = 150.0, 37.5, 500.0
    alone_pf = series_pf(body_pf, earth_pf)
    through_pf = finger_pf if field == "near" else series_pf(finger_pf, 80.0)
    helped_pf = series_pf(body_pf, earth_pf + series_pf(body_pf, through_pf))
    touch_pf = series_pf(finger_pf, alone_pf)

    def helped(other: Figure) -> GripReading:
        capacitor_pf = CAPACITOR_PF[other]
        rise_pf = series_pf(capacitor_pf, series_pf(HAND_PF, helped_pf) + 1.7) - series_pf(capacitor_pf, 1.7)
        return GripReading(field, rise_pf, error_pf=0.05, idle_pf=80.0, touch_pf=touch_pf, touch_idle_pf=80.0)

    figures = reader()
    for _ in range(3):
        for other in FIGURES:
            figures.likelihood(gripped(other, field, alone_pf, stood=True))
            figures.likelihood(helped(other))
    assert posterior(figures.likelihood(helped(figure)), figure) > 0.95


def test_another_player_s_finger_says_little_about_the_hand() -> None:
    """It sees another body: a grip that fits no other way is believed all the same."""
    clean = gripped(Figure.BLACK, "far", 25.0, stood=False)
    helped = replace(clean, rise_pf=series_pf(33.0, series_pf(HAND_PF, 90.0) + 1.7))
    assert posterior(reader().likelihood(helped), Figure.BLACK) > 0.9
