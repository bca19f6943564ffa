"""Fault drills: a whole volcano in mid-game while a part of it fails, comes back, or tells nonsense.

The rule in all of them: nothing that the hardware, the clock, the sound card or the disk does ends a game; what fails
is named; and when it comes back, the game is where it was.
"""

from __future__ import annotations

import logging
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from table import TITLE, Rows, texts
from test_loop import POLL_S, WIRING, Volcano, again

from firmware import cli, workshop
from firmware.audio.mixer import MixerPlayer
from firmware.audio.pack import load_pack
from firmware.game.kernel import Played, replay
from firmware.hal.emulated_bus import Disturbance
from firmware.hal.ports import POLLS_PER_S
from firmware.journal import Store
from firmware.loop import STUCK_BUTTON, STUCK_PRESS_S
from firmware.service import open_with_card
from firmware.terms import Fault, Figure, Part, Touch
from firmware.unit import SLEEP_S
from firmware.unit_outages import OUTAGE_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TOUCH_CHIP = WIRING.chip_of("rock").address
FIELD_CHIPS = {chip.address: min(chip.fields) for chip in WIRING.chips if chip.fields}
BEACH = next(chip.address for chip in WIRING.chips if "beach-s" in chip.fields)
COMING_BACK_S = 70.0
"""A part that was away for long is tried again once a minute."""


class Watching:
    """A supervisor that counts."""

    def __init__(self) -> None:
        self.polls = 0
        self.broken: Sequence[Fault] = ()

    def ready(self) -> None:
        """Not counted."""

    def served(self, now: float) -> None:
        self.polls += 1

    def faults(self, faults: Sequence[Fault]) -> None:
        self.broken = faults

    def stopping(self) -> None:
        """Not counted."""


@pytest.fixture
def volcano(tmp_path: Path) -> Iterator[Volcano]:
    """A volcano in mid-game: White stands on a beach."""
    made = Volcano(tmp_path)
    made.switch_on()
    assert made.contact(Figure.WHITE, "beach-s", Touch.EXPLORE).events("entered")
    made.run(20)
    yield made
    made.mock.close()


def contacts(volcano: Volcano) -> int:
    return sum(isinstance(record, Played) for record in volcano.store.load())


def red_lands(volcano: Volcano) -> bool:
    """Whether another figure can enter the game."""
    before = contacts(volcano)
    volcano.contact(Figure.RED, "beach-ne", Touch.EXPLORE)
    return contacts(volcano) == before + 1


def check_the_game_goes_on(volcano: Volcano) -> None:
    """Another contact is a turn, and after a power cut the game is the same."""
    assert red_lands(volcano)
    check_the_game_is_kept(volcano)


def check_the_game_is_kept(volcano: Volcano) -> None:
    """After a power cut the game is the same."""
    game = volcano.loop.unit.play.state.dump()
    other = again(volcano)
    other.switch_on()
    assert other.rows.events("resumed")
    assert other.loop.unit.play.state.dump() == game
    other.mock.close()


# --- the clock


@pytest.mark.parametrize("hours", [0.1, 1, 24 * 365])
def test_the_machine_slept(volcano: Volcano, hours: float) -> None:
    volcano.clock.now += hours * 3600
    volcano.run(20)
    check_the_game_goes_on(volcano)


@pytest.mark.parametrize("seconds", [0.05, 5.0, 90.0])
def test_a_clock_that_goes_back(volcano: Volcano, seconds: float) -> None:
    """A monotonic clock does not; if one does, the volcano is deaf for that long at most."""
    volcano.clock.now -= seconds
    volcano.run(seconds + 5)
    check_the_game_goes_on(volcano)


def test_the_time_of_day_does_not_matter(volcano: Volcano, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Pi has no clock of its own: the first network time is a jump of years."""

    def never() -> float:
        raise AssertionError("the time of day was asked")

    monkeypatch.setattr(time, "time", never)
    monkeypatch.setattr(time, "time_ns", never)
    check_the_game_goes_on(volcano)


def test_a_poll_that_took_ten_seconds(volcano: Volcano) -> None:
    """A card that collects its garbage, a busy machine: figures were moved meanwhile."""
    volcano.mock.hands.place(Figure.WHITE, "jungle-s")
    volcano.clock.now += 10
    volcano.run(1)
    check_the_game_goes_on(volcano)


@pytest.mark.parametrize("sync_s", [0.05, 0.4, 2.0])
def test_a_slow_card_costs_polls_but_no_contact(
    volcano: Volcano, sync_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no thread can be had for the journal, nothing is polled while a record is synced: people hold on."""
    real_sync = os.fsync

    def sync(descriptor: int) -> None:
        real_sync(descriptor)
        volcano.clock.now += sync_s

    monkeypatch.setattr(os, "fsync", sync)
    before = contacts(volcano)
    for number, field in enumerate(("beach-ne", "beach-se", "beach-s"), 1):
        figure = (Figure.RED, Figure.GREEN, Figure.WHITE)[number - 1]
        volcano.contact(figure, field, Touch.EXPLORE)
        assert contacts(volcano) == before + number
        volcano.run(20)
        assert volcano.press(0.3) != [], "the button repeats"
    check_the_game_is_kept(volcano)


# --- chips and bus


@pytest.mark.parametrize("fault", [Disturbance.NACK, Disturbance.TIMEOUT, Disturbance.IO_ERROR])
@pytest.mark.parametrize("away_s", [0.1, 3.0, 120.0])
def test_a_chip_is_away_for_a_while(volcano: Volcano, fault: Disturbance, away_s: float) -> None:
    volcano.mock.emulated_bus.inject(fault, address=BEACH)
    volcano.run(away_s)
    if away_s > 2:
        assert [fault for fault in volcano.loop.unit.faults if f"0x{BEACH:02X}" in fault.text]
    volcano.mock.emulated_bus.clear()
    volcano.run(COMING_BACK_S)
    assert volcano.loop.unit.faults == []
    check_the_game_goes_on(volcano)


PARTS = {"fault-chip": (BEACH, 2), "fault-bus": (None, None)}


@pytest.mark.parametrize("line", PARTS)
@pytest.mark.parametrize("language", ["de", "en"])
def test_what_vanishes_in_mid_game_is_said_once_in_the_language_of_the_game(
    volcano: Volcano, line: str, language: str
) -> None:
    """Nobody would know why the volcano does not answer: its log and its lights stand where nobody looks."""
    volcano.loop.unit.speech.texts = texts(language)
    address, chip = PARTS[line]
    bus = volcano.mock.emulated_bus
    bus.inject(Disturbance.NACK, address=address)
    (said,) = volcano.run(30).cues("say")
    assert said["text"] == texts(language).text(line, () if chip is None else (("chip", chip),), 0)
    bus.clear()
    volcano.run(COMING_BACK_S)
    bus.inject(Disturbance.NACK, address=address)
    assert volcano.run(30).lines == [], "a loose plug is no reason to say it all evening"
    bus.clear()
    volcano.run(COMING_BACK_S)
    check_the_game_goes_on(volcano)


def test_what_is_broken_since_power_on_is_said_after_the_welcome(tmp_path: Path) -> None:
    volcano = Volcano(tmp_path)
    volcano.mock.emulated_bus.inject(Disturbance.NACK, address=BEACH)
    assert Rows([*volcano.switch_on(), *volcano.run(10)]).lines == ["welcome", "how-to-start", "fault-chip"]
    volcano.mock.close()


def test_a_chip_that_is_soon_back_is_not_spoken_of(volcano: Volcano) -> None:
    volcano.mock.emulated_bus.inject(Disturbance.NACK, address=BEACH)
    said = volcano.run(OUTAGE_S - 2)
    volcano.mock.emulated_bus.clear()
    assert [*said, *volcano.run(COMING_BACK_S)] == []


def test_nothing_is_said_to_nobody(volcano: Volcano) -> None:
    """The lights went out long ago; who comes back hears it."""
    volcano.run(SLEEP_S + 200)
    volcano.mock.emulated_bus.inject(Disturbance.NACK, address=BEACH)
    assert volcano.run(60).lines == []
    volcano.press(0.3)
    assert "fault-chip" in volcano.run(60).lines


@pytest.mark.parametrize(
    "chip", [chip for chip in FIELD_CHIPS if BEACH not in (chip, TOUCH_CHIP) and chip != TOUCH_CHIP]
)
def test_without_one_chip_the_others_play_on(volcano: Volcano, chip: int) -> None:
    volcano.mock.emulated_bus.inject(Disturbance.NACK, address=chip)
    volcano.run(5)
    check_the_game_goes_on(volcano)


@pytest.mark.parametrize("fault", [Disturbance.NACK, Disturbance.TIMEOUT, Disturbance.STUCK_SDA])
def test_the_whole_bus_is_away_for_a_while(volcano: Volcano, fault: Disturbance) -> None:
    volcano.mock.emulated_bus.inject(fault)
    if fault is Disturbance.STUCK_SDA:  # that is cured at once
        volcano.run(3)
    else:
        before = contacts(volcano)
        volcano.contact(Figure.RED, "beach-ne", Touch.EXPLORE)
        assert contacts(volcano) == before
    volcano.mock.emulated_bus.clear()
    volcano.mock.hands.place(Figure.RED, None)
    volcano.run(COMING_BACK_S)
    assert volcano.loop.unit.faults == []
    check_the_game_goes_on(volcano)


def test_a_chip_that_comes_and_goes_fills_no_log(volcano: Volcano, caplog: pytest.LogCaptureFixture) -> None:
    """A loose plug: away for a second in three, for five minutes."""
    caplog.set_level(logging.INFO)
    for _ in range(100):
        volcano.mock.emulated_bus.inject(Disturbance.NACK, address=BEACH)
        volcano.run(1)
        volcano.mock.emulated_bus.clear()
        volcano.run(2)
    assert 0 < len(caplog.records) <= 400, "a few lines each time, not one a poll"
    volcano.run(COMING_BACK_S)
    check_the_game_goes_on(volcano)


def test_a_chip_lost_in_the_middle_of_a_contact(volcano: Volcano) -> None:
    hands = volcano.mock.hands
    hands.place(Figure.RED, "beach-ne")
    volcano.run(0.6)
    hands.grip(Figure.RED)
    volcano.run(0.1)
    volcano.mock.emulated_bus.inject(Disturbance.NACK, address=TOUCH_CHIP)
    hands.touch(Touch.EXPLORE)
    volcano.run(3)
    hands.lift(Touch.EXPLORE)
    hands.let_go(Figure.RED)
    volcano.mock.emulated_bus.clear()
    volcano.run(COMING_BACK_S)
    check_the_game_goes_on(volcano)


# --- the button


def test_a_button_that_sticks_is_named_and_the_game_goes_on(volcano: Volcano) -> None:
    volcano.mock.press(down=True)
    volcano.run(STUCK_PRESS_S + 2)
    assert STUCK_BUTTON in volcano.loop.unit.faults
    assert "fault-button" in volcano.run(OUTAGE_S + 5).lines
    check_the_game_goes_on(volcano)
    volcano.mock.press(down=False)
    volcano.run(2)
    assert STUCK_BUTTON not in volcano.loop.unit.faults
    assert volcano.press(3.5).events("volume")


def test_a_button_that_rattles_changes_nothing_for_long(volcano: Volcano) -> None:
    chance = random.Random(7)
    for _ in range(20 * POLLS_PER_S):
        volcano.mock.press(down=chance.random() < 0.5)
        volcano.run(POLL_S)
    volcano.mock.press(down=False)
    volcano.run(20)
    check_the_game_goes_on(volcano)


# --- sound


@pytest.mark.parametrize("card", ["Nowhere", "plughw:CARD=Nowhere,DEV=0"])
def test_without_a_sound_card_the_game_is_played_by_its_lights(
    tmp_path: Path, card: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SDL_AUDIODRIVER", "alsa")
    volcano = Volcano(tmp_path)
    player = open_with_card(
        card,
        lambda: MixerPlayer(load_pack(tmp_path), volcano.clock, card=card),
        volcano.clock,
        volcano.sleep,
        lambda: 0.0,
    )
    assert not player.is_open
    volcano.loop._player = player
    volcano.switch_on()
    assert volcano.rows.events("ready")
    assert volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE).events("entered")
    volcano.run(20)
    check_the_game_goes_on(volcano)
    player.close()
    volcano.mock.close()


def test_a_sound_card_that_is_pulled_out_in_mid_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops taking samples: no cue ever ends. Soon the cues last as long as they would be heard."""
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    volcano = Volcano(tmp_path)
    player = MixerPlayer(load_pack(tmp_path), volcano.clock)
    mixer = player._mixer
    assert mixer is not None
    volcano.loop._player = player
    volcano.loop.power_on()
    for channel in mixer.channels:
        channel.pause()
    monkeypatch.setenv("SDL_AUDIODRIVER", "there is no such driver")
    volcano.run(30)
    assert not player.is_open
    assert volcano.rows.events("ready")
    assert volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE).events("entered")
    volcano.run(20)
    check_the_game_goes_on(volcano)
    player.close()
    volcano.mock.close()


def test_a_sound_card_that_hangs_in_mid_game_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes to it stands still, and whoever closes it: SDL's thread and ours, never the game's."""
    pipe = tmp_path / "card"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    monkeypatch.setenv("SDL_AUDIODRIVER", "disk")
    monkeypatch.setenv("SDL_DISKAUDIOFILE", str(pipe))
    with suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    volcano = Volcano(tmp_path / "state")
    player = MixerPlayer(load_pack(tmp_path), volcano.clock)
    assert player.is_open
    volcano.loop._player = player
    volcano.loop.power_on()
    volcano.run(30)
    assert [fault for fault in volcano.loop.unit.faults if fault.part is Part.SOUND]
    assert volcano.contact(Figure.WHITE, "beach-s", Touch.EXPLORE).events("entered")
    volcano.run(20)
    hangs = next(thread for thread in threading.enumerate() if thread.name == "sound")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    while hangs.is_alive():
        with suppress(BlockingIOError):
            os.read(reader, 65536)
    volcano.run(20)
    assert player.is_open
    assert volcano.loop.unit.faults == []
    check_the_game_goes_on(volcano)
    player.close()
    volcano.mock.close()
    os.close(reader)
    os.close(writer)


# --- configuration


START = "import sys; from firmware.cli import main; sys.exit(main(sys.argv[1:]))"


def started_once(folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """`volcano run --mock --once` with its state in `folder`."""
    own = {"PATH": "/usr/bin:/bin", "XDG_CONFIG_HOME": str(folder), "HOME": str(folder), "SDL_AUDIODRIVER": "dummy"}
    return subprocess.run(
        [sys.executable, "-c", START, "run", "--mock", "--once", "--state-dir", str(folder / "state")],
        env=own | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("text", ["volume = 11\n", "language = 7\n", "[sound\n", '[files]\nwiring = "none.toml"\n'])
def test_a_wrong_configuration_starts_all_the_same(tmp_path: Path, text: str) -> None:
    (tmp_path / "volcano.toml").write_text(text, encoding="utf-8")
    done = started_once(tmp_path)
    assert done.returncode == 0
    (line,) = [line for line in done.stderr.splitlines() if "ERROR" in line]
    assert ".toml" in line
    assert line.endswith("going on without it")


def test_a_file_named_on_the_command_line_must_be_right(tmp_path: Path) -> None:
    command = [sys.executable, "-c", START, "run", "--mock", "--once", "--config", str(tmp_path / "none.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr == f"volcano: {tmp_path}/none.toml: cannot be read: No such file or directory\n"


def test_a_second_volcano_leaves_the_game_of_the_first_alone(tmp_path: Path) -> None:
    """Typed by hand beside the one that plays; only systemd's own starts even so, since nobody reads what it says."""
    first = Store(tmp_path / "state", print)
    assert first.claim()
    refused = started_once(tmp_path)
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert line.startswith(f"volcano: another volcano keeps its game in {tmp_path}/state: ")
    service = started_once(tmp_path, NOTIFY_SOCKET=str(tmp_path / "nobody"))
    assert service.returncode == 0
    assert "another volcano keeps its game" in service.stderr
    first.close()
    assert started_once(tmp_path).returncode == 0


def test_typed_by_hand_the_board_is_left_to_its_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workshop, "SERVICE_STATE", tmp_path)
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    service = Store(tmp_path, print)
    assert service.claim()
    assert cli.main(["run", "--state-dir", str(tmp_path / "own")]) == 2
    assert capfd.readouterr().err == (
        "volcano: the volcano's service plays on this board: stop it first: sudo systemctl stop volcano\n"
    )
    service.close()


# --- everything


def test_with_everything_broken_at_once_the_loop_still_turns(tmp_path: Path) -> None:
    """No bus, no disk, a stuck button, from the start: the watchdog is fed, and what is broken is named."""
    volcano = Volcano(tmp_path)
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    volcano.loop._store = Store(tmp_path / "file" / "state", volcano.warnings.append)
    volcano.loop._supervisor = watching = Watching()
    volcano.mock.emulated_bus.inject(Disturbance.TIMEOUT)
    volcano.mock.press(down=True)
    volcano.stop_after = 60 * POLLS_PER_S
    volcano.loop.power_on()
    volcano.loop.run()
    assert watching.polls == 60 * POLLS_PER_S
    assert [fault for fault in watching.broken if fault.part is Part.BUS]
    assert STUCK_BUTTON in watching.broken


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_faults_in_any_order_never_end_a_game_or_tell_it_wrong(tmp_path: Path, seed: int) -> None:
    """People play while everything comes and goes; at the end the disk has exactly the game that was played."""
    chance = random.Random(seed)
    volcano = Volcano(tmp_path, seed=seed)
    volcano.switch_on()
    bus = volcano.mock.emulated_bus
    for _ in range(30):
        match chance.randrange(6):
            case 0:
                bus.inject(chance.choice(list(Disturbance)), address=chance.choice([*FIELD_CHIPS, TOUCH_CHIP]))
            case 1:
                bus.inject(chance.choice(list(Disturbance)), count=chance.randrange(1, 20), mask=0xFF)
            case 2:
                volcano.mock.press(down=chance.random() < 0.4)
            case 3:
                volcano.clock.now += chance.choice([0.3, 7.0, 400.0])
            case _:
                bus.clear()
        volcano.contact(
            chance.choice(list(Figure)), chance.choice(TITLE.fields), chance.choice([Touch.EXPLORE, Touch.ONE])
        )
        volcano.run(chance.uniform(0, 5))
    bus.clear()
    volcano.mock.press(down=False)
    volcano.run(COMING_BACK_S)
    assert volcano.loop.unit.faults == []
    records = volcano.store.load()
    if records:
        rules = {rules.name: rules for rules in (TITLE.intro, TITLE.game)}[records[0].rules]  # type: ignore[union-attr]
        game, _ = replay(rules, records)
        if volcano.loop.unit.play.state is not None:
            assert game.dump() == volcano.loop.unit.play.state.dump()
    volcano.mock.close()
