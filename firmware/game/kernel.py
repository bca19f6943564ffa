"""What every game is made of: events, named chance, a state that fits in one line, and rules.

A game has no clock, no I/O and no random of its own. It is rules over a state: ``accept(state, contact, chance)``
changes the state and returns events, or raises `Rejected` and has changed nothing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, cast, dataclass_transform

from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from firmware.terms import Contact, Figure, Item, Likelihood, Touch

Json = dict[str, Any]


class Rejected(VolcanoError):
    """A contact that the game cannot accept. The state is unchanged; `reason` is one of the contract's words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StateError(VolcanoError):
    """A line that is no state of this game; says which key and why."""


# --- events


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Event:
    """Something that happened in the game or the unit. Its name is the class name in snake case."""

    name: ClassVar[str] = "event"
    columns: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((self.name, self._values()))

    def __repr__(self) -> str:
        told = (f"{attribute}={getattr(self, attribute)!r}" for attribute, _ in self.columns)
        return f"{type(self).__name__}({', '.join(told)})"

    def _values(self) -> tuple[object, ...]:
        return tuple([getattr(self, attribute) for attribute, _ in self.columns])

    def row(self) -> Json:
        """The event as a JSON object: ``{"event": name, ...}``; fields that are None are left out."""
        row: Json = {"event": self.name}
        for attribute, column in self.columns:
            value = getattr(self, attribute)
            if value is not None:
                row[column] = list(value) if isinstance(value, tuple) else value
        return row


E = TypeVar("E", bound=Event)


@dataclass_transform(frozen_default=True)
def event(cls: type[E]) -> type[E]:
    """Make an `Event` class: frozen, slotted, named. A trailing underscore of a field is not part of its name."""
    # Comparing and printing are in `Event`: generated for each of sixty classes they would delay the greeting.
    made = cast("type[E]", dataclass(frozen=True, slots=True, eq=False, repr=False)(cls))
    made.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
    made.columns = tuple((field.name, field.name.rstrip("_")) for field in fields(made))
    return made


# --- chance

Outcome = str | int
Odds = Mapping[Outcome, float]
"""Outcome -> weight. Weight 0: the rules allow it, the odds do not; an absent outcome is against the rules."""

_MASK = (1 << 64) - 1


class HasGenerator(Protocol):
    """A state whose random generator is one integer in it (SplitMix64, 64 bit)."""

    generator: int


def next_random(state: HasGenerator) -> float:
    """Advance the generator (SplitMix64; Steele, Lea, Flood 2014) and return a number in [0, 1)."""
    state.generator = z = (state.generator + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return ((z ^ (z >> 31)) >> 11) * 2.0**-53


class Chance:
    """A source of draws: seeded here, scripted or recorded in the subclasses.

    The generator moves once per draw in every source, so a state reached by a script or a record goes on as the
    original did.
    """

    def __init__(self) -> None:
        self.drawn: list[tuple[str, Outcome]] = []

    def draw(self, state: HasGenerator, kind: str, odds: Odds) -> Outcome:
        """One named draw. At least one outcome must have a weight above 0."""
        point = next_random(state) * sum(odds.values())
        chosen: Outcome = ""
        for outcome, weight in odds.items():
            if weight > 0:
                chosen = outcome
                point -= weight
                if point < 0:
                    break
        outcome = self.choose(kind, odds, chosen)
        self.drawn.append((kind, outcome))
        return outcome

    def choose(self, kind: str, odds: Odds, drawn: Outcome) -> Outcome:
        """Which outcome counts; `drawn` is what the generator says."""
        return drawn

    def take_drawn(self) -> tuple[tuple[str, Outcome], ...]:
        """The draws since the last call, for the journal."""
        drawn = tuple(self.drawn)
        self.drawn.clear()
        return drawn


class ScriptedChance(Chance):
    """Outcomes queued per kind, first in first out; without one the generator decides.

    An outcome that the rules exclude is put into `refused` as one line, and the draw is made by the odds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.queues: dict[str, deque[Outcome]] = {}
        self.refused: list[str] = []

    def queue(self, kind: str, outcome: Outcome) -> None:
        """The next draw of `kind` that has no earlier outcome waiting gives `outcome`."""
        self.queues.setdefault(kind, deque()).append(outcome)

    def choose(self, kind: str, odds: Odds, drawn: Outcome) -> Outcome:
        """The queued outcome if the rules allow it."""
        waiting = self.queues.get(kind)
        if not waiting:
            return drawn
        outcome = waiting.popleft()
        if outcome in odds:
            return outcome
        allowed = ", ".join(str(each) for each in odds)
        self.refused.append(f"chance {kind}: the rules exclude {outcome} here; possible: {allowed}")
        return drawn


class RecordedChance(Chance):
    """The draws of a record, in its order. Raises `StateError` when the game asks for another kind."""

    def __init__(self, draws: Iterable[tuple[str, Outcome]] = ()) -> None:
        super().__init__()
        self.waiting = deque(draws)

    def choose(self, kind: str, odds: Odds, drawn: Outcome) -> Outcome:
        """The next recorded outcome."""
        if not self.waiting:
            raise StateError(f"the record ends before the draw {kind!r}")
        recorded, outcome = self.waiting.popleft()
        if recorded != kind or outcome not in odds:
            raise StateError(f"the record holds {recorded}={outcome!r} where the game draws {kind!r}")
        return outcome


# --- games


class State(HasGenerator, Protocol):
    """A game in progress: mutable, slotted, cheap to clone, one JSON object."""

    def clone(self) -> Self:
        """An independent copy."""

    def dump(self) -> Json:
        """A JSON object from which the rules' `load` makes an equal state."""


S = TypeVar("S", bound=State)


class Rules(Protocol[S]):
    """One set of rules: stateless, so that one object serves every game."""

    name: str
    """For the journal, for example ``insel`` or ``insel-intro``."""
    resumes: bool
    """Whether a power cut leads back into the game (else to ready)."""
    chances: Mapping[str, frozenset[Outcome]]
    """Every kind of draw with all outcomes that a script may name."""
    opening: Sequence[Event]
    """What is told when the push button starts the game; a contact tells it itself."""

    def start(self, contact: Contact | None, seed: int) -> S:
        """A new game. `contact` is the one that starts it (it is given to `accept` next), None for the button.

        Raises:
            Rejected: no game starts with this contact.
        """

    def accept(self, state: S, contact: Contact, chance: Chance) -> list[Event]:
        """Play one contact (never Rock): change the state and tell what happened.

        Raises:
            Rejected: with the state unchanged.
        """

    def rock(self, state: S, contact: Contact) -> list[Event]:
        """What Rock tells; changes nothing (rulebook, The functions of the Touch field "Rock")."""

    def load(self, row: Json) -> S:
        """The state that `dump` gave.

        Raises:
            StateError: naming the key that is wrong.
        """

    def over(self, state: S) -> bool:
        """Whether the game has ended."""

    def pending(self, state: S) -> str | None:
        """The open decision in one word (``guardian``, ``fight`` ...), None if no answer is awaited."""

    def last(self, state: S) -> Figure | None:
        """The figure that acted last."""

    def prior(self, state: S, field: str, touch: Touch) -> Likelihood:
        """How likely each figure is to make this contact now, by turn, reach and what is pending.

        Positive for every figure whose contact would be accepted; the scale does not matter.
        """


# --- records


@dataclass(frozen=True, slots=True)
class Begun:
    """A game began: its rules' name and the state before the first contact."""

    rules: str
    state: Json


@dataclass(frozen=True, slots=True)
class Played:
    """One accepted contact with its draws and the events that it led to, as rows."""

    contact: Contact
    draws: tuple[tuple[str, Outcome], ...]
    events: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """The game is over (``over``) or was given up (``stopped``): nothing to resume."""

    reason: str


Record = Begun | Played | Ended


def unfinished(records: Iterable[Record]) -> list[Record]:
    """The records of the game that a power cut interrupted, empty if there is none."""
    game: list[Record] = []
    for record in records:
        if isinstance(record, Begun):
            game = [record]
        elif isinstance(record, Ended):
            game = []
        elif game:
            game.append(record)
    return game


def replay(rules: Rules[S], records: Sequence[Record], *, compare: bool = True) -> tuple[S, list[Event]]:
    """Play one game's records again; the state reached and the events of its last contact.

    With `compare`, every event must be as it was; a resumed game only needs its contacts and draws.

    Raises:
        StateError: the record does not fit these rules; says at which contact.
    """
    begun, *rest = records
    if not isinstance(begun, Begun) or begun.rules != rules.name:
        raise StateError(f"the record does not begin with a game of {rules.name}")
    state = rules.load(begun.state)
    events: list[Event] = []
    for number, record in enumerate(rest, 1):
        if not isinstance(record, Played):
            break
        try:
            events = rules.accept(state, record.contact, RecordedChance(record.draws))
        except VolcanoError as error:
            raise StateError(f"contact {number} of the record is not accepted: {error}") from error
        for told, recorded in zip_longest((event.row() for event in events), record.events) if compare else ():
            if told != recorded:
                raise StateError(f"contact {number} of the record led to {recorded}, now to {told}")
    return state, events


class Script(Protocol):
    """Turns a game's events into cues: sentences, sounds, lights. No rule and no text lives here."""

    def cues(self, events: Sequence[Event], state: Any, *, repeat: bool = False) -> list[Item]:
        """What is heard and seen. With `repeat`, numbers are spoken instead of point tones."""

    def question(self, state: Any) -> list[Item]:
        """The open question alone, empty if there is none."""

    def hint(self, state: Any, reason: str) -> list[Item]:
        """What to do, after two errors in a row; `state` is None before a game."""

    def resumed(self, state: Any) -> list[Item]:
        """Who was last and what is pending, after a power cut."""


class Title(Protocol):
    """A boxed game that the volcano can moderate: the fields of its board, its rules, its script."""

    @property
    def name(self) -> str:
        """What a command line calls it."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The ids of the board's fields."""

    @property
    def intro(self) -> Rules[Any]:
        """The introductory game."""

    @property
    def game(self) -> Rules[Any]:
        """The game."""

    @property
    def script(self) -> Script:
        """What is said and heard."""

    def load(self) -> None:
        """Load now what would be loaded when it is first asked for."""
