"""Who is likely to make the next contact: by whose question is open, whose turn it is, and who can be there.

The volcano does not enforce a turn order (rulebook, What happens if a player was skipped?), but tables keep one, and a
figure moves two fields along the paths. All weights here are designed; only their ratios matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.game.insel.state import HERMIT
from firmware.terms import FIGURES, Touch

if TYPE_CHECKING:
    from firmware.game.insel.board import Board
    from firmware.game.insel.state import InselState
    from firmware.game.insel.tuning import Tuning
    from firmware.terms import Figure, Likelihood

EXPECTED = 1.0
"""Whose turn it is, or who is to answer."""
UNSURE = 0.5
"""Two may be next."""
AGAIN = 0.03
"""Who had a turn just now: the card Double turn."""
SKIPPED = 0.015
"""Anybody else out of turn."""
NEWCOMER = 0.5
"""A figure that has not entered, in the first round."""
LATE_NEWCOMER = 0.02
"""The same in a later round."""
IMPOSSIBLE = 0.0001
"""Whose contact would be rejected: not zero, because sensors may know better whose mistake it is."""

REACH = (0.6, 1.0, 1.0, 0.3, 0.15)
"""How likely a figure explores a field so many paths away: two free, one relic for each further (rulebook)."""
FAR = 0.05
"""Any field, by a card Flying or more relics."""
CAVE = 0.5
"""Any field, through the Hermit's cave, when its mouth is open and near enough."""


def prior(board: Board, tuning: Tuning, state: InselState, field: str, touch: Touch) -> Likelihood:
    """The weight of each figure for a contact on `field` with `touch`; all positive, the scale does not matter."""
    if touch is Touch.EXPLORE:
        weigh = _landing_or_turn
    elif touch is Touch.ROCK:
        weigh = _anybody
    else:
        weigh = _owner
    white, red, green, black = (weigh(board, tuning, state, field, figure) for figure in FIGURES)
    return white, red, green, black


def _anybody(board: Board, tuning: Tuning, state: InselState, field: str, figure: Figure) -> float:  # noqa: ARG001
    """Rock may be touched with any figure on any field; most likely one that stands there."""
    return EXPECTED if state.places.get(figure) == field else SKIPPED


def _owner(board: Board, tuning: Tuning, state: InselState, field: str, figure: Figure) -> float:  # noqa: ARG001
    """A number or Fire: only who has been asked, there. Without a question, who acted last forgot that."""
    pending = state.pending
    if pending is None or pending.kind == HERMIT:
        return EXPECTED if figure == state.last else SKIPPED
    if pending.figure == figure:
        return EXPECTED if pending.field == field else SKIPPED
    return IMPOSSIBLE


def _landing_or_turn(board: Board, tuning: Tuning, state: InselState, field: str, figure: Figure) -> float:
    """An Explore of a figure on the island, or of one that may land there."""
    if figure in state.landed:
        return _turn(state, figure) * _reach(board, state, figure, field)
    entered = state.turns.values()
    too_late = state.ariki_turn and min(entered, default=0) >= tuning.enter_turns
    if too_late or field not in board.boats or field in state.landed.values():
        return IMPOSSIBLE
    return NEWCOMER if max(entered, default=0) <= 1 else LATE_NEWCOMER


def _turn(state: InselState, figure: Figure) -> float:
    """By turn order as the figures landed; a Hermit's jump comes before.

    After somebody was skipped, who follows in the order and whose last turn is the longest ago are two figures: then
    either may be next.
    """
    pending = state.pending
    if pending and pending.kind == HERMIT:
        return EXPECTED if pending.figure == figure else AGAIN
    order = list(state.landed)
    follows = figure == order[(order.index(state.last) + 1) % len(order)] if state.last in order else True
    waited = state.last_turn[figure] == min(state.last_turn.values())
    if follows or waited:
        return EXPECTED if follows and waited else UNSURE
    return AGAIN if figure == state.last else SKIPPED


def _reach(board: Board, state: InselState, figure: Figure, field: str) -> float:
    """By the paths from where the figure explored last."""
    pending = state.pending
    if pending and pending.kind == HERMIT and pending.figure == figure:
        return 1.0
    distances = board.distances[state.places[figure]]
    steps = distances[field]
    near = REACH[steps] if steps < len(REACH) else FAR
    for place, site in state.sites.items():
        if site == HERMIT and distances[place] <= 2 and not state.creature_on(place):
            return max(near, CAVE)
    return near
