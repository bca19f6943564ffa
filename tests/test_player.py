"""Players: one cue at a time, joined without a gap, and never a reason for a game to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import wave
from array import array
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from speaker import AHEAD_S, Speaker

from firmware.audio import mixer
from firmware.audio.mixer import OVERDUE_S, MixerPlayer
from firmware.audio.pack import Clip
from firmware.audio.player import FADE_MS, RecordingPlayer, SilentPlayer
from firmware.audio.sdl import RATE_HZ
from firmware.terms import MS_PER_CHARACTER, Cue, Part, Say, Sound, SoundName, Symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from firmware.audio.player import Player

HARP, BIRD, BEEP, POINT = (Sound(name) for name in (SoundName.HARP, SoundName.BIRD, SoundName.BEEP, SoundName.POINT))
LEVELS = {HARP: 1000, BIRD: 2000, BEEP: 3000, POINT: 4000}
FRAMES = {HARP: 60_001, BIRD: 30_011, BEEP: 20_000, POINT: 16_801}
"""No multiple of the mixer's buffer, so that a gap would show."""
POLL_FRAMES = 960
"""The loop polls 50 times a second."""
UNDER_WAY = 12_000
"""Frames after which a cue is certainly heard and HARP not nearly over, whatever the mixer is ahead."""
LONGEST_S = 5.0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Clips:
    """Clips of constant level, so that every sample tells whose it is."""

    folder: Path
    paths: dict[Say | Sound, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for cue, level in LEVELS.items():
            self.paths[cue] = self.folder / f"{cue.name}.wav"
            with wave.open(str(self.paths[cue]), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(RATE_HZ)
                file.writeframes(array("h", [level]).tobytes() * FRAMES[cue])

    def find(self, cue: Say | Sound) -> Clip | None:
        path = self.paths.get(cue)
        return Clip(path, FRAMES[cue] * 1000 // RATE_HZ) if path and isinstance(cue, Sound) else None


@pytest.fixture
def clips(tmp_path: Path) -> Clips:
    return Clips(tmp_path)


@pytest.fixture
def clock() -> Clock:
    return Clock()


# --- the silent player


def test_a_cue_lasts_its_nominal_time(clock: Clock) -> None:
    player = SilentPlayer(clock)
    player.play(Say("points", text="Two points."))
    lasts = len("Two points.") * MS_PER_CHARACTER / 1000
    assert not player.poll(clock.now + lasts - 0.001)
    assert player.poll(clock.now + lasts)
    assert not player.poll(clock.now + 60)


def test_a_successor_begins_when_its_predecessor_ended_however_late_that_is_seen(clock: Clock) -> None:
    player = SilentPlayer(clock)
    player.play(POINT, POINT)
    clock.now += 0.360
    assert player.poll(clock.now)
    player.play(POINT)
    assert not player.poll(100.699)
    assert player.poll(100.701)


def test_another_cue_than_the_announced_one_begins_now(clock: Clock) -> None:
    player = SilentPlayer(clock)
    player.play(POINT, BEEP)
    clock.now += 1
    assert player.poll(clock.now)
    player.play(POINT)
    assert not player.poll(101.349)
    assert player.poll(101.351)


def test_lights_are_no_successor(clock: Clock) -> None:
    player = SilentPlayer(clock)
    player.play(POINT, Symbols())
    clock.now += 0.4
    assert player.poll(clock.now)


# --- the recording player


def test_the_recording_player_notes_order_and_is_stepped_by_the_test() -> None:
    player = RecordingPlayer()
    player.play(HARP, BIRD)
    assert not player.poll(1e9)
    player.finish()
    assert [player.poll(0), player.poll(0)] == [True, False]
    player.play(BIRD)
    player.stop(40)
    player.set_volume(9)
    assert (player.played, player.followings, player.stops, player.volume) == ([HARP, BIRD], [BIRD, None], [40], 5)
    with pytest.raises(AssertionError):
        player.finish()


# --- the mixer, by what SDL's disk driver writes: exact samples


@dataclass
class Tape:
    """A mixer player whose sound is heard sample by sample, at the pace of the test."""

    clips: Clips
    speaker: Speaker

    def __post_init__(self) -> None:
        self.player = MixerPlayer(self.clips, time.monotonic)
        assert self.player.is_open

    def until_ended(self) -> None:
        end = self.speaker() + LONGEST_S
        while not self.player.poll(time.monotonic()):
            self.until_heard(POLL_FRAMES)
            assert self.speaker() < end, "the cue does not end"

    def until_heard(self, frames: int) -> None:
        """So many frames have been heard from now on."""
        self.speaker.listen(frames)

    def while_fading(self, fade_ms: int = FADE_MS) -> None:
        """SDL fades by the wall clock, so that is how fast one has to listen until a fade is over."""
        began, heard = time.monotonic(), self.speaker()
        while (passed := time.monotonic() - began) < 1.5 * fade_ms / 1000:
            if self.speaker() - heard < passed:
                self.until_heard(RATE_HZ // 100)
            os.sched_yield()

    def samples(self) -> list[int]:
        """All that was heard, without the silence around it."""
        self.speaker.listen(round(AHEAD_S * RATE_HZ))
        self.close()
        heard = array("h")
        heard.frombytes(self.speaker.heard)
        loud = [place for place, sample in enumerate(heard) if sample]
        return list(heard[loud[0] : loud[-1] + 1]) if loud else []

    def close(self) -> None:
        self.speaker.close()
        self.player.close()


@pytest.fixture
def tape(clips: Clips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tape]:
    recorded = Tape(clips, Speaker(tmp_path / "speaker", monkeypatch))
    yield recorded
    recorded.close()


def whole(*cues: Sound, level: float = 1) -> list[int]:
    return [int(LEVELS[cue] * level) for cue in cues for _ in range(FRAMES[cue])]


def test_a_sequence_is_heard_sample_for_sample_without_a_gap(tape: Tape) -> None:
    sequence: list[Sound] = [HARP, BIRD, POINT, POINT]
    for cue, following in zip(sequence, [*sequence[1:], None], strict=True):
        tape.player.play(cue, following)
        tape.until_ended()
    assert tape.samples() == whole(*sequence)


def test_a_successor_that_is_known_later_joins_without_a_gap_as_well(tape: Tape) -> None:
    tape.player.play(HARP)
    tape.until_heard(UNDER_WAY)
    tape.player.follow(BIRD)
    tape.until_ended()
    tape.player.play(BIRD)
    tape.until_ended()
    assert tape.samples() == whole(HARP, BIRD)


def test_a_successor_of_nothing_is_not_heard(tape: Tape) -> None:
    tape.player.play(POINT)
    tape.until_ended()
    tape.player.follow(BIRD)
    tape.until_heard(30_000)
    assert tape.samples() == whole(POINT)


def test_an_interruption_is_heard_to_its_end_over_the_fading_cue(tape: Tape) -> None:
    tape.player.play(HARP, BIRD)
    tape.until_heard(UNDER_WAY)
    tape.player.play(BEEP)
    tape.while_fading()
    tape.until_ended()
    heard = tape.samples()
    assert heard[-4000:] == whole(BEEP)[-4000:]
    assert LEVELS[BIRD] not in heard
    assert len(heard) < FRAMES[HARP] + FRAMES[BEEP]


def test_stop_fades_and_forgets_the_successor(tape: Tape) -> None:
    tape.player.play(HARP, BIRD)
    tape.until_heard(UNDER_WAY)
    tape.player.stop(300)
    tape.while_fading(300)
    tape.until_heard(30_000)
    assert not tape.player.poll(time.monotonic())
    heard = tape.samples()
    assert max(heard) == LEVELS[HARP]
    assert len(heard) < FRAMES[HARP]
    assert heard[-1] < LEVELS[HARP] / 2


def test_a_successor_that_is_not_wanted_does_not_go_on(tape: Tape) -> None:
    tape.player.play(POINT, BIRD)
    tape.until_ended()
    assert not tape.player.poll(time.monotonic())
    tape.until_heard(30_000)
    assert tape.samples().count(LEVELS[BIRD]) < FRAMES[BIRD] / 2


@pytest.mark.parametrize(("step", "level_db"), [(1, -24), (3, -12), (5, 0), (0, -24), (6, 0)])
def test_five_volume_steps_six_decibels_apart(tape: Tape, step: int, level_db: float) -> None:
    tape.player.set_volume(step)
    tape.player.play(POINT)
    tape.until_ended()
    assert max(tape.samples()) == pytest.approx(LEVELS[POINT] * 10 ** (level_db / 20), rel=0.02)


def test_a_volume_step_is_heard_at_once(tape: Tape) -> None:
    tape.player.play(HARP)
    tape.until_heard(UNDER_WAY)
    tape.player.set_volume(1)
    tape.until_ended()
    heard = tape.samples()
    assert heard[0] == LEVELS[HARP]
    assert max(heard[-1000:]) == pytest.approx(LEVELS[HARP] * 10 ** (-24 / 20), rel=0.02)


def test_a_missing_clip_is_silence_of_nominal_length_and_named_once(
    tape: Tape, caplog: pytest.LogCaptureFixture
) -> None:
    missing = Say("finds", (("found", 2),), voice="narrator", text="x" * 10)
    for _ in range(2):
        tape.player.play(missing, POINT)
        tape.until_ended()
        tape.player.play(POINT)
        tape.until_ended()
    named = "no clip for the line finds, wording 0, voice narrator, with found 2"
    assert [record.message for record in caplog.records] == [f"{named}: build the sounds again (volcano sounds build)"]
    heard = tape.samples()
    assert heard[: FRAMES[POINT]] == whole(POINT)
    assert heard[-FRAMES[POINT] :] == whole(POINT)
    pause = heard[FRAMES[POINT] : -FRAMES[POINT]]
    assert set(pause) == {0}
    assert 0 <= len(pause) - 10 * MS_PER_CHARACTER * RATE_HZ // 1000 < RATE_HZ


@pytest.mark.parametrize("content", [b"", b"RIFF....WAVE but no more", None])
def test_a_broken_clip_is_silence(tape: Tape, caplog: pytest.LogCaptureFixture, content: bytes | None) -> None:
    path = tape.clips.paths[BEEP]
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    tape.player.play(BEEP, POINT)
    tape.until_ended()
    tape.player.play(POINT)
    tape.until_ended()
    assert tape.samples() == whole(POINT)
    assert [str(path) in record.message for record in caplog.records] == [True]


def test_decoded_clips_are_kept_up_to_a_limit(clips: Clips, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    player = MixerPlayer(clips, Clock(), cache_bytes=2 * (FRAMES[HARP] + FRAMES[BIRD]))
    for cue in (HARP, BIRD, HARP, BEEP, POINT):
        player.play(cue)
    kept = list(player._cache._sounds)
    assert kept == [clips.paths[BEEP], clips.paths[POINT]]
    assert player._cache.bytes == 2 * (FRAMES[BEEP] + FRAMES[POINT])
    player.close()


# --- the sound card


def settle(player: MixerPlayer, clock: Clock, done: Callable[[], bool]) -> None:
    """Poll until the attempt in the player's thread is over."""
    give_up = time.monotonic() + 20
    while not done():
        player.poll(clock.now)
        for thread in threading.enumerate():
            if thread.name == "sound":
                thread.join(20)
        assert time.monotonic() < give_up


def test_without_a_card_time_passes_silently_and_the_card_is_found_later(
    clips: Clips, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SDL_AUDIODRIVER", "alsa")
    monkeypatch.setenv("AUDIODEV", "")
    player = MixerPlayer(clips, clock, card="Nowhere")
    assert not player.is_open
    assert os.environ["AUDIODEV"] == "plughw:CARD=Nowhere,DEV=0"
    (fault,) = player.faults()
    assert (fault.part, fault.text.partition(": ")[0]) == (Part.SOUND, "there is no sound card Nowhere")
    player.play(HARP)
    assert not player.poll(clock.now + FRAMES[HARP] / RATE_HZ - 0.01)
    assert player.poll(clock.now + FRAMES[HARP] / RATE_HZ)
    for _ in range(5):
        clock.now += 100
        settle(player, clock, lambda: player._opening is None)
    assert [record.message for record in caplog.records] == [
        "there is no sound card Nowhere: its name must stand in /proc/asound/cards; silent until then"
    ]
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    clock.now += 100
    settle(player, clock, lambda: player.is_open)
    assert caplog.records[-1].message == "sound card Nowhere works again"
    assert player.faults() == []
    player.close()


def test_a_card_that_takes_no_more_samples_ends_the_cue_and_is_opened_anew(
    clips: Clips, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    player = MixerPlayer(clips, clock)
    player.play(HARP, BIRD)
    clock.now += FRAMES[HARP] / RATE_HZ + OVERDUE_S + 0.1
    assert player.poll(clock.now)
    assert not player.is_open
    assert "takes no more samples" in str(player.faults())
    player.play(BIRD)
    clock.now += FRAMES[BIRD] / RATE_HZ
    assert player.poll(clock.now)
    settle(player, clock, lambda: player.is_open)
    assert [record.message for record in caplog.records] == [
        "the default sound card takes no more samples: check its wires; silent until it does",
        "the default sound card works again",
    ]
    player.close()
    player.close()


@contextmanager
def in_a_process(program: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A process of its own, which does not outlive the test."""
    root = Path(__file__).parent.parent
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(root), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(program: str, **environment: str) -> list[str]:
    """What a process said until it ended by itself, and well."""
    with in_a_process(program, **environment) as process:
        said, _ = process.communicate(timeout=20)
        assert process.returncode == 0
    return said.splitlines()


OPEN = """
import sys, time
from firmware.audio.mixer import MixerPlayer
from firmware.audio.pack import load_pack
player = MixerPlayer(load_pack(), time.monotonic{options})
superfluous = ("numpy", "pkg_resources", "pygame.display", "pygame.font", "pygame.sprite")
print(player.is_open, [name for name in superfluous if name in sys.modules], flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_a_process_that_plays_and_nothing_superfluous_is_loaded(number: signal.Signals) -> None:
    program = OPEN.format(options="") + "signal.pause()"
    heard = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)"  # whoever runs this may ignore it
    with in_a_process(heard + program, SDL_AUDIODRIVER="dummy") as process:
        assert process.stdout
        assert process.stdout.readline() == "True []\n"
        process.send_signal(number)
        assert process.wait(20) == -number


def plan_of_cards(folder: Path) -> dict[str, str]:
    """The environment in which what the card NAME takes is written into `folder`/NAME.raw."""
    plan = folder / "asound.conf"
    plan.write_text(
        'pcm.plughw { @args [ CARD ] @args.CARD { type string } type file slave.pcm "null" format raw\n'
        f'file {{ @func concat strings [ "{folder}/" $CARD ".raw" ] }} }}\n'
        "pcm.null { type null }\n",
        encoding="utf-8",
    )
    return {"SDL_AUDIODRIVER": "alsa", "ALSA_CONFIG_PATH": str(plan)}


def test_a_named_card_is_opened_through_alsa(tmp_path: Path) -> None:
    program = OPEN.format(options=", card='plughw:CARD=Volcano'") + "player.close()"
    assert ended(program, **plan_of_cards(tmp_path)) == ["True []"]
    assert (tmp_path / "Volcano.raw").exists()


HANGING = """
import threading, time
from firmware.audio.mixer import MixerPlayer
from firmware.audio.pack import load_pack
from firmware.terms import Sound, SoundName
now = [0.0]
player = MixerPlayer(load_pack(), lambda: now[0], card="plughw:CARD=Volcano")
player.play(Sound(SoundName.GREETING))
"""
LOSING = """
while player.is_open:
    now[0] += 1
    player.poll(now[0])
print(player.faults()[0].text, flush=True)
"""
OPENING_ANEW = """
for thread in threading.enumerate():
    if thread.name == "sound":
        thread.join(0.2)
"""
ENDING = """
began = time.monotonic()
player.close()
player.close()
print(time.monotonic() - began < 3, flush=True)  # TimeoutStopSec of the service
"""


@pytest.mark.parametrize(
    ("course", "told"),
    [
        (LOSING, ["sound card plughw:CARD=Volcano takes no more samples"]),
        (LOSING + OPENING_ANEW, ["sound card plughw:CARD=Volcano takes no more samples"]),
        ("", []),
        ("time.sleep(0.1)", []),
    ],
    ids=["seen", "seen and opened anew", "not seen yet", "hanging for long, not seen yet"],
)
def test_a_process_ends_although_its_sound_card_hangs(tmp_path: Path, course: str, told: list[str]) -> None:
    """SDL would wait for the card for ever, and systemd would have to kill the service. Here it takes nothing."""
    card = tmp_path / "Volcano.raw"
    os.mkfifo(card)
    reader, writer = os.open(card, os.O_RDONLY | os.O_NONBLOCK), os.open(card, os.O_WRONLY | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    *lines, quick = ended(HANGING + course + ENDING, **plan_of_cards(tmp_path))
    assert [line.partition(": check")[0] for line in lines] == told
    assert quick == "True"
    os.close(reader)
    os.close(writer)


def test_a_card_that_hangs_when_it_is_opened_holds_up_neither_start_nor_end_nor_signals(tmp_path: Path) -> None:
    """pygame opens it with the interpreter's lock in hand. This one is a pipe that nobody reads: its opening waits."""
    os.mkfifo(tmp_path / "Volcano.raw")
    program = """
import signal
heard = []
signal.signal(signal.SIGTERM, lambda *_: heard.append(True))
import firmware.audio.mixer as mixer
mixer.OPENING_S = 0.2
"""
    program += HANGING + "print(player.faults()[0].text, player.is_open, flush=True)\n"
    program += "signal.raise_signal(signal.SIGTERM); print(heard)\n"
    opening, signalled, quick = ended(program + ENDING, **plan_of_cards(tmp_path))
    assert opening.startswith("sound card plughw:CARD=Volcano does not open: check the card")
    assert opening.endswith(" False")
    assert signalled == "[True]"
    assert quick == "True"
    program += f"""
import os
os.open("{tmp_path}/Volcano.raw", os.O_RDONLY | os.O_NONBLOCK)
while not player.is_open:
    now[0] += 5
    player.poll(now[0])
    time.sleep(0.01)
print(player.faults())
"""
    assert ended(program + ENDING, **plan_of_cards(tmp_path)) == [opening, "[True]", "[]", "True"], "it opens later"


def test_what_nothing_foresaw_at_the_card_is_told_and_time_passes_silently(
    clips: Clips, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def surprise(card: str, buffer: int) -> None:
        raise ZeroDivisionError(f"{card} {buffer}")

    monkeypatch.setattr(mixer, "SdlMixer", surprise)
    player = MixerPlayer(clips, clock, card="Volcano")
    (fault,) = player.faults()
    assert fault.text == "sound card Volcano cannot be opened: ZeroDivisionError: Volcano 512; silent until then"
    player.play(POINT)
    assert player.poll(clock.now + 1)
    player.close()


def test_without_room_for_a_thread_time_passes_silently(
    clips: Clips, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as crowded:
        crowded.setattr(threading.Thread, "start", full)
        player = MixerPlayer(clips, clock)
        assert "no thread can be started" in player.faults()[0].text
        player.play(POINT)
        assert player.poll(clock.now + 1)
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    clock.now += 100
    settle(player, clock, lambda: player.is_open)
    player.close()


def test_a_card_that_cannot_be_opened_is_told_in_our_words_only() -> None:
    """alsa-lib would print ten lines of its own."""
    program = OPEN.format(options=", card='plughw:CARD=Nowhere'")
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(root), "SDL_AUDIODRIVER": "alsa"},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = done.stderr.splitlines()
    assert line.startswith("sound card plughw:CARD=Nowhere cannot be opened: check the card and its overlay")
    assert done.stdout == "False []\n"


# --- what every player keeps to


@pytest.fixture(params=["silent", "mixer"])
def any_player(
    request: pytest.FixtureRequest, clips: Clips, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Player]]:
    if request.param == "silent":
        yield lambda: SilentPlayer(clock)
    else:
        monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
        yield lambda: MixerPlayer(clips, clock)


def test_every_player_is_quiet_before_and_after(any_player: Callable[[], Player], clock: Clock) -> None:
    player = any_player()
    assert not player.poll(clock.now)
    following: Cue | None = BIRD
    player.play(HARP, following)
    player.stop()
    assert not player.poll(clock.now)
    player.stop(0)
    player.close()
    assert not player.poll(clock.now)
    player.close()
