"""What leaves the loudspeaker, recorded at the far end of the kernel's loopback card, and compared with the clips."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.audio.pack import load_pack
from firmware.audio.sdl import RATE_HZ
from firmware.terms import Say, Sound, SoundName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firmware.audio.pack import Pack

FRAME_BYTES = 2
TAIL_BYTES = RATE_HZ // 2 * FRAME_BYTES
PACKS = Path("/var/lib/volcano/sounds")


@dataclass(frozen=True, slots=True)
class Heard:
    """Where a clip was found, in bytes, its silent ends left out."""

    name: str
    start: int
    end: int


def record(card: str, path: Path) -> subprocess.Popen[bytes]:
    """Record what is played on `card` from now on, 16 bits, one channel."""
    return subprocess.Popen(
        [
            *("arecord", "--quiet", f"--device=hw:CARD={card},DEV=1", "--file-type=raw", "--format=S16_LE"),
            *("--channels=1", f"--rate={RATE_HZ}", f"--buffer-size={2 * RATE_HZ}", str(path)),
        ],
        stderr=subprocess.PIPE,
    )


def stop(recorder: subprocess.Popen[bytes]) -> None:
    """End the recording.

    Raises:
        AssertionError: the recorder itself has missed something.
    """
    recorder.send_signal(signal.SIGINT)
    complaints = recorder.communicate(timeout=60)[1].decode(errors="replace")
    assert "overrun" not in complaints, f"the recorder came too late: {complaints}"


def ends_loud(path: Path) -> bool:
    """Whether anything but silence is in the last half second."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return any(file.read())


def judge(path: Path, rows: list[dict[str, Any]]) -> Iterator[str]:
    """Lines about what was heard: each clip after the one before, sample for sample, and nothing else.

    Raises:
        AssertionError: something is missing, cut short, mixed, or too much.
    """
    recording = bytearray(path.read_bytes())
    pack = load_pack(PACKS)
    cues = [row for row in rows if row.get("cue") in ("say", "sound")]
    found: list[Heard] = []
    end = 0
    for row, clip in zip(cues, _decoded(pack, cues), strict=True):
        name = str(row.get("line") or row["name"])
        start = recording.find(clip, end)
        while start % FRAME_BYTES and start > 0:
            start = recording.find(clip, start + 1)
        assert start >= 0, f"{name} after {[each.name for each in found[-3:]]}: {_differs(recording, clip, end)}"
        end = start + len(clip)
        found.append(Heard(name, start, end))
    yield f"{len(found)} clips heard, each sample as decoded: {sum(each.end - each.start for each in found)} bytes"
    for each in found:
        recording[each.start : each.end] = bytes(each.end - each.start)
    assert not any(recording), "something else is heard, too"
    yield f"nothing else in {len(recording) / FRAME_BYTES / RATE_HZ:.0f} s"


def _differs(recording: bytearray, clip: bytes, end: int) -> str:
    """How a clip that was not found differs from what was heard."""
    start = recording.find(clip[:TAIL_BYTES], end)
    if start < 0:
        return "its beginning is not heard"
    heard = recording[start : start + len(clip)]
    same = next((at for at, (one, other) in enumerate(zip(heard, clip, strict=False)) if one != other), len(heard))
    return f"is heard for {_ms(same)} of {_ms(len(clip))} ms, then something else, {_ms(start)} ms from the start"


def _ms(size: int) -> int:
    return size // FRAME_BYTES * 1000 // RATE_HZ


def _decoded(pack: Pack, cues: list[dict[str, Any]]) -> Iterator[bytes]:
    """The samples of each cue, without the silence at its ends."""
    os.environ.update(SDL_AUDIODRIVER="dummy", PYGAME_HIDE_SUPPORT_PROMPT="1")
    from pygame import mixer  # noqa: PLC0415 - reads its environment when it is loaded

    mixer.init(RATE_HZ, -16, 1, allowedchanges=0)
    for row in cues:
        if row["cue"] == "sound":
            clip = pack.find(Sound(SoundName(row["name"])))
        else:
            clip = pack.find(Say(row["line"], voice=row["voice"], text=row["text"]))
        assert clip, f"there is no clip for {row}"
        samples = mixer.Sound(str(clip.path)).get_raw()
        first = len(samples) - len(samples.lstrip(b"\0"))
        yield samples[first - first % FRAME_BYTES :].rstrip(b"\0")
    mixer.quit()
