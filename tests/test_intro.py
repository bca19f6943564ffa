"""The introductory game (rulebook, Introductory Game and Course of Play): eleven turns, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from table import TITLE, Table

from firmware.game.insel.state import FIGHT, GUARDIAN
from firmware.game.kernel import Chance, Rejected, StateError
from firmware.terms import FIGURES, TOUCHES, UNKNOWN, Contact, Figure, Touch, certain

if TYPE_CHECKING:
    from firmware.game.insel.intro import IntroRules

START = "wait 30\nbutton\nwait 60\n"

TURNS = (
    "white beach-s explore",
    "red beach-sw explore",
    "white jungle-s explore",
    "red jungle-w explore",
    "white mountain-sw explore",
    "red beach-nw explore",
    "white ruin-w explore",
    "white ruin-w one",
    "red jungle-nw explore",
    "red ruin-s explore",
    "red ruin-s one",
    "white statue-w explore",
    "red beach-s explore",
    "red beach-s one",
)
"""Every contact of the eleven turns, in order."""

RULES: IntroRules = TITLE.intro  # type: ignore[assignment]


def before(turn: str) -> Table:
    """A table at which everything up to `turn` has been played and heard."""
    return Table(START + "".join(f"{line}\nwait 85\n" for line in TURNS[: TURNS.index(turn)]))


def result(turn: str) -> list[dict[str, object]]:
    """The events of one turn."""
    rows = before(turn).play(f"{turn}\nwait 80").untimed
    return [row for row in rows if "event" in row]


def lit(turn: str) -> list[str]:
    """What is lit at the end of a turn."""
    table = before(turn)
    table.play(f"{turn}\nwait 80")
    found: list[str] = table.all.cues("symbols")[-1]["lit"]
    return found


def test_the_button_starts_it_and_says_what_to_do() -> None:
    rows = Table("wait 30").play("button\nwait 60")
    assert rows.named == ["intro_started"]
    assert rows.lines == ["intro-welcome", "intro-go-1"]


@pytest.mark.parametrize(
    ("turn", "site", "relic", "symbol"),
    [
        ("white beach-s explore", "temple", "amulet", "star"),
        ("red beach-sw explore", "crystal", "crystal", "triangle"),
        ("white jungle-s explore", "well", "elixir", "circle"),
        ("white mountain-sw explore", "tower", "stone", "square"),
    ],
)
def test_turns_1_2_3_and_5_discover_a_relic_site(turn: str, site: str, relic: str, symbol: str) -> None:
    figure, field, _ = turn.split()
    assert result(turn) == [
        {"event": "discovered", "figure": figure, "field": field, "site": site},
        {"event": "relics", "figure": figure, "relic": relic, "count": 1},
    ]
    assert lit(turn) == [symbol]
    assert before(turn).play(f"{turn}\nwait 60").sounds == ["harp"]


def test_turn_4_finds_the_ariki_three_points_a_card_and_her_story() -> None:
    turn = "red jungle-w explore"
    assert result(turn) == [
        {"event": "discovered", "figure": "red", "field": "jungle-w", "site": "ariki"},
        {"event": "points", "figure": "red", "count": 3, "kind": "island"},
        {"event": "ariki_cards", "figure": "red", "count": 1},
        {"event": "story"},
    ]
    assert lit(turn) == ["ariki"]


def test_the_three_tones_come_as_two_and_one() -> None:
    rows = before("red jungle-w explore").play("red jungle-w explore\nwait 60")
    tones = [row["t"] for row in rows.cues("sound", name="point")]
    assert len(tones) == 3
    first, second = tones[1] - tones[0], tones[2] - tones[1]
    assert second - first == pytest.approx(0.4, abs=0.002), "a pause between the pairs"


def test_turn_6_finds_the_beachcomber_and_a_relic_of_choice() -> None:
    turn = "red beach-nw explore"
    assert result(turn) == [
        {"event": "discovered", "figure": "red", "field": "beach-nw", "site": "beachcomber"},
        {"event": "relic_choice", "figure": "red", "count": 1},
    ]
    assert lit(turn) == ["star", "circle", "triangle", "square"]


def test_turn_7_meets_the_guardian_of_the_amulets_who_wants_eight() -> None:
    turn = "white ruin-w explore"
    assert result(turn) == [
        {"event": "guardian_appeared", "figure": "white", "field": "ruin-w", "relic": "amulet", "demand": 8}
    ]
    assert lit(turn) == ["star"]
    assert result("white ruin-w one") == [
        {"event": "relics_handed", "figure": "white", "field": "ruin-w", "count": 1, "missing": 7}
    ]
    assert before("white ruin-w one").play("white ruin-w one\nwait 60").sounds == ["bird"]


def test_turn_8_finds_the_hermit_and_the_same_player_goes_on() -> None:
    assert result("red jungle-nw explore") == [
        {"event": "discovered", "figure": "red", "field": "jungle-nw", "site": "hermit"},
        {"event": "hermit", "figure": "red"},
    ]
    assert TURNS[TURNS.index("red jungle-nw explore") + 1].startswith("red")


def test_turn_9_meets_the_guardian_of_the_crystals_and_the_spider_appears() -> None:
    turn = "red ruin-s explore"
    assert result(turn) == [
        {"event": "guardian_appeared", "figure": "red", "field": "ruin-s", "relic": "crystal", "demand": 7}
    ]
    assert lit(turn) == ["triangle"]
    assert result("red ruin-s one") == [
        {"event": "relics_handed", "figure": "red", "field": "ruin-s", "count": 1, "missing": 6},
        {"event": "creature_appeared", "creature": "spider", "field": "beach-s"},
    ]
    rows = before("red ruin-s one").play("red ruin-s one\nwait 60")
    assert rows.sounds == ["bird", "rumble", "spider"]
    assert rows.cues("say", line="appears-place", args={"place": "temple-beach"})


def test_turn_10_the_statue_asks_and_no_input_follows() -> None:
    assert result("white statue-w explore") == [
        {"event": "statue_asks", "figure": "white", "field": "statue-w", "missing": 7}
    ]
    table = before("red beach-s explore")
    assert table.play("white statue-w one").reasons == ["not_expected"]
    assert table.play("red beach-s explore").events("creature_met")


def test_turn_11_drives_the_spider_off_and_ends_the_introductory_game() -> None:
    assert result("red beach-s explore") == [
        {"event": "creature_met", "figure": "red", "creature": "spider", "field": "beach-s", "relics": ["elixir"]}
    ]
    assert lit("red beach-s explore") == ["circle"]
    assert result("red beach-s one") == [
        {
            "event": "fought",
            "figure": "red",
            "creature": "spider",
            "with": "relics",
            "count": 1,
            "outcome": "vanishes",
        },
        {"event": "points", "figure": "red", "count": 2, "kind": "creature"},
        {"event": "relics", "figure": "red", "relic": "amulet", "count": 1},
        {"event": "intro_finished"},
        {"event": "ready"},
    ]
    rows = before("red beach-s one").play("red beach-s one\nwait 80")
    assert rows.sounds == ["spider", "spider-gone", "point", "point"]
    assert rows.lines[-1] == "intro-finished"


def test_afterwards_the_unit_is_ready_for_a_game_or_another_introduction() -> None:
    finished = before("red beach-s one").play
    finished("red beach-s one\nwait 80")
    assert finished("white beach-s explore").events("game_started")
    again = before("red beach-s one").play
    again("red beach-s one\nwait 80")
    assert again("button").events("intro_started")


@pytest.mark.parametrize("turn", TURNS)
def test_only_the_expected_contact_is_accepted(turn: str) -> None:
    state = RULES.load(before(turn).state()["game"])
    accepted, reasons = [], set()
    for figure in FIGURES:
        for field in TITLE.fields:
            for touch in TOUCHES:
                if touch is Touch.ROCK:
                    continue
                clone = state.clone()
                try:
                    RULES.accept(clone, Contact(figure, field, touch), Chance())
                except Rejected as refused:
                    reasons.add(refused.reason)
                    assert clone.dump() == state.dump()
                else:
                    accepted.append(f"{figure} {field} {touch}")
    assert accepted == [turn]
    assert reasons == {"not_expected"}


@pytest.mark.parametrize("turn", TURNS)
def test_the_turn_to_come_is_said_and_after_two_errors_said_again(turn: str) -> None:
    table = before(turn)
    go = table.all.lines[-1]
    assert go.startswith("intro-go-")
    wrong = "black beach-ne two\nwait 10\n"
    assert table.play(wrong).heard == ["error"]
    assert table.play(wrong + "wait 20").heard == ["error", go]
    rows = table.play(turn + "\nwait 200")
    assert not rows.reasons
    assert go not in rows.lines


def test_every_turn_says_where_it_is_for_the_page() -> None:
    table = before(TURNS[-1])
    told = [row["args"] for row in table.all.cues("say") if row["line"].startswith("intro-go-")]
    assert [f"{args['figure']} {args['field']}" for args in told] == [turn.rpartition(" ")[0] for turn in TURNS]


@pytest.mark.parametrize("turn", TURNS)
def test_rock_gives_the_four_signals_at_any_moment(turn: str) -> None:
    table = before(turn)
    rows = table.play("green statue-n rock\nwait 60")
    assert rows.named == ["signals"]
    assert rows.sounds == ["harp", "point", "point", "spider", "error"]
    assert table.play(turn).reasons == []


@pytest.mark.parametrize("turn", TURNS)
def test_the_button_repeats_the_last_announcement_and_what_to_do(turn: str) -> None:
    table = before(turn)
    rows = table.play("button\nwait 80")
    assert rows.named == ["repeated"]
    assert rows.lines[-1].startswith("intro-go-")
    assert "point" not in rows.sounds


def test_the_button_stops_the_story_and_then_says_what_to_do() -> None:
    table = before("red jungle-w explore")
    table.play("red jungle-w explore\nwait 25")
    rows = table.play("button\nwait 30")
    assert rows.named == ["interrupted"]
    assert rows.lines == ["intro-go-5"]


def test_everything_may_be_played_without_waiting() -> None:
    rows = Table("wait 30\nbutton").play("\n".join(TURNS) + "\nwait 100")
    assert rows.named[-2:] == ["intro_finished", "ready"]
    assert rows.reasons == []
    assert rows.sounds.count("point") == 5, "facts are never dropped"
    assert rows.sounds.count("harp") == 7
    assert rows.lines.count("finds") == 5
    assert not [line for line in rows.lines if line.startswith("story")]


def test_the_button_repeats_after_errors_what_was_said_and_starts_no_other() -> None:
    table = Table(START + "black beach-ne two\nwait 9\n")
    assert table.play("button\nwait 60").named == ["repeated"]


def test_a_figure_that_the_sensors_cannot_tell_is_the_expected_one() -> None:
    table = Table(START)
    for turn in TURNS:
        figure, field, touch = turn.split()
        assert table.play(f"? {field} {touch}").events("figure_inferred", figure=figure)
        table.play("wait 200")
    assert table.all.named[-1] == "ready"


def test_the_prior_knows_the_expected_figure_only() -> None:
    state = RULES.start(None, 1)
    assert RULES.prior(state, "beach-s", Touch.EXPLORE) == certain(Figure.WHITE)
    assert RULES.prior(state, "beach-s", Touch.ONE) == UNKNOWN
    assert RULES.prior(state, "beach-sw", Touch.EXPLORE) == UNKNOWN


def test_the_question_repeated_after_90_seconds_says_which_answer_is_wanted() -> None:
    table = before("white ruin-w one")
    assert table.play("wait 120").lines == ["intro-go-7-answer"]


def test_open_answers_are_a_guardian_or_a_fight() -> None:
    state = RULES.start(None, 1)
    kinds = []
    while not RULES.over(state):
        expected = RULES.expected(state)
        assert expected is not None
        RULES.accept(state, expected, Chance())
        kinds.append(RULES.pending(state))
    assert [kind for kind in kinds if kind] == [GUARDIAN, GUARDIAN, FIGHT]
    assert RULES.expected(state) is None
    with pytest.raises(Rejected, match="not_expected"):
        RULES.accept(state, Contact(Figure.RED, "beach-s", Touch.ONE), Chance())


def test_no_contact_starts_it() -> None:
    with pytest.raises(Rejected, match="no_game"):
        RULES.start(Contact(Figure.WHITE, "beach-s", Touch.EXPLORE), 1)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({}, "step"),
        ({"step": 0, "asked": False}, "generator"),
        ({"step": 12, "asked": False, "generator": 0}, "0 to 11"),
        ({"step": -1, "asked": False, "generator": 0}, "0 to 11"),
        ({"step": True, "asked": False, "generator": 0}, "0 to 11"),
        ({"step": 1, "asked": 0, "generator": 0}, "true or false"),
        ({"step": 1, "asked": False, "generator": "7"}, "whole number"),
        ({"step": 0, "asked": True, "generator": 0}, "awaits no answer"),
        ({"step": 11, "asked": True, "generator": 0}, "awaits no answer"),
    ],
)
def test_a_wrong_state_is_named(row: dict[str, object], told: str) -> None:
    with pytest.raises(StateError, match=told):
        RULES.load(row)


def test_its_state_keeps_what_has_been_found() -> None:
    state = RULES.load(before("red beach-s one").state()["game"])
    assert state.creatures == {"spider": "beach-s"}
    assert state.sites["jungle-w"] == "ariki"
    assert state.pending is not None
    assert state.last is Figure.WHITE
