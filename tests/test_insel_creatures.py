"""Meeting and fighting the Creatures of Fire, each in its way (rulebook, Fighting creatures; Tips and Tricks)."""

from __future__ import annotations

import pytest
from insel_game import ARIKI, FOUR, RULES, TWO, Game, names, only, points

from firmware.terms import Contact, Figure, Touch


def creature_game(creature: str, field: str, before: str = TWO) -> Game:
    """The creature appeared on the field at the end of the turn in which white found the Ariki."""
    return Game(before + f"chance spawn {creature}\nchance place {field}" + ARIKI)


# --- meeting


@pytest.mark.parametrize(
    ("creature", "relics"),
    [
        ("spider", ["elixir"]),
        ("snake", ["amulet", "elixir", "crystal", "stone"]),
        ("griffin", ["crystal"]),
        ("dragon", ["amulet"]),
        ("triton", ["stone"]),
        ("golem", ["stone"]),
    ],
)
def test_each_creature_is_fought_with_its_relics(creature: str, relics: list[str]) -> None:
    game = creature_game(creature, "statue-n")
    rows = game.play("red statue-n explore")
    assert names(rows) == ["creature_met"]
    assert only(rows, "creature_met") == {"figure": "red", "creature": creature, "field": "statue-n", "relics": relics}
    assert game.rules.pending(game.state) == "fight"
    assert game.draws == []


def test_the_gnome_decides_at_each_meeting() -> None:
    game = creature_game("gnome", "statue-n")
    for relic in ("stone", "amulet"):
        rows = game.play(f"chance gnome_relic {relic}\nred statue-n explore")
        assert only(rows, "creature_met")["relics"] == [relic]
    assert set(game.chance.odds["gnome_relic"]) == {"amulet", "elixir", "crystal", "stone"}


def test_who_does_not_fight_ends_the_turn_and_may_leave_next_time() -> None:
    game = creature_game("spider", "beach-s")
    game.play("red beach-s explore")
    assert names(game.play("red beach-sw explore")) == ["lapsed", "relics"]
    assert game.state.creatures == {"spider": "beach-s"}


def test_only_the_asked_figure_answers_on_its_field() -> None:
    game = creature_game("spider", "beach-s")
    game.play("red beach-s explore")
    assert game.rejects("white beach-s one") == "not_yours"
    assert game.rejects("red beach-sw fire") == "not_yours"


# --- outcomes


def test_it_vanishes_for_its_value_and_the_field_speaks_in_the_same_turn() -> None:
    game = creature_game("spider", "beach-s")
    rows = game.play("chance fight vanishes\nchance relics 2\nred beach-s explore\nred beach-s two")
    assert names(rows) == ["creature_met", "fought", "points", "relics"]
    assert only(rows, "fought") == {
        "figure": "red",
        "creature": "spider",
        "with": "relics",
        "count": 2,
        "outcome": "vanishes",
    }
    assert only(rows, "points") == {"figure": "red", "count": 2, "kind": "creature"}
    assert game.draws == ["fight vanishes", "relics 2", "spawn none"]
    assert game.state.creatures == {}


def test_it_moves_for_one_point_and_the_volcano_names_the_field() -> None:
    game = creature_game("spider", "beach-s")
    rows = game.play("chance fight moves\nchance place ruin-e\nred beach-s explore\nred beach-s one")
    assert names(rows) == ["creature_met", "fought", "points", "relics"]
    assert only(rows, "fought")["to"] == "ruin-e"
    assert only(rows, "points") == {"figure": "red", "count": 1, "kind": "creature"}
    assert game.state.creatures == {"spider": "ruin-e"}
    assert game.draws == ["fight moves", "place ruin-e", "relics 1", "spawn none"]


def test_it_moves_only_to_free_fields_that_the_voice_can_name() -> None:
    game = creature_game("spider", "beach-s")
    game.play("chance spawn snake\nchance place ruin-n\nwhite beach-sw explore")
    game.play("chance fight moves\nred beach-s explore\nred beach-s one")
    eight = {f"{kind}-{side}" for kind in ("ruin", "statue") for side in "nesw"}
    assert set(game.chance.odds["place"]) == eight - {"ruin-n"} | {"beach-sw", "jungle-w"}


def test_it_stays_and_the_field_is_silent() -> None:
    game = creature_game("spider", "beach-s")
    rows = game.play("chance fight stays\nred beach-s explore\nred beach-s three")
    assert names(rows) == ["creature_met", "fought"]
    assert game.draws == ["fight stays", "spawn none"], "also where the odds exclude it"
    assert game.rules.pending(game.state) is None
    assert game.rejects("red beach-s one") == "nothing_pending"


def test_fire_always_drives_it_off_for_one_point() -> None:
    game = creature_game("griffin", "beach-s")
    rows = game.play("red beach-s explore\nred beach-s fire")
    assert names(rows) == ["creature_met", "fought", "points", "relics"]
    fought = only(rows, "fought")
    assert (fought["with"], fought["count"], fought["outcome"]) == ("tablet", 1, "vanishes")
    assert only(rows, "points") == {"figure": "red", "count": 1, "kind": "creature"}
    assert game.draws == ["relics 1", "spawn none"], "no draw of the fight"


def test_after_the_creature_a_guardian_asks_in_the_same_turn() -> None:
    game = creature_game("spider", "ruin-n")
    rows = game.play("red ruin-n explore\nred ruin-n fire")
    assert names(rows)[-1] == "guardian_appeared"
    assert names(game.play("red ruin-n one")) == ["relics_handed"]


@pytest.mark.parametrize(("touch", "level"), [("one", 0), ("two", 1), ("three", 2)])
def test_odds_by_level_and_relics(touch: str, level: int) -> None:
    game = Game(f"chance site temple\nwhite beach-s {touch}\nchance spawn spider\nchance place statue-n" + ARIKI)
    for count, word in enumerate(("one", "two", "three")):
        game.play(f"chance fight stays\nwhite statue-n explore\nwhite statue-n {word}")
        assert game.chance.odds["fight"] == dict(RULES.tuning.creatures.fight[level][count])


# --- griffin


def test_the_griffin_rarely_leaves() -> None:
    game = creature_game("griffin", "statue-n")
    game.play("chance fight stays\nred statue-n explore\nred statue-n one")
    assert game.chance.odds["fight"] == pytest.approx({"vanishes": 0.172, "moves": 0.1, "stays": 0.728})


@pytest.mark.parametrize("outcome", ["vanishes", "moves", "stays"])
def test_three_crystals_against_the_griffin_give_strength_whatever_the_outcome(outcome: str) -> None:
    game = creature_game("griffin", "statue-n")
    game.play("chance spawn triton\nchance place statue-s\nwhite beach-s explore")
    rows = game.play(f"chance fight {outcome}\nred statue-n explore\nred statue-n three")
    assert only(rows, "strengthened") == {"figure": "red"}
    game.play("red beach-s explore")
    rows = game.play("red statue-s explore")
    assert names(rows) == ["creature_met", "fought", "points", "statue_asks"]
    fought = only(rows, "fought")
    assert (fought["with"], fought["count"], fought["outcome"]) == ("strength", 0, "vanishes")
    assert points(rows, "red", "creature") == 6, "its full value"
    assert game.draws == [], "without a draw"


@pytest.mark.parametrize("touch", ["one", "two", "fire"])
def test_less_gives_no_strength(touch: str) -> None:
    game = creature_game("griffin", "statue-n")
    lines = "" if touch == "fire" else "chance fight stays\n"
    assert "strengthened" not in names(game.play(f"{lines}red statue-n explore\nred statue-n {touch}"))


def test_strength_is_for_the_next_other_creature_of_that_player_and_does_not_add_up() -> None:
    game = creature_game("griffin", "statue-n")
    game.play("chance spawn spider\nchance place statue-s\nwhite beach-s explore")
    game.play("chance spawn snake\nchance place statue-e\nwhite beach-s explore")
    for told in (["fought", "strengthened"], ["fought"]):
        assert names(game.play("chance fight stays\nred statue-n explore\nred statue-n three"))[1:] == told
    assert names(game.play("white statue-s explore")) == ["creature_met"], "white has none"
    assert names(game.play("red statue-n explore")) == ["lapsed", "creature_met"], "the griffin itself does not fear it"
    assert "fought" in names(game.play("red statue-s explore"))
    assert "fought" not in names(game.play("red statue-e explore")), "used up"


# --- triton


def test_the_triton_flees_twice_to_a_neighbouring_field_for_no_points() -> None:
    game = creature_game("triton", "statue-n")
    field = "statue-n"
    for goal in ("beach-ne", "statue-e"):
        game.play("chance site crystal\nwhite beach-ne explore" if goal == "beach-ne" else "white beach-s explore")
        rows = game.play(f"chance fight moves\nchance place {goal}\nred {field} explore\nred {field} three")
        assert only(rows, "fought")["to"] == goal
        assert points(rows, "red", "creature") == 0
        assert game.chance.odds["fight"] == {"moves": 1.0}
        assert set(game.chance.odds["place"]) <= set(RULES.board.neighbours[field])
        field = goal
    rows = game.play(f"chance fight vanishes\nred {field} explore\nred {field} one")
    assert set(game.chance.odds["fight"]) == {"vanishes", "moves", "stays"}
    assert points(rows, "red", "creature") == 6


def test_every_player_fights_the_triton_for_himself() -> None:
    game = creature_game("triton", "statue-n", TWO + "chance site tower\ngreen beach-ne explore\n")
    game.play("red statue-n explore\nred statue-n one\nred beach-ne explore\nred beach-ne one")
    field = game.state.creatures["triton"]
    game.play(f"white {field} explore\nwhite {field} one")
    assert game.chance.odds["fight"] == {"moves": 1.0}


def test_fire_is_none_of_the_two_fights() -> None:
    game = creature_game("triton", "statue-n")
    game.play("red statue-n explore\nred statue-n fire")
    assert game.state.triton_fights[Figure.RED] == 0


def test_without_a_free_neighbour_the_triton_fights_by_the_odds() -> None:
    game = creature_game("triton", "statue-n")  # its neighbours are unexplored
    rows = game.play("chance fight vanishes\nred statue-n explore\nred statue-n one")
    assert points(rows, "red", "creature") == 6


# --- gnome


def gnome_driven_off(game: Game, figure: str, how: str = "fire") -> int:
    """The points for driving off the gnome, which then comes back to the statue in the north."""
    lines = f"{figure} statue-n explore\n{figure} statue-n {how}"
    rows = game.play(("" if how == "fire" else "chance fight vanishes\n") + lines)
    game.play(f"chance spawn gnome\nchance place statue-n\n{figure} beach-s explore")
    return points(rows, figure, "creature")


def test_the_gnome_may_leave_ariki_cards() -> None:
    for count in range(3):
        game = creature_game("gnome", "statue-n")
        rows = game.play(f"chance gnome_cards {count}\nred statue-n explore\nred statue-n fire")
        assert names(rows) == ["creature_met", "fought", "points", *["ariki_cards"] * (count > 0), "statue_asks"]


def test_the_gnome_leaves_cards_also_when_it_moves_but_not_when_it_stays() -> None:
    game = creature_game("gnome", "statue-n")
    game.play("chance fight stays\nred statue-n explore\nred statue-n one")
    assert "gnome_cards 0" not in game.draws
    game.play("chance fight moves\nchance place beach-sw\nred statue-n explore\nred statue-n one")
    assert game.draws[1:] == ["fight moves", "place beach-sw", "gnome_cards 0"]


def test_every_second_drive_off_by_the_same_player_brings_a_bonus() -> None:
    game = creature_game("gnome", "statue-n")
    assert [gnome_driven_off(game, "red", "one") for _ in range(4)] == [1, 1 + 3, 1, 1 + 3]


def test_another_players_drive_off_between_breaks_the_row() -> None:
    game = creature_game("gnome", "statue-n")
    figures = ("red", "white", "red", "red")
    assert [gnome_driven_off(game, figure) for figure in figures] == [1, 1, 1, 1 + 3]


# --- lava golem


def test_the_golem_may_leave_a_tablet() -> None:
    game = creature_game("golem", "beach-s")
    rows = game.play("chance golem_tablet yes\nchance fight vanishes\nred beach-s explore\nred beach-s one")
    assert names(rows) == ["creature_met", "fought", "points", "tablets", "points", "relics"]
    assert only(rows, "tablets") == {"figure": "red", "count": 1, "source": "golem"}
    assert points(rows, "red", "creature") == 3
    assert points(rows, "red", "island") == 1
    assert game.draws[:2] == ["fight vanishes", "golem_tablet yes"]


def test_the_golem_flees_only_to_another_free_sleeping_statue() -> None:
    game = creature_game("golem", "statue-n")
    game.play("chance spawn spider\nchance place statue-e\nwhite beach-s explore")
    for number in ("three", "three", "one"):
        game.play(f"white statue-s explore\nwhite statue-s {number}")
    game.play("chance fight moves\nred statue-n explore\nred statue-n one")
    assert game.chance.odds["place"] == {"statue-w": 1.0}


def test_the_golem_is_much_harder_when_it_cannot_flee() -> None:
    game = creature_game("golem", "statue-n")
    for number, creature in enumerate(("spider", "snake", "griffin")):
        field = ("statue-e", "statue-s", "statue-w")[number]
        game.play(f"chance spawn {creature}\nchance place {field}\nwhite beach-s explore")
    game.play("chance fight stays\nred statue-n explore\nred statue-n two")
    assert game.chance.odds["fight"] == pytest.approx({"vanishes": 0.425, "stays": 0.575})


# --- scripts


def test_an_outcome_against_the_rules_is_refused_and_the_odds_decide() -> None:
    game = Game(FOUR + ARIKI)
    game.chance.queue("spawn", "spider")
    game.chance.queue("place", "mountain-ne")  # not discovered
    RULES.accept(game.state, Contact(Figure.RED, "beach-s", Touch.EXPLORE), game.chance)
    (refused,) = game.chance.refused
    assert "mountain-ne" in refused
    assert "spider" in game.state.creatures
