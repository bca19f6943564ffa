"""The players' side of Die Insel, which the volcano cannot see: hands, tablets, Ariki cards, paths, whose turn it is.

A `Table` says which moves are allowed and why another is not, turns a move into the contact that the figure makes, and
follows what the volcano answers. A game is: ``contact = table.play(move)``, then, if there is one, the rules' events
of it to ``table.hear``.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final

from firmware.game.insel import events as told
from firmware.game.insel.board import RELICS
from firmware.game.insel.hand import Hand, Seen, View
from firmware.game.insel.island import Island
from firmware.game.insel.material import Card
from firmware.game.insel.moves import (
    NOTHING,
    Again,
    Burn,
    Exchange,
    Give,
    Go,
    Land,
    Lay,
    Pass,
    Phase,
    Question,
    Rescue,
    Take,
    Trick,
    Way,
)
from firmware.game.insel.refusals import why_not
from firmware.game.insel.state import FIGHT, GUARDIAN, STATUE, TABLET
from firmware.game.kernel import next_random
from firmware.terms import Contact, Touch, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableSequence, Sequence
    from typing import TypeVar

    from firmware.game.insel.board import Board
    from firmware.game.insel.material import Material
    from firmware.game.insel.moves import Move, Payment
    from firmware.game.kernel import Event, HasGenerator
    from firmware.terms import Figure

    T = TypeVar("T")

MOST_AT_ONCE: Final = 3
"""Relics or tablets that one touch tells (rulebook, Contents: One, Two, Three)."""
NUMBER_TOUCH = (Touch.EXPLORE, Touch.ONE, Touch.TWO, Touch.THREE)


class NotAllowed(VolcanoError):
    """A move that the rulebook forbids now; the text says why. Nothing has changed."""


def shuffled(state: HasGenerator, items: Sequence[T]) -> list[T]:
    """The items in an order drawn from the state's generator (Fisher and Yates)."""
    order: MutableSequence[T] = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = int(next_random(state) * (last + 1))
        order[last], order[other] = order[other], order[last]
    return list(order)


class Table:
    """One game's table. `seed` shuffles cards and tablets; `figures` sit in this order; `level` 0, 1 or 2."""

    __slots__ = (
        "asked",
        "board",
        "burned",
        "choices",
        "discards",
        "exchanges",
        "figures",
        "first_turn",
        "generator",
        "hands",
        "heap",
        "island",
        "jump",
        "level",
        "material",
        "phase",
        "pile",
        "seat",
        "supply",
        "tablets_needed",
    )

    def __init__(
        self,
        board: Board,
        material: Material,
        figures: Sequence[Figure],
        *,
        seed: int,
        level: int = 0,
        tablets_needed: int = 7,
    ) -> None:
        self.board, self.material, self.figures, self.level = board, material, tuple(figures), level
        self.tablets_needed = tablets_needed
        self.generator = seed & ((1 << 64) - 1)
        self.island = Island(board, laid={statue: [] for statue in board.statues})
        self.hands = {figure: Hand(start_cards=dict(material.start_cards)) for figure in figures}
        self.supply = dict.fromkeys(RELICS, material.relics_of_each)
        self.heap = shuffled(self, [colour for colour in material.colours for _ in range(material.tablets_of_each)])
        self.burned: dict[str, int] = {}
        self.pile = shuffled(self, [card for card, count in material.ariki_cards.items() for _ in range(count)])
        self.discards: list[Card] = []
        self.seat = 0
        self.first_turn = True
        self.phase = Phase.LAND
        self.asked: Question | None = None
        self.jump = False
        self.choices = 0
        """Relics of choice still to take."""
        self.exchanges = 0
        """Relics that may still be exchanged."""

    def clone(self) -> Table:
        """An independent copy; board and material are shared."""
        copy = Table.__new__(Table)
        for name in self.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.island = self.island.clone()
        copy.hands = {figure: hand.clone() for figure, hand in self.hands.items()}
        copy.supply, copy.burned = self.supply.copy(), self.burned.copy()
        copy.heap, copy.pile, copy.discards = self.heap.copy(), self.pile.copy(), self.discards.copy()
        return copy

    # --- who and what

    @property
    def figure(self) -> Figure:
        """Whose turn it is."""
        return self.figures[self.seat]

    @property
    def hand(self) -> Hand:
        """The hand of whose turn it is."""
        return self.hands[self.figures[self.seat]]

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.phase is Phase.OVER

    def view(self) -> View:
        """What the player whose turn it is knows."""
        figure = self.figure
        others = {
            other: Seen(hand.tablets, hand.relic_count, hand.card_count)
            for other, hand in self.hands.items()
            if other is not figure
        }
        return View(
            figure,
            self.hands[figure],
            self.island,
            others,
            self.supply,
            self.burned,
            len(self.heap),
            not self.first_turn,
            self.phase,
            self.asked,
            self.jump,
            self.choices,
            self.exchanges,
            self.material.free_steps,
        )

    def why_not(self, move: Move) -> str:
        """Why the rulebook forbids `move` now, in a sentence; empty if it is allowed."""
        return why_not(self, move)

    # --- what is allowed

    def moves(self) -> list[Move]:
        """Every move that is allowed now, in a fixed order."""
        if self.phase is Phase.OVER:
            return []
        if self.phase is Phase.LAND:
            taken = self.island.places.values()
            return [Land(field) for field in self.board.boats if field not in taken]
        return [*self._moves(), *self._rescues()]

    def _moves(self) -> Iterator[Move]:
        if self.phase is Phase.START:
            yield from self._goings()
            return
        if self.phase is Phase.END:
            if self._playable(Card.DOUBLE_TURN):
                yield Again()
        elif self.asked is not None:
            yield from self._answers(self.asked)
        elif self.jump:
            here = self.island.places[self.figure]
            yield from (Go(field, Way.JUMP) for field in self.board.fields if field != here)
        elif self.choices:
            yield from (Take(relic) for relic in RELICS if self.supply[relic])
        elif self.exchanges:
            relics = self.hand.relics
            for give in RELICS:
                if relics[give]:
                    yield from (Exchange(give, take) for take in RELICS if take != give and self.supply[take])
        yield Pass()

    def _goings(self) -> Iterator[Move]:
        reach = self.island.reach(self.island.places[self.figure])
        for field, paths in reach.items():
            yield from (Go(field, Way.FEET, payment) for payment in self._fees(paths))
        cave = self.open_cave()
        if cave in reach:
            for payment in self._fees(reach[cave]):
                yield from (Go(field, Way.CAVE, payment) for field in self.board.fields if field != cave)
        if self._playable(Card.FLYING):
            here = self.island.places[self.figure]
            yield from (Go(field, Way.FLYING) for field in self.board.fields if field != here)

    def _fees(self, paths: int) -> Iterator[Payment]:
        fee = self.fee(paths)
        return self.hand.payments(fee) if fee else iter((NOTHING,))

    def fee(self, paths: int) -> int:
        """Relics for so many paths (rulebook, A player's turn)."""
        return max(0, paths - self.material.free_steps)

    def open_cave(self) -> str | None:
        """The Hermit's field, if he is known and no creature blocks it (rulebook, The Hermit's field)."""
        cave = self.island.place_of("hermit")
        return None if cave in self.island.creatures.values() else cave

    def _answers(self, asked: Question) -> Iterator[Move]:
        if asked.kind == STATUE:
            yield from self._layings()
            return
        for count in (asked.price,) if asked.kind == TABLET else range(1, MOST_AT_ONCE + 1):
            yield from map(Give, self.hand.payments(count, asked.relics, cards=not self.first_turn))
        if asked.kind == FIGHT:
            yield from (Burn(colour) for colour, count in self.hand.tablets.items() if count)
            if self._playable(Card.TRICKED):
                yield Trick()

    def _layings(self) -> Iterator[Move]:
        laid = self.island.laid[self.island.places[self.figure]]
        owned = [colour for colour, count in self.hand.tablets.items() if count]
        for count in range(1, min(MOST_AT_ONCE, self.tablets_needed - len(laid)) + 1):
            yield from filter(
                lambda lay: not why_not(self, lay), map(Lay, combinations_with_replacement(sorted(owned), count))
            )

    def _rescues(self) -> Iterator[Move]:
        if self._playable(Card.FIREPROOF_TABLET):
            yield from (Rescue(colour) for colour, count in self.burned.items() if count)

    def _playable(self, card: Card) -> bool:
        return not self.first_turn and self.hand.has(card) > 0

    # --- playing

    def play(self, move: Move) -> Contact | None:
        """Carry out a move: the contact that the figure now makes, None if none belongs to it.

        Raises:
            NotAllowed: with nothing changed.
        """
        refusal = why_not(self, move)
        if refusal:
            raise NotAllowed(refusal)
        figure, hand = self.figure, self.hand
        here = self.island.places.get(figure, "")
        match move:
            case Land(field):
                first = not self.island.places
                return Contact(figure, field, NUMBER_TOUCH[self.level + 1] if first else Touch.EXPLORE)
            case Go(field, way, payment):
                self._pay(payment)
                if way is Way.FLYING:
                    self._lay_off(Card.FLYING)
                return Contact(figure, field, Touch.EXPLORE)
            case Give(payment):
                self._pay(payment)
                return Contact(figure, here, NUMBER_TOUCH[payment.count])
            case Burn(colour):
                hand.tablets[colour] -= 1
                self.burned[colour] = self.burned.get(colour, 0) + 1
                return Contact(figure, here, Touch.FIRE)
            case Trick():
                self._lay_off(Card.TRICKED)
                return Contact(figure, here, Touch.FIRE)
            case Lay(colours):
                laid = self.island.laid[here]
                for colour in colours:
                    if colour in laid:
                        self._lay_off(Card.COLOURLESS_TABLET)
                    hand.tablets[colour] -= 1
                    laid.append(colour)
                return Contact(figure, here, NUMBER_TOUCH[len(colours)])
            case _:
                self._play_without_contact(move)
                return None

    def _play_without_contact(self, move: Move) -> None:
        hand = self.hand
        match move:
            case Take(relic):
                self.supply[relic] -= 1
                hand.relics[relic] += 1
                self.choices -= 1
            case Exchange(give, take):
                hand.relics[give] -= 1
                hand.relics[take] += 1
                self.supply[give] += 1
                self.supply[take] -= 1
                self.exchanges -= 1
            case Rescue(colour):
                self._lay_off(Card.FIREPROOF_TABLET)
                self.burned[colour] -= 1
                hand.tablets[colour] = hand.tablets.get(colour, 0) + 1
                return
            case Again():
                self._lay_off(Card.DOUBLE_TURN)
                self.phase = Phase.START
                return
            case Pass() if self.phase is Phase.ANSWER:
                # A choice of relics does not exclude the exchange that was offered with it.
                if self.choices:
                    self.choices = 0
                else:
                    self.asked, self.jump, self.exchanges = None, False, 0
            case _:
                self._next()
                return
        self._go_on()

    def hear(self, contact: Contact, events: Sequence[Event]) -> None:
        """Follow what the volcano answered to the contact of the last move."""
        self.island.hear(contact, events)
        self.asked, self.jump, self.choices, self.exchanges = None, False, 0, 0
        for event in events:
            self._hear(event)
        self._go_on()

    def _hear(self, event: Event) -> None:
        match event:
            case told.Relics(figure, relic, count):
                taken = min(count, self.supply[relic])
                self.supply[relic] -= taken
                self.hands[figure].relics[relic] += taken
            case told.Tablets(figure, count, _):
                tablets = self.hands[figure].tablets
                for _each in range(min(count, len(self.heap))):
                    colour = self.heap.pop()
                    tablets[colour] = tablets.get(colour, 0) + 1
            case told.ArikiCards(figure, count):
                self._deal(self.hands[figure], count)
            case told.CreatureMet(_, creature, _, relics):
                self.asked = Question(FIGHT, tuple(relics), creature=creature)
            case told.Fought():
                self.asked = None
            case told.GuardianAppeared(_, _, relic, _) | told.GuardianAsks(_, _, relic, _):
                self.asked = Question(GUARDIAN, (relic,))
            case told.TabletOffered(_, _, relic, price):
                self.asked = Question(TABLET, (relic,), price)
            case told.StatueAsks():
                self.asked = Question(STATUE)
            case told.Hermit():
                self.jump = True
            case told.RelicChoice(_, count):
                self.choices = min(count, sum(self.supply.values()))
            case told.ExchangeOffered(figure):
                self.exchanges = self.hands[figure].relic_count

    def _go_on(self) -> None:
        """Which phase follows."""
        if self.island.end is not None:
            self.phase = Phase.OVER
        elif self.asked is not None or self.jump or self.choices or self.exchanges:
            self.phase = Phase.ANSWER
        else:
            self.phase = Phase.END
            if not self._playable(Card.DOUBLE_TURN) and not any(self._rescues()):
                self._next()

    def _next(self) -> None:
        """The next player's turn."""
        self.seat = (self.seat + 1) % len(self.figures)
        self.first_turn = self.figure not in self.island.places
        self.phase = Phase.LAND if self.first_turn else Phase.START

    def _pay(self, payment: Payment) -> None:
        """Relics go back to their piles, cards to the discards."""
        for relic in payment.relics:
            self.hand.relics[relic] -= 1
            self.supply[relic] += 1
        for _ in payment.additional:
            self._lay_off(Card.ADDITIONAL_RELICS)

    def _lay_off(self, card: Card) -> None:
        """Play a card: a start card, which leaves the game, before one of the pile."""
        hand = self.hand
        if hand.start_cards.get(card, 0):
            hand.start_cards[card] -= 1
        else:
            hand.cards[card] -= 1
            self.discards.append(card)

    def _deal(self, hand: Hand, count: int) -> None:
        """Cards from the pile; when it is used up, the discards are shuffled (rulebook, The Ariki Cards)."""
        for _ in range(count):
            if not self.pile:
                self.pile, self.discards = shuffled(self, self.discards), []
            if not self.pile:
                return
            card = self.pile.pop()
            hand.cards[card] = hand.cards.get(card, 0) + 1
