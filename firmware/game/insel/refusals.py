"""Why a move at the table is not allowed, with the chapter of the rulebook that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.game.insel.material import Card
from firmware.game.insel.moves import (
    Again,
    Burn,
    Exchange,
    Give,
    Go,
    Land,
    Lay,
    Pass,
    Phase,
    Rescue,
    Take,
    Trick,
    Way,
)
from firmware.game.insel.state import FIGHT, STATUE, TABLET

if TYPE_CHECKING:
    from firmware.game.insel.moves import Move, Payment
    from firmware.game.insel.table import Table

FIRST_TURN = "In a figure's first turn no Ariki card may be played (rulebook, The Ariki Cards)."


def why_not(table: Table, move: Move) -> str:
    """One sentence; empty if the move is allowed."""
    phase = table.phase
    if phase is Phase.OVER:
        return "The game is over (rulebook, Object of the Game)."
    match move:
        case Land(field):
            return _landing(table, field)
        case Rescue(colour):
            if phase is Phase.LAND:
                return FIRST_TURN
            return _card(table, Card.FIREPROOF_TABLET) or (
                "" if table.burned.get(colour, 0) else f"No {colour} tablet was given to a creature."
            )
        case Go(field, way, payment):
            return _going(table, field, way, payment)
        case Again():
            if phase is not Phase.END:
                return "A double turn is played at the end of the turn (rulebook, The Ariki Cards)."
            return _card(table, Card.DOUBLE_TURN)
        case Pass():
            return "" if phase in (Phase.ANSWER, Phase.END) else "A turn explores a field (rulebook, A player's turn)."
    if phase is not Phase.ANSWER:
        return "Nothing is asked or offered now (rulebook, A player's turn)."
    match move:
        case Give(payment):
            return _giving(table, payment)
        case Burn(colour):
            if table.asked is None or table.asked.kind != FIGHT:
                return "Only creatures are given to the fire's taste (rulebook, Fighting creatures)."
            return "" if table.hand.tablets.get(colour, 0) else f"You have no {colour} tablet."
        case Trick():
            if table.asked is None or table.asked.kind != FIGHT:
                return "Only creatures are tricked (rulebook, The Ariki Cards)."
            return _card(table, Card.TRICKED)
        case Lay(colours):
            return _laying(table, colours)
        case Take(relic):
            if not table.choices:
                return "There is no relic to choose (rulebook, Red Adventurer)."
            return "" if table.supply.get(relic, 0) else f"No {relic} is left (rulebook, Relic sites and relics)."
        case Exchange(give, take):
            return _exchanging(table, give, take)


def _landing(table: Table, field: str) -> str:
    if table.phase is not Phase.LAND:
        return "Your figure is on the island (rulebook, Starting a Regular Game)."
    if field not in table.board.boats:
        return "A figure lands where a rowing boat is drawn (rulebook, White Adventurer)."
    if field in table.island.places.values():
        return "Another figure has landed there (rulebook, Starting a Regular Game)."
    return ""


def _card(table: Table, card: Card) -> str:
    if table.first_turn:
        return FIRST_TURN
    return "" if table.hand.has(card) else f"You have no card {card.value.replace('_', ' ')}."


def _paying(table: Table, payment: Payment) -> str:
    """Whether these cards can be laid down at all."""
    if any(each not in (1, 2) for each in payment.additional):
        return "Additional relics count as 1 or 2 (rulebook, The Ariki Cards)."
    if payment.additional and table.first_turn:
        return FIRST_TURN
    return "" if table.hand.can_pay(payment) else "You do not have these cards."


def _going(table: Table, field: str, way: Way, payment: Payment) -> str:
    if table.phase is Phase.LAND:
        return "First a figure lands (rulebook, Starting a Regular Game)."
    if field not in table.board.kinds:
        return f"{field} is no field of the island."
    here = table.island.places[table.figure]
    if way is Way.JUMP:
        if not table.jump:
            return "Only from the Hermit one jumps (rulebook, The Hermit's field)."
        return "" if field != here and not payment.count else "A jump leads to another field and costs nothing."
    if table.phase is not Phase.START:
        return "The move comes first in a turn (rulebook, A player's turn)."
    if way is Way.FLYING:
        if field == here or payment.count:
            return "A flight leads to another field and costs no relics (rulebook, The Ariki Cards)."
        return _card(table, Card.FLYING)
    reach = table.island.reach(here)
    goal = field
    if way is Way.CAVE:
        cave = table.open_cave()
        if cave is None or field == cave:
            return "There is no open cave to go through (rulebook, The Hermit's field)."
        goal = cave
    if goal not in reach:
        return "A creature bars the way: its field ends the movement (rulebook, A player's turn)."
    fee = table.fee(reach[goal])
    if payment.count != fee:
        return f"{reach[goal]} fields cost {fee} relics: {table.material.free_steps} are free, each further one costs one (rulebook, A player's turn)."  # noqa: E501 - one sentence
    return _paying(table, payment)


def _giving(table: Table, payment: Payment) -> str:
    asked = table.asked
    if asked is None or asked.kind == STATUE:
        return "No relics are asked for now."
    if asked.kind == TABLET and payment.count != asked.price:
        return f"The tablet costs {asked.price} (rulebook, Turning over guardian tiles)."
    if not 1 <= payment.count <= 3:
        return "One to three relics can be handed in (rulebook, The Guardians; Fighting creatures)."
    for relic in payment.relics:
        if relic not in asked.relics:
            return f"{relic} is not asked for, but {' or '.join(asked.relics)}."
    return _paying(table, payment)


def _laying(table: Table, colours: tuple[str, ...]) -> str:
    if table.asked is None or table.asked.kind != STATUE:
        return "No statue asks for tablets now (rulebook, Giving stone tablets to statues)."
    laid = table.island.laid[table.island.places[table.figure]]
    if not 1 <= len(colours) <= min(3, table.tablets_needed - len(laid)):
        return "One to three tablets a turn, and no more than are missing (rulebook, Giving stone tablets to statues)."
    tablets = table.hand.tablets
    if any(tablets.get(colour, 0) < colours.count(colour) for colour in colours):
        return "You do not have these tablets."
    doubles = sum(colour in laid or colour in colours[:place] for place, colour in enumerate(colours))
    if not doubles:
        return ""
    if table.first_turn:
        return FIRST_TURN
    if doubles > table.hand.has(Card.COLOURLESS_TABLET):
        return (
            "Each colour lies once at a statue, unless a colourless tablet is played (rulebook, Giving stone tablets)."
        )
    return ""


def _exchanging(table: Table, give: str, take: str) -> str:
    if table.choices or not table.exchanges:
        return "The Beachcomber offers no exchange now (rulebook, Red Adventurer)."
    if not table.hand.relics.get(give, 0):
        return f"You have no {give}."
    if give == take or not table.supply.get(take, 0):
        return f"There is no {take} to get for it (rulebook, Relic sites and relics)."
    return ""
