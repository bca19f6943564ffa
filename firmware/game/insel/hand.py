"""What one player holds, and what the others see of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from firmware.game.insel.board import RELICS
from firmware.game.insel.material import Card
from firmware.game.insel.moves import Payment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from firmware.game.insel.island import Island
    from firmware.game.insel.moves import Phase, Question
    from firmware.terms import Figure


@dataclass(slots=True)
class Hand:
    """Relic and Ariki cards are hidden from the others, tablets lie open (rulebook, Stone tablets)."""

    relics: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RELICS, 0))
    tablets: dict[str, int] = field(default_factory=dict)
    """Colour -> tablets."""
    start_cards: dict[Card, int] = field(default_factory=dict)
    """Cards that never come back once they are played (rulebook, The Ariki Cards)."""
    cards: dict[Card, int] = field(default_factory=dict)
    """Cards from the pile."""

    def has(self, card: Card) -> int:
        """How many cards of this kind."""
        return self.start_cards.get(card, 0) + self.cards.get(card, 0)

    @property
    def relic_count(self) -> int:
        """How many relic cards."""
        return sum(self.relics.values())

    @property
    def card_count(self) -> int:
        """How many Ariki cards."""
        return sum(self.start_cards.values()) + sum(self.cards.values())

    @property
    def tablet_count(self) -> int:
        """How many tablets."""
        return sum(self.tablets.values())

    def can_pay(self, payment: Payment) -> bool:
        """Whether the cards are there."""
        kinds = payment.relics
        return len(payment.additional) <= self.has(Card.ADDITIONAL_RELICS) and all(
            self.relics[kind] >= kinds.count(kind) for kind in set(kinds)
        )

    def payments(self, count: int, kinds: Sequence[str] = RELICS, *, cards: bool = True) -> Iterator[Payment]:
        """Every way to pay exactly `count` with relics of these kinds; if `cards`, with *Additional relics* too."""
        most = self.has(Card.ADDITIONAL_RELICS) if cards else 0
        for number in range(min(most, count) + 1):
            for additional in combinations_with_replacement((1, 2), number):
                missing = count - sum(additional)
                if missing < 0:
                    continue
                for relics in combinations_with_replacement(kinds, missing):
                    payment = Payment(relics, additional)
                    if self.can_pay(payment):
                        yield payment

    def clone(self) -> Hand:
        """An independent copy."""
        return Hand(self.relics.copy(), self.tablets.copy(), self.start_cards.copy(), self.cards.copy())


@dataclass(frozen=True, slots=True)
class Seen:
    """What can be seen of another player: the tablets by colour, of the cards only how many."""

    tablets: Mapping[str, int]
    relics: int
    cards: int


@dataclass(frozen=True, slots=True)
class View:
    """All that one player knows: the own hand, the open island, and what can be seen of the others."""

    figure: Figure
    hand: Hand
    island: Island
    others: Mapping[Figure, Seen]
    supply: Mapping[str, int]
    """Relic cards left in each open pile."""
    burned: Mapping[str, int]
    """Tablets by colour that creatures got."""
    heap: int
    """Tablets left face down."""
    cards_free: bool
    """Whether Ariki cards may be played: not in a figure's first turn (rulebook, The Ariki Cards)."""
    phase: Phase
    asked: Question | None
    jump: bool
    choices: int
    """Relics of choice still to take."""
    exchanges: int
    """Relics that may still be exchanged."""
    free_steps: int
    """So many fields a figure walks without paying."""

    def playable(self, card: Card) -> bool:
        """Whether the player has this card and may play cards at all."""
        return self.cards_free and self.hand.has(card) > 0
