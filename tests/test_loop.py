"""The event loop over emulated chips and pins, with a clock that only moves when it is told."""

from __future__ import annotations

import errno
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from table import TITLE, Rows, texts

from firmware.audio.player import SilentPlayer
from firmware.game.kernel import Ended, Played
from firmware.hal.backends import mock_hardware
from firmware.hal.emulated_bus import Disturbance
from firmware.hal.ports import POLLS_PER_S
from firmware.hal.wiring import load_wiring
from firmware.journal import Store, read_journal
from firmware.loop import DEBOUNCE_S, LONG_PRESS_S, STUCK_BUTTON, STUCK_PRESS_S, ButtonWatch, Loop
from firmware.terms import SYMBOLS, Contact, Figure, Press, Say, Sound, Touch, nominal_ms
from firmware.unit_events import Settings
from firmware.unit_state import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from firmware.audio.player import Audible
    from firmware.game.kernel import Record
    from firmware.terms import Cue

WIRING = load_wiring(None, TITLE.fields)
POLL_S = 1 / POLLS_PER_S


class Clock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Player(SilentPlayer):
    """Silent; notes what it was told into a log."""

    def __init__(self, clock: Clock, log: list[Any]) -> None:
        super().__init__(clock)
        self.log = log
        self.closed = False

    def play(self, cue: Audible, following: Cue | None = None) -> None:
        self.log.append(cue)
        super().play(cue, following)

    def close(self) -> None:
        self.closed = True
        super().close()


class LoggingStore(Store):
    """A store that notes what has reached the disk, as the next reader would find it."""

    def __init__(self, folder: Path, log: list[Any], warnings: list[str]) -> None:
        super().__init__(folder, warnings.append)
        self.log = log

    def append(self, *records: Record) -> None:
        super().append(*records)
        self.log += records


class Volcano:
    """A board, a player, a disk and the loop between them."""

    def __init__(self, folder: Path, seed: int = 3) -> None:
        self.clock = Clock()
        self.mock = mock_hardware(WIRING, self.clock)
        self.log: list[Any] = []
        self.warnings: list[str] = []
        self.player = Player(self.clock, self.log)
        self.store = LoggingStore(folder, self.log, self.warnings)
        self.rows = Rows()
        self.loop = Loop(
            TITLE, texts, self.mock.hardware, self.player, self.store, seed=seed, clock=self.clock, sleep=self.sleep
        )
        self.loop.listen(self.rows.append)
        self.sleeps: list[float] = []
        self.polls = 0
        self.stop_after = 0

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.clock.now += seconds
        self.polls += 1
        if self.polls == self.stop_after:
            self.loop.stop()

    def run(self, seconds: float) -> Rows:
        """Poll for so long; the rows that came."""
        before = len(self.rows)
        for _ in range(round(seconds * POLLS_PER_S)):
            self.clock.now += POLL_S
            self.loop.step()
        return Rows(self.rows[before:])

    def switch_on(self) -> Rows:
        """Switch on and wait until the greeting and the welcome are over."""
        before = len(self.rows)
        self.loop.power_on()
        self.run(16)
        return Rows(self.rows[before:])

    def contact(self, figure: Figure, field: str, touch: Touch, hold_s: float = 0.6) -> Rows:
        """Stand a figure on a field, hold its head and touch."""
        before = len(self.rows)
        hands = self.mock.hands
        if hands.where(figure) != field:
            hands.place(figure, field)
            self.run(0.6)
        hands.grip(figure)
        self.run(0.2)
        hands.touch(touch)
        self.run(hold_s)
        hands.lift(touch)
        hands.let_go(figure)
        self.run(0.4)
        return Rows(self.rows[before:])

    def press(self, seconds: float) -> Rows:
        """Hold the push button down for so long."""
        self.mock.press(down=True)
        before = len(self.rows)
        self.run(seconds)
        self.mock.press(down=False)
        self.run(0.2)
        return Rows(self.rows[before:])


@pytest.fixture
def volcano(tmp_path: Path) -> Iterator[Volcano]:
    made = Volcano(tmp_path)
    yield made
    made.mock.close()


def again(volcano: Volcano) -> Volcano:
    """The same board and disk after a power cut."""
    other = Volcano(volcano.store.folder, seed=9)
    other.clock.now = volcano.clock.now
    return other


# --- the push button


def watch(levels: list[tuple[float, bool]], until_s: float, step_s: float = 0.01) -> list[tuple[float, Press]]:
    """The presses of a button whose level changes at the given times."""
    button = ButtonWatch()
    presses = []
    for number in range(round(until_s / step_s)):
        now = number * step_s
        level = next((level for time, level in reversed(levels) if now >= time - 1e-9), False)
        if (press := button.update(level, now)) is not None:
            presses.append((now, press))
    return presses


def test_a_short_press_counts_at_its_release() -> None:
    ((time, press),) = watch([(1.0, True), (1.5, False)], 4)
    assert press == Press()
    assert time == pytest.approx(1.5 + DEBOUNCE_S, abs=0.011)


def test_a_long_press_counts_once_after_three_seconds_still_held() -> None:
    ((time, press),) = watch([(1.0, True), (9.0, False)], 12)
    assert press == Press(long=True)
    assert time == pytest.approx(1.0 + LONG_PRESS_S, abs=0.011)


def test_just_under_three_seconds_is_short() -> None:
    assert [press for _, press in watch([(1.0, True), (3.9, False)], 6)] == [Press()]


def test_contacts_that_bounce_are_one_press() -> None:
    bounces = [(1.0 + 0.01 * number, number % 2 == 0) for number in range(7)]
    bounces += [(1.5 + 0.01 * number, number % 2 == 1) for number in range(7)]
    assert [press for _, press in watch(bounces, 3)] == [Press()]


def test_a_spike_is_no_press() -> None:
    assert watch([(1.0, True), (1.02, False)], 3) == []


def test_two_presses_are_two() -> None:
    assert [press for _, press in watch([(1, True), (1.2, False), (1.6, True), (1.8, False)], 3)] == [Press()] * 2


def test_a_stuck_button_is_noticed_until_it_is_released() -> None:
    button = ButtonWatch()
    for number in range(4000):
        button.update(level=True, now=number * 0.01)
        assert button.stuck == (number * 0.01 - 0.0 >= STUCK_PRESS_S)
    for number in range(4000, 4010):
        button.update(level=False, now=number * 0.01)
    assert not button.stuck


def test_a_button_held_at_power_on_is_no_press() -> None:
    button = ButtonWatch()
    button.hold(5.0)
    presses = [button.update(level=now < 600, now=now / 100) for now in range(500, 700)]
    assert presses == [None] * 200


# --- from pads and pins to events and sounds


def test_power_on_greets_with_all_lights_and_is_ready(volcano: Volcano) -> None:
    volcano.loop.power_on()
    assert volcano.mock.lit() == set(SYMBOLS)
    volcano.run(4)
    assert volcano.rows.named == ["powered_on", "ready"]
    assert volcano.mock.lit() == set()


def test_a_figure_held_on_a_field_and_a_touch_are_a_turn(volcano: Volcano) -> None:
    volcano.switch_on()
    rows = volcano.contact(Figure.WHITE, "beach-ne", Touch.TWO)
    assert rows.events("game_started", level="advanced")
    assert rows.events("entered", figure="white", field="beach-ne")
    volcano.run(10)
    assert len(volcano.mock.lit()) == 1, "the symbol of the site that was discovered"


def test_a_contact_held_on_counts_once(volcano: Volcano) -> None:
    volcano.switch_on()
    rows = volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE, hold_s=5)
    assert len(rows.events("discovered")) == 1
    assert not rows.events("rejected")


def test_the_button_short_and_long(volcano: Volcano) -> None:
    volcano.switch_on()
    assert volcano.press(0.3).named == ["intro_started"]
    volcano.run(1)
    assert volcano.press(3.5).events("volume", level=4)
    assert volcano.player.volume == 4


def test_the_button_held_at_power_on_opens_the_settings(volcano: Volcano) -> None:
    volcano.mock.press(down=True)
    volcano.loop.power_on()
    volcano.run(4)
    volcano.mock.press(down=False)
    volcano.run(1)
    assert volcano.loop.unit.mode is Mode.SETTINGS, "letting go is no press"
    volcano.contact(Figure.RED, "statue-n", Touch.TWO)
    assert volcano.loop.unit.settings.language == "en"
    assert volcano.press(0.3).named == []
    assert volcano.run(4).named == ["ready"]
    other = again(volcano)
    other.switch_on()
    assert other.rows.cues("say")[0]["text"] == texts("en").text("welcome", ())


def test_after_the_self_test_every_contact_is_named_as_the_board_feels_it(volcano: Volcano) -> None:
    volcano.mock.press(down=True)
    volcano.loop.power_on()
    volcano.run(4)
    volcano.mock.press(down=False)
    volcano.run(1)
    volcano.contact(Figure.RED, "statue-n", Touch.EXPLORE)
    assert volcano.run(25).lines[-2:] == ["no-faults", "check-mode"]
    for figure, field, touch in (
        (Figure.GREEN, "mountain-ne", Touch.FIRE),
        (Figure.BLACK, "beach-s", Touch.ROCK),
        (Figure.WHITE, "ruin-w", Touch.TWO),
    ):
        rows = volcano.contact(figure, field, touch)
        assert rows.events("checked", figure=figure, field=field, touch=touch), (figure, field, touch)
    volcano.mock.emulated_bus.inject(Disturbance.NACK, address=0x5B)
    volcano.run(5)
    assert volcano.press(0.3).lines == ["settings"]
    volcano.contact(Figure.RED, "ruin-n", Touch.EXPLORE)
    assert volcano.run(40).cues("say", line="fault-chip", args={"chip": 2})


def test_a_board_without_its_bus_says_so_when_the_button_is_held_in_the_settings(volcano: Volcano) -> None:
    volcano.mock.emulated_bus.inject(Disturbance.NACK)
    volcano.mock.press(down=True)
    volcano.loop.power_on()
    volcano.run(4)
    volcano.mock.press(down=False)
    volcano.run(1)
    assert volcano.loop.unit.mode is Mode.SETTINGS
    volcano.press(3.2)
    assert volcano.run(40).lines[-2:] == ["fault-bus", "check-mode"]
    volcano.press(0.3)
    assert volcano.loop.unit.mode is Mode.SETTINGS


def test_a_weak_battery_is_noticed_at_power_on(volcano: Volcano) -> None:
    if WIRING.battery_low is None:
        pytest.fail("the usual wiring has a pin for the batteries")
    volcano.mock.set_battery_low(low=True)
    volcano.loop.power_on()
    volcano.run(2)
    assert volcano.rows.named == ["powered_on", "battery_low"]
    volcano.press(0.2)
    assert volcano.run(4).named == ["ready"]


def test_a_cue_follows_when_the_player_has_finished(volcano: Volcano) -> None:
    volcano.switch_on()
    said = [row["t"] for row in volcano.rows.cues("say")]
    first = volcano.log[[type(each) for each in volcano.log].index(Say)]
    assert said[1] - said[0] == pytest.approx(nominal_ms(first) / 1000, abs=2 * POLL_S)


def test_rows_have_times_since_the_start(volcano: Volcano) -> None:
    volcano.switch_on()
    assert volcano.rows[0]["t"] == 0.0
    assert volcano.rows.events("ready")[0]["t"] == pytest.approx(3.0, abs=2 * POLL_S)


def test_without_power_nothing_happens(volcano: Volcano) -> None:
    assert volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE) == []
    assert volcano.press(0.3) == []
    assert not volcano.loop.powered


def test_switching_off_is_dark_and_silent(volcano: Volcano) -> None:
    volcano.loop.power_on()
    volcano.run(1)
    volcano.loop.power_off()
    assert volcano.mock.lit() == set()
    assert not volcano.player.playing
    assert volcano.run(5) == []


def test_what_is_submitted_runs_before_the_next_poll(volcano: Volcano) -> None:
    volcano.loop.submit(volcano.loop.power_on)
    assert volcano.rows == []
    volcano.run(POLL_S)
    assert volcano.rows.named == ["powered_on"]


def test_it_polls_fifty_times_a_second_until_it_is_stopped(volcano: Volcano) -> None:
    volcano.stop_after = 100
    started = volcano.clock.now
    first = []
    volcano.loop.power_on()
    volcano.loop.run(lambda: first.append(volcano.clock.now))
    assert volcano.clock.now - started == pytest.approx(100 * POLL_S)
    assert first == [started], "told once, after the first poll"
    assert volcano.player.closed
    assert not volcano.loop.powered


def test_late_polls_are_not_made_up_for(volcano: Volcano) -> None:
    volcano.stop_after = 5
    late = [0.5]

    def sleep(seconds: float) -> None:
        volcano.sleep(seconds)
        if late:
            volcano.clock.now += late.pop()

    volcano.loop._sleep = sleep
    volcano.loop.run()
    assert volcano.sleeps == pytest.approx([POLL_S, 0.0, POLL_S, POLL_S, POLL_S])


def test_a_signal_may_come_at_any_line_of_the_handling_of_another(volcano: Volcano) -> None:
    """SIGTERM twice: the handler runs in the thread that it has interrupted, which never gives back what it holds."""

    def signalled(*_: object) -> Callable[..., Any]:
        volcano.loop.stop()
        return signalled

    def handle() -> None:
        sys.settrace(signalled)
        volcano.loop.stop()
        sys.settrace(None)

    handling = threading.Thread(target=handle, daemon=True)
    handling.start()
    handling.join(20)
    assert not handling.is_alive()
    volcano.loop.run()
    assert volcano.sleeps == [], "stopped before the first poll: none is begun"
    assert volcano.player.closed


def test_whatever_ends_it_everything_is_put_away_and_the_record_first(
    volcano: Volcano, monkeypatch: pytest.MonkeyPatch
) -> None:
    away: list[str] = []

    def put_away(what: str, problem: type[Exception]) -> Callable[..., None]:
        def end(*_: object) -> None:
            away.append(what)
            raise problem(what)

        return end

    hardware = volcano.mock.hardware
    volcano.loop.power_on()
    monkeypatch.setattr(hardware, "poll", put_away("poll", ZeroDivisionError))
    monkeypatch.setattr(volcano.store, "close", put_away("store", OSError))
    monkeypatch.setattr(hardware.lights, "show", put_away("lights", OSError))
    monkeypatch.setattr(volcano.player, "close", put_away("player", OSError))
    monkeypatch.setattr(hardware, "close", lambda: away.append("hardware"))
    with pytest.raises(OSError, match="player") as last:
        volcano.loop.run()
    assert away == ["poll", "store", "lights", "player", "hardware"]
    monkeypatch.undo()
    hardware.close()
    first: BaseException | None = last.value
    while first is not None and first.__context__ is not None:
        first = first.__context__
    assert isinstance(first, ZeroDivisionError), "what it was stands at the head of the traceback"


# --- the record


def test_a_record_is_on_the_disk_before_anything_of_it_is_heard(volcano: Volcano) -> None:
    volcano.switch_on()
    start = len(volcano.log)
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    kinds = [type(each).__name__ for each in volcano.log[start:]]
    assert kinds[:2] == ["Begun", "Played"]
    assert set(kinds[2:]) <= {"Say", "Sound"}
    assert kinds[2:]
    on_disk = Store(volcano.store.folder, volcano.warnings.append).load()
    assert list(on_disk) == volcano.log[start : start + 2]


def test_a_power_cut_at_any_poll_resumes(volcano: Volcano) -> None:
    volcano.switch_on()
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE, hold_s=0.3)
    for seconds in (0.0, 0.02, 1.3, 9.0):
        volcano.run(seconds)
        other = again(volcano)
        other.loop.power_on()
        rows = other.run(4)
        assert rows.named == ["resumed"]
        assert rows.events("resumed", figure="white")
        other.mock.close()


def test_after_resuming_the_next_contact_counts_and_is_recorded(volcano: Volcano) -> None:
    volcano.switch_on()
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    other = again(volcano)
    other.switch_on()
    assert other.contact(Figure.RED, "beach-sw", Touch.EXPLORE).events("entered", figure="red")
    assert len(Store(volcano.store.folder, print).load()) == 3
    other.mock.close()


def test_a_record_that_does_not_fit_is_said_in_the_log_and_the_unit_is_ready(
    volcano: Volcano, caplog: pytest.LogCaptureFixture
) -> None:
    volcano.switch_on()
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    volcano.store.append(Played(Contact(Figure.RED, "beach-s", Touch.EXPLORE), (), ()))
    other = again(volcano)
    assert other.switch_on().events("ready")
    assert caplog.messages == ["the unfinished game cannot go on: contact 2 of the record is not accepted: boat_taken"]
    assert other.contact(Figure.WHITE, "beach-s", Touch.EXPLORE).events("game_started")
    kept = Store(volcano.store.folder, print)
    assert len(kept.load()) == 2
    assert len(read_journal(volcano.store.folder / "games" / "game-000001.journal").records) == 3
    other.mock.close()


def test_giving_up_is_recorded(volcano: Volcano) -> None:
    volcano.switch_on()
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    other = again(volcano)
    other.switch_on()
    other.press(0.2)
    other.press(0.2)
    assert Store(volcano.store.folder, print).load()[-1] == Ended("stopped")
    other.mock.close()


def test_switching_off_and_on_by_the_page_is_a_power_cut(volcano: Volcano) -> None:
    volcano.switch_on()
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    volcano.loop.power_off()
    volcano.run(1)
    assert volcano.switch_on().events("resumed", figure="white")


# --- what breaks


def test_a_full_disk_ends_no_game(volcano: Volcano, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    volcano.switch_on()
    monkeypatch.setattr(os, "fsync", full)
    assert volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE).events("discovered")
    assert volcano.press(3.5).events("volume", level=4)
    assert volcano.contact(Figure.RED, "beach-sw", Touch.EXPLORE).events("discovered")
    (warning,) = volcano.warnings
    assert "No space left" in warning


@pytest.mark.parametrize("fault", list(Disturbance))
def test_no_fault_of_the_bus_ends_a_game(
    volcano: Volcano, caplog: pytest.LogCaptureFixture, fault: Disturbance
) -> None:
    volcano.switch_on()
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    volcano.mock.emulated_bus.inject(fault)
    volcano.run(5)
    assert volcano.press(3.5).events("volume", level=4)
    assert not volcano.rows.events("rejected")
    volcano.mock.emulated_bus.clear()
    volcano.run(20)
    assert volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE).events("relics", figure="white")


def test_a_missing_chip_is_logged_once_though_nothing_can_be_touched(
    volcano: Volcano, caplog: pytest.LogCaptureFixture
) -> None:
    volcano.switch_on()
    assert caplog.messages == []
    volcano.mock.emulated_bus.inject(Disturbance.NACK, address=WIRING.chip_of("rock").address)
    volcano.run(60)
    faults = [str(fault) for fault in volcano.mock.hardware.faults()]
    assert faults
    assert sorted(caplog.messages) == sorted(faults)


def test_a_button_that_sticks_since_power_on_leads_out_of_the_settings(
    volcano: Volcano, caplog: pytest.LogCaptureFixture
) -> None:
    """It leads into them, and nothing else leads out: nobody could ever play."""
    volcano.mock.press(down=True)
    volcano.loop.power_on()
    volcano.run(STUCK_PRESS_S - 1)
    assert volcano.rows.lines == ["settings"]
    rows = volcano.run(30)
    assert rows.events("ready")
    assert rows.lines[-1] == "fault-button"
    assert [line for line in caplog.messages if "stuck" in line] == [str(STUCK_BUTTON)]
    assert volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE).events("game_started")


def test_somebody_who_holds_the_button_in_the_self_test_is_left_there(volcano: Volcano) -> None:
    volcano.mock.press(down=True)
    volcano.loop.power_on()
    volcano.run(10)
    volcano.contact(Figure.WHITE, "statue-n", Touch.EXPLORE)
    volcano.run(STUCK_PRESS_S + 10)
    assert volcano.loop.unit.mode is Mode.CHECKING


def test_batteries_that_run_down_in_mid_game_are_noticed_and_said_once(volcano: Volcano) -> None:
    volcano.switch_on()
    volcano.run(10)
    volcano.mock.set_battery_low(low=True)
    rows = volcano.run(20)
    assert rows.named == ["battery_weakened"]
    assert rows.lines == ["batteries-weak"]
    volcano.mock.set_battery_low(low=False)
    volcano.run(10)
    volcano.mock.set_battery_low(low=True)
    assert volcano.run(20) == []


def test_configured_settings_count_until_others_are_kept(tmp_path: Path) -> None:
    volcano = Volcano(tmp_path)
    loop = Loop(
        TITLE,
        texts,
        volcano.mock.hardware,
        volcano.player,
        volcano.store,
        settings=Settings("en", 1),
        clock=volcano.clock,
        sleep=volcano.sleep,
    )
    loop.power_on()
    assert loop.unit.settings == Settings("en", 1)
    assert volcano.player.volume == 1
    volcano.mock.close()


def test_every_sound_and_line_reaches_the_player_in_the_order_of_the_rows(volcano: Volcano) -> None:
    volcano.switch_on()
    volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE)
    volcano.run(15)
    played = [
        each.line if isinstance(each, Say) else each.name for each in volcano.log if isinstance(each, Say | Sound)
    ]
    assert played == volcano.rows.heard
