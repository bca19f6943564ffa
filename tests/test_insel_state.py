"""The state of a game: copying, writing, reading back, and how a damaged line is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from insel_game import ARIKI, FOUR, RULES, Game

from firmware.game.kernel import StateError

BUSY = (
    FOUR
    + "chance spawn griffin\nchance place statue-n"
    + ARIKI
    + """
chance guardian amulet
chance demand 8
red ruin-n explore
red ruin-n three
chance fight stays
chance spawn spider
chance place beach-s
green statue-n explore
green statue-n three
chance site hermit
black jungle-nw explore
black beach-s explore
chance spawn triton
chance place statue-w
black beach-s fire
chance spawn dragon
chance place ambush
white statue-e explore
white statue-e two
red statue-w explore
"""
)


def busy_game() -> Game:
    """Griffin and triton stand there, the spider has been fed, the dragon is in ambush, and red's fight is open."""
    return Game(BUSY)


def row_of(game: Game) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(json.dumps(game.state.dump(), sort_keys=True))
    return row


def test_a_state_fits_in_one_line_and_comes_back_whatever_the_order_of_its_keys() -> None:
    game = busy_game()
    row = row_of(game)
    again = RULES.load(row)
    assert again.dump() == game.state.dump()
    assert list(again.landed) == list(game.state.landed)
    assert again.guardians == game.state.guardians
    assert again.pending == game.state.pending


def test_a_fresh_state_comes_back_too() -> None:
    state = RULES.start(Game().contact("white beach-s two"), seed=99)
    assert RULES.load(state.dump()).dump() == state.dump()


def test_a_clone_is_independent() -> None:
    game = busy_game()
    before = game.state.dump()
    copy = game.state.clone()
    assert copy.dump() == before
    game.play("red statue-w one\ngreen ruin-e explore")
    assert copy.dump() == before
    assert game.state.dump() != before


def test_the_state_says_its_level_in_words() -> None:
    assert busy_game().state.dump()["level"] == "beginner"


def change(row: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The row with one value replaced, added, or removed (None given as ...)."""
    *parents, key = [int(part) if part.isdigit() else part for part in path.split(".")]
    target: Any = row
    for part in parents:
        target = target[part]
    if value is ...:
        del target[key]
    else:
        target[key] = value
    return row


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("generator", -1, "generator"),
        ("generator", ..., "generator"),
        ("generator", 1 << 64, "generator"),
        ("level", "easy", "level"),
        ("turn", 1.5, "turn"),
        ("turn", True, "turn"),
        ("last", None, "last"),
        ("last", "blue", "last"),
        ("over", "bored", "over"),
        ("over", "statues", "over"),
        ("extra", 1, "extra"),
        ("figures", {}, "figures"),
        ("figures.0", 7, "figures.0"),
        ("figures.0.figure", "red", "figures.1.figure"),
        ("figures.0.landed", "jungle-n", "figures.0.landed"),
        ("figures.0.landed", "beach-sw", "figures.1.landed"),
        ("figures.0.place", "moon", "figures.0.place"),
        ("figures.0.turns", 10**6, "figures.0.turns"),
        ("figures.0.island_points", "3", "figures.0.island_points"),
        ("figures.0.explored", ["mountain-ne"], "figures.0.explored"),
        ("figures.0.explored", ["beach-s", "beach-s"], "figures.0.explored"),
        ("figures.0.strong", 1, "figures.0.strong"),
        ("figures.0.mood", "good", "figures.0.mood"),
        ("gnome_driver", "nobody", "gnome_driver"),
        ("sites.ruin-n", "temple", "sites.ruin-n"),
        ("sites.mountain-ne", "hermit", "sites.mountain-ne"),
        ("sites.beach-se", "temple", "sites.beach-"),
        ("sites", [], "sites"),
        ("visited.beach-s", ..., "visited.beach-s"),
        ("visited.beach-s", 0, "visited.beach-s"),
        ("visited.ruin-e", 3, "visited.ruin-e"),
        ("guardians.ruin-n.gifts", [["red", 0]], "guardians.ruin-n.gifts"),
        ("guardians.ruin-n.gifts", [["red", 1], ["red", 2]], "guardians.ruin-n.gifts"),
        ("guardians.ruin-n.resting", True, "guardians.ruin-n.resting"),
        ("guardians.ruin-n.relic", "gold", "guardians.ruin-n.relic"),
        ("guardians.beach-s", {}, "guardians.beach-s"),
        (
            "guardians.ruin-e",
            {"relic": "amulet", "demand": 8, "gifts": [], "resting": False},
            "guardians.ruin-e",
        ),
        ("statues.statue-e", 8, "statues.statue-e"),
        ("statues.statue-e", ..., "statues.statue-e"),
        ("ariki_turn", 0, "ariki_turn"),
        ("beachcomber_paid", "no", "beachcomber_paid"),
        ("creatures.unicorn", "beach-s", "creatures.unicorn"),
        ("creatures.snake", "statue-w", "creatures.snake"),
        ("creatures.snake", "mountain-ne", "creatures.snake"),
        ("creatures.dragon", "mountain-ne", "ambush"),
        ("fed", ["triton"], "fed"),
        ("sent_turn", 10**6, "sent_turn"),
        ("pending.kind", "sing", "pending.kind"),
        ("pending.kind", "statue", "pending.creature"),
        ("pending.figure", "blue", "pending.figure"),
        ("pending.figure", "green", "pending.field"),
        ("pending.field", "beach-s", "pending.field"),
        ("pending.creature", "snake", "pending.creature"),
        ("pending.relics", [], "pending.relics"),
        ("pending.price", 2, "pending.price"),
        ("pending", 5, "pending"),
    ],
)
def test_a_damaged_line_is_named_by_its_key(path: str, value: object, named: str) -> None:
    row = change(row_of(busy_game()), path, value)
    with pytest.raises(StateError) as error:
        RULES.load(row)
    message = str(error.value)
    assert message.startswith(f"state: {named}")
    assert "\n" not in message


def test_with_seven_creatures_a_game_is_over() -> None:
    row = row_of(busy_game())
    row["ambush"], row["fed"] = False, []
    places = ("statue-s", "ruin-e", "ruin-s", "ruin-w", "beach-s")
    row["creatures"] |= zip(("spider", "snake", "dragon", "gnome", "golem"), places, strict=True)
    with pytest.raises(StateError, match=r"over: is '', .* must be 'creatures'"):
        RULES.load(row)
    row["over"] = "creatures"
    with pytest.raises(StateError, match="pending: nothing is open"):
        RULES.load(row)
    row["pending"] = None
    assert RULES.over(RULES.load(row))


def test_with_four_statues_awake_a_game_is_over() -> None:
    row = row_of(busy_game())
    row["statues"] = dict.fromkeys(row["statues"], 7)
    with pytest.raises(StateError, match=r"over: is '', .* must be 'statues'"):
        RULES.load(row)


def test_no_object_is_no_state() -> None:
    with pytest.raises(StateError, match="the whole"):
        RULES.load([])  # type: ignore[arg-type]
