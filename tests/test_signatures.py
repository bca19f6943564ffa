"""The figures' feet, learnt from three grips of each."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib.resources import files

import pytest

from firmware.hal.calibration import CalibrationError
from firmware.hal.signatures import Signatures, signature_fields
from firmware.hal.wiring import load_wiring
from firmware.terms import FIGURES, Figure

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
WIRING = load_wiring(None, FIELDS)

FOOT_PF = {
    figure: pf * share
    for (figure, pf), share in zip(WIRING.capacitor_pf.items(), (0.95, 1.06, 0.97, 1.04), strict=True)
}
"""The wiring's capacitors within the tolerance of parts."""


def gripped_pf(foot_pf: float, body_pf: float = 140.0) -> float:
    """A foot behind hand and body, beside which is the figure's own metal."""
    return foot_pf * (body_pf + 1.7) / (foot_pf + body_pf + 1.7)


def test_figures_are_gripped_where_the_touching_finger_grounds_the_body() -> None:
    assert signature_fields(WIRING) == ("mountain-ne", "mountain-se", "mountain-sw", "mountain-nw")
    coast_only = replace(WIRING, chips=(replace(WIRING.chips[0], fields={}), *WIRING.chips[1:]))
    assert signature_fields(coast_only) == coast_only.fields


@pytest.mark.parametrize("body_pf", [30.0, 75.0, 140.0, 350.0], ids=["paint", "dry", "usual", "wet"])
def test_three_grips_of_each_figure_tell_its_foot_whoever_holds_it(body_pf: float) -> None:
    signatures = Signatures(WIRING)
    for figure in FIGURES:
        for factor in (1.04, 0.97, 1.0):
            assert signatures.wanted is figure
            signatures.take(figure, gripped_pf(FOOT_PF[figure], body_pf) * factor)
    assert signatures.wanted is None
    feet = signatures.figures()
    assert feet == {figure: pytest.approx(FOOT_PF[figure], rel=0.12) for figure in FIGURES}
    assert feet[Figure.WHITE] == pytest.approx(FOOT_PF[Figure.WHITE], rel=0.03)


def test_grips_that_differ_are_taken_again() -> None:
    signatures = Signatures(WIRING)
    signatures.take(Figure.WHITE, 3.1)
    signatures.take(Figure.WHITE, 6.4)
    with pytest.raises(CalibrationError, match=r"^white: the grips differ \(3\.1, 6\.4, 3\.1 pF\)"):
        signatures.take(Figure.WHITE, 3.1)
    assert signatures.grips[Figure.WHITE] == []


@pytest.mark.parametrize("rise_pf", [-1.0, 0.0, 120.0, float("inf"), float("nan")])
def test_what_is_no_figure_is_refused(rise_pf: float) -> None:
    with pytest.raises(CalibrationError, match="is no figure's"):
        Signatures(WIRING).take(Figure.WHITE, rise_pf)


@pytest.mark.parametrize(
    ("feet", "problem"),
    [
        ((6.8, 3.3, 15.0, 33.0), r"white 6\.\d pF, red 3\.\d pF: the wiring file has them the other way round"),
        ((3.3, 6.8, 9.0, 33.0), r"red 6\.\d pF, green 9\.\d pF: too near to be told apart, the factor must be 1\.5"),
    ],
)
def test_figures_that_cannot_be_told_apart_are_named(feet: tuple[float, ...], problem: str) -> None:
    signatures = Signatures(WIRING)
    for figure, foot_pf in zip(FIGURES, feet, strict=True):
        for _ in range(3):
            signatures.take(figure, gripped_pf(foot_pf))
    with pytest.raises(CalibrationError, match=rf"^{problem}"):
        signatures.figures()


def test_a_figure_that_is_missing_is_named() -> None:
    signatures = Signatures(WIRING)
    signatures.take(Figure.WHITE, 2.1)
    with pytest.raises(CalibrationError, match=r"^white has not been gripped 3 times"):
        signatures.figures()
