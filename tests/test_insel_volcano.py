"""The volcano's clock, the dragon's attacks, the end (rulebook, The appearance of the creatures; Object)."""

from __future__ import annotations

import pytest
from insel_game import ARIKI, TWO, Game, names, only

CREATURES = ("spider", "snake", "griffin", "gnome", "triton", "golem", "dragon")


def spawn_chances(game: Game, turns: int) -> list[float]:
    """How likely a creature was at the end of each of the next turns."""
    chances = []
    for _ in range(turns):
        game.pass_turns(1)
        chances.append(1 - game.chance.odds["spawn"]["none"])
    return chances


def level_game(touch: str) -> Game:
    return Game(f"chance site temple\nwhite beach-s {touch}\n" + ARIKI)


# --- the clock


def test_no_creature_is_drawn_before_the_ariki_is_known() -> None:
    game = Game(TWO)
    game.play("red beach-s explore")
    assert game.draws == ["relics 1"]
    game.play(ARIKI)
    assert game.draws == ["site ariki", "spawn none"], "from the turn of her discovery on"


@pytest.mark.parametrize(("touch", "first"), [("one", [0.0] * 10 + [0.21, 0.31]), ("three", [0.0] * 10 + [0.70, 0.75])])
def test_quiet_for_ten_turns_then_rising(touch: str, first: list[float]) -> None:
    assert spawn_chances(level_game(touch), 12) == pytest.approx(first)


def test_a_creature_makes_it_quiet_again_and_the_calm_shrinks_with_time() -> None:
    game = level_game("one")
    game.pass_turns(11)
    game.play("chance spawn spider\nchance place statue-n\nwhite beach-s explore")  # 12 turns after the Ariki
    assert spawn_chances(game, 10) == pytest.approx([0] * 9 + [0.21])
    game.pass_turns(1)
    game.play("chance spawn snake\nchance place statue-e\nwhite beach-s explore")  # 24 turns
    assert spawn_chances(game, 9) == pytest.approx([0] * 8 + [0.21])


def test_late_in_the_game_what_is_below_zero_adds_to_the_rise() -> None:
    game = level_game("one")
    game.pass_turns(12 * 12 - 1)
    game.play("chance spawn spider\nchance place statue-n\nwhite beach-s explore")
    assert spawn_chances(game, 1) == pytest.approx([0.21 + 2 * 0.05])


def test_a_fed_creature_off_the_island_shortens_the_calm_and_is_likelier_until_it_is_back() -> None:
    game = level_game("one")
    game.play("chance spawn spider\nchance place statue-n\nwhite beach-s explore")
    game.play("white statue-n explore\nwhite statue-n fire\nwhite beach-s explore")
    assert spawn_chances(game, 8) == pytest.approx([0] * 7 + [0.21])
    odds = game.chance.odds["spawn"]
    assert odds["spider"] == pytest.approx(3 * odds["snake"])
    game.play("chance spawn spider\nchance place statue-n\nwhite beach-s explore")
    assert game.state.fed == ()
    game.play("chance fight vanishes\nwhite statue-n explore\nwhite statue-n one\nwhite beach-s explore")
    odds = game.chance.odds["spawn"]
    assert odds["spider"] == pytest.approx(odds["snake"])


def test_a_script_may_send_a_creature_in_the_calm_but_none_twice() -> None:
    game = level_game("one")
    game.play("chance spawn spider\nchance place statue-n\nwhite beach-s explore")
    game.play("white beach-s explore")
    assert set(game.chance.odds["spawn"]) == {"none", *CREATURES} - {"spider"}


# --- where


def test_creatures_appear_on_free_fields_that_the_voice_can_name() -> None:
    game = level_game("one")
    game.play("chance spawn spider\nchance place statue-n\nwhite beach-s explore")
    rows = game.play("chance spawn snake\nchance place beach-s\nwhite beach-s explore")
    assert only(rows, "creature_appeared") == {"creature": "snake", "field": "beach-s"}, "figures do not matter"
    eight = {f"{kind}-{side}" for kind in ("ruin", "statue") for side in "nesw"}
    assert set(game.chance.odds["place"]) == eight - {"statue-n"} | {"beach-s", "jungle-w"}


def test_the_gnome_prefers_the_hermit_and_the_golem_a_sleeping_statue() -> None:
    game = level_game("one")
    game.play("chance site hermit\nwhite jungle-nw explore\nwhite beach-s explore")
    game.play("chance spawn gnome\nchance place jungle-nw\nwhite beach-s explore")
    assert game.chance.odds["place"]["jungle-nw"] == pytest.approx(0.7)
    assert sum(game.chance.odds["place"].values()) == pytest.approx(1)
    for number in ("three", "three", "one"):
        game.play(f"white statue-s explore\nwhite statue-s {number}")
    game.play("chance spawn golem\nchance place statue-n\nwhite beach-s explore")
    odds = game.chance.odds["place"]
    assert sum(odds[f"statue-{side}"] for side in "new") == pytest.approx(0.8)
    assert odds["statue-s"] == pytest.approx(odds["beach-s"])


def test_the_dragon_alone_may_stand_on_an_unexplored_field() -> None:
    game = level_game("one")
    rows = game.play("chance spawn dragon\nchance place mountain-ne\nwhite beach-s explore")
    assert only(rows, "creature_appeared") == {"creature": "dragon", "field": "mountain-ne"}
    assert game.chance.odds["place"]["ambush"] == pytest.approx(0.5)
    rows = game.play("chance fight vanishes\nwhite mountain-ne explore\nwhite mountain-ne one")
    assert names(rows) == ["creature_met", "fought", "points", "discovered", "relics"]


# --- the dragon's attack


def dragon_game(touch: str, lair: str) -> Game:
    game = level_game(touch)
    game.play(f"chance spawn dragon\nchance place {lair}\nwhite beach-s explore")
    return game


def test_the_dragon_flies_to_who_explores_a_neighbouring_field_and_is_fought_first() -> None:
    game = dragon_game("one", "jungle-s")
    rows = game.play("chance attack yes\nwhite beach-s explore")
    assert names(rows) == ["dragon_attacks", "creature_met"]
    assert only(rows, "dragon_attacks") == {"figure": "white", "field": "beach-s"}
    assert game.state.creatures == {"dragon": "beach-s"}
    assert game.draws == ["attack yes"]
    rows = game.play("chance fight vanishes\nwhite beach-s two")
    assert names(rows) == ["fought", "points", "relics"]


@pytest.mark.parametrize(
    ("touch", "lair", "attacks"),
    [
        ("one", "jungle-s", 0.60),
        ("two", "jungle-s", 0.75),
        ("three", "jungle-s", 0.90),
        ("one", "ruin-s", None),
        ("two", "ruin-s", None),
        ("three", "ruin-s", 0.90),
        ("three", "jungle-ne", None),
    ],
)
def test_range_and_chance_by_level(touch: str, lair: str, attacks: float | None) -> None:
    game = dragon_game(touch, lair)
    game.play("white beach-s explore")
    if attacks is None:
        assert game.draws == ["relics 1", "spawn none"], "out of range nothing is drawn"
    else:
        assert game.draws == ["attack no", "relics 1", "spawn none"]
        assert game.chance.odds["attack"]["yes"] == pytest.approx(attacks)


def test_no_attack_on_a_field_that_holds_a_creature() -> None:
    game = dragon_game("one", "jungle-s")
    assert names(game.play("white jungle-s explore")) == ["creature_met"], "the dragon itself"
    assert game.draws == []
    rows = game.play("chance spawn spider\nchance place beach-s\nwhite beach-s explore")
    assert names(rows) == ["lapsed", "creature_appeared", "creature_met"]
    assert game.draws == ["spawn spider", "place beach-s"]


def test_it_attacks_at_a_landing_and_at_a_jump_too() -> None:
    game = dragon_game("one", "statue-e")
    game.play("chance site hermit\nwhite jungle-nw explore")
    rows = game.play("chance attack yes\nwhite jungle-ne explore")
    assert names(rows) == ["dragon_attacks", "creature_met"]
    game = Game("chance site temple\nwhite beach-s one\nchance site well\nred beach-sw explore\n" + ARIKI)
    game.play("chance spawn dragon\nchance place statue-e\nwhite beach-s explore")
    assert names(game.play("chance attack yes\ngreen beach-ne explore")) == [
        "entered",
        "dragon_attacks",
        "creature_met",
    ]


def test_in_ambush_it_is_not_on_the_island_and_arrives_at_the_next_turn() -> None:
    game = level_game("one")
    rows = game.play("chance spawn dragon\nchance place ambush\nwhite beach-s explore")
    assert names(rows) == ["relics"], "nothing is told"
    assert game.state.creatures == {}
    rows = game.play("white jungle-s explore")
    assert names(rows) == ["creature_appeared", "dragon_attacks", "creature_met"]
    assert game.draws == [], "its coming needs no draw"
    assert game.state.creatures == {"dragon": "jungle-s"}


def test_in_ambush_it_cannot_be_drawn_and_waits_while_the_field_holds_a_creature() -> None:
    game = level_game("one")
    game.play("chance spawn spider\nchance place statue-n\nwhite beach-s explore")
    game.play("chance spawn dragon\nchance place ambush\nwhite beach-s explore")
    game.play("chance fight stays\nwhite statue-n explore\nwhite statue-n one")
    assert "dragon" not in game.chance.odds["spawn"]
    assert game.state.ambush
    assert names(game.play("white beach-s explore"))[:2] == ["creature_appeared", "dragon_attacks"]


def test_an_ambush_counts_for_the_clock_when_it_is_drawn() -> None:
    game = level_game("one")
    game.pass_turns(6)
    game.play("chance spawn dragon\nchance place ambush\nwhite beach-s explore")
    game.play("white beach-s explore\nwhite beach-s fire")
    assert game.chance.odds["spawn"]["none"] == 1


# --- the end


def six_creatures(game: Game) -> None:
    fields = ("statue-n", "statue-e", "statue-s", "ruin-n", "ruin-e", "ruin-s")
    for creature, field in zip(CREATURES, fields, strict=False):
        game.play(f"chance spawn {creature}\nchance place {field}\nwhite beach-s explore")


def test_the_seventh_creature_ends_the_game_and_only_creature_points_count() -> None:
    game = Game(TWO + ARIKI)
    six_creatures(game)
    game.play("chance fight moves\nchance place beach-sw\nred statue-n explore\nred statue-n one")
    rows = game.play("chance spawn dragon\nchance place mountain-ne\nwhite beach-s explore")
    assert names(rows)[-2:] == ["creature_appeared", "game_over"]
    assert only(rows, "game_over") == {
        "reason": "creatures",
        "saved": False,
        "points": {"white": 0, "red": 1},
        "creature_points": {"white": 0, "red": 1},
        "winners": ["red"],
    }
    assert game.rejects("white beach-s explore") == "no_game"
    assert game.rejects("white beach-s one") == "no_game"


def test_one_statue_awake_saves_the_island_and_all_points_count() -> None:
    game = Game(TWO + ARIKI)
    for number in ("three", "three", "one"):
        game.play(f"red statue-w explore\nred statue-w {number}")
    six_creatures(game)
    rows = game.play("chance spawn dragon\nchance place mountain-ne\nwhite beach-s explore")
    over = only(rows, "game_over")
    assert (over["saved"], over["points"], over["winners"]) == (True, {"white": 3, "red": 17}, ["red"])


def test_equal_points_share_the_win() -> None:
    game = Game(TWO + ARIKI)
    six_creatures(game)
    over = only(game.play("chance spawn dragon\nchance place mountain-ne\nwhite beach-s explore"), "game_over")
    assert over["winners"] == ["white", "red"]


def test_the_dragon_as_the_seventh_out_of_ambush_ends_the_game_before_any_fight() -> None:
    game = Game(TWO + ARIKI)
    six_creatures(game)
    game.play("chance spawn dragon\nchance place ambush\nwhite beach-s explore")
    assert not game.rules.over(game.state)
    rows = game.play("red beach-sw explore")
    assert names(rows) == ["creature_appeared", "dragon_attacks", "game_over"]


def test_six_creatures_and_the_dragon_in_ambush_leave_nothing_to_draw_but_none() -> None:
    game = Game(TWO + ARIKI)
    six_creatures(game)
    game.play("chance spawn dragon\nchance place ambush\nwhite beach-s explore")
    game.play("chance fight stays\nred statue-n explore\nred statue-n one")
    assert game.chance.odds["spawn"] == {"none": 1.0}
    assert game.draws == ["fight stays", "spawn none"]
