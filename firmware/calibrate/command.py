"""The command `volcano calibrate`: teaches the firmware its board, and keeps what it has learnt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.check.command import add_bench_command
from firmware.terms import TOUCHES, VolcanoError, counted, say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterator

    from firmware.calibrate.lesson import Lesson
    from firmware.hal.calibration import Calibration
    from firmware.hal.wiring import Wiring
    from firmware.workshop import Bench, Surroundings

EPILOG = """\
Without options: take everything off the board; every pad is measured for two seconds, and with it what counts as a
touch. From the next start on a hand that lies on the board at power-on spoils nothing.

With --map the voice names pad after pad and you touch it, so wires may be soldered in any order. A pad that is dead
can be left out with --without. With --figures each figure is held three times.

The running volcano holds the board; stop it before: sudo systemctl stop volcano
"""


def add_calibrate_command(commands: Any, around: Callable[[], Surroundings]) -> None:
    """Add ``calibrate`` to the subparsers of the command line; it returns an exit status."""
    text = "teach it its board: idle levels, what counts as a touch, which wire is which, the figures"
    parser = add_bench_command(commands, "calibrate", text, EPILOG)
    parser.add_argument(
        "--map", nargs="*", metavar="PAD", help="touch pad after pad as they are named, all or only these"
    )
    parser.add_argument("--figures", action="store_true", help="hold each figure three times as it is named")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="PAD",
        help="leave a dead pad out; may be given again and again",
    )
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--show", action="store_true", help="show what is known of the board")
    files.add_argument("--backup", type=Path, metavar="FILE", help="write what is known of the board to FILE")
    files.add_argument("--restore", type=Path, metavar="FILE", help="take over what --backup wrote")
    files.add_argument("--forget", action="store_true", help="forget everything; the wiring file counts again")
    parser.set_defaults(command=lambda options: calibrate(options, around()))


def calibrate(options: argparse.Namespace, around: Surroundings) -> int:
    """Run the command; the exit status."""
    from firmware.workshop import Bench, noticed  # noqa: PLC0415 - whoever plays needs none of all this

    shows = options.show or options.backup or options.restore or options.forget
    if shows and (options.without or options.map is not None or options.figures):
        raise VolcanoError("--show, --backup, --restore and --forget go without --map, --figures and --without")
    bench = Bench(options, around)
    _check_pads([*options.without, *(options.map or [])], bench.wiring)
    try:
        if shows:
            return _file(options, bench)
        if options.without and options.map is None and not options.figures:
            return _leave_out(options.without, bench)
        with bench.terminal.unbuffered(), noticed() as notes:
            return _learn(options, bench, notes)
    finally:
        bench.close()


def _check_pads(pads: Collection[str], wiring: Wiring) -> None:
    known = wiring.places
    for pad in pads:
        if pad not in known:
            raise VolcanoError(f"{pad!r} is no pad; there are {', '.join(known)}")


# --- the lesson


def _learn(options: argparse.Namespace, bench: Bench, notes: list[str]) -> int:
    from dataclasses import replace  # noqa: PLC0415

    from firmware.calibrate.lesson import Lesson, Stopped, learns_figures  # noqa: PLC0415 - not for --show
    from firmware.hal.calibration import Calibration  # noqa: PLC0415
    from firmware.hal.learning import left_on_the_board  # noqa: PLC0415

    if options.figures and not learns_figures(bench.wiring):
        raise VolcanoError(f"--figures: figures are told apart by {bench.wiring.figure_method}: nothing to be learnt")
    bench.check_writable()
    if bench.calibration_problem:
        bench.terminal.write(f"{bench.calibration_problem}; beginning anew\n")
    before = bench.calibration or Calibration(bench.around.date())
    lesson = Lesson(bench)
    undone = "nothing has been written"
    try:
        before = _mapped(options, bench, lesson, before)
        wired = before.wired(bench.wiring)
        calibration, faults = lesson.scan(wired, before)
        for line in [*map(str, faults), *left_on_the_board(before, calibration)]:
            bench.terminal.write(f"{line}\n")
        bench.save(calibration)
        undone = "the pads are kept, the figures stay as they were"
        if options.figures or (learns_figures(wired) and lesson.asked("Teach it the figures, too?")):
            calibration = replace(calibration, figures=lesson.figures(calibration))
            bench.save(calibration)
        for line in table(calibration, bench.wiring):
            bench.terminal.write(f"{line}\n")
        lesson.tell(f"kept in {bench.calibration_file}", say("calibrate-done"))
        undone = ""
        if bench.installed:
            bench.terminal.write("to play: sudo systemctl start volcano\n")
        lesson.speak_out()
    except Stopped as error:
        lesson.tell(f"{error}; {undone}", say("calibrate-failed"))
        lesson.speak_out()
        return 1
    except KeyboardInterrupt:
        if undone:
            lesson.tell(f"ended; {undone}")
        raise
    finally:
        lesson.close()
        for line in notes:
            bench.terminal.write(f"noticed: {line}\n")
    return 1 if faults else 0


def _mapped(options: argparse.Namespace, bench: Bench, lesson: Lesson, before: Calibration) -> Calibration:
    """`before` with the owner's new map, if one was asked for."""
    from firmware.calibrate.lesson import Stopped, with_map  # noqa: PLC0415

    absent = {*before.absent, *options.without}
    if options.map is None:
        return before if absent == before.absent else with_map(before, dict(before.places), absent)
    places = {pad: before.places.get(pad, place) for pad, place in bench.wiring.places.items()}
    rails = {str(rail) for chip in bench.wiring.chips for rail in chip.rails}  # no finger finds one ring among three
    wanted = [pad for pad in options.map or places if pad not in options.without and (options.map or pad not in rails)]
    known = {pad: place for pad, place in places.items() if pad not in wanted and pad not in absent}
    found, skipped = lesson.map(wanted, known)
    absent -= found.keys()
    if skipped:
        names = ", ".join(skipped)
        if not lesson.asked(f"Leave out {names}, and keep the rest of the map?"):
            without = " ".join(f"--without {pad}" for pad in skipped)
            raise Stopped(f"not found: {names} (to leave them out: {without})")
        absent |= set(skipped)
    chips = {found[touch][0] for touch in TOUCHES if touch in found}
    if len(chips) > 1:
        lesson.tell(f"the Touch fields are on {counted(len(chips), 'chip')}: contacts are surest with all on one")
    return with_map(before, found, absent)


# --- the file


def _leave_out(pads: Collection[str], bench: Bench) -> int:
    from dataclasses import replace  # noqa: PLC0415

    from firmware.hal.calibration import Calibration  # noqa: PLC0415

    _refuse_damaged(bench)
    bench.check_writable()
    before = bench.calibration or Calibration(bench.around.date())
    calibration = replace(before, absent=before.absent | set(pads))
    wired = calibration.wired(bench.wiring)
    bench.save(calibration)
    for line in _left_out(calibration, wired):
        bench.terminal.write(f"{line}\n")
    _restart(bench)
    return 0


def _file(options: argparse.Namespace, bench: Bench) -> int:
    from firmware.hal.calibration import earlier, encode, read_calibration  # noqa: PLC0415

    if options.restore or options.forget:
        bench.check_writable()
    if options.restore:
        try:
            restored = read_calibration(options.restore)
        except FileNotFoundError as error:
            raise VolcanoError(f"{options.restore}: is not there") from error
        restored.wired(bench.wiring)
        bench.save(restored)
        bench.terminal.write(f"restored what was learnt on {restored.made}\n")
        _restart(bench)
        return 0
    if options.forget:
        for path in (earlier(bench.calibration_file), bench.calibration_file):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise VolcanoError(f"{path}: cannot be deleted: {error.strerror}") from error
        bench.terminal.write("forgotten; the wiring file counts, and pads are measured at every start\n")
        _restart(bench)
        return 0
    _refuse_damaged(bench)
    if bench.calibration is None:
        bench.terminal.write("nothing has been learnt of this board yet: volcano calibrate\n")
        return 1
    if options.backup:
        try:
            options.backup.write_bytes(encode(bench.calibration))
        except OSError as error:
            raise VolcanoError(f"{options.backup}: cannot be written: {error.strerror}") from error
        bench.terminal.write(f"{options.backup}: what was learnt on {bench.calibration.made}\n")
        return 0
    for line in table(bench.calibration, bench.wiring):
        bench.terminal.write(f"{line}\n")
    return 0


def _refuse_damaged(bench: Bench) -> None:
    if bench.calibration_problem:
        raise VolcanoError(bench.calibration_problem)


def _restart(bench: Bench) -> None:
    if not bench.mock and bench.running():
        bench.terminal.write("it counts from the next start: sudo systemctl restart volcano\n")


def _left_out(calibration: Calibration, wired: Wiring) -> Iterator[str]:
    if calibration.absent:
        yield f"left out: {', '.join(sorted(calibration.absent))}"
    if not any(chip.touches for chip in wired.chips):
        yield "no Touch field is left: contacts can be made on the page only (volcano run --page)"


def table(calibration: Calibration, wiring: Wiring) -> Iterator[str]:
    """What is known of a board, for people."""
    from firmware.hal.learning import threshold_reason  # noqa: PLC0415

    wired = calibration.wired(wiring)
    yield f"learnt on {calibration.made}"
    yield f"{'pad':<12} chip  electrode  idle pF  noise pF  touch pF"
    for chip in wired.chips:
        for pad in chip.pads:
            where = f"{pad:<12} 0x{chip.address:02X}  {chip.wires[pad]:>9}"
            if (known := calibration.pads.get(pad)) is None:
                yield f"{where}  not measured"
                continue
            reason = threshold_reason(wired, pad, known)
            numbers = f"{known.idle_pf:>8.2f}  {known.noise_pf:>8.3f}  {known.touch_pf:>8.2f}"
            yield f"{where} {numbers}{'' if reason == 'usual' else f'  {reason}'}"
    yield from _left_out(calibration, wired)
    feet = ", ".join(f"{figure} {pf:.2f} pF" for figure, pf in calibration.figures.items())
    yield f"figures: {feet or 'as the wiring file says'}"
    yield f"map: {'of the owner' if calibration.places else 'as the wiring file says'}"
