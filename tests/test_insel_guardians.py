"""Guardians and statues (rulebook, The Guardians; Giving stone tablets to statues; Object of the Game)."""

from __future__ import annotations

from typing import Any

import pytest
from insel_game import ARIKI, FOUR, TWO, Game, names, only, points

WORDS = ("", "one", "two", "three")


def guardian_game(players: str = FOUR, relic: str = "amulet", demand: int = 8) -> Game:
    """A guardian has appeared at the northern ruin before white, who gave nothing."""
    game = Game(players + ARIKI)
    game.play(f"chance guardian {relic}\nchance demand {demand}\nwhite ruin-n explore")
    return game


def give(game: Game, *gifts: tuple[str, int]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for figure, count in gifts:
        rows += game.play(f"{figure} ruin-n explore\n{figure} ruin-n {WORDS[count]}")
    return rows


def paid(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(row["figure"], row["count"]) for row in rows if row["event"] == "tablets" and row["source"] == "guardian"]


# --- appearing


def test_a_ruin_is_silent_before_the_ariki_is_known() -> None:
    game = Game(TWO)
    rows = game.play("white ruin-n explore")
    assert names(rows) == ["field_silent"]
    assert only(rows, "field_silent") == {"field": "ruin-n"}
    assert game.draws == []
    assert game.rejects("white ruin-n one") == "nothing_pending"


def test_a_guardian_appears_names_relic_and_demand_and_waits() -> None:
    game = Game(TWO + ARIKI)
    rows = game.play("chance guardian stone\nchance demand 7\nwhite ruin-n explore")
    assert names(rows) == ["guardian_appeared"]
    assert only(rows, "guardian_appeared") == {"figure": "white", "field": "ruin-n", "relic": "stone", "demand": 7}
    assert game.draws == ["guardian stone", "demand 7"]
    assert game.rules.pending(game.state) == "guardian"
    rows = game.play("white ruin-n three")
    assert only(rows, "relics_handed") == {"figure": "white", "field": "ruin-n", "count": 3, "missing": 4}
    assert game.draws == ["spawn none"]


def test_each_guardian_wants_another_relic() -> None:
    game = Game(
        TWO + ARIKI + "chance guardian stone\nwhite ruin-n explore\nchance guardian amulet\nwhite ruin-e explore"
    )
    game.play("white ruin-s explore")
    assert set(game.chance.odds["guardian"]) == {"elixir", "crystal"}
    game.play("white ruin-w explore")
    assert len(game.chance.odds["guardian"]) == 1


@pytest.mark.parametrize(
    ("touch", "demands"), [("one", [8, 9, 10]), ("two", [8, 9, 10, 11]), ("three", [9, 10, 11, 12])]
)
def test_higher_levels_demand_more(touch: str, demands: list[int]) -> None:
    game = Game(f"chance site temple\nwhite beach-s {touch}\n" + ARIKI + "white ruin-n explore")
    odds = game.chance.odds["demand"]
    assert [number for number in odds if odds[number]] == demands


# --- giving


def test_a_guardian_at_work_names_what_is_missing() -> None:
    game = guardian_game()
    give(game, ("white", 3))
    rows = game.play("red ruin-n explore")
    assert only(rows, "guardian_asks") == {"figure": "red", "field": "ruin-n", "relic": "amulet", "missing": 5}


def test_fire_answers_no_guardian() -> None:
    game = guardian_game()
    assert game.rejects("white ruin-n fire") == "wrong_number"
    assert game.rejects("red ruin-n one") == "not_yours"
    assert game.rejects("white ruin-e one") == "not_yours"


def test_more_than_is_missing_may_be_given() -> None:
    game = guardian_game(demand=7)
    rows = give(game, ("white", 3), ("red", 3), ("green", 3))
    assert [row["missing"] for row in rows if row["event"] == "relics_handed"] == [4, 1, 0]
    assert "guardian_rests" in names(rows)


def test_after_long_absence_he_credits_a_relic_of_the_visitor() -> None:
    game = guardian_game()
    game.pass_turns(12)
    assert names(game.play("red ruin-n explore")) == ["guardian_asks"]  # 13 turns
    game.pass_turns(13)
    rows = game.play("red ruin-n explore")  # 14 turns
    assert names(rows) == ["guardian_credit", "guardian_asks"]
    assert only(rows, "guardian_credit") == {"figure": "red", "field": "ruin-n", "count": 1}
    assert only(rows, "guardian_asks")["missing"] == 7
    assert names(game.play("red ruin-n three")) == ["relics_handed"]


def test_a_credit_that_completes_pays_before_anything_is_handed_in() -> None:
    game = guardian_game(demand=7)
    give(game, ("white", 3), ("red", 3))
    game.pass_turns(13)
    rows = game.play("green ruin-n explore")
    assert names(rows)[0] == "guardian_credit"
    assert "guardian_asks" not in names(rows)
    assert paid(rows) == [("white", 3), ("red", 2), ("green", 1)]
    assert game.rejects("green ruin-n one") == "nothing_pending"


# --- paying


def test_he_pays_most_relics_first_three_two_and_one() -> None:
    game = guardian_game()
    rows = give(game, ("red", 3), ("white", 2), ("green", 1), ("red", 2))
    assert paid(rows) == [("red", 3), ("white", 2), ("green", 1)]
    assert names(rows)[-8:] == [
        "relics_handed",
        *("tablets", "points") * 3,
        "guardian_rests",
    ], "a point per tablet, then he rests"
    assert [points(rows, figure, "island") for figure in ("red", "white", "green", "black")] == [3, 2, 1, 0]


def test_every_further_giver_gets_one() -> None:
    rows = give(guardian_game(), ("red", 1), ("white", 2), ("green", 2), ("black", 3))
    assert paid(rows) == [("black", 3), ("white", 2), ("green", 1), ("red", 1)]


def test_a_tie_goes_to_who_gave_first() -> None:
    rows = give(guardian_game(), ("green", 1), ("red", 3), ("white", 1), ("green", 2), ("white", 1))
    assert paid(rows) == [("green", 3), ("red", 2), ("white", 1)]


@pytest.mark.parametrize(
    ("gifts", "tablets"),
    [
        ([("white", 3), ("red", 3), ("white", 2)], {"white": 4, "red": 2}),
        ([("white", 3), ("red", 1), ("white", 3), ("white", 1)], {"white": 4, "red": 1}),
        ([("white", 3), ("red", 3), ("white", 1), ("red", 1)], {"white": 3, "red": 2}),
        ([("white", 3), ("white", 2), ("red", 2), ("red", 3)], {"white": 4, "red": 4}),
        ([("white", 3), ("white", 3), ("white", 3)], {"white": 4}),
    ],
)
def test_with_two_players_five_bring_four_and_one_brings_one(
    gifts: list[tuple[str, int]], tablets: dict[str, int]
) -> None:
    assert dict(paid(give(guardian_game(TWO), *gifts))) == tablets


def test_players_are_the_figures_that_entered_when_he_pays() -> None:
    game = guardian_game(TWO, demand=7)
    give(game, ("white", 3), ("white", 3))
    game.play("green beach-ne explore")  # red has had one turn only
    assert paid(give(game, ("white", 1))) == [("white", 3)], "three players: no four tablets for seven relics"


# --- resting


@pytest.mark.parametrize(("turns", "price"), [(1, 3), (5, 3), (6, 2), (13, 2), (14, 1), (60, 1)])
def test_a_resting_guardian_offers_a_tablet_cheaper_the_longer_nobody_was_there(turns: int, price: int) -> None:
    game = guardian_game()
    give(game, ("white", 3), ("red", 3), ("green", 3))
    game.pass_turns(turns - 1)
    rows = game.play("black ruin-n explore")
    assert only(rows, "tablet_offered") == {"figure": "black", "field": "ruin-n", "relic": "amulet", "price": price}
    for touch in {"one", "two", "three", "fire"} - {WORDS[price]}:
        assert game.rejects(f"black ruin-n {touch}") == "wrong_number"
    assert game.rules.pending(game.state) == "tablet", "the offer stands"
    rows = game.play(f"black ruin-n {WORDS[price]}")
    assert only(rows, "tablets") == {"figure": "black", "count": 1, "source": "resting_guardian"}
    assert points(rows, "black", "island") == 1
    assert game.rejects(f"black ruin-n {WORDS[price]}") == "nothing_pending"


# --- statues


def test_a_statue_asks_for_tablets_also_before_the_ariki_is_known() -> None:
    game = Game(TWO)
    rows = game.play("white statue-e explore")
    assert only(rows, "statue_asks") == {"figure": "white", "field": "statue-e", "missing": 7}
    rows = game.play("white statue-e three")
    assert names(rows) == ["tablets_laid", "points"]
    assert only(rows, "tablets_laid") == {"figure": "white", "field": "statue-e", "count": 3, "missing": 4}
    assert points(rows, "white", "island") == 6
    assert game.rejects("white statue-e one") == "nothing_pending", "at most three a turn"


def test_never_more_than_are_missing() -> None:
    game = Game(TWO + "white statue-e explore\nwhite statue-e three\nred statue-e explore\nred statue-e three")
    game.play("white statue-e explore")
    assert game.rejects("white statue-e two") == "wrong_number"
    assert game.rejects("white statue-e fire") == "wrong_number"
    assert game.rules.pending(game.state) == "statue", "the question stands"
    rows = game.play("white statue-e one")
    assert names(rows) == ["tablets_laid", "points", "statue_awakened", "points"]
    assert only(rows, "statue_awakened") == {"figure": "white", "field": "statue-e"}
    assert points(rows, "white", "island") == 2 + 3


def test_a_statue_awake_greets_and_takes_nothing() -> None:
    game = Game(TWO)
    for number in ("three", "three", "one"):
        game.play(f"red statue-e explore\nred statue-e {number}")
    assert names(game.play("white statue-e explore")) == ["statue_greets"]
    assert game.rejects("white statue-e one") == "nothing_pending"


def test_the_fourth_statue_ends_the_game_before_the_volcano_can_answer() -> None:
    game = Game(TWO + ARIKI)
    for field in ("statue-n", "statue-e", "statue-s", "statue-w"):
        for number in ("three", "three", "one"):
            rows = game.play(f"red {field} explore\nred {field} {number}")
    assert names(rows)[-3:] == ["statue_awakened", "points", "game_over"]
    assert "spawn none" not in game.draws
    red = 4 * (7 * 2 + 3)
    assert only(rows, "game_over") == {
        "reason": "statues",
        "saved": True,
        "points": {"white": 3, "red": red},
        "creature_points": {"white": 0, "red": 0},
        "winners": ["red"],
    }
    assert game.rules.over(game.state)
