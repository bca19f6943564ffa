"""Whatever stands in a file that a person may name: it is read, or refused in one line; some hundred mutations each."""

from __future__ import annotations

import json
import random
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from table import TITLE
from test_calibration import LEARNT
from workplace import WIRING

from firmware import disk
from firmware.config import load_configuration, read_table
from firmware.hal.backends import mock_hardware
from firmware.hal.calibration import _checksum, decode, encode, read_calibration
from firmware.hal.trace import read_trace, replay
from firmware.hal.wiring import OWN_WIRING, load_wiring
from firmware.terms import VolcanoError

if TYPE_CHECKING:
    from collections.abc import Callable

MUTATIONS = 250
TRACE = Path(__file__).parent / "traces" / "emulated-contact.jsonl"
TEXTS = (b"-1", b"0", b"1e400", b"nan", b"inf", b"0x" + b"f" * 5000, b"9" * 5000, b"true", b'""', b"[]", b"{}", b"\xff")
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 0.5, 91, 10**30, 1e400, float("nan"), 5e-324),
    *("", "x", "rock", "0x5D", "a\nb", "\ud800", [], {}, [[]], [1, 2]),
)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A text with a few bytes lost, doubled, exchanged, cut off, or numbers and words put in place of others."""
    for _ in range(chance.randint(1, 3)):
        at, end = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
        words = list(re.finditer(rb"-?[\d.]+|[a-z][a-z_-]+", data))
        match chance.randrange(6):
            case 0:
                data = data[:at] + data[at + chance.randint(1, 30) :]
            case 1:
                data = data[:at] + data[at : min(end, at + 80)] + data[at:]
            case 2:
                data = data[:at] + bytes((chance.randrange(256),)) + data[at + 1 :]
            case 3 if chance.random() < 0.3:
                data = data[:end]
            case 4 if words:
                word = chance.choice(words)
                data = data[: word.start()] + chance.choice(TEXTS) + data[word.end() :]
            case _ if words:
                word, other = chance.choice(words), chance.choice(words)
                data = data[: word.start()] + other.group() + data[word.end() :]
    return data


def changed(value: Any, chance: random.Random) -> Any:
    """A value of JSON with something in it lost, renamed or of another kind."""
    if not value or not isinstance(value, dict | list) or chance.random() < 0.1:
        return chance.choice(VALUES)
    value = value.copy()
    key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    match chance.randrange(5):
        case 0:
            del value[key]
        case 1 if isinstance(value, dict):
            value[chance.choice(["x", "", "rock", "white", "0x5D", "0x5a"])] = value.pop(key)
        case _:
            value[key] = changed(value[key], chance)
    return value


def refused(read: Callable[[], object]) -> bool:
    try:
        read()
    except VolcanoError as error:
        text = str(error)
    else:
        return False
    assert "\n" not in text
    assert len(text) < 1000
    return True


def used(data: bytes) -> None:
    """A calibration as a start takes it."""
    calibration = decode(data, "calibration.json")
    calibration.wired(WIRING)
    assert decode(encode(calibration), "") == calibration
    now = 0.0
    board = mock_hardware(WIRING, lambda: now, calibration=calibration)
    for now in (0.0, 0.1, 0.2, 0.3):
        board.hardware.poll(now)


def test_calibrations() -> None:
    chance = random.Random(1)
    good = encode(LEARNT)
    assert not refused(lambda: used(good))
    refusals = 0
    for _ in range(MUTATIONS):
        row = changed(json.loads(good), chance)
        if isinstance(row, dict):
            row["checksum"] = _checksum(row)
        refusals += refused(partial(used, json.dumps(row).encode()))
        refusals += refused(partial(used, mutated(good, chance)))
    assert MUTATIONS < refusals < 2 * MUTATIONS


def test_wiring_files(tmp_path: Path) -> None:
    chance = random.Random(2)
    good = OWN_WIRING.read_bytes()
    rails = b"[chips.coast.rails]\na = 9\nb = 10\nc = 11\n\n[chips.jungle]"
    other = good.replace(b"[chips.jungle]", rails).replace(b'method = "capacitor"', b'method = "rails"')
    other = other.replace(b"low_pin = 27", b"mcp3008_channel = 0\ndivider = 3.0\nlow_v = 4.4\n")
    path = tmp_path / "wiring.toml"
    refusals = 0
    for number in range(MUTATIONS):
        path.write_bytes(mutated((good, other)[number % 2], chance))
        refusals += refused(lambda: load_wiring(path, TITLE.fields))
    assert MUTATIONS / 4 < refusals < MUTATIONS


def test_configurations(tmp_path: Path) -> None:
    chance = random.Random(3)
    path = tmp_path / "volcano.toml"
    good = b'language = "en"\nvolume = 2\n[sound]\ncard = "x"\nbuffer = 512\n[page]\nport = 8005\nnames = ["a", "b"]\n'
    for _ in range(MUTATIONS):
        path.write_bytes(mutated(good, chance))
        refused(lambda: load_configuration(path))


def test_traces(tmp_path: Path) -> None:
    chance = random.Random(4)
    good = TRACE.read_bytes().splitlines(keepends=True)[:30]
    path = tmp_path / "trace.jsonl"
    refusals = 0
    for _ in range(MUTATIONS):
        lines = good.copy()
        number = chance.choice((0, 0, chance.randrange(len(lines))))
        lines[number] = json.dumps(changed(json.loads(lines[number]), chance)).encode() + b"\n"
        for data in (b"".join(lines), mutated(b"".join(good), chance)):
            path.write_bytes(data)
            refusals += refused(lambda: list(replay(read_trace(path), WIRING)))
    assert MUTATIONS / 4 < refusals < 2 * MUTATIONS


@pytest.mark.parametrize("read", [read_table, read_calibration, read_trace])
def test_a_file_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], object]
) -> None:
    monkeypatch.setattr(disk, "MOST_BYTES", 1000)
    path = tmp_path / "card.img"
    path.write_bytes(bytes(1001))
    with pytest.raises(VolcanoError, match=r"card\.img: cannot be read: File too large"):
        read(path)
