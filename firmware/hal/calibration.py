"""What was learnt of one board: charges, idle levels, thresholds, figures, and which wire goes where.

One JSON file in the state folder, which is its own backup: it may be copied anywhere and restored. A checksum tells a
damaged file, the generation before stands beside it, and a file that was made for other wires is refused.
"""

from __future__ import annotations

import itertools
import json
import logging
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from firmware.config import ConfigError, Table
from firmware.disk import free_name, read_file, replace_file
from firmware.hal.registers import CHANNELS, ELECTRODES
from firmware.hal.wiring import HIGHEST_ADDRESS, LOWEST_ADDRESS, SMALLEST_STEP, ChipWiring
from firmware.terms import FIGURES, Figure, VolcanoError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from firmware.hal.mpr121_config import Charge
    from firmware.hal.wiring import Wiring

log = logging.getLogger(__name__)

Pad = TypeVar("Pad", bound=str)

FORMAT = 1
FILE_NAME = "calibration.json"

HIGHEST_PF = 2900.0
"""An MPR121 measures up to 2874 pF (AN3889)."""


class CalibrationError(VolcanoError, ValueError):
    """A calibration is damaged, wrong or made for other wires; the text is one complete line."""


Place = tuple[int, int]
"""A chip's I2C address and an electrode, 0 to 11."""


@dataclass(frozen=True, slots=True)
class PadCalibration:
    """One pad as measured with nothing on the board.

    `place` is where it was measured: at another electrode these numbers mean nothing.
    """

    idle_pf: float
    noise_pf: float
    """Standard deviation of single readings."""
    touch_pf: float
    """A rise above this is a touch."""
    place: Place


@dataclass(frozen=True, slots=True)
class ChipCalibration:
    """What auto-configuration found with nothing on the board: CDC and CDT of ELE0-11 and ELEPROX."""

    charges: tuple[Charge, ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """One board, learnt at `made`.

    `made` is ISO 8601 date and time; `chips` by I2C address, `pads` by name. `figures` are the capacitors as measured
    at each figure's foot, in picofarads. `places` is the map that the owner has made: where each pad is wired, whatever
    the wiring file says. `absent` are pads that are mapped away: they are not read and raise no fault. What is empty is
    as the wiring file says.
    """

    made: str
    chips: Mapping[int, ChipCalibration] = field(default_factory=dict)
    pads: Mapping[str, PadCalibration] = field(default_factory=dict)
    figures: Mapping[Figure, float] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()

    def wired(self, wiring: Wiring) -> Wiring:
        """The wiring that this calibration makes of `wiring`: pads where the map says, absent ones left out.

        Raises:
            CalibrationError: it was made for another board: pads that are not there, two at one electrode, all absent.
        """
        known = wiring.places
        for pad in sorted({*self.places, *self.absent, *self.pads} - known.keys()):
            raise CalibrationError(f"the calibration knows a pad {pad!r} that the wiring does not have: {_AGAIN}")
        places = {pad: self.places.get(pad, place) for pad, place in known.items() if pad not in self.absent}
        taken: dict[Place, str] = {}
        for pad, place in places.items():
            if place in taken:
                where = f"electrode {place[1]} of the chip at 0x{place[0]:02X}"
                raise CalibrationError(f"the calibration puts {taken[place]} and {pad} at {where}: {_AGAIN}")
            taken[place] = pad
        if not places:
            raise CalibrationError(f"the calibration has mapped all pads away: {_AGAIN}")
        names = {chip.address: chip.name for chip in wiring.chips}
        addresses = list(dict.fromkeys([*names, *sorted(address for address, _ in taken)]))
        chips = [_chip(names.get(address, f"0x{address:02X}"), address, wiring, places) for address in addresses]
        wired = replace(wiring, chips=tuple(chip for chip in chips if chip.wires))
        self._check_places(places)
        return wired

    def _check_places(self, places: Mapping[str, Place]) -> None:
        """Levels must have been measured where the pads are now, with a charge that is known."""
        for pad, calibrated in self.pads.items():
            if pad in places and calibrated.place != places[pad]:
                raise CalibrationError(f"the calibration has {pad} on another wire than the wiring: {_AGAIN}")
            if calibrated.place[0] not in self.chips:
                chip = f"the chip at 0x{calibrated.place[0]:02X}"
                raise CalibrationError(f"the calibration has {pad} but not {chip}: {_AGAIN}")


_AGAIN = "run volcano calibrate again"


def _chip(name: str, address: int, wiring: Wiring, places: Mapping[str, Place]) -> ChipWiring:
    """The chip at `address` with what is wired to it."""

    def here(pads: Iterable[Pad]) -> dict[Pad, int]:
        return {pad: places[pad][1] for pad in pads if places.get(pad, (0, 0))[0] == address}

    chips = wiring.chips
    return ChipWiring(
        name,
        address,
        touches=here(pad for chip in chips for pad in chip.touches),
        fields=here(pad for chip in chips for pad in chip.fields),
        rails=here(pad for chip in chips for pad in chip.rails),
        badges=here(pad for chip in chips for pad in chip.badges),
    )


# --- the file


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Write it so that a power cut leaves the old file or the new one, and keep the one before beside it.

    Raises:
        CalibrationError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, encode(calibration), earlier=earlier(path))
    except OSError as error:
        raise CalibrationError(f"{path}: cannot be written: {error.strerror}") from error


def load_calibration(path: Path) -> Calibration | None:
    """The calibration at `path`, None if there has never been one.

    A damaged file is set aside with a warning if the one before is sound, and that is taken.

    Raises:
        CalibrationError: no generation is sound; the newest is named.
    """
    try:
        return read_calibration(path)
    except FileNotFoundError:
        pass
    except CalibrationError as error:
        try:
            before = read_calibration(earlier(path))
        except (FileNotFoundError, CalibrationError):
            raise error from None
        log.warning("%s; the one before is used", error)
        _set_aside(path)
        return before
    try:
        return read_calibration(earlier(path))  # a cut came between the two renames
    except FileNotFoundError:
        return None


def usable_calibration(folder: Path, wiring: Wiring) -> tuple[Calibration | None, str]:
    """The calibration kept in `folder` if it can be used with `wiring`; and why it cannot, in one line, or nothing."""
    try:
        calibration = load_calibration(folder / FILE_NAME)
        if calibration is not None:
            calibration.wired(wiring)
    except CalibrationError as error:
        return None, str(error)
    return calibration, ""


def earlier(path: Path) -> Path:
    """Where the generation before is kept."""
    return path.with_stem(f"{path.stem}-earlier")


def _set_aside(path: Path) -> None:
    try:
        path.replace(free_name(path.parent, "set-aside", path.suffix))
    except OSError as error:
        log.warning("%s cannot be set aside: %s", path, error.strerror)


def read_calibration(path: Path) -> Calibration:
    """Exactly this file, for example a backup.

    Raises:
        FileNotFoundError: there is none.
        CalibrationError: it cannot be read, is damaged, or is no calibration; file and key are named.
    """
    try:
        data = read_file(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CalibrationError(f"{path}: cannot be read: {error.strerror}") from error
    return decode(data, str(path))


def encode(calibration: Calibration) -> bytes:
    """The file's bytes: JSON that people can read, the same for the same calibration."""
    row: dict[str, Any] = {
        "format": FORMAT,
        "made": calibration.made,
        "chips": {
            f"0x{address:02X}": {"charges": [[charge.cdc, charge.cdt] for charge in chip.charges]}
            for address, chip in sorted(calibration.chips.items())
        },
        "pads": {
            pad: {
                "idle_pf": calibrated.idle_pf,
                "noise_pf": calibrated.noise_pf,
                "touch_pf": calibrated.touch_pf,
                "place": list(calibrated.place),
            }
            for pad, calibrated in sorted(calibration.pads.items())
        },
        "figures": {str(figure): calibration.figures[figure] for figure in FIGURES if figure in calibration.figures},
        "places": {pad: list(place) for pad, place in sorted(calibration.places.items())},
        "absent": sorted(calibration.absent),
    }
    row["checksum"] = _checksum(row)
    return json.dumps(row, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _checksum(row: Mapping[str, Any]) -> str:
    """CRC-32 of everything else."""
    body = {key: value for key, value in row.items() if key != "checksum"}
    return f"{zlib.crc32(json.dumps(body, sort_keys=True).encode()):08x}"


def decode(data: bytes, name: str) -> Calibration:
    """The calibration in a file's bytes; `name` is for the error.

    Raises:
        CalibrationError: damaged, or no calibration; the key is named.
    """
    try:
        row = json.loads(data)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or "checksum" not in row:
        raise CalibrationError(f"{name}: is no calibration or a damaged one: {_AGAIN}, or restore a backup")
    if row["checksum"] != _checksum(row):
        raise CalibrationError(f"{name}: checksum: is wrong, the file is damaged: {_AGAIN}, or restore a backup")
    try:
        return _calibration(Table(row, name, ""))
    except ConfigError as error:
        text = str(error).replace(f"{name}:1: ", f"{name}: ", 1)  # JSON is not read by lines
        raise CalibrationError(text) from error


def _calibration(root: Table) -> Calibration:
    if (number := root.whole("format")) != FORMAT:
        raise root.error("format", f"is {number}, of another version; this one knows {FORMAT}: {_AGAIN}")
    root.text("checksum")
    made = root.text("made")
    if not made.isprintable():
        raise root.error("made", f"must be a date and time, is {made!r}")
    chip_tables = root.table("chips")
    chips = {_address(chip_tables, key): _charges(chip_tables.table(key)) for key in chip_tables}
    pad_tables = root.table("pads")
    pads = {pad: _pad(pad_tables.table(pad)) for pad in pad_tables}
    figures = _figures(root.table("figures"))
    place_table = root.table("places")
    places = {pad: _place(place_table, pad) for pad in place_table}
    absent = frozenset(root.list_of("absent", str))
    root.done()
    return Calibration(made, chips, pads, figures, places, absent)


def _address(table: Table, key: str) -> int:
    known = {f"0x{address:02X}": address for address in range(LOWEST_ADDRESS, HIGHEST_ADDRESS + 1)}
    if key not in known:
        raise table.error(key, f"must be one of {', '.join(known)}")
    return known[key]


def _charges(table: Table) -> ChipCalibration:
    pairs = table.list_of("charges", list, size=CHANNELS)
    table.done()
    for pair in pairs:
        if len(pair) != 2 or not (_is_whole(pair[0], 63) and _is_whole(pair[1], 7)):
            raise table.error("charges", f"each must be CDC 0 to 63 and CDT 0 to 7, one is {pair!r}")
    from firmware.hal.mpr121_config import Charge  # noqa: PLC0415 - a board that was never calibrated greets without

    return ChipCalibration(tuple(Charge(cdc, cdt) for cdc, cdt in pairs))


def _is_whole(value: object, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= high


def _pad(table: Table) -> PadCalibration:
    pad = PadCalibration(
        idle_pf=table.number("idle_pf", low=0.1, high=HIGHEST_PF),
        noise_pf=table.number("noise_pf", low=0.0, high=HIGHEST_PF),
        touch_pf=table.number("touch_pf", low=0.1, high=HIGHEST_PF),
        place=_place(table, "place"),
    )
    table.done()
    return pad


def _place(table: Table, key: str) -> Place:
    address, electrode = table.list_of(key, int, size=2)
    if not (LOWEST_ADDRESS <= address <= HIGHEST_ADDRESS and 0 <= electrode < ELECTRODES):
        span = f"an address {LOWEST_ADDRESS} to {HIGHEST_ADDRESS} and an electrode 0 to {ELECTRODES - 1}"
        raise table.error(key, f"must be {span}, is {[address, electrode]!r}")
    return address, electrode


def _figures(table: Table) -> dict[Figure, float]:
    """All four or none, told apart by more than hand and body blur."""
    if not table.values:
        return {}
    figures = {figure: table.number(figure, low=0.1, high=HIGHEST_PF) for figure in FIGURES}
    table.done()
    by_size = sorted(figures, key=figures.__getitem__)
    for smaller, larger in itertools.pairwise(by_size):
        if figures[larger] < SMALLEST_STEP * figures[smaller]:
            raise table.error(larger, f"is too near to {smaller}; the factor must be {SMALLEST_STEP}")
    return figures
