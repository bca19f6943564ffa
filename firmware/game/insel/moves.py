"""What a player of Die Insel can do at the table, as small values. `Table` says which are allowed now, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Way(Enum):
    """How a figure comes to the field that it explores."""

    FEET = "feet"
    """Along the paths (rulebook, A player's turn)."""
    CAVE = "cave"
    """On foot to the Hermit's open cave and from there anywhere (rulebook, The Hermit's field)."""
    JUMP = "jump"
    """Anywhere, right after the Hermit's field has been explored."""
    FLYING = "flying"
    """Anywhere, by the Ariki card at the beginning of the turn."""


@dataclass(frozen=True, slots=True)
class Payment:
    """Relic cards from the hand, and what each card *Additional relics* beside them counts as (1 or 2)."""

    relics: tuple[str, ...] = ()
    additional: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """What it is worth in relics."""
        return len(self.relics) + sum(self.additional)


NOTHING = Payment()


@dataclass(frozen=True, slots=True)
class Land:
    """Enter the island on a boat field and explore it."""

    field: str


@dataclass(frozen=True, slots=True)
class Go:
    """Come to `field` and explore it; `payment` is for the paths beyond the second."""

    field: str
    way: Way = Way.FEET
    payment: Payment = NOTHING


@dataclass(frozen=True, slots=True)
class Give:
    """Relics for what is asked: a fight, a guardian, a tablet's price. Touches One, Two or Three."""

    payment: Payment


@dataclass(frozen=True, slots=True)
class Burn:
    """A tablet for a creature. Touches Fire."""

    colour: str


@dataclass(frozen=True, slots=True)
class Trick:
    """The card *Tricked* in a tablet's stead. Touches Fire."""


@dataclass(frozen=True, slots=True)
class Lay:
    """Tablets for a statue; a colour that lies there already costs a card *Colourless tablet*. Touches the number."""

    colours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Take:
    """One relic of choice from the Beachcomber."""

    relic: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """One relic for another at the Beachcomber; each card of the hand once."""

    give: str
    take: str


@dataclass(frozen=True, slots=True)
class Rescue:
    """The card *Fireproof tablet*: take a tablet that a creature got."""

    colour: str


@dataclass(frozen=True, slots=True)
class Again:
    """The card *Double turn*, at the end of the turn."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Nothing (more): what is asked stays unanswered, the turn ends."""


Move = Land | Go | Give | Burn | Trick | Lay | Take | Exchange | Rescue | Again | Pass


# --- when


class Phase(Enum):
    """Where in a turn the player is."""

    LAND = "land"
    START = "start"
    """Before the move (rulebook, A player's turn)."""
    ANSWER = "answer"
    """Something is asked or offered."""
    END = "end"
    """Only cards can still be played."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Question:
    """What waits for an answer: a fight, a guardian, a tablet's `price`, a statue; `relics` are the kinds it takes."""

    kind: str
    relics: tuple[str, ...] = ()
    price: int = 0
    creature: str = ""
