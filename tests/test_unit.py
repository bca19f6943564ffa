"""The unit's senses and voice: power-on, ready, Rock, push button, who is it, settings, silence, the end."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from table import ARIKI, TITLE, TWO, Rows, Table, texts

from firmware.catalogue import DOMAINS
from firmware.hal.wiring import Rail
from firmware.terms import FIGURES, SOUND_MS, TOUCHES, Fault, Part, Press, SoundName
from firmware.unit import BEEP_EVERY_S, GIVE_UP_S, REPEAT_QUESTION_S, SLEEP_S, Unit
from firmware.unit_batteries import WEAKENED_S
from firmware.unit_script import RAILS

READY = "wait 30\n"
SIGNALS = [
    *("signal-place", "harp", "signal-points", "point", "point"),
    *("signal-creature", "spider", "signal-error", "error"),
]
SYMBOLS = ["star", "circle", "triangle", "square", "ariki"]
SETTINGS = "power off\npower on held\nwait 20\n"
CHECKING = SETTINGS + "white beach-s explore\nwait 90\n"
RUIN = ARIKI + "chance guardian stone\nchance demand 7\nwhite ruin-n explore\nwait 30\n"

LOST = (
    TWO
    + ARIKI.replace("chance spawn none", "chance spawn spider\nchance place beach-s")
    + "".join(
        f"chance spawn {creature}\nchance place {field}\nchance cards 0\nwhite jungle-w explore\nwait 60\n"
        for creature, field in (
            ("snake", "beach-sw"),
            ("griffin", "statue-n"),
            ("triton", "statue-e"),
            ("gnome", "statue-s"),
            ("golem", "statue-w"),
            ("dragon", "ruin-n"),
        )
    )
)
"""Seven creatures: the island is lost."""


# --- power-on


def test_power_on_greets_and_is_ready() -> None:
    table = Table()
    assert table.rows[0] == {"t": 0.0, "event": "powered_on"}
    assert table.all.sounds == ["greeting"]
    rows = table.play("wait 30")
    ready_s = SOUND_MS[SoundName.GREETING] / 1000
    assert rows.events("ready") == [{"t": ready_s, "event": "ready"}]
    assert rows.lines == ["welcome", "how-to-start"]


@pytest.mark.parametrize(
    "line", ["white beach-s explore", "white jungle-n one", "? beach-s explore", "red beach-s rock"]
)
def test_contacts_before_the_greeting_has_ended_are_ignored(line: str) -> None:
    table = Table()
    assert table.play(f"wait 1\n{line}\nbutton\nbutton long") == []
    assert table.play("wait 30").named == ["ready"]


def test_a_weak_battery_blinks_the_ariki_and_beeps_until_the_button() -> None:
    table = Table(low_battery=True)
    assert table.all.named == ["powered_on", "battery_low"]
    assert table.all.cues("symbols") == [{"t": 0.0, "cue": "symbols", "lit": ["ariki"], "blink": True}]
    rows = table.play("wait 20\nwhite beach-s explore\nwait 1\n? beach-s explore\nred beach-s rock\nwait 1300")
    assert rows.named == []
    assert set(rows.heard) == {"beep"}
    assert len(rows.sounds) == int(1321 / BEEP_EVERY_S)
    rows = table.play("button\nwait 30")
    assert rows.named == ["ready"]
    assert rows.sounds == ["greeting"]
    assert rows.lines == ["batteries-weak", "welcome", "how-to-start"]
    assert rows.cues("symbols")[-1]["lit"] == []
    assert table.play("white beach-s explore").events("game_started")


def test_a_weak_battery_beeps_every_five_seconds_from_power_on() -> None:
    table = Table("wait 101\npower off\nwait 2\npower on\nwait 12", low_battery=True)
    assert [row["t"] for row in table.all.cues("sound", name="beep")[-3:]] == [103.0, 108.0, 113.0]


def test_a_weak_battery_is_said_once_more_after_the_game() -> None:
    table = Table("wait 1\nbutton\nwait 30", low_battery=True)
    assert "batteries-weak" not in table.play(LOST.rpartition("wait")[0]).lines
    rows = table.play("wait 200")
    assert rows.lines.count("batteries-weak") == 1
    assert rows.lines.index("batteries-weak") > rows.lines.index("over-lost")


# --- batteries that run down in mid-game


def test_batteries_that_become_weak_are_told_of_once_and_the_game_goes_on() -> None:
    table = Table(READY + TWO)
    rows = table.play("battery low\nwait 60")
    assert rows.untimed[0] == {"event": "battery_weakened"}
    assert rows[0]["t"] == 90.0 + WEAKENED_S
    assert rows.lines == ["batteries-weak"]
    rows = table.play("battery full\nwait 9\nbattery low\nwait 30\nwhite beach-s explore\nwait 30")
    assert rows.named[0] == "relics"
    assert "batteries-weak" not in rows.lines


def test_a_dip_of_the_battery_is_nothing() -> None:
    assert Table(READY + TWO).play(f"battery low\nwait {WEAKENED_S - 0.1}\nbattery full\nwait 60") == []


def test_weak_batteries_are_told_of_after_what_is_being_said() -> None:
    table = Table(READY + TWO)
    table.play("battery low\nwait 4\nchance site ariki\nwhite jungle-w explore")
    rows = table.play("wait 300")
    assert rows.events("battery_weakened")[0]["t"] < rows.cues("say", line="story-1")[0]["t"]
    assert rows.lines.index("batteries-weak") > rows.lines.index("story-12")


def test_weak_batteries_are_heard_of_whatever_is_repeated_skipped_or_played() -> None:
    for other in ("button\nwait 1\nbutton", "red beach-sw explore", "red beach-sw one", "white beach-s rock"):
        table = Table(READY + TWO)
        table.play("battery low\nwait 4\nchance site ariki\nwhite jungle-w explore\nwait 3")
        assert "batteries-weak" in table.play(f"{other}\nwait 300").lines, other


@pytest.mark.parametrize("before", ["wait 1\n", "power off\npower on held\nwait 1\n"])
def test_before_the_greeting_has_ended_weak_batteries_wait(before: str) -> None:
    table = Table(before)
    assert "battery_weakened" not in table.play("battery low\nwait 1.5").named
    rows = table.play("button\nwait 60")
    assert rows.named == ["ready", "battery_weakened"]
    assert rows.lines[-1] == "batteries-weak"


def test_batteries_that_were_weak_at_power_on_become_no_weaker() -> None:
    table = Table("wait 1\nbutton\nwait 40", low_battery=True)
    assert table.play("battery low\nwait 60\nwhite beach-s explore\nwait 60").events("battery_weakened") == []


def test_nobody_is_told_of_the_batteries_while_the_volcano_sleeps() -> None:
    table = Table(READY + TWO + f"wait {SLEEP_S}")
    assert table.play("battery low\nwait 60") == []
    assert table.play("white beach-s explore\nwait 60").events("battery_weakened")


def test_after_a_power_cut_weak_batteries_are_told_of_as_at_power_on() -> None:
    rows = Table(READY + TWO + "battery low\nwait 30").play("power off\npower on\nwait 1")
    assert rows.named == ["powered_on", "battery_low"]


def test_a_restored_volcano_does_not_tell_of_its_batteries_again() -> None:
    state = Table(READY + TWO + "battery low\nwait 30").state()
    assert Table(state=state).play("battery low\nwait 60") == []
    assert Table(state=state).play("power off\npower on\nwait 1").named == ["powered_on", "battery_low"]
    del state["weak"], state["weakened"]  # as of a volcano that did not know of them
    assert Table(state=state).play("wait 60") == []
    assert Table(state=state).play("battery low\nwait 60").lines == ["batteries-weak"]


# --- ready


@pytest.mark.parametrize(
    ("touch", "level"),
    [("explore", "beginner"), ("one", "beginner"), ("two", "advanced"), ("three", "expert")],
)
def test_a_boat_field_starts_a_game_whose_level_the_touch_field_chooses(touch: str, level: str) -> None:
    rows = Table(READY).play(f"green beach-ne {touch}")
    assert rows.named[:3] == ["game_started", "entered", "discovered"]
    assert rows.events("game_started") == [{"t": 30.0, "event": "game_started", "level": level}]
    assert rows.events("entered", figure="green", field="beach-ne")


@pytest.mark.parametrize(
    "line", ["white beach-s fire", "white jungle-n explore", "red statue-n one", "black ruin-e fire"]
)
def test_anything_else_before_a_game_is_an_error(line: str) -> None:
    table = Table(READY)
    rows = table.play(f"{line}\nwait 10")
    assert rows.reasons == ["no_game"]
    assert rows.heard == ["error"]


def test_after_the_second_error_in_a_row_there_is_a_hint() -> None:
    table = Table(READY)
    assert table.play("white beach-s fire\nwait 10").lines == []
    assert table.play("white beach-s fire\nwait 20").heard == ["error", "how-to-start"]
    assert table.play("white beach-s fire\nwait 20").heard == ["error", "how-to-start"]


def test_an_accepted_contact_ends_the_row_of_errors() -> None:
    table = Table(READY + "white beach-s fire\nwait 10\n" + TWO)
    assert table.play("white beach-s one\nwait 20").heard == ["error"]
    assert table.play("white ruin-n three\nwait 20").heard == ["error", "hint-nothing-pending"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("green jungle-n explore", "not_a_boat_field"),
        ("green beach-s explore", "boat_taken"),
        ("white beach-s one", "nothing_pending"),
        ("white beach-s fire", "nothing_pending"),
        ("green beach-ne one", "nothing_pending"),
    ],
)
def test_every_error_has_its_sound_and_its_hint(lines: str, reason: str) -> None:
    rows = Table(READY + TWO).play(f"{lines}\nwait 10\n{lines}\nwait 30")
    assert rows.reasons == [reason, reason]
    assert rows.heard == ["error", "error", f"hint-{reason.replace('_', '-')}"]


# --- Rock and the push button


@pytest.mark.parametrize("lines", [READY, READY + "button\nwait 60\n", READY + LOST + "wait 100\n"])
def test_rock_gives_the_four_signals_in_order_before_in_the_intro_and_after_a_game(lines: str) -> None:
    table = Table(lines)
    before = table.state()
    rows = table.play("black mountain-ne rock\nwait 60")
    assert rows.named == ["signals"]
    assert rows.heard == SIGNALS
    assert table.state() == before


def test_signals_cut_short_leave_nothing_that_could_be_misheard() -> None:
    rows = Table(READY + "white beach-s rock\nwait 1\n").play("chance site well\nwhite beach-s explore\nwait 30")
    assert rows.sounds == ["harp"]


def test_rock_in_a_game_tells_the_places_and_disturbs_nothing() -> None:
    table = Table(READY + TWO)
    assert table.play("green mountain-ne rock\nwait 20").untimed[0] == {"event": "creature_places", "creatures": {}}
    table.play(ARIKI.replace("chance spawn none", "chance spawn spider\nchance place beach-s"))
    table.play("chance spawn none\nchance guardian stone\nchance demand 7\nwhite ruin-n explore\nwait 60")
    before = table.state()
    rows = table.play("? ruin-s rock\nwait 30")
    assert rows.events("creature_places", creatures={"spider": "beach-s"})
    assert rows.lines == ["creature-name", "place"]
    assert not rows.cues("symbols"), "Rock leaves the lights as they are"
    assert table.state() == {**before, "repeat": table.state()["repeat"]}
    assert table.play("white ruin-n one").events("relics_handed", missing=6)


def test_after_rock_the_button_repeats_the_places_and_the_open_question() -> None:
    table = Table(READY + TWO + RUIN)
    table.play("red ruin-n rock\nwait 30")
    rows = table.play("button\nwait 30")
    assert rows.named == ["repeated"]
    assert rows.lines == ["no-creatures", "guardian-waits", "missing", "guardian-reminder"]


def test_the_button_repeats_with_numbers_instead_of_tones() -> None:
    table = Table(READY + TWO + "chance site ariki\nwhite jungle-w explore\nwait 300")
    assert table.all.sounds.count("point") == 3
    rows = table.play("button\nwait 300")
    assert rows.named == ["repeated"]
    assert "point" not in rows.sounds
    assert rows.cues("say", line="points", args={"points": 3})
    assert rows.sounds == ["harp"]
    assert rows.cues("say", line="ariki-cards", args={"cards": 1})


def test_the_button_repeats_everything_since_the_last_accepted_contact() -> None:
    table = Table(READY + TWO)
    first = table.play("chance relics 2\nwhite beach-s explore\nwait 30").lines
    table.play("white beach-s one\nwait 10")
    assert table.play("button\nwait 30").lines == first
    assert table.play("button\nwait 30").lines == first


def test_the_button_stops_the_story_only_and_what_follows_is_said() -> None:
    table = Table(READY + TWO)
    table.play("chance site ariki\nchance spawn spider\nchance place beach-s\nwhite jungle-w explore\nwait 30")
    assert table.all.lines[-1].startswith("story-")
    rows = table.play("button\nwait 60")
    assert rows[0]["event"] == "interrupted"
    assert rows[1]["cue"] == "stop"
    assert not [line for line in rows.lines if line.startswith("story")]
    assert rows.heard == ["rumble", "spider", "creature-appears", "appears-place"]
    assert table.play("button\nwait 300").named == ["repeated"]


def test_the_button_while_the_story_is_announced_skips_it_and_keeps_the_facts() -> None:
    table = Table(READY + TWO + "chance site ariki\nwhite jungle-w explore\nwait 1")
    rows = table.play("button\nwait 60")
    assert rows.named == ["interrupted"]
    assert not rows.cues("stop"), "the harp is a fact"
    assert rows.heard == ["ariki-found", "point", "point", "point", "ariki-cards"]


def test_the_story_lasts_at_least_40_seconds() -> None:
    for language in ("de", "en"):
        table = Table(READY + TWO + ARIKI, language=language)
        story = [row["t"] for row in table.all.cues("say") if row["line"].startswith("story")]
        last = next(row for row in reversed(table.all.cues("say")) if row["line"].startswith("story"))
        assert story[-1] - story[0] + 0.065 * len(last["text"]) >= 40


def test_volume_steps_come_round_by_long_presses() -> None:
    table = Table(READY + TWO)
    rows = table.play("button long\nwait 9\n" * 6)
    assert [row["level"] for row in rows.events("volume")] == [4, 5, 1, 2, 3, 4]
    assert rows.lines == ["volume"] * 6
    assert table.play("power off\npower on\nwait 60\nbutton long").events("volume", level=5)


# --- speaking and being touched


def test_a_contact_is_accepted_while_something_is_said_and_facts_finish() -> None:
    table = Table(READY + TWO)
    rows = table.play("chance relics 3\nwhite beach-s explore\nchance relics 2\nred beach-sw explore\nwait 60")
    assert [row["figure"] for row in rows.events("relics")] == ["white", "red"]
    said = [row["args"]["found"] for row in rows.cues("say", line="finds")]
    assert said == [3, 2]


def test_chatter_fades_for_a_contact() -> None:
    table = Table(READY + "white beach-s explore\n")
    rows = table.play("red beach-sw explore\nwait 60")
    assert rows[0]["cue"] == "stop", "the first sentence was chatter"
    assert rows.lines.count("discovered") == 2
    assert "game-started" not in rows.lines


@pytest.mark.parametrize("then", ["red beach-sw explore", "red beach-sw rock"])
def test_facts_of_an_earlier_contact_outlive_the_repetition_of_a_later_one(then: str) -> None:
    table = Table(READY + TWO + "chance site tower\ngreen beach-ne explore\n")
    rows = table.play(f"{then}\nwait 1\nbutton\nwait 60")
    assert rows.heard[:3] == ["harp", "discovered", "finds"]
    assert rows.named[-1] == "repeated"
    repeated = ["no-creatures"] if then.endswith("rock") else ["revisited", "finds"]
    assert rows.lines[2:] == repeated


def test_an_error_is_heard_at_once_and_the_story_goes_on() -> None:
    table = Table(READY + TWO + "chance site ariki\nwhite jungle-w explore\nwait 30")
    broken = table.all.lines[-1]
    rows = table.play("red jungle-w one\nwait 2")
    assert rows.cues("stop")
    assert rows.heard == ["error", broken]


# --- who is it?


@pytest.mark.parametrize(
    ("answer", "figure"), [("one", "white"), ("two", "red"), ("three", "green"), ("fire", "black")]
)
def test_who_is_it_is_answered_by_a_touch_field(answer: str, figure: str) -> None:
    table = Table(READY)
    rows = table.play("? beach-ne explore\nwait 20")
    assert rows.named == ["who_asked"]
    assert rows.lines == ["who"]
    rows = table.play(f"? mountain-ne {answer}")
    assert rows.events("entered", figure=figure, field="beach-ne")


def test_explore_repeats_who_is_it_and_rock_drops_it() -> None:
    table = Table(READY + "? beach-ne two\nwait 20")
    rows = table.play("? beach-s explore\nwait 20")
    assert rows.lines == ["who"]
    assert not rows.events("game_started")
    assert table.play("? beach-s rock\nwait 20") == []
    assert table.play("? beach-s one\nwait 20").named == ["who_asked"], "a new contact, no answer"


def test_a_contact_with_a_known_figure_drops_who_is_it_and_counts() -> None:
    table = Table(READY + "? beach-ne explore\nwait 20")
    assert table.play("red beach-sw explore").events("entered", figure="red", field="beach-sw")
    assert not table.all.events("entered", field="beach-ne")
    table.play("wait 30\n? beach-ne explore\nwait 20\nred beach-sw explore\nwait 20")
    assert table.play("? beach-ne three").reasons == ["nothing_pending"], "no answer any more"


def test_a_rejected_contact_with_a_known_figure_drops_who_is_it_too() -> None:
    table = Table(READY + "? beach-ne explore\nwait 20\nred jungle-n explore\nwait 5")
    assert table.play("? beach-s one").named == ["who_asked"]


def test_the_answer_carries_the_touch_field_that_was_asked_about() -> None:
    table = Table(READY + "? beach-ne three\nwait 20")
    assert table.play("? beach-ne fire").events("game_started", level="expert")


def test_an_answer_may_be_rejected() -> None:
    table = Table(READY + TWO)
    table.play("? beach-s one\nwait 20")
    assert table.all.reasons == ["nothing_pending"], "whoever it was: the answer cannot be accepted"
    assert not table.all.events("who_asked")


def test_who_is_it_is_dropped_when_the_button_begins_the_intro() -> None:
    table = Table(READY + "? beach-ne explore\nwait 20\nbutton\nwait 60")
    assert table.play("? beach-s explore").events("figure_inferred", figure="white")


def test_who_is_it_is_dropped_when_a_long_press_makes_the_unit_ready() -> None:
    table = Table(READY + LOST + "wait 100\n? beach-ne explore\nwait 20\nbutton long\nwait 30")
    assert table.play("? beach-s one").named == ["who_asked"]


@pytest.mark.parametrize("line", ["? jungle-n explore", "? beach-s fire", "? statue-n one"])
def test_nobody_is_asked_for_when_anybody_s_contact_would_be_an_error(line: str) -> None:
    table = Table(READY)
    rows = table.play(f"{line}\nwait 10")
    assert rows.named == ["rejected"]
    assert rows.reasons == ["no_game"]


def test_the_button_repeats_who_is_it() -> None:
    table = Table(READY + TWO)
    table.play("? beach-nw explore\nwait 30")
    assert table.all.events("who_asked")
    rows = table.play("button\nwait 30")
    assert rows.named == ["repeated"]
    assert rows.lines[-1] == "who"
    assert table.play("? beach-nw three").events("entered", figure="green")


# --- the figure inferred


ASKED = READY + TWO + RUIN
"""The guardian waits for White alone."""


def test_the_figure_is_inferred_from_the_open_question_and_said() -> None:
    table = Table(ASKED)
    rows = table.play("? ruin-n one")
    assert rows.events("figure_inferred", figure="white")
    assert not rows.events("relics_handed"), "the button may still object"
    assert rows.lines == ["inferred"]
    assert table.play("wait 10").events("relics_handed", figure="white", count=1)


def test_a_fact_under_way_finishes_before_the_inference_is_said_and_played() -> None:
    table = Table(ASKED + "red ruin-n rock\n? ruin-n one\n")
    rows = table.play("wait 60")
    assert rows.lines[:1] == ["inferred"]
    (said,) = rows.cues("say", line="inferred")
    (handed,) = rows.events("relics_handed")
    assert handed["t"] == pytest.approx(said["t"] + 0.065 * len(said["text"]), abs=0.002)


def test_red_explores_is_said() -> None:
    table = Table(READY + "button\nwait 60")
    rows = table.play("? beach-s explore\nwait 60")
    assert rows.events("figure_inferred", figure="white")
    assert rows.lines[0] == "explores"
    assert rows.events("discovered", figure="white", field="beach-s", site="temple")


@pytest.mark.parametrize("press", ["button", "button long"])
def test_the_button_while_it_is_said_asks_who_it_was(press: str) -> None:
    table = Table(ASKED + "? ruin-n one")
    rows = table.play(f"{press}\nwait 20")
    assert rows.named == ["who_asked"]
    assert rows.lines == ["who"]
    rows = table.play("? ruin-n two\nwait 10")
    assert rows.reasons == ["not_yours"]
    table.play("? ruin-n two\nbutton\nwait 10")
    assert table.play("? ruin-n one").events("relics_handed", figure="white", count=2)


def test_the_next_touch_agrees_with_what_was_inferred() -> None:
    table = Table(ASKED + "? ruin-n three")
    rows = table.play("red beach-sw rock\nwait 30")
    assert rows.named[0] == "relics_handed"
    assert "creature_places" in rows.named


def test_an_inferred_contact_is_repeated_without_its_announcement() -> None:
    table = Table(ASKED + "? ruin-n one\nwait 30")
    assert "inferred" not in table.play("button\nwait 30").lines


# --- silence


def test_an_open_question_is_repeated_once_after_90_seconds() -> None:
    table = Table(READY + TWO + ARIKI + "chance guardian stone\nchance demand 7\nwhite ruin-n explore\nwait 20")
    said = table.all.cues("say", line="guardian-question")[-1]
    ended = said["t"] + 0.065 * len(said["text"])
    rows = table.play("wait 1000")
    assert rows.named == ["repeated"]
    assert rows.events("repeated")[0]["t"] == pytest.approx(ended + REPEAT_QUESTION_S, abs=0.002)
    assert rows.lines == ["guardian-waits", "missing", "guardian-reminder"]


def test_a_touch_begins_the_90_seconds_again() -> None:
    table = Table(ASKED)
    assert table.play("wait 50\nred ruin-n one\nwait 80").named == ["rejected"]
    assert table.play("wait 20").named == ["repeated"]


def test_without_an_open_question_nothing_is_repeated() -> None:
    assert Table(READY + TWO).play("wait 1000") == []


def test_after_20_minutes_the_lights_go_out_and_the_touch_that_wakes_counts() -> None:
    table = Table(READY + TWO)
    assert table.all.cues("symbols")[-1]["lit"] == ["circle"]
    rows = table.play(f"wait {SLEEP_S + 60}")
    assert rows.untimed == [{"cue": "symbols", "lit": []}]
    rows = table.play("chance relics 1\nwhite beach-s explore\nwait 30")
    assert rows.untimed[0] == {"cue": "symbols", "lit": ["circle"]}
    assert rows.events("relics", figure="white", count=1)
    assert rows.cues("symbols")[-1]["lit"] == ["star"]


def test_20_minutes_count_from_power_on_too() -> None:
    table = Table("wait 30\npower off\nwait 1500\npower on\nwait 60")
    assert table.play("wait 1100").cues("symbols") == []
    assert table.play("wait 100").cues("symbols", lit=[])


def test_20_minutes_count_from_the_last_touch() -> None:
    table = Table(READY + TWO + "wait 1100\nred beach-s rock\nwait 1100")
    assert not table.all.cues("symbols", lit=[])[1:] or table.all.cues("symbols")[-1]["lit"] == ["circle"]
    assert table.play("wait 200").cues("symbols", lit=[])


def test_a_question_repeated_by_itself_is_no_touch() -> None:
    table = Table(READY + TWO + ARIKI + "chance spawn none\nred ruin-n explore\n")
    assert table.play(f"wait {SLEEP_S - 1}").events("repeated")
    assert table.all.cues("symbols")[-1]["lit"] != []
    assert table.play("wait 1").untimed == [{"cue": "symbols", "lit": []}]


def test_the_push_button_wakes_and_counts() -> None:
    table = Table(READY + TWO + "wait 1300")
    rows = table.play("button\nwait 30")
    assert rows.named == ["repeated"]
    assert rows.untimed[0] == {"cue": "symbols", "lit": ["circle"]}
    assert not table.play("wait 1100").cues("symbols"), "20 minutes from the press"


# --- settings


def test_settings_are_opened_by_the_button_held_at_power_on() -> None:
    table = Table("power off\npower on held\nwait 30")
    assert "settings" in table.all.lines
    assert not table.all.events("ready")
    rows = table.play("? beach-s two\nwait 30")
    assert rows.lines == ["language", "settings"]
    assert rows.cues("say", line="language", text=rows.cues("say", line="language")[0]["text"])
    english = rows.cues("say", line="settings")[0]["text"]
    german = table.play("white statue-n one\nwait 30").cues("say", line="settings")[0]["text"]
    assert english != german
    rows = table.play("white beach-s three\nwait 30")
    assert rows.events("volume", level=4)
    assert table.play("white beach-s rock\nwait 30").lines == ["settings"]
    rows = table.play("white beach-s fire\nwait 30")
    assert rows.sounds == ["error"]
    rows = table.play("button\nwait 30")
    assert rows.named == ["ready"]
    assert rows.sounds == ["greeting"]


def test_settings_last_over_a_power_cut() -> None:
    table = Table("power off\npower on held\nwait 5\nred beach-s two\nred beach-s three\npower off\npower on\nwait 20")
    assert table.all.cues("say", line="welcome")[-1]["text"] == Table(READY, language="en").all.cues("say")[0]["text"]
    assert table.play("button long").events("volume", level=5)


def test_the_self_test_lights_every_symbol_sounds_and_says_what_is_broken() -> None:
    table = Table("power off\npower on held\nwait 20")
    rows = table.play("white beach-s explore\nwait 60")
    assert [row["lit"] for row in rows.cues("symbols") if len(row["lit"]) == 1] == [[each] for each in SYMBOLS]
    assert [row["args"]["symbol"] for row in rows.cues("say", line="light")] == SYMBOLS
    assert rows.sounds == ["harp", "point", "error"]
    assert "no-faults" in rows.lines
    assert rows.lines[-1] == "check-mode"
    assert rows.cues("symbols")[-1]["lit"] == SYMBOLS


FAULTS: dict[Fault, list[Any]] = {
    Fault(Part.BUS, "", "the bus"): ["fault-bus"],
    Fault(Part.CHIP, "2", "a chip"): [("fault-chip", {"chip": 2})],
    Fault(Part.PAD, "beach-s", "a field"): ["fault-pad", ("field-name", {"field": "beach-s"})],
    Fault(Part.PAD, "rock", "a Touch field"): ["fault-pad", ("touch-name", {"touch": "rock"})],
    Fault(Part.PAD, "b", "a rail"): ["fault-pad", ("rail-name", {"rail": "b"})],
    Fault(Part.PAD, "black", "a colour pad"): ["fault-pad", ("badge-name", {"figure": "black"})],
    Fault(Part.LIGHT, "star", "a light"): ["fault-light", ("light", {"symbol": "star"})],
    Fault(Part.BUTTON, "", "the button"): ["fault-button"],
    Fault(Part.BATTERY, "", "the battery"): ["fault-battery"],
    Fault(Part.SOUND, "", "the card"): ["fault-sound"],
}


def self_test(faults: list[Fault], language: str = "de") -> Rows:
    table = Table(SETTINGS, language=language)
    table.console.unit.faults = faults
    return table.play("white beach-s explore\nwait 200")


def test_where_no_touch_field_answers_the_button_held_begins_the_self_test() -> None:
    table = Table(SETTINGS)
    table.console.unit.faults = [Fault(Part.BUS, "", "the bus")]
    rows = table.play("button long\nwait 200")
    assert rows.lines[0] == "self-test"
    assert rows.lines[-2:] == ["fault-bus", "check-mode"]
    assert table.play("button\nwait 30").lines == ["settings"]
    assert table.play("button\nwait 30").named == ["ready"]


@pytest.mark.parametrize("fault", FAULTS)
def test_the_self_test_names_what_does_not_work(fault: Fault) -> None:
    said = [(row["line"], row["args"]) for row in self_test([fault]).cues("say")]
    named = [each if isinstance(each, tuple) else (each, {}) for each in FAULTS[fault]]
    assert said[-len(named) - 2 :] == [("faults", {"faults": 1}), *named, ("check-mode", {})]


def test_the_self_test_can_name_every_part_there_is() -> None:
    assert {fault.part for fault in FAULTS} == set(Part)
    assert set(RAILS) == set(Rail)


@pytest.mark.parametrize("count", [1, 9, 10, 37, 45])
def test_the_self_test_counts_all_faults_and_names_nine(count: int) -> None:
    rows = self_test([Fault(Part.PAD, field, "dead") for field in (*TITLE.fields, *TITLE.fields)[:count]])
    assert rows.cues("say", line="faults")[0]["args"] == {"faults": min(count, 40)}
    assert len(rows.cues("say", line="field-name")) == min(count, 9)
    assert ("faults-many" in rows.lines) == (count > 9)


# --- the check of contacts, after the self-test


def test_after_the_self_test_every_contact_is_told_by_name() -> None:
    rows = Table(CHECKING, language="en").play("black statue-w three\nwait 20\n? ruin-n fire\nwait 20")
    assert [{**row, "t": 0} for row in rows.events("checked")] == [
        {"t": 0, "event": "checked", "figure": "black", "field": "statue-w", "touch": "three"},
        {"t": 0, "event": "checked", "figure": None, "field": "ruin-n", "touch": "fire"},
    ]
    texts_ = [row["text"] for row in rows.cues("say")]
    assert texts_ == ["Black.", "Statue west.", "Three.", "Unknown figure.", "Ruin north.", "Fire."]


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_figure_field_and_touch_field_has_a_name_of_its_own(language: str) -> None:
    table = Table(CHECKING, language=language)
    told = set()
    for figure in ("?", *FIGURES):
        for touch in TOUCHES:
            told.add(tuple(row["text"] for row in table.play(f"{figure} beach-s {touch}\nwait 20").cues("say")[:3]))
    assert len({who for who, _, _ in told}) == 5
    assert len({what for _, _, what in told}) == 6
    fields = [table.play(f"red {field} explore\nwait 20").cues("say")[1]["text"] for field in TITLE.fields]
    assert len(set(fields)) == 23
    assert set(TITLE.fields) == set(DOMAINS["field"])


def test_rock_is_told_by_name_and_explains() -> None:
    rows = Table(CHECKING).play("red beach-s rock\nwait 60")
    assert rows.lines == ["figure-name", "field-name", "touch-name", "check-mode"]


def test_a_new_contact_interrupts_the_names_of_the_last_one() -> None:
    rows = Table(CHECKING).play("red beach-s one\nwait 0.1\nred beach-s two\nwait 20")
    assert rows.cues("stop")
    assert rows.lines == ["figure-name", "figure-name", "field-name", "touch-name"]


def test_a_contact_in_the_self_test_ends_it_with_all_lights_lit() -> None:
    rows = Table(SETTINGS + "white beach-s explore\nwait 6").play("red beach-s one\nwait 60")
    assert rows.lines == ["figure-name", "field-name", "touch-name"]
    assert rows.cues("symbols")[-1]["lit"] == SYMBOLS


def test_the_button_leads_from_the_check_to_the_settings_and_on_to_the_game() -> None:
    table = Table(READY + TWO + CHECKING)
    assert table.play("button\nwait 30").lines == ["settings"]
    assert table.play("red beach-s three\nwait 5").events("volume")
    assert table.play("button\nwait 30").events("resumed", figure="red")


def test_in_the_check_a_game_to_go_on_is_part_of_the_state() -> None:
    state = Table(READY + TWO + CHECKING).state()
    assert (state["mode"], state["rules"]) == ("checking", "insel")
    table = Table(state=state)
    assert table.play("red beach-s one\nwait 9").events("checked")
    assert table.play("button\nwait 1\nbutton\nwait 30").events("resumed", figure="red")


def test_settings_with_a_game_to_go_on_resume_it_afterwards() -> None:
    table = Table(READY + TWO + "power off\npower on held\nwait 20")
    assert table.play("button\nwait 20").events("resumed", figure="red")


# --- power cut


def test_a_power_cut_in_the_intro_leads_back_to_ready() -> None:
    table = Table(READY + "button\nwait 60\nwhite beach-s explore\nwait 60\npower off\nwait 5")
    rows = table.play("power on\nwait 30")
    assert rows.named == ["powered_on", "ready"]
    assert table.play("button").events("intro_started")


def test_a_game_resumes_with_who_was_last_and_what_is_open() -> None:
    table = Table(ASKED + "power off\nwait 3\nwhite ruin-n one\nbutton\nwait 3")
    rows = table.play("power on\nwait 60")
    assert rows.named == ["powered_on", "resumed"]
    (resumed,) = rows.events("resumed")
    assert (resumed["figure"], resumed["pending"]) == ("white", "guardian")
    assert rows.lines == ["goes-on", "last", "guardian-waits", "missing", "guardian-reminder"]
    assert table.play("white ruin-n two\nwait 30").events("relics_handed", missing=5)


def test_a_game_cut_off_in_its_first_sentence_resumes() -> None:
    table = Table(READY + "chance site temple\nwhite beach-s explore\npower off\npower on\nwait 30")
    (resumed,) = table.all.events("resumed")
    assert resumed["figure"] == "white"
    assert table.play("red beach-s explore").reasons == ["boat_taken"]


def test_after_resuming_a_press_repeats_and_a_second_gives_up() -> None:
    table = Table(ASKED + "power off\npower on\nwait 60")
    rows = table.play(f"button\nwait {GIVE_UP_S + 1}\nbutton\nwait 1")
    assert rows.named == ["repeated", "repeated"]
    assert rows.lines[0] == "goes-on"
    rows = table.play("button\nwait 60")
    assert rows.named == ["ready"]
    assert rows.lines == ["given-up"]
    assert table.play("power off\npower on\nwait 30").named == ["powered_on", "ready"], "nothing is left to resume"


def test_after_an_accepted_contact_two_presses_only_repeat() -> None:
    table = Table(ASKED + "power off\npower on\nwait 60\nwhite ruin-n one\nwait 30")
    assert table.play("button\nwait 1\nbutton\nwait 1\nbutton").named == ["repeated"] * 3


def test_with_weak_batteries_the_first_press_only_acknowledges_them() -> None:
    table = Table("wait 1\nbutton\n" + ASKED, low_battery=True)
    rows = table.play("power off\npower on\nwait 9\nbutton\nwait 60")
    assert rows.named == ["powered_on", "battery_low", "resumed"]
    assert table.play("button\nwait 1").named == ["repeated"]
    assert table.play("button\nwait 1").named == ["ready"]


def test_a_contact_before_resumed_is_ignored() -> None:
    table = Table(ASKED + "power off\npower on\nwait 1")
    assert table.play("white ruin-n one") == []
    assert table.play("wait 30").named == ["resumed"]


def test_a_finished_game_is_not_resumed() -> None:
    assert Table(READY + LOST + "power off\npower on\nwait 30").all.named[-1] == "ready"


def test_resumed_always_says_who_and_what_even_if_nothing_is_open() -> None:
    (resumed,) = Table(READY + TWO + "power off\npower on\nwait 30").all.events("resumed")
    assert list(resumed.items())[1:] == [("event", "resumed"), ("figure", "red"), ("pending", None)]


def test_a_second_cut_resumes_again() -> None:
    table = Table(ASKED + "power off\npower on\nwait 60\nwhite ruin-n one\nwait 9\npower off\npower on\nwait 60")
    (*_, resumed) = table.all.events("resumed")
    assert (resumed["figure"], resumed.get("pending")) == ("white", None)
    assert table.play("chance spawn none\nred ruin-n explore").events("guardian_asks", missing=6)


# --- the end


def test_the_end_is_told_from_last_to_first_with_the_winner() -> None:
    rows = Table(READY).play(LOST + "wait 100")
    (over,) = rows.events("game_over")
    assert over["reason"] == "creatures"
    assert over["saved"] is False
    told = rows.lines[rows.lines.index("over-lost") :]
    assert told == ["over-lost", "name", "total", "name", "total", "nobody-fought"]


def test_after_the_end_the_button_repeats_the_result() -> None:
    table = Table(READY + LOST + "wait 100")
    rows = table.play("button\nwait 1\nbutton\nwait 100")
    assert rows.named == ["repeated", "repeated"]
    assert rows.lines[-1] == "nobody-fought"
    assert "over-lost" in rows.lines


def test_after_the_end_a_boat_field_starts_the_next_game() -> None:
    table = Table(READY + LOST + "wait 100")
    assert table.play("green jungle-n explore").reasons == ["no_game"]
    rows = table.play("green beach-ne two\nwait 30")
    assert rows.events("game_started", level="advanced")
    assert rows.events("entered", figure="green")


def test_after_the_end_a_long_press_makes_the_unit_ready() -> None:
    table = Table(READY + LOST + "wait 100")
    assert table.play("button long\nwait 30").named == ["ready"]
    assert table.play("button").events("intro_started")


# --- wordings


def test_two_wordings_never_come_twice_running() -> None:
    table = Table(READY + TWO)
    said = [
        table.play("chance spawn none\nwhite ruin-n explore\nwait 20").cues("say", line="field-silent")[0]["text"]
        for _ in range(4)
    ]
    assert all(one != other for one, other in itertools.pairwise(said))


def test_cues_last_as_long_as_their_text() -> None:
    rows = Table(READY).all.cues("say")
    assert rows[1]["t"] - rows[0]["t"] == pytest.approx(0.065 * len(rows[0]["text"]), abs=0.001)


def test_a_unit_that_is_off_takes_nothing() -> None:
    unit = Unit(TITLE, texts)
    unit.press(1.0, Press())
    unit.tick(2.0)
    assert unit.take() == []
    assert unit.next_timer() is None
