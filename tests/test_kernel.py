"""What every game is made of: events, named chance, records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from table import TITLE

from firmware.game.kernel import (
    Begun,
    Chance,
    Ended,
    Event,
    Odds,
    Played,
    RecordedChance,
    ScriptedChance,
    StateError,
    event,
    next_random,
    replay,
    unfinished,
)
from firmware.terms import Contact, Figure, Touch


@dataclass(slots=True)
class Generator:
    """The least that chance needs."""

    generator: int = 0


@event
class SomethingHappened(Event):
    """An event with a reserved word and an absent field."""

    figure: Figure
    with_: str = "relics"
    relics: tuple[str, ...] = ()
    to: str | None = None


# --- events


def test_an_event_is_named_after_its_class_and_leaves_out_what_is_none() -> None:
    happened = SomethingHappened(Figure.RED, relics=("stone", "elixir"))
    assert happened.row() == {
        "event": "something_happened",
        "figure": "red",
        "with": "relics",
        "relics": ["stone", "elixir"],
    }
    assert SomethingHappened(Figure.RED, to="beach-s").row()["to"] == "beach-s"


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        SomethingHappened(Figure.RED).figure = Figure.WHITE  # type: ignore[misc]


# --- chance


def test_the_generator_is_splitmix64() -> None:
    # Seed 1234567: the reference implementation's first outputs, their upper 53 bits as a fraction.
    generator = Generator(1234567)
    outputs = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [next_random(generator) for _ in outputs] == [(output >> 11) * 2.0**-53 for output in outputs]


def test_draws_follow_the_odds() -> None:
    generator, chance = Generator(5), Chance()
    counted = Counter(chance.draw(generator, "fight", {"a": 1, "b": 0, "c": 3}) for _ in range(4000))
    assert set(counted) == {"a", "c"}
    assert 900 < counted["a"] < 1100


def test_the_generator_moves_once_per_draw_whoever_decides() -> None:
    odds: Odds = {"yes": 1.0, "no": 1.0}
    states = []
    scripted = ScriptedChance()
    scripted.queue("attack", "yes")
    for chance in (Chance(), scripted, RecordedChance([("attack", "no")])):
        generator = Generator(9)
        chance.draw(generator, "attack", odds)
        states.append(generator.generator)
    assert len(set(states)) == 1


def test_a_draw_with_one_outcome_is_a_draw() -> None:
    generator, chance = Generator(9), Chance()
    assert chance.draw(generator, "fight", {"moves": 1.0}) == "moves"
    assert chance.take_drawn() == (("fight", "moves"),)
    assert chance.take_drawn() == ()
    assert generator.generator != 9


def test_a_script_may_name_what_has_no_weight_but_not_what_the_rules_exclude() -> None:
    chance = ScriptedChance()
    for outcome in ("never", "unheard-of", "b"):
        chance.queue("spawn", outcome)
    odds: Odds = {"a": 1.0, "b": 1.0, "never": 0.0}
    assert chance.draw(Generator(), "spawn", odds) == "never"
    plain = Chance().draw(Generator(3), "spawn", odds)
    assert chance.draw(Generator(3), "spawn", odds) == plain
    (refused,) = chance.refused
    assert "unheard-of" in refused
    assert "a, b, never" in refused
    assert chance.draw(Generator(), "spawn", odds) == "b", "first in, first out"


def test_a_record_that_does_not_fit_is_refused() -> None:
    odds: Odds = {"a": 1.0}
    for recorded in ([], [("other", "a")], [("spawn", "z")]):
        with pytest.raises(StateError, match="spawn"):
            RecordedChance(recorded).draw(Generator(), "spawn", odds)


# --- records

RULES = TITLE.game
LANDING = Contact(Figure.WHITE, "beach-s", Touch.EXPLORE)


def record() -> tuple[Begun, Played]:
    state = RULES.start(LANDING, 7)
    begun = Begun(RULES.name, state.dump())
    chance = Chance()
    events = RULES.accept(state, LANDING, chance)
    return begun, Played(LANDING, chance.take_drawn(), tuple(each.row() for each in events))


def test_what_a_power_cut_interrupted_is_the_last_game_without_an_end() -> None:
    begun, played = record()
    assert unfinished([]) == []
    assert unfinished([begun, played]) == [begun, played]
    assert unfinished([begun, played, Ended("over")]) == []
    assert unfinished([begun, played, Ended("over"), begun]) == [begun]
    assert unfinished([begun, played, begun, played, played]) == [begun, played, played], "given up by a new game"
    assert unfinished([played, Ended("over"), played]) == []


def test_a_game_is_played_again_from_its_record() -> None:
    state, events = replay(RULES, record())
    assert RULES.last(state) is Figure.WHITE
    assert [each.name for each in events][:2] == ["game_started", "entered"]


def test_a_game_just_begun_has_no_events_yet() -> None:
    assert replay(RULES, record()[:1])[1] == []


def test_events_are_compared_only_if_asked() -> None:
    begun, played = record()
    other = Played(played.contact, played.draws, ())
    with pytest.raises(StateError, match="contact 1 of the record led to None, now to "):
        replay(RULES, [begun, other])
    assert replay(RULES, [begun, other], compare=False)[1]


def test_a_record_of_other_rules_or_of_nothing_is_refused() -> None:
    begun, played = record()
    with pytest.raises(StateError, match="insel-intro"):
        replay(TITLE.intro, [begun, played])
    with pytest.raises(StateError, match="does not begin"):
        replay(RULES, [played])


def test_a_contact_that_is_not_accepted_is_named() -> None:
    begun, played = record()
    wrong = Played(Contact(Figure.RED, "beach-s", Touch.EXPLORE), (), ())
    with pytest.raises(StateError, match="contact 2 of the record is not accepted: boat_taken"):
        replay(RULES, [begun, played, wrong])


def test_a_contact_on_a_field_of_another_board_is_named() -> None:
    """The owner has renamed a field while a game lay in the journal: the volcano must start all the same."""
    begun, played = record()
    elsewhere = Played(Contact(Figure.WHITE, "beach-of-old", Touch.EXPLORE), (), ())
    with pytest.raises(StateError, match=r"contact 2 .* this board has no field 'beach-of-old'"):
        replay(RULES, [begun, played, elsewhere])
