"""What every title of the registry must keep: rules, script and words, in games of random contacts."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from table import texts

from firmware.catalogue import DOMAINS
from firmware.game.kernel import Begun, Chance, Played, Rejected, StateError, next_random, replay
from firmware.game.registry import TITLES, load_title
from firmware.journal import decode, encode
from firmware.terms import FIGURES, TOUCHES, Contact, Item, Pause, Say, Sound, Symbols, Touch, nominal_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firmware.game.kernel import Event, Record, Rules, Title

GAMES = 14
CONTACTS = 250
"""Enough for games to end by themselves."""

ANSWERS = [touch for touch in TOUCHES if touch not in (Touch.ROCK, Touch.EXPLORE)]


@dataclass
class Dice:
    """A tester's own chance."""

    generator: int

    def below(self, count: int) -> int:
        return int(next_random(self) * count)

    def one_of(self, things: Any) -> Any:
        return things[self.below(len(things))]


@dataclass
class Step:
    """One contact as it was tried, with the state before and after."""

    contact: Contact
    before: dict[str, Any]
    after: dict[str, Any]
    prior: tuple[float, ...]
    reason: str | None = None
    events: list[Event] = field(default_factory=list)
    drawn: tuple[tuple[str, str | int], ...] = ()


@dataclass
class Playthrough:
    """A game of random contacts: its records and everything that was tried."""

    title: Title
    rules: Rules[Any]
    seed: int
    records: list[Record]
    steps: list[Step]
    state: Any
    items: list[Item]

    def __str__(self) -> str:
        return f"{self.rules.name}-{self.seed}"


def rules_of(title: Title) -> Iterator[Rules[Any]]:
    yield title.intro
    yield title.game


@cache
def playthroughs(name: str) -> tuple[Playthrough, ...]:
    title = load_title(name)
    return tuple(play(title, rules, seed) for rules in rules_of(title) for seed in range(GAMES))


def contacts(title: Title, dice: Dice, state: Any, rules: Rules[Any]) -> Contact:
    """Mostly sensible: who is asked answers where he is asked; sometimes anything."""
    pending = getattr(state, "pending", None)
    if pending is not None and dice.below(10) < 7:
        return Contact(pending.figure, pending.field, dice.one_of(ANSWERS))
    turns = getattr(title.intro, "turns", ())
    if rules is title.intro and dice.below(10) < 5:
        turn = dice.one_of(turns)
        return Contact(turn.figure, turn.field, Touch.EXPLORE)
    touch = Touch.EXPLORE if dice.below(10) < 8 else dice.one_of(ANSWERS)
    return Contact(dice.one_of(FIGURES), dice.one_of(title.fields), touch)


def play(title: Title, rules: Rules[Any], seed: int) -> Playthrough:
    dice, chance = Dice(seed + 1000), Chance()
    state = None
    if rules is title.intro:
        state = rules.start(None, seed)
    while state is None:
        contact = Contact(dice.one_of(FIGURES), dice.one_of(title.fields), dice.one_of(ANSWERS))
        try:
            state = rules.start(contact, seed)
        except Rejected:
            continue
        first = contact
    records: list[Record] = [Begun(rules.name, state.dump())]
    steps: list[Step] = []
    items: list[Item] = list(title.script.cues(rules.opening, state))
    for number in range(CONTACTS):
        if rules.over(state):
            break
        contact = first if number == 0 and rules is title.game else contacts(title, dice, state, rules)
        before, copy = state.dump(), state.clone()
        prior = rules.prior(state, contact.field, contact.touch)
        step = Step(contact, before, before, prior)
        try:
            step.events = rules.accept(state, contact, chance)
        except Rejected as refused:
            step.reason = refused.reason
            items += title.script.hint(state, refused.reason)
        else:
            step.drawn = chance.take_drawn()
            rows = tuple(event.row() for event in step.events)
            records.append(Played(contact, step.drawn, rows))
            items += title.script.cues(step.events, state)
            items += title.script.cues(step.events, state, repeat=True)
            items += title.script.question(state)
            items += title.script.resumed(state)
            items += title.script.cues(rules.rock(state, contact), state)
        step.after = state.dump()
        assert copy.dump() == before, "a clone is independent"
        steps.append(step)
    return Playthrough(title, rules, seed, records, steps, state, items)


@pytest.fixture(params=TITLES)
def games(request: pytest.FixtureRequest) -> tuple[Playthrough, ...]:
    name: str = request.param
    return playthroughs(name)


# --- rules


def test_random_games_come_to_their_end_and_are_refused_things_on_the_way(games: tuple[Playthrough, ...]) -> None:
    for rules in {game.rules.name for game in games}:
        mine = [game for game in games if game.rules.name == rules]
        assert any(game.rules.over(game.state) for game in mine), rules
        assert any(step.reason for game in mine for step in game.steps), rules
        assert any(step.reason is None for game in mine for step in game.steps), rules


def test_a_rejected_contact_changes_nothing_and_draws_nothing(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        for step in game.steps:
            if step.reason is not None:
                assert step.after == step.before, (str(game), step.contact)
                assert step.drawn == ()


def test_an_accepted_contact_tells_something_and_is_the_last(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        for step in game.steps:
            if step.reason is None:
                assert step.events, (str(game), step.contact)
        accepted = [step for step in game.steps if step.reason is None and not ends_by_lapse(step)]
        if accepted:
            assert game.rules.last(game.state) in {step.contact.figure for step in accepted}


def ends_by_lapse(step: Step) -> bool:
    """The lapse of an open decision ended the game: the contact itself did nothing."""
    return step.events[0].name == "lapsed" and step.events[-1].name == "game_over"


def test_the_state_survives_json(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        for step in game.steps:
            state = game.rules.load(json.loads(json.dumps(step.after)))
            assert state.dump() == step.after


def test_a_loaded_state_goes_on_as_the_original(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        for step in itertools.islice(game.steps, 0, None, 5):
            if step.reason is None:
                state = game.rules.load(json.loads(json.dumps(step.before)))
                events = game.rules.accept(state, step.contact, Chance())
                assert [event.row() for event in events] == [event.row() for event in step.events]
                assert state.dump() == step.after


def test_a_record_leads_to_the_same_state_and_events(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        journal = decode(b"".join(map(encode, game.records)))
        assert not journal.problem
        state, events = replay(game.rules, journal.records)
        assert state.dump() == game.state.dump()
        accepted = [step for step in game.steps if step.reason is None]
        assert [event.row() for event in events] == [event.row() for event in accepted[-1].events]


def test_every_prefix_of_a_record_is_a_state_on_the_way(games: tuple[Playthrough, ...]) -> None:
    for game in games[::7]:
        accepted = [step for step in game.steps if step.reason is None]
        for count in range(1, len(game.records), 9):
            state, _ = replay(game.rules, game.records[: count + 1])
            assert state.dump() == accepted[count - 1].after


def test_a_record_that_was_tampered_with_is_refused(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        number, played = next((n, each) for n, each in enumerate(game.records) if isinstance(each, Played))
        lie = Played(played.contact, played.draws, (*played.events, {"event": "lie"}))
        records = [*game.records[:number], lie, *game.records[number + 1 :]]
        with pytest.raises(StateError, match="contact 1 "):
            replay(game.rules, records)


def test_the_prior_is_positive_for_what_is_accepted(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        for step in game.steps:
            assert len(step.prior) == len(FIGURES)
            assert all(weight >= 0 for weight in step.prior)
            if step.reason is None:
                assert step.prior[FIGURES.index(step.contact.figure)] > 0, (str(game), step.contact)


def test_every_draw_is_one_that_a_script_may_name(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        for step in game.steps:
            for kind, outcome in step.drawn:
                assert outcome in game.rules.chances[kind]


def test_what_is_pending_can_be_answered_or_passed_over(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        for step in game.steps[::3]:
            state = game.rules.load(step.after)
            pending = game.rules.pending(state)
            if pending is None:
                assert game.title.script.question(state) == []
                continue
            assert not game.rules.over(state)
            assert game.title.script.question(state), pending


def test_rock_changes_nothing(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        state = game.rules.load(game.state.dump())
        before = state.dump()
        game.rules.rock(state, game.steps[-1].contact)
        assert state.dump() == before


def test_a_game_that_is_over_accepts_nothing(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        if not game.rules.over(game.state):
            continue
        before = game.state.dump()
        for contact in itertools.starmap(Contact, itertools.product(FIGURES, game.title.fields[:4], ANSWERS)):
            with pytest.raises(Rejected):
                game.rules.accept(game.state, contact, Chance())
        assert game.state.dump() == before
        assert game.rules.pending(game.state) is None


@pytest.mark.parametrize("name", TITLES)
def test_a_state_of_nonsense_is_refused_in_one_line(name: str) -> None:
    for rules in rules_of(load_title(name)):
        nonsense: tuple[Any, ...] = ({}, {"turn": 1}, [], None, 7, "state")
        for row in nonsense:
            with pytest.raises(StateError) as refused:
                rules.load(row)
            assert "\n" not in str(refused.value)


# --- words


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_line_said_is_in_the_catalogue_and_in_every_sound_pack(
    games: tuple[Playthrough, ...], language: str
) -> None:
    catalogue = texts(language)
    known = set(catalogue)
    for game in games:
        for item in {each for each in game.items if isinstance(each, Say)}:
            assert item.line in known, item
            args = dict(item.args)
            for name in catalogue.arguments(item.line):
                assert name in args, f"{item.line} needs ${name}"
                assert args[name] in DOMAINS[name], item
            assert catalogue.text(item.line, item.args).strip(), item


def test_every_item_is_one_that_the_unit_can_say_or_show(games: tuple[Playthrough, ...]) -> None:
    for game in games:
        assert game.items
        for item in set(game.items):
            assert isinstance(item, Say | Sound | Symbols | Pause)
            assert isinstance(item, Pause | Say | Symbols) or nominal_ms(item) > 0
