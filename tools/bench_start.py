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
from typing import TYPE_CHECKING

from bench_figures import Figures

if TYPE_CHECKING:
    from collections.abc import Callable

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
LEAN_MIXER = f"import sys; sys.modules |= dict.fromkeys(('numpy', 'pkg_resources')); {MIXER}"
"""The same where nothing is installed that pygame imports only if it is there."""
FIRMWARE_SHARE = 0.45
"""Of the time for imports before the first sample; the rest is Python's own, gpiozero and pygame."""
IMPORT_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")
SHOWN = 6
IMPORT_RUNS = 5
PAGE = ("starlette", "uvicorn", "asyncio")
"""What only the page needs: imported when the volcano is ready."""


def start(starts: int) -> list[Figures]:
    """`volcano run --mock` from exec to the end of its first poll, against bare imports of the same packages."""
    imports = "import gpiozero, gpiozero.pins.mock, adafruit_mpr121, pygame.mixer"
    bare = [sys.executable, "-c", f"{imports}; print('imported', flush=True)"]
    with tempfile.TemporaryDirectory() as state:
        ours = [str(VOLCANO), "run", "--mock", "--once", "--state-dir", state]
        ours_s, bare_s = _in_turn(starts, lambda: _start_s(ours), lambda: _start_s(bare))
    ratio = _ratio(ours_s, bare_s)
    return [
        Figures(
            "volcano run --mock, exec to first poll, ms",
            _spread(ours_s),
            f"{imports}: {_spread(bare_s)}",
            f"{ratio:.2f} times",
            "at most 1.5 times",
            ratio <= 1.5,
        )
    ]


def _in_turn(starts: int, *measures: Callable[[], float]) -> list[list[float]]:
    """Seconds of each measure, all measured once a round: what else the machine does then falls upon all alike.

    Every other round runs backwards. The first one writes byte code and warms the disk's cache, and is not counted.
    """
    seconds: list[list[float]] = [[] for _ in measures]
    for number in range(starts + 1):
        places = range(len(measures))
        for place in reversed(places) if number % 2 else places:
            taken = measures[place]()
            if number:
                seconds[place].append(taken)
    return seconds


def _ratio(ours: list[float], peer: list[float]) -> float:
    """The median of the rounds' ratios."""
    return statistics.median(one / other for one, other in zip(ours, peer, strict=True))


def _spread(seconds: list[float]) -> str:
    """Milliseconds: the median, and in brackets the quarter below and above which a quarter of all starts are."""
    low, median, high = (1e3 * each for each in statistics.quantiles(seconds, n=4, method="inclusive"))
    return f"{median:.0f} ({low:.0f} to {high:.0f})"


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
    with tempfile.TemporaryDirectory() as state:
        ours = [sys.executable, "-c", FIRST_SAMPLE, state]
        commands = ours, [*ours, "--page"], [sys.executable, "-c", MIXER], [sys.executable, "-c", LEAN_MIXER]
        ours_s, page_s, mixer_s, lean_s = _in_turn(
            starts, *(lambda command=command: _s(command) for command in commands)
        )
        imports = _imports([sys.executable, "-X", "importtime", "-c", FIRST_SAMPLE, state])
        with_page = _imports([sys.executable, "-X", "importtime", "-c", FIRST_SAMPLE, state, "--page"])
    ratio, page_ratio = _ratio(ours_s, mixer_s), _ratio(page_s, ours_s)
    too_early = [name for name in PAGE if name in with_page]
    most = ", ".join(f"{package} {us / 1e3:.0f}" for package, us in imports.most_common(SHOWN))
    share = imports["firmware"] / imports.total()
    return [
        Figures(
            f"volcano run --mock, exec to first sample queued, {starts} starts, ms",
            _spread(ours_s),
            f"import pygame.mixer and mixer.init(): {_spread(mixer_s)}",
            f"{ratio:.2f} times",
            "at most 1.6 times",
            ratio <= 1.6,
        ),
        Figures(
            "... where numpy, which pygame imports if it is there, is not",
            _spread(ours_s),
            f"the same without numpy: {_spread(lean_s)}",
            f"{_ratio(ours_s, lean_s):.2f} times",
        ),
        Figures(
            "... with --page",
            _spread(page_s),
            "the same without",
            f"{page_ratio:.2f} times; imported by then: {', '.join(too_early) or 'nothing of the page'}",
            f"at most 1.2 times, none of {', '.join(PAGE)}",
            page_ratio <= 1.2 and not too_early,
        ),
        Figures(
            "... of which imports, ms (with the cost of measuring them)",
            f"{imports.total() / 1e3:.0f}: {most}",
            "all of them",
            f"firmware {100 * share:.0f} %",
            f"firmware at most {100 * FIRMWARE_SHARE:.0f} %; tests/test_start.py holds which modules",
            share <= FIRMWARE_SHARE,
        ),
    ]


def _s(command: list[str]) -> float:
    before = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=quiet())
    return time.perf_counter() - before


def _imports(command: list[str]) -> Counter[str]:
    """Microseconds that each package's modules took by themselves: of each module the fastest of some runs."""
    fastest: dict[str, int] = {}
    for _ in range(IMPORT_RUNS):
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=quiet())
        for line in done.stderr.splitlines():
            if found := IMPORT_LINE.match(line):
                fastest[found[2]] = min(int(found[1]), fastest.get(found[2], sys.maxsize))
    spent: Counter[str] = Counter()
    for module, us in fastest.items():
        name = module.split(".")[0]
        own = name in sys.stdlib_module_names and name not in PAGE
        spent["Python's own" if own else name] += us
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
