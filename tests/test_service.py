"""The firmware as a service: what systemd is told, what is waited for, what is forgiven."""

from __future__ import annotations

import itertools
import os
import socket
from typing import TYPE_CHECKING

import pytest
from table import TITLE, texts

from firmware.audio.player import RecordingPlayer
from firmware.config import Configuration
from firmware.game.insel.board import OWN_BOARD
from firmware.hal.backends import mock_hardware
from firmware.hal.emulated_bus import Disturbance
from firmware.hal.ports import POLLS_PER_S
from firmware.hal.wiring import OWN_WIRING, load_wiring
from firmware.journal import Store
from firmware.loop import Loop
from firmware.service import BOOTING_S, CARD_WAIT_S, FEEDS, Notifier, forgiving_configuration, open_with_card
from firmware.terms import Fault, Part, Sound, SoundName

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from firmware.audio.player import Audible
    from firmware.terms import Cue

WATCHDOG_S = 10.0
POLL_S = 1 / POLLS_PER_S


class Systemd:
    """The other end of the socket."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.setblocking(False)
        self.environment = {"NOTIFY_SOCKET": address}
        self.watching = self.environment | {
            "WATCHDOG_USEC": str(round(WATCHDOG_S * 1e6)),
            "WATCHDOG_PID": str(os.getpid()),
        }

    def heard(self) -> list[str]:
        """What was said since the last question."""
        words = []
        while True:
            try:
                words.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return words


@pytest.fixture(params=["path", "abstract"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Systemd]:
    name = str(tmp_path / "notify") if request.param == "path" else f"@volcano-{os.getpid()}"
    made = Systemd(name)
    yield made
    made.socket.close()


# --- word to systemd


def test_each_word_is_one_datagram(systemd: Systemd) -> None:
    notifier = Notifier(systemd.environment)
    notifier.ready()
    notifier.faults(
        [
            Fault(Part.CHIP, "1", "MPR121 'touch' at 0x5A is lost: check SDA"),
            Fault(Part.LIGHT, "star", "the star light on GPIO 5 cannot be used: busy"),
        ]
    )
    notifier.faults([])
    notifier.stopping()
    assert systemd.heard() == [
        "READY=1",
        "STATUS=not working: MPR121 'touch' at 0x5A is lost; the star light on GPIO 5 cannot be used",
        "STATUS=all parts answer",
        "STOPPING=1",
    ]
    notifier.close()
    notifier.close()
    notifier.ready()
    assert systemd.heard() == []


def test_the_same_status_is_said_once(systemd: Systemd) -> None:
    notifier = Notifier(systemd.environment)
    for _ in range(5):
        notifier.faults([Fault(Part.BUTTON, "", "the button")])
    assert systemd.heard() == ["STATUS=not working: the button"]
    notifier.close()


def test_the_watchdog_is_fed_four_times_in_its_time(systemd: Systemd) -> None:
    notifier = Notifier(systemd.watching)
    for poll in range(round(WATCHDOG_S * POLLS_PER_S)):
        notifier.served(100 + poll * POLL_S)
    assert systemd.heard() == ["WATCHDOG=1"] * FEEDS
    notifier.close()


@pytest.mark.parametrize(
    "changed", [{"WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "0"}, {"WATCHDOG_USEC": "often"}, {"WATCHDOG_USEC": ""}]
)
def test_a_watchdog_that_is_not_ours_is_not_fed(systemd: Systemd, changed: dict[str, str]) -> None:
    notifier = Notifier(systemd.watching | changed)
    for now in range(100):
        notifier.served(float(now))
    assert systemd.heard() == []
    notifier.close()


def test_a_feed_that_found_no_room_comes_again_at_the_next_poll(systemd: Systemd) -> None:
    notifier = Notifier(systemd.watching)
    for number in itertools.count():
        notifier.served(number * WATCHDOG_S)
        if notifier._unsaid:
            break
    assert systemd.heard()
    notifier.served(number * WATCHDOG_S + POLL_S)
    assert systemd.heard() == ["WATCHDOG=1"]
    notifier.served(number * WATCHDOG_S + 2 * POLL_S)
    assert systemd.heard() == []
    notifier.close()


def test_a_ready_that_found_no_room_is_not_lost(systemd: Systemd) -> None:
    """Many services start at once, and systemd is slow to hear: it would wait for READY and then kill."""
    notifier = Notifier(systemd.environment)
    while not notifier._unsaid:
        notifier.stopping()
    notifier._unsaid.clear()
    notifier.ready()
    notifier.faults([Fault(Part.BUTTON, "", "the button")])
    assert set(systemd.heard()) == {"STOPPING=1"}
    notifier.served(1.0)
    assert systemd.heard() == ["READY=1\nSTATUS=not working: the button"]
    notifier.close()


def test_a_status_never_grows_beyond_what_systemd_takes(systemd: Systemd) -> None:
    notifier = Notifier(systemd.environment)
    pads = [Fault(Part.PAD, field, f"electrode {field} of the MPR121 is shorted: check it") for field in TITLE.fields]
    notifier.faults(pads * 10)
    (status,) = systemd.heard()
    assert status.endswith(f"; and {len(pads) * 10 - 9} more")
    assert len(status) < 4096
    notifier.close()


def test_without_systemd_nothing_is_said() -> None:
    notifier = Notifier({})
    notifier.ready()
    notifier.served(1.0)
    notifier.close()


def test_a_socket_that_is_not_there_is_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "none")})
    notifier.ready()
    assert [record.getMessage() for record in caplog.records] == [
        f"systemd cannot be told anything: {tmp_path}/none: No such file or directory"
    ]


def test_a_systemd_that_goes_is_one_warning(systemd: Systemd, caplog: pytest.LogCaptureFixture) -> None:
    notifier = Notifier(systemd.watching)
    systemd.socket.close()
    for now in range(5):
        notifier.served(now * WATCHDOG_S)
        notifier.ready()
    assert len(caplog.records) == 1


# --- ready, alive, stopping: when


class Told:
    """A supervisor that writes down what it is told, between what the player is told."""

    def __init__(self, story: list[str]) -> None:
        self.story = story

    def ready(self) -> None:
        self.story.append("ready")

    def served(self, now: float) -> None:
        self.story.append("served")

    def faults(self, faults: Sequence[Fault]) -> None:
        self.story.append(f"{len(faults)} faults")

    def stopping(self) -> None:
        self.story.append("stopping")


class ToldPlayer(RecordingPlayer):
    """Writes down what it plays."""

    def __init__(self, story: list[str]) -> None:
        super().__init__()
        self.story = story

    def play(self, cue: Audible, following: Cue | None = None) -> None:
        super().play(cue, following)
        self.story.append(cue.name if isinstance(cue, Sound) else cue.line)

    def poll(self, now: float) -> bool:
        self.story.append("sound")
        return super().poll(now)

    def close(self) -> None:
        super().close()
        self.story.append("closed")


class Clock:
    """Moved by hand."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


class Booted:
    """A volcano whose story is written down: bus, player, supervisor."""

    def __init__(self, folder: Path, *, misconfigured: bool = False) -> None:
        self.story: list[str] = []
        self.clock = Clock()
        self.mock = mock_hardware(load_wiring(None, TITLE.fields), self.clock)
        self.player = ToldPlayer(self.story)
        self.loop = Loop(
            TITLE,
            texts,
            self.mock.hardware,
            self.player,
            Store(folder, self.story.append),
            clock=self.clock,
            sleep=self.sleep,
            supervisor=Told(self.story),
            misconfigured=misconfigured,
        )
        self.polls = 0
        self.stop_after = 1

    def sleep(self, seconds: float) -> None:
        self.clock.now += seconds
        self.polls += 1
        if self.polls == self.stop_after:
            self.loop.stop()

    def finish(self) -> None:
        """The present cue ends, and the next begins."""
        self.player.finish()
        self.loop.step()


@pytest.fixture
def booted(tmp_path: Path) -> Iterator[Booted]:
    made = Booted(tmp_path)
    yield made
    made.mock.close()


def test_ready_is_told_after_the_greeting_began_and_everything_was_polled_once(booted: Booted) -> None:
    booted.stop_after = 3
    booted.loop.power_on()
    booted.loop.run()
    story = [word for word in booted.story if not word.endswith("faults")]
    poll = ["sound", "served"]
    assert story == [SoundName.GREETING, "sound", "ready", "served", *poll, *poll, "stopping", "closed"]


def test_the_greeting_begins_before_any_chip_is_asked(booted: Booted) -> None:
    booted.loop.power_on()
    assert booted.story == [SoundName.GREETING]
    assert booted.mock.bus.wire_bytes == 0
    booted.loop.step()
    assert booted.mock.bus.wire_bytes > 0


@pytest.mark.parametrize("part", ["sensing", "sound", "game"])
def test_nothing_is_fed_when_a_part_hangs_or_fails(booted: Booted, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hang never comes back from the part; here it breaks out, which a test can bear."""

    class HangsError(Exception):
        pass

    def hang(*_: object) -> None:
        raise HangsError

    booted.loop.power_on()
    if part == "sensing":
        monkeypatch.setattr(type(booted.mock.hardware), "poll", hang)
    elif part == "sound":
        monkeypatch.setattr(booted.player, "poll", hang)
    else:
        monkeypatch.setattr(booted.loop.unit, "next_timer", hang)
    with pytest.raises(HangsError):
        booted.loop.run()
    assert "served" not in booted.story
    assert "ready" not in booted.story


def test_faults_are_told_to_the_supervisor(booted: Booted) -> None:
    booted.loop.power_on()
    booted.loop.step()
    assert "0 faults" in booted.story
    booted.mock.emulated_bus.inject(Disturbance.NACK, address=next(iter(booted.mock.chips)))
    for _ in range(3 * POLLS_PER_S):
        booted.clock.now += POLL_S
        booted.loop.step()
    assert booted.story[-1] == "sound"
    assert "1 faults" in booted.story


# --- a late sound card


class Late:
    """A player that finds its card if it is there from `at` on, and tries again ever more seldom."""

    def __init__(self, clock: Clock, at: float) -> None:
        self._clock, self._at = clock, at
        self.is_open = at <= clock.now
        self._retry_s, self._retry_at = 0.25, clock.now + 0.25

    def poll(self, now: float) -> bool:
        if now >= self._retry_at:
            self.is_open = now >= self._at
            self._retry_s *= 2
            self._retry_at = now + self._retry_s
        return False


class Start:
    """A start of the service with a card that comes so many seconds later."""

    def __init__(self, folder: Path, comes_at_s: float, *, booted_s: float = 0.0, card: str = "MAX98357A") -> None:
        clock = Clock()
        started, comes_at = clock.now, clock.now + comes_at_s
        cards = folder / "asound"
        cards.mkdir()

        def sleep(seconds: float) -> None:
            clock.now += seconds
            if clock.now >= comes_at:
                (cards / "MAX98357A").mkdir(exist_ok=True)

        sleep(0.0)
        player = open_with_card(
            card,
            lambda: Late(clock, comes_at),
            clock,
            sleep,
            lambda: booted_s + clock.now - started,
            cards=cards,
        )
        self.waited_s, self.is_open = clock.now - started, player.is_open


def test_a_card_that_is_there_costs_nothing(tmp_path: Path) -> None:
    start = Start(tmp_path, 0.0)
    assert (start.waited_s, start.is_open) == (0.0, True)


def test_a_late_card_is_noticed_at_once_and_then_greets(tmp_path: Path) -> None:
    start = Start(tmp_path, 4.1)
    assert start.is_open
    assert start.waited_s == pytest.approx(4.1, abs=0.1)


@pytest.mark.parametrize("card", ["", "plughw:CARD=MAX98357A,DEV=0"])
def test_a_late_card_without_a_name_is_found_by_trying(tmp_path: Path, card: str) -> None:
    start = Start(tmp_path, 3.0, card=card)
    assert start.is_open
    assert 3.0 <= start.waited_s < 6.0


def test_a_card_that_never_comes_delays_the_game_by_ten_seconds_at_most(tmp_path: Path) -> None:
    start = Start(tmp_path, 1000.0)
    assert not start.is_open
    assert start.waited_s == pytest.approx(CARD_WAIT_S, abs=0.1)


def test_long_after_the_boot_nothing_is_waited_for(tmp_path: Path) -> None:
    start = Start(tmp_path, 3.0, booted_s=BOOTING_S)
    assert (start.waited_s, start.is_open) == (0.0, False)


# --- an owner's wrong file


@pytest.fixture
def etc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


def test_without_files_nothing_is_wrong(etc: Path) -> None:
    configuration, title, wiring, problems = forgiving_configuration()
    assert (configuration, problems) == (Configuration(), [])
    assert title.fields == TITLE.fields
    assert wiring == load_wiring(None, TITLE.fields)


@pytest.mark.parametrize("text", ["volume = 9\n", "volume =", "volumen = 3\n", "\x00", "[files]\nboard = 3\n"])
def test_a_wrong_configuration_is_named_and_replaced_by_the_defaults(etc: Path, text: str) -> None:
    (etc / "volcano.toml").write_text(text, encoding="utf-8")
    configuration, _, _, problems = forgiving_configuration()
    assert configuration == Configuration()
    (problem,) = problems
    assert "volcano.toml" in problem
    assert problem.endswith("going on without it")


GOOD = 'language = "en"\n# volume\n[sound]\ncard = "MAX98357A"\n[page]\nport = 80\n'
KEPT = Configuration(language="en", card="MAX98357A", port=80)


@pytest.mark.parametrize(
    ("wrong", "problems"),
    [
        ("volume = 9", [":2: volume: must be from 1 to 5, is 9"]),
        ("volume = zwei", [":2: is not TOML: Invalid value"]),
        ("volume = 9\nvolumen = 3", [":2: volume: ", ":3: volumen: is not a key here"]),
        ("volume = \nfiles = 3\n", [":2: is not TOML: ", ":3: files: must be a table"]),
        ("volume 3\n= 4\n[lights", [":2: is not TOML: "]),
    ],
)
def test_a_wrong_key_costs_only_itself(etc: Path, wrong: str, problems: list[str]) -> None:
    """Without its card the volcano could not be heard, and in another language it would not be understood."""
    (etc / "volcano.toml").write_text(GOOD.replace("# volume", wrong), encoding="utf-8")
    configuration, _, _, told = forgiving_configuration()
    assert configuration == KEPT
    assert len(told) == len(problems)
    for line, problem in zip(told, problems, strict=True):
        assert line.startswith(f"{etc}/volcano.toml{problem}")


def test_a_comment_in_another_encoding_costs_nothing(etc: Path) -> None:
    (etc / "volcano.toml").write_bytes(GOOD.replace("# volume", "# Lautstärke").encode("latin-1"))
    configuration, _, _, (told,) = forgiving_configuration()
    assert configuration == KEPT
    assert told == f"{etc}/volcano.toml: is not UTF-8 text (byte 24); going on without it"


def test_a_file_that_is_nothing_like_toml_does_not_hold_the_greeting_up(etc: Path) -> None:
    (etc / "volcano.toml").write_text("eggs, milk\n" * 20_000, encoding="utf-8")
    configuration, _, _, told = forgiving_configuration()
    assert configuration == Configuration()
    assert len(told) == 2
    assert "volcano.toml:1: is not TOML" in told[0]


@pytest.mark.parametrize("key", ["board", "tuning", "wiring"])
def test_a_wrong_file_of_the_owner_costs_only_itself(etc: Path, key: str) -> None:
    (etc / "volcano.toml").write_text(f'volume = 5\nlanguage = "en"\n[files]\n{key} = "own.toml"\n', encoding="utf-8")
    (etc / "own.toml").write_text("surprise = 1\n", encoding="utf-8")
    configuration, title, wiring, problems = forgiving_configuration()
    assert (configuration.volume, configuration.language) == (5, "en")
    assert len(problems) == 1
    assert "own.toml" in problems[0]
    assert title.fields == TITLE.fields
    assert wiring == load_wiring(None, TITLE.fields)


def test_right_files_are_used(etc: Path) -> None:
    (etc / "volcano.toml").write_text('[files]\nboard = "b.toml"\nwiring = "w.toml"\n', encoding="utf-8")
    (etc / "b.toml").write_bytes(OWN_BOARD.read_bytes())
    (etc / "w.toml").write_bytes(OWN_WIRING.read_bytes())
    configuration, _, _, problems = forgiving_configuration()
    assert problems == []
    assert configuration.board == etc / "b.toml"


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_wrong_configuration_is_said_after_the_greeting(tmp_path: Path, language: str) -> None:
    booted = Booted(tmp_path, misconfigured=True)
    booted.loop.power_on()
    booted.finish()
    assert [word for word in booted.story if word not in {"sound", "0 faults"}] == [
        SoundName.GREETING,
        "misconfigured",
    ]
    assert texts(language).text("misconfigured", ())
    booted.finish()
    assert booted.story[-1] == "welcome"
    booted.mock.close()
