"""Rules where two meet, played through the console as people would; named after what the rulebook calls them.

What one rule says alone is in the other files of the game; here they cross each other, lights, voice and power cuts.
"""

from __future__ import annotations

import itertools

import pytest
from table import ARIKI, TWO, Rows, Table

READY = "wait 30\n"
FOUR = (
    TWO + "chance site crystal\ngreen beach-ne explore\nwait 30\nchance site tower\nblack beach-nw explore\nwait 30\n"
)


def island(start: str = TWO, **creatures: str) -> Table:
    """A running game with the Ariki known and these creatures on these fields."""
    table = Table(READY + start + ARIKI)
    for creature, field in creatures.items():
        calm(table, f"chance spawn {creature}\nchance place {field.replace('_', '-')}\nwhite beach-s explore")
    return table


def calm(table: Table, lines: str) -> Rows:
    """Lines after which the volcano sends nothing that the lines do not name, each announcement heard to its end."""
    if "spawn" not in lines:
        lines = "chance spawn none\n" + lines
    return table.play(f"{lines}\nwait 60")


def strong(creature: str, field: str) -> Table:
    """Red has given three crystals to the griffin, which stayed; now it meets another creature."""
    table = island(griffin="ruin-s", **{creature: field})
    calm(table, "chance fight stays\nred ruin-s explore\nred ruin-s three")
    assert table.all.events("strengthened", figure="red")
    return table


def points(rows: Rows, figure: str, kind: str) -> int:
    return sum(row["count"] for row in rows.events("points", figure=figure, kind=kind))


# --- Tips: the griffin's strength and the other creatures


def test_strength_drives_off_the_triton_for_its_full_value_at_the_first_meeting() -> None:
    rows = calm(strong("triton", "statue-n"), "red statue-n explore")
    assert points(rows, "red", "creature") == 6
    assert rows.events("fought", creature="triton", outcome="vanishes", **{"with": "strength"})


def test_strength_drives_off_the_gnome_who_may_leave_cards() -> None:
    rows = calm(strong("gnome", "statue-n"), "chance gnome_cards 2\nred statue-n explore")
    assert points(rows, "red", "creature") == 1
    assert rows.events("ariki_cards", figure="red", count=2)


def test_strength_drives_off_the_golem_who_may_leave_a_tablet() -> None:
    rows = calm(strong("golem", "statue-n"), "chance golem_tablet yes\nred statue-n explore")
    assert rows.events("tablets", figure="red", source="golem")


def test_strength_meets_the_dragon_that_attacks() -> None:
    table = strong("dragon", "statue-w")
    rows = calm(table, "chance attack yes\nred beach-sw explore")
    assert rows.events("dragon_attacks", figure="red", field="beach-sw")
    assert points(rows, "red", "creature") == 3
    assert rows.events("relics", figure="red"), "and the field speaks in the same turn"


def test_strength_lasts_over_a_power_cut() -> None:
    table = strong("spider", "statue-n")
    table.play("power off\npower on\nwait 30")
    assert calm(table, "red statue-n explore").events("fought", outcome="vanishes", **{"with": "strength"})


def test_a_creature_driven_off_by_strength_is_not_fed() -> None:
    table = strong("spider", "statue-n")
    calm(table, "red statue-n explore")
    assert table.state()["game"]["fed"] == []


# --- Tips: the gnome twice in a row, the golem's tablet, by whatever means they leave


@pytest.mark.parametrize("second", ["vanishes", "moves", "fire"])
def test_the_gnome_is_driven_off_by_any_means(second: str) -> None:
    table = island(gnome="statue-n")
    calm(
        table, "chance gnome_cards 0\nchance fight moves\nchance place statue-e\nred statue-n explore\nred statue-n one"
    )
    chances = {"fire": "", "vanishes": "chance fight vanishes\n", "moves": "chance fight moves\nchance place ruin-n\n"}
    answer = "fire" if second == "fire" else "two"
    rows = calm(table, f"chance gnome_cards 0\n{chances[second]}red statue-e explore\nred statue-e {answer}")
    assert points(rows, "red", "creature") == 1 + 3


@pytest.mark.parametrize("means", ["vanishes", "moves", "fire"])
def test_the_golem_may_leave_a_tablet_by_any_means(means: str) -> None:
    table = island(golem="statue-n")
    chances = {
        "fire": "",
        "vanishes": "chance fight vanishes\n",
        "moves": "chance fight moves\nchance place statue-s\n",
    }
    answer = "fire" if means == "fire" else "two"
    rows = calm(table, f"chance golem_tablet yes\n{chances[means]}red statue-n explore\nred statue-n {answer}")
    assert rows.events("tablets", figure="red", count=1, source="golem")
    assert points(rows, "red", "island") == 1


def test_a_golem_that_stays_leaves_nothing() -> None:
    rows = calm(island(golem="statue-n"), "chance fight stays\nred statue-n explore\nred statue-n two")
    assert not rows.events("tablets")


# --- The Guardians: credits, players


def guardian(start: str, figure: str, demand: int = 7) -> Table:
    table = island(start)
    calm(table, f"chance guardian stone\nchance demand {demand}\n{figure} ruin-n explore")
    return table


def give(table: Table, *gifts: tuple[str, str]) -> Rows:
    rows = Rows()
    for figure, number in gifts:
        rows = calm(table, f"{figure} ruin-n explore\n{figure} ruin-n {number}")
    return rows


def paid(rows: Rows) -> list[tuple[str, int]]:
    return [(row["figure"], row["count"]) for row in rows.events("tablets", source="guardian")]


def test_a_credit_is_a_first_gift_where_gifts_are_equal() -> None:
    table = guardian(FOUR, "white")
    for _ in range(19):
        calm(table, "white beach-s explore")
    calm(table, "green ruin-n explore")
    assert table.all.events("guardian_credit", figure="green", count=1)
    rows = give(table, ("red", "three"), ("green", "two"), ("black", "one"))
    assert paid(rows) == [("green", 3), ("red", 2), ("black", 1)]


def test_a_single_player_is_paid_as_two_are() -> None:
    table = guardian("chance site temple\nwhite beach-s explore\nwait 30\n", "white")
    rows = give(table, ("white", "three"), ("white", "three"), ("white", "one"))
    assert paid(rows) == [("white", 4)]


def test_every_tablet_granted_is_followed_by_its_point_to_the_same_player() -> None:
    rows = give(guardian(FOUR, "white"), ("red", "three"), ("white", "two"), ("green", "two"))
    events = [row for row in rows if "event" in row]
    for tablets, following in itertools.pairwise(events):
        if tablets["event"] == "tablets":
            assert following["event"] == "points"
            assert (following["figure"], following["count"]) == (tablets["figure"], tablets["count"])
            assert following["kind"] == "island"


# --- Starting a regular game: what does not disturb an open question


@pytest.mark.parametrize("touch", ["one", "two", "three", "fire"])
def test_a_figure_that_has_not_landed_answers_nothing(touch: str) -> None:
    table = guardian(TWO, "white")
    assert table.play(f"green beach-ne {touch}").reasons == ["not_yours"]
    assert calm(table, "white ruin-n one").events("relics_handed", figure="white")


def test_landing_lapses_another_s_question() -> None:
    table = guardian(TWO, "white")
    rows = calm(table, "chance site crystal\ngreen beach-ne explore")
    assert rows.named[:2] == ["lapsed", "entered"]


# --- Power cut: every open decision is still open


@pytest.mark.parametrize(
    ("kind", "lines", "answer", "event"),
    [
        ("guardian", "chance guardian stone\nchance demand 7\nred ruin-n explore", "red ruin-n one", "relics_handed"),
        ("statue", "red statue-n explore", "red statue-n two", "tablets_laid"),
        ("fight", "chance fight stays\nred ruin-s explore", "red ruin-s one", "fought"),
        ("hermit", "chance site hermit\nred jungle-s explore", "red statue-s explore", "statue_asks"),
    ],
)
def test_a_decision_survives_the_power_cut(kind: str, lines: str, answer: str, event: str) -> None:
    table = island(spider="ruin-s")
    calm(table, lines)
    turns = table.state()["game"]["turn"]
    rows = table.play("power off\npower on\nwait 60")
    assert rows.events("resumed", figure="red", pending=kind)
    assert len(rows.lines) >= 3, "goes on, who was last, and the question"
    assert calm(table, answer).events(event)
    assert table.state()["game"]["turn"] == turns


def test_the_offer_of_a_resting_guardian_survives_the_power_cut() -> None:
    table = guardian(TWO, "white")
    give(table, ("white", "three"), ("red", "three"), ("white", "one"))
    calm(table, "red ruin-n explore\npower off\npower on")
    assert table.all.events("resumed", figure="red", pending="tablet")
    assert table.play("red ruin-n one").reasons == ["wrong_number"]
    assert calm(table, "red ruin-n three").events("tablets", figure="red", source="resting_guardian")


# --- The displays on the volcano


def lit(table: Table) -> list[str]:
    state = table.state()
    return list(state["lit"])


@pytest.mark.parametrize(
    ("creature", "symbols"),
    [
        ("spider", ["circle"]),
        ("snake", ["star", "circle", "triangle", "square"]),
        ("griffin", ["triangle"]),
        ("dragon", ["star"]),
        ("triton", ["square"]),
        ("golem", ["square"]),
    ],
)
def test_a_creature_lights_the_relics_it_is_fought_with(creature: str, symbols: list[str]) -> None:
    table = island(**{creature: "statue-n"})
    calm(table, "red statue-n explore")
    assert lit(table) == symbols
    table.play("white beach-s rock\nwait 30")
    assert lit(table) == symbols, "Rock leaves the lights"
    table.play("white beach-s one\nwait 10")
    assert lit(table) == symbols, "so does an error"


@pytest.mark.parametrize(
    ("relic", "symbol"), [("amulet", "star"), ("elixir", "circle"), ("crystal", "triangle"), ("stone", "square")]
)
def test_the_gnome_and_each_guardian_light_what_they_want(relic: str, symbol: str) -> None:
    table = island(gnome="statue-n")
    calm(table, f"chance gnome_relic {relic}\nred statue-n explore")
    assert lit(table) == [symbol]
    calm(table, f"chance guardian {relic}\nchance demand 7\nwhite ruin-n explore")
    assert lit(table) == [symbol]


@pytest.mark.parametrize(
    ("site", "field", "symbols"),
    [
        ("temple", "jungle-n", ["star"]),
        ("well", "jungle-n", ["circle"]),
        ("crystal", "jungle-n", ["triangle"]),
        ("tower", "jungle-n", ["square"]),
        ("beachcomber", "beach-nw", ["star", "circle", "triangle", "square"]),
    ],
)
def test_a_place_lights_its_symbol_until_the_next_contact(site: str, field: str, symbols: list[str]) -> None:
    table = island()
    calm(table, f"chance site {site}\nwhite {field} explore")
    assert lit(table) == symbols
    calm(table, "red statue-s explore")
    assert lit(table) == []


def test_the_ariki_lights_her_own() -> None:
    table = island()
    assert lit(table) == ["ariki"]
    calm(table, "red beach-sw explore")
    calm(table, "red jungle-w explore")
    assert lit(table) == ["ariki"]


# --- The appearance of the creatures: places have names


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ("beach-s", "temple-beach"),
        ("beach-sw", "well-beach"),
        ("jungle-w", "ariki"),
        ("ruin-e", "ruin-east"),
        ("statue-s", "statue-south"),
    ],
)
def test_the_volcano_names_where_a_creature_appears(field: str, named: str) -> None:
    table = island()
    rows = calm(table, f"chance spawn spider\nchance place {field}\nwhite statue-w explore\nred statue-n explore")
    assert named in [row["args"].get("place") for row in rows.cues("say")]


@pytest.mark.parametrize(
    ("field", "zone"), [("mountain-ne", "mountains"), ("jungle-n", "jungle"), ("beach-nw", "beach")]
)
def test_the_dragon_on_a_field_that_nobody_knows_is_named_by_the_zone(field: str, zone: str) -> None:
    rows = calm(island(), f"chance spawn dragon\nchance place {field}\nwhite beach-s explore")
    assert f"unexplored-{zone}" in [row["args"].get("place") for row in rows.cues("say")]
