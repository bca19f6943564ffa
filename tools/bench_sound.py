"""Sound as figures: from a cue to Sound.play() with nothing decoded before, and what the running firmware then weighs.

`tools/bench sound` calls `measure`. Run by itself, this file is the firmware that is weighed: `volcano run --mock` with
a player that reads a few dozen clips aloud, as fast as a sound card that is a file takes them, and reports on itself.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_figures import Figures
from bench_start import VOLCANO

from firmware import cli
from firmware.audio import mixer
from firmware.audio.pack import Clip, Pack, load_pack, packs_folder
from firmware.terms import Say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firmware.audio.player import Audible

CLIPS = 200
SEED = 1
READ_ALOUD = 60
CUE_MS = 25.0
"""Target for 95 of 100 cues; a person notices from about 100 ms on (touch to cue has the other 75)."""
RESIDENT_MIB = 60.0
SUPERFLUOUS = ("numpy", "pkg_resources")
"""What pygame would import if it found them."""


class EveryClip:
    """All clips of a pack, each under a cue of its own."""

    def __init__(self, pack: Pack) -> None:
        self.clips: dict[Audible, Clip] = {}
        for clip in pack.clips():
            self.clips[Say(clip.path.stem, text=clip.path.name, voice="any")] = clip

    def find(self, cue: Audible) -> Clip | None:
        """The clip behind a cue of `clips`."""
        return self.clips.get(cue)


def measure() -> list[Figures]:
    """Cue to play, memory and superfluous modules."""
    _build_what_is_missing()
    every = EveryClip(load_pack(packs_folder()))
    return [_cue_to_play(every), *_resident()]


def _build_what_is_missing() -> None:
    checked = subprocess.run([str(VOLCANO), "sounds", "check"], capture_output=True, check=False)
    if checked.returncode:
        print("making the sounds that are missing (volcano sounds build)", flush=True)
        subprocess.run([str(VOLCANO), "sounds", "build"], check=True, stdout=sys.stderr)


# --- from the cue to the mixer


def _cue_to_play(every: EveryClip) -> Figures:
    """Alternately our player and the bare mixer with the same file, each from the disk, not from the disk's cache."""
    os.environ["SDL_AUDIODRIVER"] = "dummy"
    player = mixer.MixerPlayer(every, time.monotonic, cache_bytes=0)
    import pygame.mixer  # noqa: PLC0415 - the player has imported it without what it does not need

    cues = random.Random(SEED).sample(sorted(every.clips, key=str), min(CLIPS, len(every.clips)))
    ours_ms: list[float] = []
    peer_ms: list[float] = []
    for cue in cues:
        path = every.clips[cue].path
        _forget(path)
        ours_ms.append(_ms(lambda cue=cue: player.play(cue)))  # type: ignore[misc]
        _forget(path)
        peer_ms.append(_ms(lambda path=path: pygame.mixer.Sound(str(path))))  # type: ignore[misc]
    player.close()
    p95 = _percentile(ours_ms, 95)
    return Figures(
        f"cue to Sound.play() returned, {len(cues)} clips, none decoded before, ms",
        _spread(ours_ms),
        f"pygame.mixer.Sound(file): {_spread(peer_ms)}",
        f"p95 {p95 / _percentile(peer_ms, 95):.2f} times",
        f"p95 at most {CUE_MS:g}",
        p95 <= CUE_MS,
    )


def _forget(path: Path) -> None:
    """Take a file out of the disk's cache, where the system lets us."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _ms(work: Callable[[], Any]) -> float:
    before = time.perf_counter()
    work()
    return (time.perf_counter() - before) * 1e3


def _spread(values: Sequence[float]) -> str:
    return f"p50 {_percentile(values, 50):.2f}, p95 {_percentile(values, 95):.2f}, max {max(values):.2f}"


def _percentile(values: Sequence[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


# --- what it weighs


def _resident() -> list[Figures]:
    with tempfile.TemporaryDirectory() as state:
        quiet = {
            **os.environ,
            "SDL_AUDIODRIVER": "disk",
            "SDL_DISKAUDIOFILE": os.devnull,
            "SDL_DISKAUDIODELAY": "0",
            "BLINKA_SKIP_DEPENDENCY_CHECK": "1",
        }
        weighed = subprocess.run(
            [sys.executable, __file__, state], check=True, stdout=subprocess.PIPE, env=quiet, timeout=120
        )
    told = json.loads(weighed.stdout.splitlines()[-1])
    ready_mib, read_mib = told["ready_mib"], told["read_mib"]
    return [
        Figures(
            f"resident memory of volcano run --mock after {told['read']} different clips, MiB",
            f"{read_mib:.1f}",
            f"the same process when ready: {ready_mib:.1f}",
            f"{read_mib - ready_mib:+.1f} MiB",
            f"at most {RESIDENT_MIB:g} MiB",
            read_mib <= RESIDENT_MIB,
        ),
        Figures(
            f"{' and '.join(SUPERFLUOUS)} in sys.modules when ready",
            ", ".join(told["superfluous"]) or "neither",
            "import pygame.mixer loads them where they are installed",
            "-",
            "neither",
            not told["superfluous"],
        ),
    ]


class ReadingPlayer(mixer.MixerPlayer):
    """When the greeting has been heard, it reads clips aloud, reports and ends the process."""

    report: dict[str, Any]
    waiting: list[Audible]

    def __init__(self, clips: Pack, *args: Any, **options: Any) -> None:
        self.report, self.waiting, self.every = {}, [], EveryClip(clips)
        super().__init__(clips, *args, **options)

    def poll(self, now: float) -> bool:
        """As every player's; the loop hears of no end once the reading has begun."""
        ended = super().poll(now)
        if not self.report:
            if ended:
                self.report |= {
                    "ready_mib": _resident_mib(),
                    "superfluous": [name for name in SUPERFLUOUS if name in sys.modules],
                }
                self._clips = self.every
                self.waiting += random.Random(SEED).sample(list(self.every.clips), READ_ALOUD)
                self.play(self.waiting.pop())
            return False
        if ended and self.waiting:
            self.play(self.waiting.pop())
        elif ended:
            self.report |= {"read_mib": _resident_mib(), "read": READ_ALOUD}
            print(json.dumps(self.report), flush=True)
            raise SystemExit(0)
        return False


def _resident_mib() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) / 1024


if __name__ == "__main__":
    mixer.MixerPlayer = ReadingPlayer  # type: ignore[misc, assignment]
    sys.exit(cli.main(["run", "--mock", "--state-dir", sys.argv[1]]))
