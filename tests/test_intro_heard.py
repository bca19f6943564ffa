"""The introductory game as it leaves the loudspeaker: every announcement, in order, whole, without gap or overlap.

The real loop plays it over emulated chips with real clips; what the mixer puts out is a pipe, and the time is what has
been read from it. So sound and game share one clock, nothing sleeps, and the recording alone is judged.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from speaker import AHEAD_S, FRAME_BYTES, Speaker
from table import TITLE, Rows, Table, texts
from test_intro import TURNS

from firmware.audio.build import build_effects, build_language
from firmware.audio.characters import load_cast
from firmware.audio.engines import Pico
from firmware.audio.mixer import MixerPlayer
from firmware.audio.pack import Pack, load_pack
from firmware.audio.sdl import RATE_HZ
from firmware.catalogue import sounds_folder
from firmware.game.insel.script import PAIR_PAUSE_MS
from firmware.hal.backends import mock_hardware
from firmware.hal.ports import POLLS_PER_S
from firmware.hal.wiring import load_wiring
from firmware.journal import Store
from firmware.loop import Loop
from firmware.terms import Args, Figure, Say, Sound, SoundName, Touch
from firmware.unit_events import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

POLL_FRAMES = RATE_HZ // POLLS_PER_S
LONGEST_GAP_MS = 300
"""What a listener takes for a pause of speech; more sounds like a fault."""
SILENT_DB = -60.0
"""Of full scale; the clips are at -18 LUFS."""
QUIET_S = 1.5
"""An announcement is over when nothing has been said for so long."""
LONGEST_S = 240


@dataclass
class Family:
    """Two people, an emulated board, and the real loop between it and the speaker."""

    speaker: Speaker
    pack: Pack
    language: str
    folder: Path

    def __post_init__(self) -> None:
        self.rows = Rows()
        self.announcements: list[int] = []
        self.mock = mock_hardware(load_wiring(None, TITLE.fields), self.speaker)
        self.player = MixerPlayer(self.pack, self.speaker)
        assert self.player.is_open
        self.complaints: list[str] = []
        self.loop = Loop(
            TITLE,
            texts,
            self.mock.hardware,
            self.player,
            Store(self.folder / "state", self.complaints.append),
            settings=Settings(self.language, volume=5),
            clock=self.speaker,
        )
        self.loop.listen(self.rows.append)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * POLLS_PER_S)):
            self.speaker.listen(POLL_FRAMES)
            self.loop.step()

    def hear_out(self) -> None:
        """Wait until nothing more is said; what was said since the last time is one announcement."""
        began = self.speaker()
        heard, since = len(self.rows), began
        while self.speaker() - since < QUIET_S or not self.loop.unit.speech.idle:
            self.run(0.1)
            if len(self.rows) != heard:
                heard, since = len(self.rows), self.speaker()
            assert self.speaker() - began < LONGEST_S, "it never ends"
        self.run(AHEAD_S)
        self.announcements.append(len(self.rows.heard))

    def play(self) -> None:
        """The eleven turns, as fast as they can be played if everything is heard to its end."""
        self.loop.power_on()
        self.hear_out()
        self.mock.press(down=True)
        self.run(0.2)
        self.mock.press(down=False)
        self.hear_out()
        for turn in TURNS:
            name, spot, word = turn.split()
            figure, touch = Figure(name), Touch(word)
            hands = self.mock.hands
            if hands.where(figure) != spot:
                hands.place(figure, spot)
                self.run(0.6)
            hands.grip(figure)
            self.run(0.2)
            hands.touch(touch)
            self.run(0.6)
            hands.lift(touch)
            hands.let_go(figure)
            self.hear_out()

    def close(self) -> None:
        self.speaker.close()
        self.player.close()
        self.mock.close()


class OnlyThese:
    """The lines of a catalogue that are said; nothing else need be spoken for this."""

    def __init__(self, rows: Rows) -> None:
        self.said = dict.fromkeys((row["line"], tuple(row["args"].items()), row["text"]) for row in rows.cues("say"))
        self.voices = {(line, args): row["voice"] for row in rows.cues("say") for line, args in [_name(row)]}

    def clips(self) -> Iterator[tuple[str, Args, int, str]]:
        yield from ((line, args, 0, text) for line, args, text in self.said)

    def voice(self, line: str, args: Args) -> str:
        return str(self.voices[line, args])


def _name(row: dict[str, object]) -> tuple[str, Args]:
    args: dict[str, str | int] = row["args"]  # type: ignore[assignment]
    return str(row["line"]), tuple(args.items())


def foretold(language: str) -> Rows:
    """The same game on the console, which has no player: what must be heard."""
    turns = "".join(f"{turn}\nwait 85\n" for turn in TURNS)  # an open question would be asked again after 90 s
    return Rows(Table(f"wait 60\nbutton\nwait 100\n{turns}", language=language).rows)


def clip_of(pack: Pack, row: dict[str, object]) -> bytes:
    """The samples of a cue, without the silence at its ends."""
    cue = (
        Sound(SoundName(str(row["name"])))
        if row["cue"] == "sound"
        else Say(str(row["line"]), voice=str(row["voice"]), text=str(row["text"]))
    )
    clip = pack.find(cue)
    assert clip, row
    with wave.open(str(clip.path), "rb") as file:
        assert file.getframerate() == RATE_HZ
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
    loud = np.flatnonzero(samples)
    return samples[loud[0] : loud[-1] + 1].tobytes()


@dataclass(frozen=True)
class Heard:
    """Where a cue was found in the recording, in frames."""

    name: str
    start: int
    end: int


def find_all(recording: bytes, pack: Pack, cues: list[dict[str, object]]) -> list[Heard]:
    """Each cue after the one before, sample for sample: nothing can be missing, cut short or mixed with another."""
    found: list[Heard] = []
    end = 0
    for cue in cues:
        clip = clip_of(pack, cue)
        start = recording.find(clip, end)
        while start % FRAME_BYTES and start > 0:
            start = recording.find(clip, start + 1)
        name = str(cue.get("line") or cue["name"])
        assert start >= 0, f"{name} is not heard after {[each.name for each in found[-3:]]}"
        end = start + len(clip)
        found.append(Heard(name, start // FRAME_BYTES, end // FRAME_BYTES))
    return found


def silences_ms(samples: NDArray[np.int16], first: int, last: int) -> list[tuple[int, int]]:
    """(begin in frames, length in ms) of everything below `SILENT_DB` between two frames."""
    block = RATE_HZ // 100
    part = samples[first:last].astype(np.float64)[: (last - first) // block * block].reshape(-1, block)
    quiet = np.sqrt(np.mean(part**2, axis=1)) < 32768 * 10 ** (SILENT_DB / 20)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], quiet, [False]]).astype(np.int8)))
    return [(first + begin * block, int(end - begin) * 10) for begin, end in edges.reshape(-1, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "en"])
def test_every_announcement_is_heard_whole_in_order_and_without_gaps(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = foretold(language)
    packs = tmp_path / "packs"
    build_effects(packs)
    build_language(language, OnlyThese(told), load_cast(sounds_folder() / "voices.toml"), Pico(), packs)
    pack = load_pack(packs)
    speaker = Speaker(tmp_path / "speaker", monkeypatch)
    family = Family(speaker, pack, language, tmp_path)
    try:
        family.play()
    finally:
        family.close()
    assert not family.complaints
    assert family.rows.heard == told.heard, "the board tells another story than the console"
    assert not family.rows.cues("stop")

    recording = bytes(speaker.heard)
    samples = np.frombuffer(recording, dtype="<i2")
    cues = [row for row in told if row.get("cue") in ("say", "sound")]
    found = find_all(recording, pack, cues)

    rest = samples.copy()
    for each in found:
        rest[each.start : each.end] = 0
    assert not rest.any(), "something else is heard, too"

    starts = [0, *family.announcements[:-1]]
    assert len(family.announcements) == 2 + len(TURNS)
    for first, last in zip(starts, family.announcements, strict=True):
        parts = found[first:last]
        assert parts, "an announcement of nothing"
        for begin, gap_ms in silences_ms(samples, parts[0].start, parts[-1].end):
            after = max((each for each in parts if each.start <= begin), key=lambda each: each.start)
            allowed_ms = LONGEST_GAP_MS + (PAIR_PAUSE_MS if after.name == "point" else 0)
            assert gap_ms <= allowed_ms, f"{gap_ms} ms of silence after {after.name}, {language}"
