"""What holds in every game, however it is played: random contacts against the rules' invariants."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from insel_game import RULES

from firmware.game.insel.board import SITES
from firmware.game.kernel import Chance, RecordedChance, Rejected
from firmware.terms import FIGURES, Contact, Touch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firmware.game.insel.state import InselState
    from firmware.game.kernel import Event, Odds, Outcome

BOARD = RULES.board
STARTS = st.builds(
    Contact,
    st.sampled_from(FIGURES),
    st.sampled_from(BOARD.boats),
    st.sampled_from([Touch.ONE, Touch.TWO, Touch.THREE]),
)
EXPLORES = st.builds(Contact, st.sampled_from(FIGURES), st.sampled_from(BOARD.fields), st.just(Touch.EXPLORE))
ANYTHING = st.builds(Contact, st.sampled_from(FIGURES), st.sampled_from(BOARD.fields), st.sampled_from([*Touch][1:]))
ANSWER = st.sampled_from([Touch.ONE, Touch.TWO, Touch.THREE, Touch.FIRE])
"""Given by whoever has been asked."""
MOVES = st.lists(EXPLORES | ANYTHING | ANSWER, min_size=60, max_size=150)

REASONS = {"not_a_boat_field", "boat_taken", "too_late_to_enter", "nothing_pending", "not_yours", "wrong_number"}


class WatchedChance(Chance):
    """Seeded; holds that odds are well formed and that only what the rules know is drawn. Wild: all outcomes alike."""

    def __init__(self, *, wild: bool) -> None:
        super().__init__()
        self.wild = wild

    def choose(self, kind: str, odds: Odds, drawn: Outcome) -> Outcome:
        assert min(odds.values()) >= 0
        assert odds.keys() <= RULES.chances[kind]
        if not self.wild:
            assert odds[drawn] > 0
            return drawn
        return list(odds)[len(self.drawn) * 7 % len(odds)]


def contacts(start: Contact, moves: list[Contact | Touch], state: InselState) -> Iterator[Contact]:
    """The contacts; an answer comes from who has been asked when it is its turn."""
    yield start
    for move in moves:
        if isinstance(move, Contact):
            yield move
        elif state.pending:
            yield Contact(state.pending.figure, state.pending.field, move)


def played(state: InselState, contact: Contact, chance: Chance) -> tuple[list[Event], str]:
    """The events, or the reason for which the contact was rejected."""
    try:
        return RULES.accept(state, contact, chance), ""
    except Rejected as error:
        return [], error.reason


def check(state: InselState) -> None:
    """What a state must always be."""
    for fields in BOARD.zones.values():
        found = [state.sites[field] for field in fields if field in state.sites]
        assert len(found) == len(set(found))
    assert sum(site in SITES for site in state.sites.values()) <= 12
    assert len(set(state.creatures.values())) == len(state.creatures)
    assert all(0 <= laid <= 7 for laid in state.statues.values())
    assert not (state.ambush and "dragon" in state.creatures)
    assert not state.creatures.keys() & set(state.fed)
    assert bool(state.over) == (len(state.creatures) == 7 or list(state.statues.values()) == [7] * 4)
    assert not (state.creatures or state.guardians) or state.ariki_turn
    for creature, field in state.creatures.items():
        assert creature == "dragon" or field in state.sites or field in BOARD.ruins + BOARD.statues
    if state.pending:
        assert state.places[state.pending.figure] == state.pending.field


@settings(max_examples=40, deadline=None)
@given(STARTS, MOVES, st.integers(0, 2**64 - 1), st.booleans())
def test_random_contacts(start: Contact, moves: list[Contact | Touch], seed: int, wild: bool) -> None:
    state = RULES.start(start, seed)
    chance = WatchedChance(wild=wild)
    replayed = RULES.start(start, seed)
    for contact in contacts(start, moves, state):
        before = state.dump()
        points = (dict(state.island_points), dict(state.creature_points))
        prior = RULES.prior(state, contact.field, contact.touch)
        copy = state.clone()
        events, refused = played(state, contact, chance)
        if refused:
            assert refused in (REASONS if not before["over"] else {"no_game"})
            assert state.dump() == before
            assert not chance.take_drawn()
            continue
        assert copy.dump() == before, "a clone does not follow"
        drawn = chance.take_drawn()
        check(state)
        assert events
        assert all(weight > 0 for weight in prior)
        for now, then in zip((state.island_points, state.creature_points), points, strict=True):
            assert all(now[figure] >= count for figure, count in then.items()), "points never fall"
        told = sum(row["count"] for row in (event.row() for event in events) if row["event"] == "points")
        assert told == sum(map(sum, (state.island_points.values(), state.creature_points.values()))) - sum(
            sum(each.values()) for each in points
        ), "every point is told"
        assert RULES.load(json.loads(json.dumps(state.dump()))).dump() == state.dump()
        recorded = RecordedChance(drawn)
        assert [event.row() for event in RULES.accept(replayed, contact, recorded)] == [event.row() for event in events]
        assert not recorded.waiting
        assert replayed.dump() == state.dump(), "replayed from its draws it is the same game"


@pytest.mark.parametrize("level", [Touch.ONE, Touch.TWO, Touch.THREE])
def test_every_game_of_explores_ends(level: Touch) -> None:
    """The volcano's clock sees to it, whoever plays."""
    for seed in range(5):
        start = Contact(FIGURES[seed % 4], BOARD.boats[seed], level)
        state = RULES.start(start, seed)
        chance = Chance()
        RULES.accept(state, start, chance)
        for turn in range(2000):
            field = BOARD.fields[turn * 7 % len(BOARD.fields)]
            RULES.accept(state, Contact(start.figure, field, Touch.EXPLORE), chance)
            if RULES.over(state):
                break
        assert state.over == "creatures"


def test_the_same_seed_is_the_same_game() -> None:
    def rows(seed: int) -> list[object]:
        start = Contact(FIGURES[0], "beach-s", Touch.THREE)
        state, chance = RULES.start(start, seed), Chance()
        told: list[object] = []
        for number in range(30):
            field = BOARD.fields[number * 5 % 23] if number else "beach-s"
            told += [event.row() for event in RULES.accept(state, Contact(FIGURES[0], field, Touch.EXPLORE), chance)]
        return told

    assert rows(3) == rows(3)
    assert rows(3) != rows(4)
