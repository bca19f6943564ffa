"""What a check has found, for programs (`--json`) and as one file to attach to a bug report (`--report`)."""

from __future__ import annotations

import math
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware import __version__
from firmware.config import config_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from firmware.check.gauge import ChipGauge
    from firmware.check.inspection import Inspection
    from firmware.workshop import Bench

LIBRARIES = ("gpiozero", "lgpio", "RPi.GPIO", "smbus2", "adafruit-circuitpython-mpr121", "Adafruit-Blinka", "pygame")
LOG_LINES = 200
MODEL = Path("/proc/device-tree/model")


def model(file: Path = MODEL) -> str:
    """What machine this is; its architecture where nothing says more."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip("\0\n ")
    except OSError:
        return platform.machine()


def as_json(bench: Bench, found: Inspection) -> dict[str, Any]:
    """All of it as one object. Levels are in picofarads and counts; what could not be measured is null."""
    return {
        "version": __version__,
        "mock": bench.mock,
        "machine": model(),
        "well": not found.findings,
        "faults": [{"part": finding.part, "name": finding.name, "text": finding.text} for finding in found.findings],
        "noticed": found.noticed,
        "chips": [_chip(chip, found) for chip in found.chips],
        "strangers": [f"0x{address:02X}" for address in found.strangers],
        "lights": found.lights,
        "button": {"pressed": found.button_pressed},
        "battery": {
            "low": found.battery_low,
            "volts": found.battery_volts,
            "source": found.battery_source or None,
        },
        "supply": found.supply,
        "sound": {"card": bench.configuration.card or None, "clips": found.clips, "missing": found.clips_missing},
        "figures": found.figures,
        "calibration": found.calibration,
    }


def _chip(chip: ChipGauge, found: Inspection) -> dict[str, Any]:
    return {
        "number": chip.wiring.number,
        "name": chip.wiring.name,
        "address": f"0x{chip.wiring.address:02X}",
        "state": found.states.get(chip.wiring.address),
        "error": chip.trouble or None,
        "pads": [
            {
                "pad": pad.pad,
                "kind": pad.kind,
                "electrode": pad.electrode,
                "pf": round(pad.pf, 3) if math.isfinite(pad.pf) else None,
                "counts": round(pad.counts, 2),
                "noise_counts": round(pad.noise_counts, 3),
                "baseline": pad.baseline,
                "touched": pad.touched,
                "out_of_range": pad.out_of_range,
                "cdc_ua": pad.charge.cdc,
                "cdt_code": pad.charge.cdt,
            }
            for pad in chip.pads()
        ],
    }


def report(bench: Bench, found: Inspection, seen: list[str]) -> str:
    """The file's text. `seen` are the lines of the automatic part. No name of the host or of a user is in it."""
    parts = [*_head(bench), ("What the check saw", "\n".join(seen)), ("Faults", _faults(found))]
    parts.append(("Noticed", "\n".join(found.noticed) or "nothing"))
    parts += [(f"Chip {chip.wiring.number}: {chip.wiring.name}", _readings(chip, found)) for chip in found.chips]
    parts += _files(bench)
    log = bench.around.ask(
        ("journalctl", "--unit=volcano", "--boot", "--output=short-monotonic", "--no-hostname", f"--lines={LOG_LINES}")
    )
    parts.append(("The service's last words", log or "cannot be read here"))
    text = "\n\n".join(f"== {title}\n{body.rstrip()}" for title, body in parts) + "\n"
    return _private(text)


def _head(bench: Bench) -> Iterator[tuple[str, str]]:
    versions = [f"volcano {__version__}", f"Python {platform.python_version()} ({sys.implementation.name})"]
    for library in LIBRARIES:
        try:
            versions.append(f"{library} {metadata.version(library)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{library} is not installed")
    yield "volcano check: a report", f"{bench.around.date()}{', emulated board' if bench.mock else ''}"
    yield "Versions", "\n".join(versions)
    yield "Machine", f"{model()}\n{platform.system()} {platform.release()} {platform.machine()}"


def _faults(found: Inspection) -> str:
    return "\n".join(f"{finding.part} {finding.name}: {finding.text}" for finding in found.findings) or "none"


def _readings(chip: ChipGauge, found: Inspection) -> str:
    lines = [f"0x{chip.wiring.address:02X}: {found.states.get(chip.wiring.address)} {chip.trouble}".rstrip()]
    lines += [
        f"{pad.pad:<12} {pad.kind:<11} electrode {pad.electrode:>2}: {pad.pf:8.2f} pF {pad.counts:7.1f} counts"
        f" noise {pad.noise_counts:4.2f} baseline {pad.baseline:4} CDC {pad.charge.cdc:2} CDT {pad.charge.cdt}"
        f"{' touched' if pad.touched else ''}{' out of range' if pad.out_of_range else ''}"
        for pad in chip.pads()
    ]
    if chip.setup:
        lines.append(f"registers from 0x2B: {chip.setup.hex(' ')}")
    return "\n".join(lines)


def _files(bench: Bench) -> Iterator[tuple[str, str]]:
    configuration = bench.configuration
    files = {
        "Configuration": bench.config_file or config_file(),
        "Wiring": configuration.wiring,
        "Board": configuration.board,
        "Numbers": configuration.tuning,
        "Calibration": bench.calibration_file,
    }
    for title, file in files.items():
        if file is None:
            yield title, "as it comes with the firmware"
            continue
        try:
            yield f"{title}: {file}", file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            yield f"{title}: {file}", f"({error.strerror})"


def _private(text: str) -> str:
    """Without the machine's name and whose machine it is."""
    home = str(Path.home())
    for name, instead in ((home, "~"), (platform.node(), "(host)"), (Path(home).name, "(user)")):
        if len(name) > 4:  # shorter ones are parts of other words: pi, root, or / itself
            text = text.replace(name, instead)
    return text
