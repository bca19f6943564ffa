"""The console's contract (docs/console.md): lines, chance, state, records, the same output everywhere."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from table import ARIKI, TITLE, TWO, Rows, Table, texts

from firmware.catalogue import load
from firmware.console import Console, Transcript, run, write_json
from firmware.game.kernel import StateError, next_random, replay, unfinished
from firmware.terms import TOUCHES

if TYPE_CHECKING:
    from collections.abc import Iterable

READY = "wait 30\n"
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
LONG = "".join(
    f"{figure} {field} explore\nwait 7\n{figure} {field} {answer}\nwait 30\n"
    for figure, field, answer in (
        ("white", "beach-s", "one"),
        ("red", "beach-sw", "two"),
        ("green", "beach-nw", "three"),
        ("white", "jungle-s", "one"),
        ("red", "jungle-w", "fire"),
        ("green", "jungle-nw", "two"),
        ("white", "ruin-s", "three"),
        ("red", "ruin-w", "two"),
        ("green", "statue-w", "one"),
        ("white", "jungle-se", "one"),
        ("red", "jungle-n", "fire"),
        ("green", "mountain-nw", "three"),
        ("white", "ruin-s", "three"),
        ("red", "ruin-w", "three"),
        ("green", "ruin-n", "three"),
    )
)


# --- lines that cannot be used


@pytest.mark.parametrize(
    "line",
    [
        "purple beach-s explore",
        "white nowhere explore",
        "white beach-s dance",
        "White beach-s explore",
        "white beach-s",
        "white beach-s explore now",
        "?",
        "? beach-s",
        "button hard",
        "button long long",
        "wait",
        "wait soon",
        "wait -1",
        "wait nan",
        "wait inf",
        "wait 1 2",
        "chance",
        "chance spawn",
        "chance spawn unicorn",
        "chance weather rain",
        "chance relics 5",
        "chance relics one",
        "chance demand 0",
        "chance place nowhere",
        "chance attack maybe",
        "chance fight stays now",
        "power",
        "power on",
        "power up",
        "power off now",
        "power on hold",
        "state please",
        "quit now",
        "hello",
    ],
)
def test_a_line_that_cannot_be_used_is_one_complaint_and_changes_nothing(line: str) -> None:
    table = Table(READY + TWO)
    complaint = table.misuse(line)
    assert complaint.startswith(line)
    assert "\n" not in complaint
    assert table.status == 2


def test_good_lines_still_count_after_bad_ones() -> None:
    table = Table(READY)
    table.misuse("white beach-s dance")
    assert table.play("white beach-s explore").events("game_started")
    assert table.status == 2, "the exit status tells of the bad line in the end"


@pytest.mark.parametrize("line", ["", "   ", "# white beach-s explore", "#quit", "  # remark"])
def test_remarks_and_empty_lines_are_ignored(line: str) -> None:
    table = Table(READY)
    assert table.play(line) == []
    assert table.status == 0


def test_quit_ends() -> None:
    table = Table()
    assert run(table.console, ["wait 30\n", "quit\n", "white beach-s explore\n"]) == 0
    assert table.all.named == ["powered_on", "ready"]


def test_white_space_around_words_does_not_matter() -> None:
    assert Table(READY).play("   white\tbeach-s   explore  ").events("game_started")


def test_power_off_twice_is_misuse_and_an_off_volcano_hears_nothing() -> None:
    table = Table(READY + "power off")
    assert "off" in table.misuse("power off")
    assert table.play("white beach-s explore\nbutton\nbutton long\nwait 2000") == []


# --- time


def test_without_wait_no_time_passes() -> None:
    table = Table(READY)
    rows = table.play("white beach-s explore\nred beach-sw explore\nbutton\nbutton long")
    assert {row["t"] for row in rows} == {30.0}


def test_times_have_three_decimals_never_run_back_and_are_not_reset_by_power_off() -> None:
    table = Table("wait 0.1234\nwait 40\n" + TWO + "power off\nwait 1.0005\npower on\nwait 30\n" + LONG)
    times = [row["t"] for row in table.rows]
    assert times == sorted(times)
    assert all(round(time, 3) == time for time in times)
    assert table.all.events("powered_on")[1]["t"] == pytest.approx(101.124, abs=0.002)


def test_waiting_in_pieces_is_waiting() -> None:
    whole = Table(READY + "white beach-s explore\nwait 20").all.untimed
    pieces = Table(READY + "white beach-s explore\n" + "wait 0.25\n" * 80).all.untimed
    assert pieces == whole


def test_cues_not_yet_begun_at_the_end_are_not_printed() -> None:
    assert Table(READY + "white beach-s explore").all.lines[-1] == "game-started"


# --- what every row looks like


def test_every_row_has_a_time_and_is_an_event_or_a_cue() -> None:
    rows = Table(READY + "button\nwait 40\nwhite beach-s explore\nwait 30\npower off\npower on\n" + READY + LONG).all
    for row in rows:
        assert next(iter(row)) == "t"
        assert ("event" in row) != ("cue" in row)
        if row.get("cue") == "say":
            assert list(row) == ["t", "cue", "line", "args", "text", "voice"]
            assert row["text"] == row["text"].strip() != ""
        if row.get("cue") == "symbols":
            assert set(row) == {"t", "cue", "lit"}


def test_order_the_events_of_a_contact_come_before_its_cues() -> None:
    rows = Table(READY).play("white beach-s explore\nwait 30")
    first_cue = next(number for number, row in enumerate(rows) if "cue" in row)
    assert all("event" in row for row in rows[:first_cue])
    assert all("cue" in row for row in rows[first_cue:])


def test_a_creature_appears_before_it_attacks() -> None:
    table = Table(READY + TWO + ARIKI.replace("none", "dragon\nchance place ambush"))
    rows = table.play("red ruin-n explore\nwait 30")
    assert rows.named[:3] == ["creature_appeared", "dragon_attacks", "creature_met"]


# --- chance


def test_chances_are_queued_per_kind_first_in_first_out() -> None:
    table = Table(READY + "chance site tower\nchance relics 4\nchance site well\nchance relics 0\n")
    rows = table.play("white beach-s explore\nred beach-sw explore\nwhite beach-s explore\nred beach-sw explore")
    assert [row["site"] for row in rows.events("discovered")] == ["tower", "well"]
    assert [row["count"] for row in rows.events("relics")] == [1, 1, 4, 0]


def test_unused_chances_are_no_error() -> None:
    table = Table(READY + "chance golem_tablet yes\nchance relics 3")
    assert table.status == 0


def test_a_chance_given_before_the_intro_waits_for_the_game() -> None:
    table = Table(READY + "chance site tower\nbutton\nwait 60\nwhite beach-s explore\nwait 60\npower off\npower on")
    table.play(READY)
    assert table.play("white beach-s explore").events("discovered", site="tower")


def test_an_outcome_may_be_one_that_the_odds_exclude() -> None:
    table = Table(READY + TWO + "chance site ariki\nchance spawn gnome\nchance place beach-s\nwhite jungle-w explore")
    assert table.all.events("creature_appeared", creature="gnome", field="beach-s"), "in the volcano's quiet turns"
    assert table.status == 0


@pytest.mark.parametrize(
    ("before", "chance", "contact"),
    [
        ("", "site ariki", "green beach-ne explore"),
        ("", "site temple", "green beach-ne explore"),
        (
            ARIKI,
            "spawn spider\nchance place ruin-n\nchance cards 0",
            "white jungle-w explore\nchance spawn spider\nred beach-s explore",
        ),
        (ARIKI, "place jungle-n\nchance spawn spider\nchance cards 0", "white jungle-w explore"),
        (RUIN, "guardian stone", "white ruin-e explore"),
    ],
)
def test_an_outcome_that_the_rules_exclude_is_one_complaint_at_the_command_that_meets_it(
    before: str, chance: str, contact: str
) -> None:
    table = Table(READY + TWO + before)
    for line in f"chance {chance}\n{contact}".splitlines():
        table.console.command(line)
    assert table.status == 2
    (complaint,) = table.complaints
    assert "excludes" in complaint or "exclude" in complaint
    assert "event" in table.rows[-1] or "cue" in table.rows[-1], "the draw is made by the odds and the game goes on"


def test_an_excluded_outcome_leaves_the_draw_to_the_odds() -> None:
    plain = Table(READY + TWO).play("green beach-ne explore")
    table = Table(READY + TWO)
    for line in ("chance site hermit", "green beach-ne explore"):
        table.console.command(line)
    assert Rows(table.rows[-len(plain) :]).untimed == plain.untimed


def test_every_outcome_of_every_kind_can_be_named() -> None:
    table = Table()
    for kind, outcomes in TITLE.game.chances.items():
        for outcome in sorted(map(str, outcomes)):
            table.play(f"chance {kind} {outcome}")


def test_a_rejected_contact_takes_no_chance() -> None:
    table = Table(READY + TWO + "chance site tower\ngreen jungle-n explore\ngreen beach-s explore\n")
    assert table.play("green beach-ne explore").events("discovered", site="tower")


# --- the same everywhere


def lines_of(rows: Iterable[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def test_the_same_seed_and_input_give_the_same_output_byte_for_byte() -> None:
    script = READY + LONG + "power off\npower on\nwait 30\n" + LONG
    one, other = Table(script), Table(script)
    assert lines_of(one.rows) == lines_of(other.rows)
    assert one.file.getvalue() == other.file.getvalue()


def test_another_seed_gives_another_game() -> None:
    assert len({lines_of(Table(READY + LONG, seed=seed).rows) for seed in range(4)}) == 4


def test_games_after_one_another_differ() -> None:
    table = Table(READY)
    sites = []
    for _ in range(12):
        sites.append(table.play("white beach-s explore\nwait 30").events("discovered")[0]["site"])
        table.play("power off\npower on\nwait 60\nbutton\nwait 1\nbutton\nwait 30")
    assert len(set(sites)) > 2


def test_the_language_changes_words_only() -> None:
    german, english = (Table(READY + LONG, language=language) for language in ("de", "en"))
    events = [[row for row in table.all.untimed if "event" in row] for table in (german, english)]
    assert events[0] == events[1]
    assert german.file.getvalue() == english.file.getvalue()
    assert german.all.cues("say")[0]["line"] == english.all.cues("say")[0]["line"]
    assert german.all.cues("say")[0]["text"] != english.all.cues("say")[0]["text"]


def test_json_is_written_as_utf_8_lines(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_json({"t": 1.5, "cue": "say", "text": "Weiß hört zu"})
    out, _ = capfdbinary.readouterr()
    assert out == '{"t": 1.5, "cue": "say", "text": "Weiß hört zu"}\n'.encode()


def test_a_line_that_is_no_utf_8_is_one_complaint() -> None:
    table = Table()
    file = io.TextIOWrapper(io.BytesIO(b"wait 30\nwei\xdf beach-s explore\nwhite beach-s explore\n"), encoding="ascii")
    assert run(table.console, file) == 2
    assert len(table.complaints) == 1
    assert table.all.events("game_started")


# --- state


MODES = {
    "off": READY + "power off\n",
    "off in a game": READY + TWO + RUIN + "power off\n",
    "greeting": "wait 1\n",
    "greeting with a game": READY + TWO + "power off\npower on\nwait 1\n",
    "settings": "power off\npower on held\nwait 5\n",
    "settings with a game": READY + TWO + "power off\npower on held\nwait 5\nred beach-s two\nwait 1\n",
    "checking": "power off\npower on held\nwait 5\nwhite beach-s explore\nwait 60\n",
    "checking with a game": READY + TWO + "power off\npower on held\nwait 5\nwhite beach-s explore\nwait 9\n",
    "ready": READY,
    "ready after an error": READY + "white beach-s fire\nwait 5\n",
    "ready and asking": READY + "? beach-s explore\nwait 30\n",
    "intro": READY + "button\nwait 60\nwhite beach-s explore\nwait 60\n",
    "intro asking": READY + "button\nwait 60\nwhite beach-s explore\nred beach-sw explore\nwait 40\n",
    "playing": READY + TWO,
    "playing with a question": READY + TWO + RUIN,
    "playing and speaking": READY + "white beach-s explore\n",
    "playing and inferring": READY + TWO + RUIN + "? ruin-n one\n",
    "playing with weak batteries": READY + TWO + "battery low\nwait 2\n",
    "playing with batteries that have become weak": READY + TWO + "battery low\nwait 20\n",
    "after rock": READY + TWO + RUIN + "red ruin-n rock\nwait 20\n",
    "resumed": READY + TWO + RUIN + "power off\npower on\nwait 40\n",
    "over": READY + LOST + "wait 100\n",
    "ready after a game": READY + LOST + "wait 100\nbutton long\nwait 20\n",
}
TAIL = (
    "wait 40\nbutton\nwait 40\nwhite ruin-n two\nwait 30\nred beach-sw explore\nwait 30\nwhite beach-s explore\n"
    "wait 30\n? beach-ne explore\nwait 20\n? beach-ne three\nwait 30\ngreen jungle-n explore\nwait 30\n"
    "green jungle-n one\nwait 30\nbutton long\nwait 9\nred statue-n explore\nwait 120\n"
)


@pytest.mark.parametrize("mode", MODES)
def test_a_volcano_started_from_a_state_has_that_state(mode: str) -> None:
    state = Table(MODES[mode]).state()
    assert Table(state=state).state() == state


@pytest.mark.parametrize("mode", MODES)
def test_a_volcano_started_from_a_state_goes_on_as_the_original(mode: str) -> None:
    start = "power on\nwait 40\n" if mode.startswith("off") else ""
    original = Table(MODES[mode])
    other = Table(state=original.state())
    if start and "game" not in mode:
        # After a power cut chance starts anew, and how often the power was cut is no part of the state.
        assert other.play(start).named == original.play(start).named
        return
    said = original.play(start + "wait 60\n" + TAIL)
    again = other.play(start + "wait 60\n" + TAIL)
    assert [row for row in again.untimed if "event" in row] == [row for row in said.untimed if "event" in row]


def test_a_restored_result_and_a_restored_announcement_are_repeated_by_the_button() -> None:
    for mode in ("over", "playing with a question", "after rock", "resumed"):
        original = Table(MODES[mode])
        other = Table(state=original.state())
        assert other.play("button\nwait 80").heard == original.play("button\nwait 80").heard != []


def test_a_restored_volcano_shows_its_lights_and_a_weak_one_beeps() -> None:
    assert Table(state=Table(READY + TWO).state()).all.untimed == [{"cue": "symbols", "lit": ["circle"]}]
    rows = Table(state=Table(low_battery=True).state()).play("wait 12\nbutton\nwait 30")
    assert rows.sounds[0] == "beep"
    assert "batteries-weak" in rows.lines


def test_a_restored_game_survives_a_power_cut() -> None:
    table = Table(state=Table(READY + TWO + RUIN).state())
    assert table.play("power off\npower on\nwait 40").events("resumed", figure="white", pending="guardian")


def test_a_state_row_may_have_its_time_or_not() -> None:
    (row,) = Table(READY + TWO).play("state")
    assert row["t"] == 90.0
    assert Table(state=row).state() == Table(READY + TWO).state()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"mode": "asleep"}, "asleep"),
        ({"volume": 9}, "volume"),
        ({"language": "fr"}, "language"),
        ({"seed": "x"}, "x"),
        ({"errors": None}, "int"),
        ({"rules": "chess"}, "chess"),
        ({"rules": None}, "playing"),
        ({"mode": "over"}, "over"),
        ({"mode": "ready"}, "ready"),
        ({"lit": ["moon"]}, "moon"),
        ({"asked": ["nowhere", "one"]}, "nowhere"),
        ({"asked": 3}, "state"),
        ({"inferred": ["white", "beach-s"]}, "state"),
        ({"repeat": [["sing", "la"]]}, "sing"),
        ({"repeat": 7}, "state"),
        ({"game": None}, "state"),
        ({"game": {}}, "missing"),
    ],
)
def test_a_wrong_state_is_named_in_one_line(change: dict[str, Any], told: str) -> None:
    state = {**Table(READY + TWO).state(), **change}
    with pytest.raises(StateError, match=told) as refused:
        Table(state=state)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("key", sorted(Table(READY + TWO).state().keys() - {"weak", "weakened"}))
def test_a_state_that_lacks_a_key_is_named(key: str) -> None:
    state = Table(READY + TWO).state()
    del state[key]
    with pytest.raises(StateError, match=f"{key}|no line"):
        Table(state=state)


@pytest.mark.parametrize("line", ["", "{", "[]", "null", '{"event":"ready"}', '{"t":1}'])
def test_a_line_that_is_no_state_is_named(line: str) -> None:
    console = Console(TITLE, texts, write=print, complain=print)
    with pytest.raises(StateError, match="state: "):
        console.restore(line)


# --- records


def test_a_record_is_replayed_with_the_same_events() -> None:
    table = Table(READY + "button\nwait 60\nwhite beach-s explore\npower off\npower on\nwait 30\n" + LONG)
    table.play("power off\npower on\nwait 30\n" + LONG)
    games = split(table)
    assert [game[0].rules for game in games] == ["insel-intro", "insel"]
    for rules, game in zip((TITLE.intro, TITLE.game), games, strict=True):
        state, _ = replay(rules, game)
        assert rules.load(state.dump()).dump() == state.dump()
    assert replay(TITLE.game, games[1])[0].dump() == table.state()["game"]


def split(table: Table) -> list[list[Any]]:
    games: list[list[Any]] = []
    for record in table.records():
        if hasattr(record, "rules"):
            games.append([])
        games[-1].append(record)
    return games


def test_a_record_from_a_restored_state_is_replayed() -> None:
    table = Table(state=Table(READY + TWO + RUIN).state())
    table.play(LONG)
    (game,) = split(table)
    assert replay(TITLE.game, game)[0].dump() == table.state()["game"]


def test_a_finished_game_is_recorded_as_over_and_one_given_up_as_stopped() -> None:
    assert Table(READY + LOST).records()[-1].reason == "over"  # type: ignore[union-attr]
    table = Table(READY + TWO + "power off\npower on\nwait 40\nbutton\nbutton")
    assert table.records()[-1].reason == "stopped"  # type: ignore[union-attr]
    assert unfinished(table.records()) == []


def test_a_rejected_contact_and_rock_are_not_recorded() -> None:
    table = Table(READY + TWO)
    before = table.file.getvalue()
    table.play("white beach-s one\nwait 5\nred beach-s rock\nwait 9\nbutton\nwait 9\nbutton long")
    assert table.file.getvalue() == before


# --- as text


def test_without_json_the_same_is_text() -> None:
    stream = io.StringIO()
    console = Console(TITLE, load, write=Transcript(stream, colour=False), complain=print)
    console.power_on()
    for line in (READY + TWO + "white beach-s one\nstate\nbutton long\nred beach-s rock\nbutton").splitlines():
        console.command(line)
    told = stream.getvalue().splitlines()
    assert told[0] == "    0.000  * powered_on"
    assert "   30.000  * game_started level=beginner" in told
    assert "   90.000  * rejected reason=nothing_pending" in told
    assert any(": Willkommen" in line for line in told)
    assert "    0.000  [lights: star circle triangle square ariki]" in told
    assert "    3.000  [lights: none]" in told


def test_a_state_is_a_json_line_also_among_text() -> None:
    stream = io.StringIO()
    (row,) = Table(READY).play("state")
    Transcript(stream, colour=True)(row)
    assert json.loads(stream.getvalue()) == row


def test_colour_only_frames_the_text() -> None:
    plain, coloured = io.StringIO(), io.StringIO()
    row = {"t": 3.0, "event": "creature_places", "creatures": {"spider": "beach-s"}}
    Transcript(plain, colour=False)(row)
    Transcript(coloured, colour=True)(row)
    assert plain.getvalue() == '    3.000  * creature_places creatures={"spider":"beach-s"}\n'
    assert coloured.getvalue().replace("\x1b[2m", "").replace("\x1b[0m", "") == plain.getvalue()


# --- anything that somebody may type


@dataclass
class Typist:
    """Types lines that can be used, from a chance of its own."""

    generator: int

    def one_of(self, things: Any) -> Any:
        return things[int(next_random(self) * len(things))]

    def line(self) -> str:
        kind = self.one_of("wwwwwccccccaaaabblhof")
        if kind == "w":
            return f"wait {self.one_of((0, 0.3, 1, 3, 8, 20, 60, 100, 1300))}"
        if kind == "c":
            figure = self.one_of(("white", "red", "green", "black", "?"))
            return f"{figure} {self.one_of(TITLE.fields)} {self.one_of(('explore', 'explore', *TOUCHES))}"
        if kind == "a":
            return f"{self.one_of(('white', 'red', '?'))} {self.one_of(TITLE.fields[:5])} {self.one_of(TOUCHES)}"
        chance = self.one_of(sorted(TITLE.game.chances))
        outcome = self.one_of(sorted(map(str, TITLE.game.chances[chance])))
        lines = {
            "b": "button",
            "l": "button long",
            "h": f"chance {chance} {outcome}",
            "o": self.one_of(("power on", "power on held")),
            "f": self.one_of(("power off", "button", "state", "button")),
        }
        return str(lines[kind])


REASONS = {
    *("not_a_boat_field", "boat_taken", "too_late_to_enter", "nothing_pending"),
    *("not_yours", "wrong_number", "not_expected", "no_game"),
}


@pytest.mark.parametrize("seed", range(16))
def test_whatever_is_typed_the_volcano_goes_on_its_state_is_whole_and_its_record_is_true(seed: int) -> None:
    typist = Typist(seed)
    table = Table(seed=seed, low_battery=seed % 4 == 3, language=("de", "en")[seed % 2])
    for number in range(250):
        table.console.command(typist.line())
        if number % 25 == 0:
            dumped = {"event": "state", **table.console.unit.dump(unfinished(table.console.records))}
            state = json.loads(json.dumps(dumped))
            assert Table(state=state).state() == state
    assert all("the unit is" in each or "exclude" in each for each in table.complaints), table.complaints
    assert set(table.all.reasons) <= REASONS
    times = [row["t"] for row in table.rows]
    assert times == sorted(times)
    for game in split(table):
        replay({"insel": TITLE.game, "insel-intro": TITLE.intro}[game[0].rules], game)
