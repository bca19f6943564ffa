"""Relic sites, the Ariki, the Hermit and the Beachcomber (rulebook, Introductory Game; Tips and Tricks)."""

from __future__ import annotations

import pytest
from insel_game import ARIKI, FOUR, TWO, Game, names, only, points

# --- relic sites


def test_a_zone_has_every_site_once() -> None:
    game = Game("chance site temple\nwhite beach-s explore")
    game.play("red beach-sw explore")
    assert set(game.chance.odds["site"]) == {"well", "crystal", "tower", "beachcomber"}
    game.play("white jungle-n explore")
    assert set(game.chance.odds["site"]) == {"temple", "well", "crystal", "tower", "ariki", "hermit"}
    game.play("white mountain-ne explore")
    assert set(game.chance.odds["site"]) == {"temple", "well", "crystal", "tower"}
    assert len(set(game.chance.odds["site"].values())) == 1, "all alike"


def test_the_last_field_of_a_zone_holds_what_is_left_and_is_drawn_all_the_same() -> None:
    game = Game(TWO)
    rest = ("mountain-ne temple", "mountain-se well", "mountain-sw crystal")
    for field, site in map(str.split, rest):
        game.play(f"chance site {site}\nwhite {field} explore")
    rows = game.play("white mountain-nw explore")
    assert only(rows, "discovered")["site"] == "tower"
    assert game.draws == ["site tower"]


@pytest.mark.parametrize(
    ("site", "relic"), [("temple", "amulet"), ("well", "elixir"), ("crystal", "crystal"), ("tower", "stone")]
)
def test_each_site_has_its_relic_and_a_discovery_finds_one(site: str, relic: str) -> None:
    rows = Game().play(f"chance site {site}\nwhite beach-s explore")
    assert only(rows, "relics") == {"figure": "white", "relic": relic, "count": 1}


@pytest.mark.parametrize("count", range(5))
def test_a_later_visit_finds_0_to_4(count: int) -> None:
    game = Game(TWO)
    rows = game.play(f"chance relics {count}\nred beach-s explore")
    assert only(rows, "relics") == {"figure": "red", "relic": "amulet", "count": count}


def test_relics_depend_on_the_turns_since_anybodys_last_visit() -> None:
    game = Game(TWO)
    game.play("red beach-s explore")
    few = game.chance.odds["relics"]
    for _ in range(57):
        game.play("white beach-sw explore")
    game.play("red beach-s explore")  # the 58th turn after red's own visit
    many = game.chance.odds["relics"]
    assert max(few, key=lambda count: few[count]) == 0
    assert max(many, key=lambda count: many[count]) == 3


def test_all_three_sites_of_one_kind_bring_a_tablet_once() -> None:
    game = Game(TWO)
    game.play("chance site temple\nwhite jungle-s explore")
    rows = game.play("chance site temple\nwhite mountain-sw explore")
    assert names(rows) == ["discovered", "relics", "set_completed", "tablets", "points"]
    assert only(rows, "set_completed") == {"figure": "white", "site": "temple"}
    assert only(rows, "tablets") == {"figure": "white", "count": 1, "source": "set"}
    assert only(rows, "points") == {"figure": "white", "count": 1, "kind": "island"}
    assert names(game.play("white beach-s explore")) == ["relics"]


def test_a_set_counts_sites_that_others_discovered() -> None:
    game = Game(TWO)
    game.play("chance site temple\nred jungle-s explore\nchance site temple\nred mountain-sw explore")
    game.play("white jungle-s explore")
    assert "set_completed" in names(game.play("white mountain-sw explore"))
    assert names(game.play("red beach-sw explore")) == ["relics"]
    assert only(game.play("red beach-s explore"), "set_completed")["figure"] == "red"


def test_discovering_brings_no_points() -> None:
    assert "points" not in names(Game(FOUR).rows)


# --- the Ariki


def test_the_ariki_first_gives_three_points_a_card_and_her_story() -> None:
    rows = Game(TWO).play(ARIKI)
    assert names(rows) == ["discovered", "points", "ariki_cards", "story"]
    assert only(rows, "points") == {"figure": "white", "count": 3, "kind": "island"}
    assert only(rows, "ariki_cards") == {"figure": "white", "count": 1}


def test_later_she_tells_the_sum_of_all_points() -> None:
    game = Game(TWO + "chance spawn spider\nchance place beach-s" + ARIKI)
    game.play("chance fight vanishes\nred beach-s explore\nred beach-s one")
    rows = game.play("red jungle-w explore")
    assert names(rows) == ["standings"], "no cards so soon, and no event for none"
    assert only(rows, "standings") == {"points": {"white": 3, "red": 2}}
    assert game.draws == ["cards 0", "spawn none"]


def test_later_cards_are_more_the_longer_nobody_was_there() -> None:
    game = Game(TWO + ARIKI)
    game.pass_turns(5)
    rows = game.play("chance cards 2\nred jungle-w explore")  # 6 turns
    assert only(rows, "ariki_cards") == {"figure": "red", "count": 2}
    assert game.chance.odds["cards"] == {0: 0, 1: 1, 2: 0}
    game.pass_turns(4)
    game.play("red jungle-w explore")  # 5 turns
    assert game.chance.odds["cards"] == {0: 1, 1: 0, 2: 0}
    game.pass_turns(14)
    game.play("red jungle-w explore")  # 15 turns
    assert game.chance.odds["cards"] == {0: 0, 1: 1, 2: 1}


# --- the Hermit

HERMIT = "chance site hermit\nwhite jungle-nw explore"


def test_the_hermit_lets_the_same_figure_jump_in_the_same_turn() -> None:
    game = Game(TWO + ARIKI)
    rows = game.play(HERMIT)
    assert names(rows) == ["discovered", "hermit"]
    assert game.rules.pending(game.state) == "hermit"
    assert game.draws == ["site hermit"], "the turn has not ended"
    turn = game.state.turn
    assert names(game.play("white beach-sw explore")) == ["relics"]
    assert game.draws == ["relics 1", "spawn none"]
    assert game.state.turn == turn


def test_an_unused_jump_ends_silently() -> None:
    game = Game(TWO + ARIKI + HERMIT)
    turn = game.state.turn
    assert names(game.play("red beach-s explore")) == ["relics"]
    assert game.draws == ["spawn none", "relics 1", "spawn none"], "white's turn ends first"
    assert game.state.turn == turn + 1


def test_a_jump_awaits_no_number() -> None:
    game = Game(TWO + HERMIT)
    assert game.rejects("white jungle-nw one") == "nothing_pending"
    assert game.rejects("red beach-sw fire") == "nothing_pending"


def test_a_known_hermit_offers_the_jump_again() -> None:
    game = Game(TWO + HERMIT + "\nwhite beach-s explore\nred beach-s explore")
    assert names(game.play("red jungle-nw explore")) == ["hermit"]


def test_a_creature_blocks_the_cave_until_it_is_driven_off() -> None:
    game = Game(TWO + ARIKI + HERMIT)
    game.play("chance spawn gnome\nchance place jungle-nw\nwhite beach-s explore")
    assert names(game.play("chance fight stays\nred jungle-nw explore\nred jungle-nw one")) == [
        "creature_met",
        "fought",
    ]
    assert game.rules.pending(game.state) is None
    rows = game.play("red jungle-nw explore\nred jungle-nw fire")
    assert names(rows) == ["creature_met", "fought", "points", "hermit"]


# --- the Beachcomber

BEACHCOMBER = "chance site beachcomber\nred beach-nw explore"


def test_the_beachcomber_first_gives_a_relic_of_choice() -> None:
    game = Game(TWO)
    rows = game.play(BEACHCOMBER)
    assert names(rows) == ["discovered", "relic_choice"]
    assert only(rows, "relic_choice") == {"figure": "red", "count": 1}
    assert game.rules.pending(game.state) is None


def test_later_she_exchanges_and_after_a_long_absence_gives_too() -> None:
    game = Game(TWO + BEACHCOMBER)
    game.pass_turns(8)
    assert names(game.play("white beach-nw explore")) == ["exchange_offered"]  # 9 turns
    assert game.draws == ["beachcomber 0"]
    game.pass_turns(9)
    assert names(game.play("chance beachcomber 1\nwhite beach-nw explore")) == ["exchange_offered", "relic_choice"]
    assert game.chance.odds["beachcomber"] == {0: 1, 1: 1, 2: 0}
    game.pass_turns(19)
    assert only(game.play("white beach-nw explore"), "relic_choice") == {"figure": "white", "count": 2}


def awaken(field: str) -> str:
    return "".join(f"white {field} explore\nwhite {field} {number}\n" for number in ("three", "three", "one"))


def test_the_first_visit_after_a_statue_awoke_brings_bonus_points_once() -> None:
    game = Game(TWO + BEACHCOMBER)
    assert "beachcomber_bonus" not in names(game.play("red beach-nw explore"))
    game.play(awaken("statue-n"))
    rows = game.play("red beach-nw explore")
    assert names(rows)[-2:] == ["beachcomber_bonus", "points"]
    assert points(rows, "red", "island") == 3
    assert "beachcomber_bonus" not in names(game.play("white beach-nw explore"))


def test_her_discovery_after_a_statue_awoke_is_that_visit() -> None:
    game = Game(TWO + awaken("statue-n"))
    assert names(game.play(BEACHCOMBER)) == ["discovered", "relic_choice", "beachcomber_bonus", "points"]
