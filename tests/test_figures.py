"""Picofarads to likelihoods: sure where they are clear, torn where they are not, flat where they fit nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firmware.hal.figures import CapacitorFigures, NoFigures
from firmware.hal.physics import series_pf
from firmware.hal.ports import GripReading
from firmware.identity import Identity, identify
from firmware.terms import FIGURES, UNKNOWN, Figure, Likelihood

if TYPE_CHECKING:
    from firmware.hal.ports import FigureReader

CAPACITOR_PF = {Figure.WHITE: 2.2, Figure.RED: 4.7, Figure.GREEN: 10.0, Figure.BLACK: 22.0}
MAINS_PF, BATTERY_PF = 130.0, 32.0


def reader() -> CapacitorFigures:
    return CapacitorFigures(CAPACITOR_PF, frozenset({"near"}))


def read(reader: FigureReader, field: str, delta_pf: float) -> Likelihood:
    return reader.likelihood(GripReading(field, delta_pf))


def posterior(likelihood: Likelihood, figure: Figure) -> float:
    return likelihood[FIGURES.index(figure)] / sum(likelihood)


def rise_pf(figure: Figure, return_pf: float, *, stood: bool) -> float:
    """What AN3889's pad sees: capacitor, then hand and body, beside the figure's own metal (1.7 pF)."""
    capacitor_pf = CAPACITOR_PF[figure]
    gripped = series_pf(capacitor_pf, series_pf(200.0, return_pf) + 1.7)
    return gripped - (series_pf(capacitor_pf, 1.7) if stood else 0.0)


@pytest.mark.parametrize("stood", [False, True], ids=["carried", "stood there"])
@pytest.mark.parametrize("figure", FIGURES)
def test_a_clean_reading_on_the_touch_chip_names_the_figure(figure: Figure, stood: bool) -> None:
    assert posterior(read(reader(), "near", rise_pf(figure, 600.0, stood=stood)), figure) > 0.9


@pytest.mark.parametrize("stood", [False, True], ids=["carried", "stood there"])
@pytest.mark.parametrize("figure", FIGURES)
def test_a_clean_reading_on_mains_names_the_figure(figure: Figure, stood: bool) -> None:
    assert posterior(read(reader(), "far", rise_pf(figure, MAINS_PF, stood=stood)), figure) > 0.9


@pytest.mark.parametrize("stood", [False, True], ids=["carried", "stood there"])
@pytest.mark.parametrize("figure", FIGURES)
def test_a_clean_reading_is_believed_out_of_turn(figure: Figure, stood: bool) -> None:
    """Rulebook, What happens if a player was skipped? and the card Double turn: the figure decides."""
    white, red, green, black = (0.0001 if each is figure else 1.0 for each in FIGURES)
    for field, return_pf in (("near", 600.0), ("far", MAINS_PF)):
        seen = read(reader(), field, rise_pf(figure, return_pf, stood=stood))
        assert identify(seen, (white, red, green, black)) == Identity(figure)


@pytest.mark.parametrize("figure", FIGURES)
def test_on_batteries_the_return_is_learnt_from_the_grips(figure: Figure) -> None:
    figures = reader()
    for _ in range(3):
        for other in FIGURES:
            read(figures, "far", rise_pf(other, BATTERY_PF, stood=True))
    assert posterior(read(figures, "far", rise_pf(figure, BATTERY_PF, stood=True)), figure) > 0.9


def test_what_was_learnt_is_forgotten_when_the_supply_changes() -> None:
    figures = reader()
    for return_pf in (BATTERY_PF, MAINS_PF):
        for _ in range(8):
            for other in FIGURES:
                read(figures, "far", rise_pf(other, return_pf, stood=True))
    assert posterior(read(figures, "far", rise_pf(Figure.BLACK, MAINS_PF, stood=True)), Figure.BLACK) > 0.9


def test_between_two_figures_the_likelihood_is_torn() -> None:
    likelihood = read(reader(), "near", 2.68)
    assert 0.2 < posterior(likelihood, Figure.WHITE) < 0.8
    assert 0.2 < posterior(likelihood, Figure.RED) < 0.8


@pytest.mark.parametrize("delta_pf", [300.0, 60.0, 0.05, 0.0, -2.0, float("nan"), float("inf")])
def test_a_reading_that_fits_nobody_is_flat(delta_pf: float) -> None:
    likelihood = read(reader(), "near", delta_pf)
    assert max(likelihood) == 1.0
    assert min(likelihood) > 0.4


@pytest.mark.parametrize("field", ["near", "far"])
def test_every_likelihood_is_positive_and_at_most_one(field: str) -> None:
    for tenths in range(1, 400):
        likelihood = read(reader(), field, tenths / 10)
        assert all(0 < value <= 1 for value in likelihood)


def test_figures_as_they_were_sold_say_nothing() -> None:
    assert read(NoFigures(), "far", 9.0) == UNKNOWN
