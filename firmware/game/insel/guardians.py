"""The guardians at the ruins, and the statues to which their tablets are brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.game.insel.board import RELICS
from firmware.game.insel.events import (
    FieldSilent,
    GuardianAppeared,
    GuardianAsks,
    GuardianCredit,
    GuardianRests,
    RelicsHanded,
    StatueAsks,
    StatueAwakened,
    StatueGreets,
    TabletOffered,
    TabletsLaid,
)
from firmware.game.insel.play import ISLAND
from firmware.game.insel.state import GUARDIAN, STATUE, TABLET, Guardian, Pending

if TYPE_CHECKING:
    from firmware.game.insel.play import Play
    from firmware.terms import Figure


def visit_ruin(play: Play, figure: Figure, place: str) -> None:
    """A ruin is silent before the Ariki is known; then a guardian appears, wants relics, and at last rests."""
    state = play.state
    guardian = state.guardians.get(place)
    if not state.ariki_turn:
        play.tell(FieldSilent(place))
    elif guardian is None:
        _appear(play, figure, place)
    elif guardian.resting:
        price = play.tuning.guardians.price.at(play.turns_since_visit(place))
        state.visited[place] = state.turn
        play.tell(TabletOffered(figure, place, guardian.relic, price))
        state.pending = Pending(TABLET, figure, place, price=price)
    else:
        _ask(play, figure, place, guardian)


def _appear(play: Play, figure: Figure, place: str) -> None:
    """One of the guardians not yet placed, with his demand (rulebook, The Guardians)."""
    state = play.state
    placed = [guardian.relic for guardian in state.guardians.values()]
    relic = play.draw("guardian", {each: 1.0 for each in RELICS if each not in placed})
    demand = play.draw_number("demand", play.tuning.guardians.demand[state.level])
    state.guardians[place] = Guardian(relic, demand)
    state.visited[place] = state.turn
    play.tell(GuardianAppeared(figure, place, relic, demand))
    state.pending = Pending(GUARDIAN, figure, place)


def _ask(play: Play, figure: Figure, place: str, guardian: Guardian) -> None:
    """A guardian at work; after long absence he credits a relic (rulebook, "I am also crediting you with")."""
    numbers, state = play.tuning.guardians, play.state
    absent_turns = play.turns_since_visit(place)
    state.visited[place] = state.turn
    if absent_turns >= numbers.credit_from_turns:
        guardian = guardian.given(figure, numbers.credit_relics)
        state.guardians[place] = guardian
        play.tell(GuardianCredit(figure, place, numbers.credit_relics))
        if not guardian.missing:
            _pay(play, place, guardian)
            return
    play.tell(GuardianAsks(figure, place, guardian.relic, guardian.missing))
    state.pending = Pending(GUARDIAN, figure, place)


def hand_in(play: Play, figure: Figure, place: str, count: int) -> None:
    """Relics for the guardian; more than is missing is welcome (rulebook: "at least")."""
    guardian = play.state.guardians[place].given(figure, count)
    play.state.guardians[place] = guardian
    play.tell(RelicsHanded(figure, place, count, guardian.missing))
    if not guardian.missing:
        _pay(play, place, guardian)


def _pay(play: Play, place: str, guardian: Guardian) -> None:
    """Tablets for every giver, most relics first, ties by the earlier first gift; then he rests."""
    numbers = play.tuning.guardians
    few = len(play.state.landed) <= numbers.few_players
    ranked = sorted(guardian.gifts, key=lambda gift: -gift[1])
    for rank, (figure, given) in enumerate(ranked):
        tablets = numbers.by_rank[min(rank, len(numbers.by_rank) - 1)]
        if few and given >= numbers.much_relics:
            tablets = numbers.much_tablets
        elif few and given == numbers.little_relics:
            tablets = numbers.little_tablets
        play.grant_tablets(figure, tablets, "guardian")
    play.state.guardians[place] = Guardian(guardian.relic, guardian.demand, guardian.gifts, resting=True)
    play.tell(GuardianRests(place))


def visit_statue(play: Play, figure: Figure, place: str) -> None:
    """A sleeping statue asks for tablets, one that is awake greets."""
    missing = missing_tablets(play, place)
    if missing:
        play.tell(StatueAsks(figure, place, missing))
        play.state.pending = Pending(STATUE, figure, place)
    else:
        play.tell(StatueGreets(figure, place))


def missing_tablets(play: Play, place: str) -> int:
    """How many tablets the statue still needs, 0 if it is awake."""
    return play.tuning.statues.tablets - play.state.statues[place]


def lay_tablets(play: Play, figure: Figure, place: str, count: int) -> None:
    """Tablets on a statue; the seventh awakens it, the fourth statue ends the game (rulebook, Object of the Game)."""
    numbers, state = play.tuning.statues, play.state
    state.statues[place] += count
    missing = missing_tablets(play, place)
    play.tell(TabletsLaid(figure, place, count, missing))
    play.score(figure, count * numbers.tablet_points, ISLAND)
    if not missing:
        play.tell(StatueAwakened(figure, place))
        play.score(figure, numbers.awakening_points, ISLAND)
        if play.statues_awake == len(state.statues):
            play.finish("statues")
