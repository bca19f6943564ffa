"""The process `volcano run`: from exec to its first poll and to its first sample, what it imports, what it weighs."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench_figures import Figures

VOLCANO = Path(sys.executable).with_name("volcano")
SETTLED_S = 6.0
"""Greeted and speaking."""
FIRST_SAMPLE = """
import os, sys
from firmware.audio.mixer import MixerPlayer
def play(self, *cues, play=MixerPlayer.play):
    play(self, *cues)
    os._exit(0)
MixerPlayer.play = play
from firmware.cli import main
main(["run", "--mock", "--state-dir", *sys.argv[1:]])
"""
"""`volcano run`, ended by the first cue that the mixer has been given."""
MIXER = "import os, pygame.mixer; pygame.mixer.init(48_000, -16, 1, 512, allowedchanges=0); os._exit(0)"
IMPORT_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")
SHOWN = 8
PAGE = ("starlette", "uvicorn", "asyncio")
"""What only the page needs: imported when the volcano is ready."""


def start(starts: int) -> list[Figures]:
    """`volcano run --mock` from exec to the end of its first poll, against bare imports of the same packages."""
    imports = "import gpiozero, gpiozero.pins.mock, adafruit_mpr121, pygame.mixer"
    bare = [sys.executable, "-c", f"{imports}; print('imported', flush=True)"]
    ratios: list[float] = []
    ours_ms: list[float] = []
    bare_ms: list[float] = []
    with tempfile.TemporaryDirectory() as state:
        ours = [str(VOLCANO), "run", "--mock", "--once", "--state-dir", state]
        for number in range(starts + 1):
            one, other = _start_s(ours), _start_s(bare)
            if number:  # the first pair writes byte code and warms the disk's cache
                ours_ms.append(one * 1e3)
                bare_ms.append(other * 1e3)
                ratios.append(one / other)
    ratio = statistics.median(ratios)
    return [
        Figures(
            "volcano run --mock, exec to first poll, ms",
            f"{statistics.median(ours_ms):.0f}",
            f"{imports}: {statistics.median(bare_ms):.0f}",
            f"{ratio:.2f} times",
            "at most 1.5 times",
            ratio <= 1.5,
        )
    ]


def _start_s(command: list[str]) -> float:
    """From exec to the line that the process writes when it is there; how it ends is not counted."""
    before = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=quiet()
    ) as running:
        for line in running.stdout or ():
            if line.startswith(("polled", "imported")):
                return time.perf_counter() - before
    raise RuntimeError(f"{command} ended with {running.returncode} before it was there")


def first_sample(starts: int) -> list[Figures]:
    """The greeting is heard when this is over (and the card has filled its first period)."""
    ours_ms: list[float] = []
    page_ms: list[float] = []
    bare_ms: list[float] = []
    with tempfile.TemporaryDirectory() as state:
        ours = [sys.executable, "-c", FIRST_SAMPLE, state]
        for number in range(starts + 1):
            times = _ms(ours), _ms([*ours, "--page"]), _ms([sys.executable, "-c", MIXER])
            if number:  # the first round writes byte code and warms the disk's cache
                for each, ms in zip((ours_ms, page_ms, bare_ms), times, strict=True):
                    each.append(ms)
        imports = _imports([sys.executable, "-X", "importtime", "-c", FIRST_SAMPLE, state])
        with_page = _imports([sys.executable, "-X", "importtime", "-c", FIRST_SAMPLE, state, "--page"])
    ratio = statistics.median(one / other for one, other in zip(ours_ms, bare_ms, strict=True))
    page_ratio = statistics.median(one / other for one, other in zip(page_ms, ours_ms, strict=True))
    too_early = [name for name in PAGE if name in with_page]
    most = ", ".join(f"{package} {us / 1e3:.0f}" for package, us in imports.most_common(SHOWN))
    total_ms = imports.total() / 1e3
    return [
        Figures(
            "volcano run --mock, exec to first sample queued, ms",
            f"{statistics.median(ours_ms):.0f}",
            f"import pygame.mixer and mixer.init(): {statistics.median(bare_ms):.0f}",
            f"{ratio:.2f} times",
            "at most 1.6 times",
            ratio <= 1.6,
        ),
        Figures(
            "... with --page",
            f"{statistics.median(page_ms):.0f}",
            "the same without",
            f"{page_ratio:.2f} times; imported by then: {', '.join(too_early) or 'nothing of the page'}",
            f"at most 1.1 times, none of {', '.join(PAGE)}",
            page_ratio <= 1.1 and not too_early,
        ),
        Figures(
            "... of which imports, ms (with the cost of measuring them)",
            f"{total_ms:.0f}: {most}",
            "-",
            f"firmware {100 * imports['firmware'] / imports.total():.0f} %",
        ),
    ]


def _ms(command: list[str]) -> float:
    before = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=quiet())
    return (time.perf_counter() - before) * 1e3


def _imports(command: list[str]) -> Counter[str]:
    """Microseconds that each top-level package's modules took by themselves."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=quiet())
    spent: Counter[str] = Counter()
    for line in done.stderr.splitlines():
        if found := IMPORT_LINE.match(line):
            name = found[2].split(".")[0]
            own = name in sys.stdlib_module_names and name not in PAGE
            spent["Python's own" if own else name] += int(found[1])
    return spent


def memory() -> list[Figures]:
    """Resident memory of the running firmware, ready and without a page, against the bare interpreter."""
    with tempfile.TemporaryDirectory() as state:
        ours_mib = _resident_mib([str(VOLCANO), "run", "--mock", "--state-dir", state], SETTLED_S)
    peer_mib = _resident_mib([sys.executable, "-c", "input()"], 1.0)
    return [
        Figures(
            "resident memory of volcano run --mock, ready, MiB",
            f"{ours_mib:.1f}",
            f"python3 alone: {peer_mib:.1f}",
            f"{ours_mib / peer_mib:.2f} times",
            "at most 60 MiB",
            ours_mib <= 60,
        )
    ]


def _resident_mib(command: list[str], after_s: float) -> float:
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=quiet()
    ) as running:
        time.sleep(after_s)
        lines = Path(f"/proc/{running.pid}/status").read_text(encoding="ascii").splitlines()
        running.terminate()
    return float(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) / 1024


def quiet() -> dict[str, str]:
    """No sound card is needed, nobody is asked anything, and byte code is kept as on an installed system."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "SDL_AUDIODRIVER": "dummy", "BLINKA_SKIP_DEPENDENCY_CHECK": "1"}
