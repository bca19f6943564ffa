"""Who is expected: by turn order, by the paths, by whose question is open."""

from __future__ import annotations

from insel_game import ARIKI, FOUR, RULES, TWO, Game

from firmware.terms import FIGURES, Touch


def expected(game: Game, field: str, touch: Touch = Touch.EXPLORE) -> dict[str, float]:
    """The posterior of each figure if the sensors cannot tell."""
    weights = RULES.prior(game.state, field, touch)
    assert all(weight > 0 for weight in weights)
    return {figure: weight / sum(weights) for figure, weight in zip(FIGURES, weights, strict=True)}


def test_with_all_on_the_island_the_next_in_order_is_expected() -> None:
    game = Game(FOUR)
    for figure, field in (("white", "jungle-s"), ("red", "jungle-w"), ("green", "jungle-ne"), ("black", "jungle-nw")):
        assert expected(game, field)[figure] > 0.93
        game.play(f"{figure} {field} explore")


def test_who_cannot_be_there_is_unlikely() -> None:
    game = Game(FOUR)  # white is expected, and stands in the south
    assert expected(game, "statue-n")["white"] < 0.8
    assert expected(game, "jungle-s")["white"] > 0.93


def test_the_owner_of_the_question_answers() -> None:
    game = Game(FOUR + ARIKI + "red statue-n explore")
    assert expected(game, "statue-n", Touch.TWO)["red"] > 0.99


def test_the_hermits_guest_jumps_first() -> None:
    game = Game(FOUR + "chance site hermit\nwhite jungle-nw explore")
    assert expected(game, "statue-e")["white"] > 0.93
    assert expected(game, "beach-ne")["white"] > 0.9


def test_through_the_open_cave_anything_is_near() -> None:
    game = Game(FOUR + "chance site hermit\nwhite jungle-s explore\nwhite jungle-w explore")
    for figure in ("red", "green", "black"):
        game.play(f"{figure} jungle-w explore")
    assert expected(game, "statue-n")["white"] > 0.9


def test_a_free_boat_in_the_first_round_may_be_anybodys() -> None:
    game = Game(TWO)
    who = expected(game, "beach-ne")
    assert who["green"] == who["black"] > who["red"]
    assert max(who.values()) < 0.9
    assert expected(game, "beach-sw")["white"] > 0.93, "no boat is left there"


def test_later_newcomers_are_rare_and_too_late_hardly_possible() -> None:
    game = Game(TWO + "white beach-ne explore\nred beach-sw explore")
    assert expected(game, "beach-ne")["white"] > 0.9
    game.play("white beach-s explore\nred beach-s explore" + ARIKI)
    assert expected(game, "beach-ne")["green"] < 0.001


def test_after_a_skipped_turn_two_may_be_next() -> None:
    game = Game(FOUR + "white jungle-s explore\nred jungle-s explore\nblack jungle-s explore")
    who = expected(game, "jungle-s")
    assert 0.3 < who["white"] < 0.8
    assert 0.1 < who["green"] < 0.6
    assert who["red"] + who["black"] < 0.1


def test_whose_contact_would_be_accepted_has_more_weight_than_whose_would_not() -> None:
    game = Game(TWO + ARIKI)
    weights = RULES.prior(game.state, "jungle-n", Touch.EXPLORE)
    assert min(weights[:2]) > max(weights[2:])


def test_rock_may_be_touched_with_any_figure() -> None:
    who = expected(Game(TWO), "beach-s", Touch.ROCK)
    assert who["white"] > max(who["red"], who["green"], who["black"])
