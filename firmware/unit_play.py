"""The game under way: its rules, its state and its chance, and what a contact leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firmware.game.kernel import Begun, Chance, Played, Rejected, next_random
from firmware.terms import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware.game.kernel import Event, Rules, Title
    from firmware.terms import Contact, Item, Likelihood, Touch


@dataclass(slots=True)
class _Seeds:
    generator: int


class Play:
    """At most one game of `title`; `rules` and `state` are None where there is none, and stay after its end."""

    def __init__(self, title: Title, chance: Chance, seed: int) -> None:
        self.rules: Rules[Any] | None = None
        self.state: Any = None
        self._title, self._chance = title, chance
        self._seeds = _Seeds(seed)

    @property
    def seed(self) -> int:
        """What the chance of later games comes from."""
        return self._seeds.generator

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seeds.generator = seed

    @property
    def under_way(self) -> bool:
        """Whether there is a game that has not ended."""
        return self.rules is not None and not self.rules.over(self.state)

    @property
    def introduces(self) -> bool:
        """Whether it is the introductory game."""
        return self.rules is self._title.intro

    # --- begin and end

    def take_up(self, rules: Rules[Any], state: Any) -> None:
        """Go on with a game that was recorded before."""
        self.rules, self.state = rules, state

    def begin(self, rules: Rules[Any], state: Any) -> Begun:
        """A game that is recorded from here on."""
        self.take_up(rules, state)
        return Begun(rules.name, state.dump())

    def introduce(self) -> Begun:
        """The introductory game begins."""
        return self.begin(self._title.intro, self._title.intro.start(None, self._next_seed()))

    def leave(self) -> None:
        """No game."""
        self.rules = self.state = None

    def _next_seed(self) -> int:
        return int(next_random(self._seeds) * 2**53)

    # --- contacts

    def prior(self, field: str, touch: Touch) -> Likelihood:
        """How likely each figure is to make this contact now."""
        return self.rules.prior(self.state, field, touch) if self.rules and self.under_way else UNKNOWN

    def refusal(self, contact: Contact) -> str | None:
        """Why this contact would be rejected, None if it would be accepted; nothing changes."""
        try:
            if self.rules and self.under_way:
                self.rules.accept(self.state.clone(), contact, Chance())
            else:
                self._title.game.start(contact, 0)
        except Rejected as refused:
            return refused.reason
        return None

    def accept(self, contact: Contact) -> tuple[Begun | None, Played, Sequence[Event]]:
        """Play a contact: the records to keep, the first one if it has begun a game, and what happened.

        Raises:
            Rejected: nothing has changed; an error before a game makes it no other game either.
        """
        seed, begun = self.seed, None
        try:
            if self.rules and self.under_way:
                rules, state = self.rules, self.state
            else:
                rules = self._title.game
                state = rules.start(contact, self._next_seed())
                begun = Begun(rules.name, state.dump())
            events = rules.accept(state, contact, self._chance)
        except Rejected:
            self.seed = seed
            self._chance.take_drawn()
            raise
        self.take_up(rules, state)
        return begun, Played(contact, self._chance.take_drawn(), tuple(each.row() for each in events)), events

    def rock(self, contact: Contact) -> Sequence[Event] | None:
        """What Rock tells in a real game, None elsewhere."""
        if self.rules is not self._title.game or not self.under_way:
            return None
        return self._title.game.rock(self.state, contact)

    # --- what is said of it

    @property
    def pending(self) -> str | None:
        """The open decision in one word, None if no answer is awaited."""
        return self.rules.pending(self.state) if self.rules and self.under_way else None

    def cues(self, events: Sequence[Event], *, repeat: bool = False) -> list[Item]:
        """What the script makes of events."""
        return self._title.script.cues(events, self.state, repeat=repeat)

    def question(self) -> list[Item]:
        """The open question, nothing if there is no game."""
        return self._title.script.question(self.state) if self.under_way else []

    def hint(self, reason: str) -> list[Item]:
        """A word of help after errors."""
        return self._title.script.hint(self.state if self.under_way else None, reason)
