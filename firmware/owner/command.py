"""For the owner of an original: the overview board, its numbers taken in, and the drawings to wire a board by."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.game.insel.tuning import OWN_TUNING, load_tuning
from firmware.owner.printed import OwnerError, entered, number, present, printed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from firmware.hal.wiring import Wiring
    from firmware.owner.printed import Present, Printed

GRADES = {"K": "known", "I": "inferred", "D": "designed"}
READABLE = 0o644
TUNE = """\
FILE is a copy of the numbers of the game and is made if it is not there. Every number of the printed points table is
asked for: type what the board of your volcano says, or only Enter where it says nothing or you do not know. Then name
FILE in the configuration as tuning under [files], and print the board with volcano overview.
"""

WIRING = """\
The places of the pads are those of board.toml, a design: how large an original is and where its fields lie has to be
measured on one's own.
"""


def add_owner_commands(commands: Any) -> None:
    """Add ``overview``, ``tune`` and ``wiring`` to the subparsers of the command line; each returns an exit status."""
    text = "the overview board of the game, to be printed on A4, with the numbers in force"
    overview = commands.add_parser("overview", help=text, description=f"{text[0].upper()}{text[1:]}.")
    overview.add_argument("file", nargs="?", type=Path, metavar="FILE", help="SVG file (default: standard output)")
    overview.add_argument("--tuning", type=Path, metavar="FILE", help="an owner's copy of tuning.toml")
    overview.add_argument("--config", type=Path, metavar="FILE", help="configuration that may name the tuning file")
    overview.add_argument("--language", choices=("de", "en"), default="de", help="default: %(default)s")
    overview.set_defaults(command=_overview)

    text = "enter the points table of an original's overview board into a copy of the numbers"
    tune = commands.add_parser("tune", help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=TUNE)
    tune.add_argument("file", type=Path, metavar="FILE", help="the copy")
    tune.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="TABLE.KEY=NUMBER",
        help="enter this number and ask for nothing; may be given again and again",
    )
    tune.set_defaults(command=_tune)

    text = "drawings to wire a board by: the plan, the pads, pad sheets to print at true size, a figure's foot"
    wiring = commands.add_parser("wiring", help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=WIRING)
    wiring.add_argument("--output", type=Path, default=Path(), metavar="DIR", help="folder (default: this one)")
    wiring.add_argument("--wiring", type=Path, metavar="FILE", help="an owner's copy of wiring.toml")
    text = "the wires as volcano calibrate --map has found them, whatever wiring.toml says"
    wiring.add_argument("--calibration", type=Path, metavar="FILE", help=text)
    wiring.add_argument("--board", type=Path, metavar="FILE", help="an owner's copy of board.toml")
    wiring.add_argument("--config", type=Path, metavar="FILE", help="configuration that may name these files")
    wiring.add_argument("--width-mm", type=float, metavar="MM", help="from the westmost pad's edge to the eastmost's")
    wiring.add_argument("--pad-mm", type=float, metavar="MM", help="diameter of a field's pad")
    wiring.set_defaults(command=_wiring)


def _overview(options: argparse.Namespace) -> int:
    from firmware.config import load_configuration  # noqa: PLC0415 - what only this command needs delays no start
    from firmware.owner.overview import Overview  # noqa: PLC0415

    path = options.tuning or load_configuration(options.config).tuning or OWN_TUNING
    picture = Overview(load_tuning(path), _present(path, _read(path)), options.language).draw()
    if options.file is None:
        sys.stdout.buffer.write(picture.encode())
        sys.stdout.buffer.flush()
    else:
        write_whole(options.file, picture)
    return 0


def _tune(options: argparse.Namespace) -> int:
    path: Path = options.file
    text = _read(path if path.exists() else OWN_TUNING)
    load_tuning(path if path.exists() else OWN_TUNING)
    now = _present(path, text)
    if options.set:
        numbers = dict(_set(setting) for setting in options.set)
    else:
        try:
            numbers = dict(_asked(now, _answer))
        except EOFError as error:
            raise OwnerError(f"{path}: the answers ended too early; nothing was written") from error
    write_whole(path, entered(text, numbers), check=load_tuning)
    print(f"{path}: {len(numbers)} of {len(now)} numbers entered; to print them: volcano overview --tuning {path}")
    return 0


def _wiring(options: argparse.Namespace) -> int:
    from firmware.config import load_configuration  # noqa: PLC0415 - what only this command needs delays no start
    from firmware.game.insel.board import OWN_BOARD  # noqa: PLC0415
    from firmware.hal.wiring import load_wiring  # noqa: PLC0415
    from firmware.owner.wiring_drawings import wiring_drawings  # noqa: PLC0415
    from firmware.page.drawing import read_island  # noqa: PLC0415

    configuration = load_configuration(options.config)
    island = read_island(options.board or configuration.board or OWN_BOARD)
    wiring = load_wiring(options.wiring or configuration.wiring, [spot.field for spot in island.spots])
    if options.calibration:
        wiring = _mapped(wiring, options.calibration)
    folder: Path = options.output
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OwnerError(f"{folder}: cannot be made: {error.strerror}") from error
    for name, picture in wiring_drawings(wiring, island, options.width_mm, options.pad_mm).items():
        write_whole(folder / name, picture)
        print(folder / name)
    return 0


def _mapped(wiring: Wiring, path: Path) -> Wiring:
    from firmware.hal.calibration import read_calibration  # noqa: PLC0415 - hardware is drawn by one command only

    try:
        calibration = read_calibration(path)  # exactly this one, and a damaged one stays where it is
    except FileNotFoundError as error:
        raise OwnerError(f"{path}: there is no calibration; volcano calibrate makes one") from error
    return calibration.wired(wiring)


def _set(setting: str) -> tuple[Printed, int]:
    name, equals, value = setting.partition("=")
    if not equals:
        raise OwnerError(f"--set {setting}: must be TABLE.KEY=NUMBER, as in values.dragon=3")
    try:
        return printed(name.strip()), number(value.strip())
    except OwnerError as error:
        raise OwnerError(f"--set {setting}: {error}") from error


def _answer(question: str) -> str:
    return input(question)


def _asked(now: dict[Printed, Present], answer: Callable[[str], str]) -> Iterator[tuple[Printed, int]]:
    """Every number that was typed; Enter alone leaves the present one."""
    for each, value in now.items():
        grade = GRADES["K" if value.known else value.grade]
        while typed := answer(f"{each.meaning} [{value.value}, {grade}]: ").strip():
            try:
                yield each, number(typed)
            except OwnerError as error:
                print(f"{error}; Enter keeps {value.value}", file=sys.stderr)
            else:
                break


def _present(path: Path, text: str) -> dict[Printed, Present]:
    try:
        return dict(present(text))
    except OwnerError as error:
        raise OwnerError(f"{path}: {error}") from error


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
        raise OwnerError(f"{path}: cannot be read: {reason}") from error


def write_whole(path: Path, text: str, check: Callable[[Path], object] | None = None) -> None:
    """Write a file that is there as a whole or not at all; `check` may refuse it before it takes its name.

    Raises:
        OwnerError: it cannot be written.
        ConfigError: from `check`.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise OwnerError(f"{path}: cannot be written: {error.strerror}") from error
    part = Path(name)
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if check is not None:
            check(part)
        part.chmod(path.stat().st_mode & 0o777 if path.exists() else READABLE)
        part.replace(path)
    except OSError as error:
        raise OwnerError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
