"""Who touched? What the sensors saw, times what the game expects, gives a figure or unknown (pure).

An MPR121 cannot read the original figures' coding, so a reading is only a likelihood; the game knows whose turn it is
and who can be there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from firmware.terms import FIGURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware.terms import Figure, Likelihood

SURE = 0.95
"""Posterior from the sensors alone above which the game's expectation is not asked.

Below what a clean reading reaches, 1.01 / 1.04 with the surprise that every sensor leaves: who acts out of turn must be
recognised by the figure (rulebook, What happens if a player was skipped?; the card Double turn).
"""
ENOUGH = 0.9
"""Posterior above which the unit acts."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The figure, None if unknown; `inferred` if the sensors alone would not have told."""

    figure: Figure | None
    inferred: bool = False


def identify(likelihood: Likelihood, prior: Likelihood) -> Identity:
    """The posterior's verdict; `prior` may have any positive scale."""
    alone = _normalised(likelihood)
    best = max(range(4), key=alone.__getitem__)
    if alone[best] >= SURE:
        return Identity(FIGURES[best])
    together = _normalised([seen * expected for seen, expected in zip(likelihood, prior, strict=True)])
    likely = max(range(4), key=together.__getitem__)
    if together[likely] < ENOUGH:
        return Identity(None)
    return Identity(FIGURES[likely], inferred=likely != best or alone[best] < ENOUGH)


def _normalised(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights] if total > 0 else [1 / len(weights)] * len(weights)
