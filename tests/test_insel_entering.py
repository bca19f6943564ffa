"""Starting a game, entering, turns and lapsing (rulebook, Starting a Regular Game; Further Rules and Notes)."""

from __future__ import annotations

import pytest
from insel_game import ARIKI, FOUR, RULES, TWO, Game, names, only

from firmware.game.kernel import Chance, Rejected
from firmware.terms import Contact, Figure, Touch

# --- the level


@pytest.mark.parametrize(
    ("touch", "level"), [("explore", "beginner"), ("one", "beginner"), ("two", "advanced"), ("three", "expert")]
)
def test_the_first_contact_chooses_the_level_and_explores_at_once(touch: str, level: str) -> None:
    game = Game()
    rows = game.play(f"chance site well\ngreen beach-ne {touch}")
    assert names(rows) == ["game_started", "entered", "discovered", "relics"]
    assert only(rows, "game_started") == {"level": level}
    assert only(rows, "entered") == {"figure": "green", "field": "beach-ne"}
    assert only(rows, "discovered") == {"figure": "green", "field": "beach-ne", "site": "well"}
    assert only(rows, "relics") == {"figure": "green", "relic": "elixir", "count": 1}
    assert game.draws == ["site well"]


@pytest.mark.parametrize(
    "contact", ["green jungle-n explore", "green beach-ne fire", "green ruin-n one", "green beach-s rock"]
)
def test_nothing_else_starts_a_game(contact: str) -> None:
    figure, field, touch = contact.split()
    with pytest.raises(Rejected, match="no_game"):
        RULES.start(Contact(Figure(figure), field, Touch(touch)), seed=1)


def test_the_push_button_starts_no_regular_game() -> None:
    with pytest.raises(Rejected, match="no_game"):
        RULES.start(None, seed=1)


def test_a_game_does_not_begin_with_another_contact_than_the_one_that_started_it() -> None:
    state = RULES.start(Contact(Figure.RED, "beach-s", Touch.EXPLORE), seed=1)
    with pytest.raises(Rejected, match="no_game"):
        RULES.accept(state, Contact(Figure.RED, "beach-s", Touch.FIRE), Chance())
    with pytest.raises(Rejected, match="not_a_boat_field"):
        RULES.accept(state, Contact(Figure.RED, "jungle-n", Touch.ONE), Chance())


# --- entering


def test_each_figure_lands_on_another_boat_field() -> None:
    game = Game(TWO)
    assert game.rejects("green beach-s explore") == "boat_taken"
    assert game.rejects("green beach-sw explore") == "boat_taken"
    assert game.rejects("green mountain-ne explore") == "not_a_boat_field"
    assert game.rejects("green statue-n explore") == "not_a_boat_field"
    assert game.rejects("green beach-ne one") == "nothing_pending"
    assert names(game.play("green beach-ne explore"))[:2] == ["entered", "discovered"]


def test_a_boat_field_is_taken_by_who_landed_there_not_by_who_stands_there() -> None:
    game = Game(TWO)
    game.play("chance site tower\nwhite beach-ne explore\nred jungle-n explore")
    assert game.rejects("green beach-s explore") == "boat_taken"
    rows = game.play("green beach-ne explore")
    assert names(rows) == ["entered", "relics"], "who lands on a known field visits it"


def test_figures_enter_until_the_ariki_is_known_and_all_have_had_two_turns() -> None:
    game = Game(TWO)
    game.play("white jungle-s explore\nred beach-s explore\nwhite beach-s explore\nred beach-s explore")
    game.play("green beach-ne explore")  # late, but the Ariki is not known
    game.play(ARIKI)
    game.play("black beach-nw explore")  # green has had one turn only
    game.play("green beach-s explore\nblack beach-s explore")
    other = Game(TWO + ARIKI + "red beach-s explore")
    assert other.rejects("green beach-ne explore") == "too_late_to_enter"
    assert other.rejects("green mountain-ne explore") == "too_late_to_enter"


# --- turn order and lapsing


def test_turn_order_is_not_enforced() -> None:
    game = Game(FOUR)
    game.play("black beach-s explore\nwhite beach-s explore\nwhite beach-sw explore\ngreen beach-s explore")
    assert game.state.turns == {"white": 3, "red": 1, "green": 2, "black": 2}
    assert game.rules.last(game.state) is Figure.GREEN


def test_figures_share_a_field_and_go_anywhere() -> None:
    game = Game(TWO)
    assert names(game.play("red beach-s explore")) == ["relics"]
    assert names(game.play("red mountain-ne explore"))[0] == "discovered"


def test_a_pending_decision_lapses_at_the_next_explore_and_hands_nothing_over() -> None:
    game = Game(TWO + ARIKI + "white statue-n explore")
    assert game.rules.pending(game.state) == "statue"
    rows = game.play("red beach-s explore")
    assert names(rows) == ["lapsed", "relics"]
    assert only(rows, "lapsed") == {"figure": "white"}
    assert game.draws == ["spawn none", "relics 1", "spawn none"], "the lapsed turn ends before the new one begins"
    assert game.rejects("white statue-n one") == "nothing_pending"
    assert game.state.statues["statue-n"] == 0


def test_the_same_figure_lapses_its_own_decision() -> None:
    game = Game(TWO + ARIKI + "white statue-n explore")
    assert names(game.play("white beach-s explore")) == ["lapsed", "relics"]


def test_a_rejected_contact_lapses_nothing() -> None:
    game = Game(TWO + ARIKI + "white statue-n explore")
    assert game.rejects("green jungle-n explore") == "not_a_boat_field"
    assert game.rejects("red statue-n one") == "not_yours"
    assert game.rejects("white statue-s one") == "not_yours"
    assert game.rejects("green beach-ne one") == "not_yours"
    assert names(game.play("white statue-n one")) == ["tablets_laid", "points"]


def test_numbers_and_fire_need_an_open_question() -> None:
    game = Game(TWO)
    for touch in ("one", "two", "three", "fire"):
        assert game.rejects(f"red beach-sw {touch}") == "nothing_pending"


def test_a_creature_of_the_lapsed_turn_stands_before_the_new_turn_begins() -> None:
    game = Game(TWO + ARIKI + "white statue-n explore")
    rows = game.play("chance spawn spider\nchance place beach-s\nred beach-s explore")
    assert names(rows) == ["lapsed", "creature_appeared", "creature_met"]


def test_if_the_lapsed_turn_ends_the_game_the_new_explore_does_nothing() -> None:
    game = Game(TWO + ARIKI)
    for creature, field in (("spider", "ruin-n"), ("snake", "ruin-e"), ("griffin", "ruin-s"), ("triton", "ruin-w")):
        game.play(f"chance spawn {creature}\nchance place {field}\nwhite beach-s explore")
    game.play("chance spawn gnome\nchance place statue-e\nwhite beach-s explore")
    game.play("chance spawn golem\nchance place statue-w\nwhite beach-s explore\nwhite statue-n explore")
    turn = game.state.turn
    rows = game.play("chance spawn dragon\nchance place statue-s\ngreen beach-ne explore")
    assert names(rows) == ["lapsed", "creature_appeared", "game_over"]
    assert "green" not in game.state.landed
    assert game.state.turn == turn
    assert game.rejects("red beach-s explore") == "no_game"


def test_rock_tells_the_creatures_and_touches_nothing() -> None:
    game = Game(TWO + ARIKI)
    rock = Contact(Figure.BLACK, "mountain-ne", Touch.ROCK)
    assert [event.row() for event in game.rules.rock(game.state, rock)] == [
        {"event": "creature_places", "creatures": {}}
    ]
    game.play("chance spawn spider\nchance place beach-s\nwhite beach-sw explore\nwhite statue-n explore")
    before = game.state.dump()
    (places,) = game.rules.rock(game.state, rock)
    assert places.row()["creatures"] == {"spider": "beach-s"}
    assert game.state.dump() == before
