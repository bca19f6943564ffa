"""What `volcano run` imports before its first cue is queued, for all else can wait; and that signals end it well."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FIRST_CUE = """
import os, sys
from firmware.audio.mixer import MixerPlayer
def play(self, *cues):
    print(*sys.modules, flush=True)
    os._exit(0)
MixerPlayer.play = play
from firmware.cli import main
main(["run", *sys.argv[1:]])
"""

BUDGET = {
    *("audio", "audio.mixer", "audio.pack", "audio.player", "audio.sdl", "catalogue", "cli", "config", "console"),
    *("disk", "game", "game.insel", "game.insel.board", "game.kernel", "game.registry", "hal", "hal.backends"),
    *("hal.battery", "hal.calibration", "hal.gpio", "hal.ports", "hal.registers", "hal.wiring", "identity", "journal"),
    *("loop", "service", "speech", "start", "terms", "unit", "writer"),
}
"""All of the firmware that a greeting needs: no pads, no bus, no rules, no page. One more costs every start a
millisecond or two on a desktop, and ten times that on a small Pi (estimate): can it not be imported later?
The unit counts as one, whatever parts it is written in."""

SUPERFLUOUS = {
    *("numpy", "pkg_resources", "pygame.display", "pygame.font", "pygame.sprite", "smbus2", "adafruit_mpr121"),
    *("starlette", "uvicorn", "asyncio", "socket", "fluent", "importlib.metadata", "importlib_metadata"),
}
"""Of others: what no greeting needs, and what only the page or a sensor does."""


def imported_before_the_greeting(folder: Path, *options: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CUE, *options, "--state-dir", str(folder)],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parent.parent),
            "SDL_AUDIODRIVER": "dummy",
            "XDG_CONFIG_HOME": str(folder),
            "STATE_DIRECTORY": str(folder),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ([], set()),  # where there are no pins, gpiozero is not looked for either
        (["--mock"], {"hal.emulated_pins"}),
        (["--mock", "--page"], {"hal.emulated_pins"}),
    ],
)
def test_the_greeting_waits_for_no_other_module(tmp_path: Path, options: list[str], more: set[str]) -> None:
    modules = imported_before_the_greeting(tmp_path, *options)
    ours = {name.removeprefix("firmware.") for name in modules if name.startswith("firmware.")}
    ours = {"unit" if name.startswith("unit_") else name for name in ours}
    assert ours == BUDGET | more
    assert modules & SUPERFLUOUS == set()


RUN = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN if sys.argv[1] == "nohup" else signal.SIG_DFL)
from firmware.cli import main
sys.exit(main(["run", "--mock", "--state-dir", sys.argv[2]]))
"""


@pytest.mark.parametrize(
    ("started", "signals"),
    [
        ("", [signal.SIGTERM]),
        ("", [signal.SIGINT, signal.SIGTERM]),
        ("", [signal.SIGHUP]),
        ("nohup", [signal.SIGHUP, signal.SIGTERM]),
    ],
)
def test_signals_end_it_well_while_it_greets(tmp_path: Path, started: str, signals: list[signal.Signals]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", RUN, started, str(tmp_path)],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parent.parent),
            "SDL_AUDIODRIVER": "dummy",
            "XDG_CONFIG_HOME": str(tmp_path),
        },
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr
            while "greeting" not in (line := process.stderr.readline()):
                assert line, "it has ended before it greets"
            for number in (signal.SIGSTOP, *signals, signal.SIGCONT):  # all in the same instant
                process.send_signal(number)
            assert process.wait(20) == 0
            assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()
