"""The introductory game in a guest of QEMU: the installed service, real device nodes, emulated hands, recorded sound.

The kernel's command line starts this once the machine is up (tools/image --test). The service must have come up by
itself; then it is started again over the emulated board, the family plays, and what was recorded must be the clips of
what was told, sample for sample. Lines for people and for tools/image go to the console, each begins with `MARK`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.terms import Figure, Touch
from guest import hearing
from guest.board import Board, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MARK = "image-test:"
DISK = Path(__file__).resolve().parent.parent
SERVICE = "volcano.service"
DROP_IN = f"""\
[Service]
ExecStart=
ExecStart=/opt/volcano/venv/bin/python -m guest.header run
Environment=PYTHONPATH={DISK}
DeviceAllow=/dev/i2c-1 rw
BindReadOnlyPaths={DISK}/volcano.toml:/etc/volcano.toml
"""
"""The node of the emulated bus is of a kind of its own, which the unit does not know."""
ROWS = Path("/run/volcano/rows")
RECORDING = Path("/run/volcano-test.raw")
REPORT = Path("/dev/disk/by-id/virtio-report")
TURNS = """
white beach-s explore, red beach-sw explore, white jungle-s explore, red jungle-w explore, white mountain-sw explore,
red beach-nw explore, white ruin-w explore, white ruin-w one, red jungle-nw explore, red ruin-s explore, red ruin-s one,
white statue-w explore, red beach-s explore, red beach-s one
"""
"""Every contact of the introductory game (rulebook, The introductory game)."""
READY_S = 180.0
HOLD_S = 8.0
"""So long people hold a figure that the volcano does not seem to feel."""
TRIES = 3
QUIET_S = 2.0
"""An announcement is over when nothing has been heard for so long; its own pauses are shorter."""
LONGEST_S = 240.0
WATCH_S = 5.0


def tell(line: str) -> None:
    """One line for the console."""
    print(f"\n{MARK} {line}", flush=True)


def say(*command: str) -> str:
    """What a command says."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def show(name: str) -> str:
    """A property of the service."""
    return say("systemctl", "show", "--value", f"--property={name}", SERVICE)


def keep_busy() -> None:
    """Give the processor something to do that everybody else may interrupt.

    With one that idles QEMU lets the guest's clock go with the real one: on a busy machine in jumps, by which the sound
    card runs dry. Now it goes by instructions alone.
    """
    idler = subprocess.Popen([sys.executable, "-m", "guest.idle"])
    os.sched_setscheduler(idler.pid, os.SCHED_IDLE, os.sched_param(0))


def boot_times() -> None:
    """Seconds on the guest's own clock, from the start of its kernel."""
    wait_for(lambda: show("ActiveState") == "active", "the service does not become ready by itself", READY_S)
    systemd_us = int(say("systemctl", "show", "--value", "--property=UserspaceTimestampMonotonic"))
    started_us, ready_us = (int(show(f"{name}TimestampMonotonic")) for name in ("ExecMainStart", "ActiveEnter"))
    tell(f"time systemd {systemd_us / 1e6:.1f}")
    tell(f"time started {started_us / 1e6:.1f}")
    tell(f"time ready {ready_us / 1e6:.1f}")
    tell(f"without a board: {show('StatusText')}")


class Rows:
    """What the volcano tells."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self._file = ROWS.open(encoding="utf-8")
        self._rest = ""

    def listen(self) -> int:
        """How many there are by now."""
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        self.all += [json.loads(line) for line in lines]
        return len(self.all)


class Family:
    """Two people at the board."""

    def __init__(self, board: Board, rows: Rows) -> None:
        self._board = board
        self._rows = rows
        self.second_tries = 0

    def hear_out(self) -> None:
        """Wait until nothing more is said."""
        began = since = time.monotonic()
        heard = self._rows.listen()
        while time.monotonic() - since < QUIET_S:
            time.sleep(0.2)
            if (now := self._rows.listen()) != heard or hearing.ends_loud(RECORDING):
                heard, since = now, time.monotonic()
            if since - began > LONGEST_S:
                raise TimeoutError("it never ends")

    def press(self) -> None:
        """The push button, briefly."""
        self._board.press(down=True)
        time.sleep(0.3)
        self._board.press(down=False)
        self.hear_out()

    def play(self, turn: str) -> None:
        """One contact, until it is answered, and the answer to its end."""
        name, field, word = turn.split()
        figure, touch = Figure(name), Touch(word)
        for _ in range(TRIES):
            before = self._rows.listen()
            self._board.place(figure, field)
            time.sleep(0.8)
            self._board.grip(figure)
            time.sleep(0.3)
            self._board.touch(touch)
            since = time.monotonic()
            while self._rows.listen() == before and time.monotonic() - since < HOLD_S:
                time.sleep(0.05)
            held_s = time.monotonic() - since
            self._board.let_go(figure, touch)
            if self._rows.listen() != before:
                tell(f"{turn}: answered after {held_s:.2f} s")
                self.hear_out()
                return
            self.second_tries += 1
            time.sleep(1.0)
        raise TimeoutError(f"{turn}: is not felt")


def polls_per_s(board: Board) -> float:
    """Transfers on the bus a second while nobody plays; one poll is a little more than one."""
    before, since = board.bus.transactions, time.monotonic()
    time.sleep(WATCH_S)
    return (board.bus.transactions - before) / (time.monotonic() - since)


def foretold() -> list[dict[str, Any]]:
    """The same game on the console, which has no hardware at all."""
    lines = ["wait 60", "button", "wait 100"]
    for turn in turns():
        lines += [turn, "wait 85"]
    console = subprocess.run(
        ["/opt/volcano/venv/bin/volcano", "console", "--json", "--language", "de"],
        input="\n".join(lines),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [json.loads(line) for line in console.stdout.splitlines()]


def turns() -> Iterator[str]:
    """Contact by contact."""
    yield from (turn.strip() for turn in TURNS.split(","))


def heard(rows: list[dict[str, Any]]) -> list[str]:
    """What is said and sounded, in order."""
    return [row.get("text") or row["name"] for row in rows if row.get("cue") in ("say", "sound")]


@dataclass(frozen=True, slots=True)
class Evening:
    """The service over the emulated board, its sound being recorded, and the family before it."""

    board: Board
    rows: Rows
    family: Family
    recorder: subprocess.Popen[bytes]

    def hold_to_what_was_told(self) -> None:
        """End the recording and compare."""
        hearing.stop(self.recorder)
        for line in hearing.judge(RECORDING, self.rows.all):
            tell(line)


def begin() -> Evening:
    """Wait for the service as the card starts it, start it again over the emulated board, and hear its greeting."""
    boot_times()
    keep_busy()
    say("systemctl", "stop", SERVICE)
    # The kernel's own /dev/i2c-N would stand in the way of ours.
    for modules in (["--remove", "i2c-dev"], ["--all", "cuse", "uhid", "hid-cp2112"]):
        say("modprobe", *modules)
    board = Board()
    board.serve()
    tell("the emulated board is there")
    card = Path("/proc/asound/cards").read_text(encoding="ascii").split("[")[1].split("]")[0].strip()
    recorder = hearing.record(card, RECORDING)
    drop_in = Path("/run/systemd/system", f"{SERVICE}.d", "emulated.conf")
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text(DROP_IN, encoding="ascii")
    say("systemctl", "daemon-reload")
    say("systemctl", "start", SERVICE)
    rows = Rows()
    family = Family(board, rows)
    family.hear_out()
    tell(f"greeted; with the board: {show('StatusText')}")
    return Evening(board, rows, family, recorder)


def play() -> None:
    """The whole introductory game."""
    evening = begin()
    rows, family = evening.rows, evening.family
    tell(f"{polls_per_s(evening.board):.0f} transfers a second while nobody plays")
    family.press()
    for turn in turns():
        family.play(turn)
    tell(f"played; {family.second_tries} contacts were made a second time")
    say("systemctl", "stop", SERVICE)
    log = say("journalctl", "--output=cat", f"_SYSTEMD_INVOCATION_ID={show('InvocationID')}")
    for line in log.splitlines():
        if "WARNING" in line or "ERROR" in line:
            tell(f"log: {line}")
    assert not evening.board.lit(), "a light shines after the end"
    ends = [row["event"] for row in rows.all if row.get("event") == "intro_finished"]
    assert ends, "the game has not come to its end"
    assert heard(rows.all) == heard(foretold()), "the board tells another story than the console"
    evening.hold_to_what_was_told()


def keep() -> None:
    """Hand what was told and recorded to the outside, on the disk that is there for it."""
    kept = [path for path in (ROWS, RECORDING) if path.exists()]
    say("tar", "--create", f"--file={REPORT}", "--absolute-names", *map(str, kept))


def main(test: Callable[[], None]) -> int:
    """Run a test; the last line says how it went."""
    try:
        test()
    except Exception as error:
        tell(f"failed: {type(error).__name__}: {error}")
        keep()
        print(say("journalctl", "--output=cat", f"--unit={SERVICE}", "--lines=40"), flush=True)
        raise
    tell("passed")
    os.sync()
    return 0


if __name__ == "__main__":
    sys.exit(main(play))
