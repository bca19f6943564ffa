"""The rules of a regular game of Die Insel: entering, turns, answers, endings.

What a place or a creature does is told in `sites`, `guardians` and `creatures`; here stands when it is their turn.
Every contact is checked completely before anything changes.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from firmware.game.insel import creatures, guardians, sites
from firmware.game.insel.board import CREATURES, PEOPLE, RELICS, SITES, Kind, load_board
from firmware.game.insel.events import CreaturePlaces, Entered, GameStarted, Lapsed
from firmware.game.insel.play import Play
from firmware.game.insel.prior import prior
from firmware.game.insel.saved import load_state
from firmware.game.insel.state import FIGHT, GUARDIAN, HERMIT, QUESTIONS, STATUE, TABLET, InselState
from firmware.game.insel.tuning import FIGHT_OUTCOMES, LEVELS, MOST_RELICS, Tuning, load_tuning
from firmware.game.kernel import Rejected, StateError
from firmware.terms import Touch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firmware.game.insel.board import Board
    from firmware.game.insel.state import Pending
    from firmware.game.kernel import Chance, Event, Json, Outcome
    from firmware.terms import Contact, Figure, Likelihood

LEVEL_OF = MappingProxyType({Touch.EXPLORE: 0, Touch.ONE: 0, Touch.TWO: 1, Touch.THREE: 2})
"""The first contact chooses the level (rulebook, Choosing the difficulty level at the start of the game)."""

_MASK = (1 << 64) - 1


class InselRules:
    """Die Insel; stateless. Without arguments it reads the board and the numbers that come with the game."""

    name = "insel"
    resumes = True
    opening: Sequence[Event] = ()

    def __init__(self, board: Board | None = None, tuning: Tuning | None = None) -> None:
        self.board = load_board() if board is None else board
        self.tuning = load_tuning() if tuning is None else tuning
        self.chances = _chances(self.board, self.tuning)

    def start(self, contact: Contact | None, seed: int) -> InselState:
        """A new game, when a figure lands on a boat field with Explore, One, Two or Three.

        Raises:
            Rejected: ``no_game``.
        """
        if contact is None or contact.field not in self.board.boats or contact.touch not in LEVEL_OF:
            raise Rejected("no_game")
        state = InselState(seed & _MASK, LEVEL_OF[contact.touch])
        state.statues = dict.fromkeys(self.board.statues, 0)
        return state

    def load(self, row: Json) -> InselState:
        """The state that `dump` gave.

        Raises:
            StateError: naming the key that is wrong.
        """
        return load_state(row, self.board, self.tuning)

    def over(self, state: InselState) -> bool:
        """Whether the game has ended."""
        return bool(state.over)

    def pending(self, state: InselState) -> str | None:
        """``fight``, ``guardian``, ``tablet``, ``statue`` or ``hermit`` while an answer is awaited."""
        return state.pending.kind if state.pending else None

    def last(self, state: InselState) -> Figure | None:
        """The figure that acted last."""
        return state.last

    def prior(self, state: InselState, field: str, touch: Touch) -> Likelihood:
        """How likely each figure is to make this contact now; see `prior`."""
        return prior(self.board, self.tuning, state, field, touch)

    def rock(self, state: InselState, contact: Contact) -> list[Event]:  # noqa: ARG002 - the kernel's signature
        """The places of all creatures (rulebook, The functions of the Touch field "Rock")."""
        places = state.creatures
        return [CreaturePlaces({each: places[each] for each in CREATURES if each in places})]

    def accept(self, state: InselState, contact: Contact, chance: Chance) -> list[Event]:
        """Play one contact.

        Raises:
            Rejected: with the state unchanged.
            StateError: a record's contact, made with another board.
        """
        if state.over:
            raise Rejected("no_game")
        if contact.field not in self.board.kinds:
            raise StateError(f"this board has no field {contact.field!r}")
        if contact.touch is Touch.EXPLORE or not state.landed:
            if contact.figure not in state.landed:
                check_landing(self.board, self.tuning, state, contact.field, contact.touch)
            play = Play(self.board, self.tuning, state, chance)
            _explore(play, contact.figure, contact.field)
        else:
            pending = check_answer(self.tuning, state, contact)
            play = Play(self.board, self.tuning, state, chance)
            _answer(play, pending, contact.touch)
        return play.events


def _chances(board: Board, tuning: Tuning) -> Mapping[str, frozenset[Outcome]]:
    """Every kind of draw with all outcomes that the rules allow somewhere."""
    numbers = tuning.sites
    return MappingProxyType(
        {
            "site": frozenset(SITES + PEOPLE),
            "relics": frozenset(range(MOST_RELICS + 1)),
            "guardian": frozenset(RELICS),
            "demand": frozenset(number for odds in tuning.guardians.demand for number in odds),
            "cards": frozenset(number for odds in numbers.cards.values for number in odds),
            "beachcomber": frozenset(number for odds in numbers.choices.values for number in odds),
            "spawn": frozenset(("none", *CREATURES)),
            "attack": frozenset(("yes", "no")),
            "place": frozenset((*board.fields, creatures.AMBUSH)),
            "fight": frozenset(FIGHT_OUTCOMES),
            "gnome_relic": frozenset(RELICS),
            "gnome_cards": frozenset(tuning.creatures.gnome_cards),
            "golem_tablet": frozenset(("yes", "no")),
        }
    )


# --- what is allowed


def check_landing(board: Board, tuning: Tuning, state: InselState, field: str, touch: Touch) -> None:
    """A figure's first contact (rulebook, Starting a Regular Game).

    Raises:
        Rejected: ``too_late_to_enter``, ``not_a_boat_field``, ``boat_taken``; ``no_game`` if no game starts so.
    """
    if not state.landed and touch not in LEVEL_OF:
        raise Rejected("no_game")
    if state.ariki_turn and min(state.turns.values()) >= tuning.enter_turns:
        raise Rejected("too_late_to_enter")
    if field not in board.boats:
        raise Rejected("not_a_boat_field")
    if field in state.landed.values():
        raise Rejected("boat_taken")


def check_answer(tuning: Tuning, state: InselState, contact: Contact) -> Pending:
    """One, Two, Three or Fire need an open question that it answers, of this figure on this field.

    Raises:
        Rejected: ``nothing_pending``, ``not_yours`` or ``wrong_number``.
    """
    pending, number = state.pending, contact.touch.number
    if pending is None or pending.kind == HERMIT:
        raise Rejected("nothing_pending")
    if pending.figure != contact.figure or pending.field != contact.field:
        raise Rejected("not_yours")
    if pending.kind == FIGHT:
        allowed = number > 0 or contact.touch is Touch.FIRE
    elif pending.kind == TABLET:
        allowed = number == pending.price
    elif pending.kind == STATUE:
        allowed = 0 < number <= tuning.statues.tablets - state.statues[pending.field]
    else:
        allowed = number > 0
    if not allowed:
        raise Rejected("wrong_number")
    return pending


# --- turns


def _explore(play: Play, figure: Figure, field: str) -> None:
    """A turn, or the rest of one if it continues a Hermit's jump."""
    state = play.state
    pending = state.pending
    jump = pending is not None and pending.kind == HERMIT and pending.figure == figure
    if pending and not jump:
        _lapse(play, pending)
        if state.over:
            return
    state.pending = None
    if figure not in state.landed:
        _land(play, figure, field)
    if not jump:
        state.turn += 1
        state.turns[figure] += 1
        state.last_turn[figure] = state.turn
    state.last = figure
    state.places[figure] = field
    creatures.dragon_at_the_start(play, figure, field)
    if state.over:
        return
    creature = state.creature_on(field)
    if creature is None or creatures.meet(play, figure, field, creature):
        _visit(play, figure, field)
    _end_turn(play)


def _land(play: Play, figure: Figure, field: str) -> None:
    """A figure enters the game."""
    state = play.state
    if not state.landed:
        play.tell(GameStarted(LEVELS[state.level]))
    state.landed[figure] = state.places[figure] = field
    state.turns[figure] = state.last_turn[figure] = 0
    state.island_points[figure] = state.creature_points[figure] = 0
    state.explored[figure] = ()
    state.triton_fights[figure] = 0
    play.tell(Entered(figure, field))


def _lapse(play: Play, pending: Pending) -> None:
    """Another turn begins: nothing is handed over, and the turn with the open decision ends."""
    play.state.pending = None
    if pending.kind in QUESTIONS:
        play.tell(Lapsed(pending.figure))
    _end_turn(play)


def _answer(play: Play, pending: Pending, touch: Touch) -> None:
    """The decision is made; when the creature has left, the field speaks in the same turn."""
    figure, field = pending.figure, pending.field
    play.state.pending = None
    play.state.last = figure
    if pending.kind == FIGHT:
        if touch is Touch.FIRE:
            creatures.satisfy(play, figure, pending.creature)
            _visit(play, figure, field)
        elif creatures.fight(play, figure, field, pending.creature, touch.number):
            _visit(play, figure, field)
    elif pending.kind == GUARDIAN:
        guardians.hand_in(play, figure, field, touch.number)
    elif pending.kind == TABLET:
        play.grant_tablets(figure, 1, "resting_guardian")
    else:
        guardians.lay_tablets(play, figure, field, touch.number)
    _end_turn(play)


def _visit(play: Play, figure: Figure, field: str) -> None:
    """The field itself speaks."""
    kind = play.board.kinds[field]
    if kind is Kind.SITE:
        sites.visit_site(play, figure, field)
    elif kind is Kind.RUIN:
        guardians.visit_ruin(play, figure, field)
    else:
        guardians.visit_statue(play, figure, field)


def _end_turn(play: Play) -> None:
    """The turn ends as soon as nothing is pending."""
    if play.state.pending is None and not play.state.over:
        creatures.answer_of_the_volcano(play)
