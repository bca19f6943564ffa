"""The command `volcano check`: wiring and health of a board, first by itself, then pad by pad with the restorer."""

from __future__ import annotations

import argparse
import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.terms import VolcanoError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from firmware.check.inspection import Inspection, Inspector
    from firmware.workshop import Bench, Surroundings

EPILOG = """\
First every bus, chip, pad, light, button, speaker and battery is looked at: take figures and hands off the board, and
watch the lights. Then, on a terminal, a table shows every pad as it is now: touch one after the other. q ends it.

One line is printed for each fault, with what to check. Exit status: 0 all is well, 1 there are faults, 2 wrong input.
The running volcano holds the board; stop it before: sudo systemctl stop volcano
"""


def add_bench_command(commands: Any, name: str, text: str, epilog: str) -> argparse.ArgumentParser:
    """A command for a board on the bench, with the options that each of them has; `text` says what it does."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--mock", action="store_true", help="over emulated chips")
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration (default: as for volcano run)")
    parser.add_argument("--state-dir", type=Path, metavar="DIR", help="where the calibration is kept")
    return parser


def add_check_command(commands: Any, around: Callable[[], Surroundings]) -> None:
    """Add ``check`` to the subparsers of the command line; it returns an exit status."""
    text = "the board's wiring and health: chips, pads, lights, button, sound; then every pad as it is touched"
    parser = add_bench_command(commands, "check", text, EPILOG)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text, and no table")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write all that a bug report needs to FILE")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="record what the chips read to FILE")
    parser.add_argument(
        "--seconds", type=float, metavar="N", help="watch contacts for N seconds afterwards, also without a terminal"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="FILE", help="tell the contacts in a recorded trace; no board is touched"
    )
    parser.set_defaults(command=lambda options: check(options, around()))


def check(options: argparse.Namespace, around: Surroundings) -> int:
    """Run the command; the exit status."""
    if options.seconds is not None and not 0 <= options.seconds < float("inf"):
        raise VolcanoError(f"--seconds: must be 0 or more, is {options.seconds:g}")
    if options.replay:
        if options.report or options.trace or options.seconds is not None:
            raise VolcanoError("--replay: no board is looked at; only --json goes with it")
        return _replay(options, around)
    from firmware.workshop import Bench, noticed  # noqa: PLC0415 - whoever plays needs none of all this

    bench = Bench(options, around)
    try:
        with _tracing(options, bench), bench.terminal.unbuffered(), noticed() as notes:
            return _check(options, bench, notes)
    finally:
        bench.close()


def _check(options: argparse.Namespace, bench: Bench, notes: list[str]) -> int:
    from firmware.check.inspection import Inspector  # noqa: PLC0415 - a replay needs none of it
    from firmware.check.report import as_json, report  # noqa: PLC0415

    seen: list[str] = []

    def tell(part: str, line: str) -> None:
        seen.append(f"{part:<12} {line}")
        if not options.json:
            bench.terminal.write(f"{seen[-1]}\n")

    inspector = Inspector(bench, tell)
    if not options.json:
        bench.terminal.write("Take figures and hands off the board, and watch the lights.\n")
    found = inspector.inspect()
    if not options.json and (bench.terminal.interactive or options.seconds):
        _watch(options.seconds, bench, inspector)
    inspector.look_again()
    told = [finding.text for finding in found.findings]
    told += [fault.text for chip in bench.hardware.touch.pads.chips for fault in chip.faults()]  # the bus tells of all
    found.noticed = [line for line in notes if line not in told]
    if options.json:
        bench.terminal.write(json.dumps(as_json(bench, found), ensure_ascii=False) + "\n")
    else:
        _conclude(bench, found)
    if options.report:
        _write(options.report, report(bench, found, seen))
    return 1 if found.findings else 0


def _conclude(bench: Bench, found: Inspection) -> None:
    for line in found.noticed:
        bench.terminal.write(f"noticed      {line}\n")
    bench.terminal.write(f"{counted(len(found.findings), 'fault')}:\n" if found.findings else "no faults\n")
    for finding in found.findings:
        bench.terminal.write(f"{finding.text}\n")


def _watch(seconds: float | None, bench: Bench, inspector: Inspector) -> None:
    """The table on a terminal; elsewhere a line for each contact."""
    from firmware.check.live import LiveTable, contact_words  # noqa: PLC0415 - a replay needs the words only

    terminal, hardware = bench.terminal, bench.hardware
    table = LiveTable(terminal, inspector.gauge, hardware.touch.pads.chips)
    with contextlib.suppress(KeyboardInterrupt), table if terminal.interactive else contextlib.nullcontext():
        for now, grip in bench.polls(seconds):
            table.update(now, grip, pressed=hardware.button.is_pressed())
            if grip is not None and not terminal.interactive:
                terminal.write(f"contact      {contact_words(grip)}\n")
            if terminal.key() == "q":
                break
    for part, line in table.coverage():
        terminal.write(f"{part:<12} {line}\n")


@contextlib.contextmanager
def _tracing(options: argparse.Namespace, bench: Bench) -> Iterator[None]:
    from firmware.hal.coded import feet_pf  # noqa: PLC0415
    from firmware.hal.trace import TraceRecorder  # noqa: PLC0415

    if not options.trace:
        yield
        return
    with _writing(options.trace):
        file = options.trace.open("w", encoding="utf-8", buffering=1)  # by the line: what is recorded may end the Pi

    def write(line: str) -> None:
        with _writing(options.trace):
            file.write(f"{line}\n")

    try:
        recorder = TraceRecorder(
            bench.hardware.bus,
            replace(bench.wired, capacitor_pf=feet_pf(bench.wired, bench.calibration)),
            write,
            source="emulated" if bench.mock else "board",
            about=f"volcano check, {bench.around.date()}",
        )
        bench.record = recorder.record
        yield
    finally:
        with _writing(options.trace):
            file.close()


def _write(path: Path, text: str) -> None:
    with _writing(path):
        path.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise VolcanoError(f"{path}: cannot be written: {error.strerror}") from error


def _replay(options: argparse.Namespace, around: Surroundings) -> int:
    from firmware.check.live import contact_words  # noqa: PLC0415
    from firmware.game.registry import load_title  # noqa: PLC0415
    from firmware.hal.trace import read_trace, replay  # noqa: PLC0415
    from firmware.hal.wiring import load_wiring  # noqa: PLC0415

    trace = read_trace(options.replay)
    terminal = around.terminal()
    contacts = list(replay(trace, load_wiring(None, load_title().fields)))
    if options.json:
        rows = [
            {"t": t, "field": grip.field, "touch": grip.touch, "likelihood": grip.likelihood} for t, grip in contacts
        ]
        terminal.write(json.dumps({"source": trace.source, "about": trace.about, "contacts": rows}) + "\n")
        return 0
    terminal.write(f"{options.replay}: {trace.source}; {trace.about}\n")
    for t, grip in contacts:
        terminal.write(f"{t:9.3f}  {contact_words(grip)}\n")
    terminal.write(f"{counted(len(contacts), 'contact')} in {counted(len(trace.polls), 'poll')}\n")
    return 0
