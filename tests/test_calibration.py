"""The calibration file: whole or refused in one line, whatever happened to it; and the wiring it makes."""

from __future__ import annotations

import errno
import json
import os
import pathlib
import tomllib
import zlib
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from test_power_cuts import Disk, Op, lay, states

from firmware.hal.calibration import (
    Calibration,
    CalibrationError,
    ChipCalibration,
    PadCalibration,
    decode,
    earlier,
    encode,
    load_calibration,
    read_calibration,
    save_calibration,
)
from firmware.hal.mpr121_config import Charge
from firmware.hal.wiring import load_wiring
from firmware.terms import FIGURES, Figure, Touch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIELDS = tuple(tomllib.loads((files("firmware.game.insel") / "board.toml").read_text(encoding="utf-8"))["layout"])
WIRING = load_wiring(None, FIELDS)
CHARGES = ChipCalibration(tuple(Charge(20 + channel, 1 + channel % 3) for channel in range(13)))
LEARNT = Calibration(
    made="2026-05-01T20:15:00",
    chips={chip.address: CHARGES for chip in WIRING.chips},
    pads={
        pad: PadCalibration(60.25 + electrode, 0.08, 0.7, (chip.address, electrode))
        for chip in WIRING.chips
        for pad, electrode in chip.wires.items()
    },
    figures=dict(zip(FIGURES, (2.3, 4.6, 10.4, 21.5), strict=True)),
)
EARLIER = replace(LEARNT, made="2025-12-24T18:00:00", figures={})


# --- keeping it


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "state" / "calibration.json"
    assert load_calibration(path) is None
    for calibration in (LEARNT, EARLIER, replace(LEARNT, places={"rock": (0x5D, 3)}, absent=frozenset({"beach-s"}))):
        save_calibration(path, calibration)
        assert load_calibration(path) == calibration


def test_the_file_is_json_that_people_can_read() -> None:
    row = json.loads(encode(LEARNT))
    assert row["made"] == "2026-05-01T20:15:00"
    assert row["pads"]["rock"]["idle_pf"] == 60.25
    assert row["figures"] == {"white": 2.3, "red": 4.6, "green": 10.4, "black": 21.5}


def test_a_copy_is_a_backup(tmp_path: Path) -> None:
    save_calibration(tmp_path / "calibration.json", LEARNT)
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick" / "my board.json").write_bytes((tmp_path / "calibration.json").read_bytes())
    assert read_calibration(tmp_path / "stick" / "my board.json") == LEARNT
    with pytest.raises(FileNotFoundError):
        read_calibration(tmp_path / "stick" / "another.json")


def test_every_flipped_byte_is_noticed() -> None:
    data = encode(LEARNT)
    for position in range(0, len(data), 5):
        flipped = data[:position] + bytes((data[position] ^ 0x01,)) + data[position + 1 :]
        with pytest.raises(CalibrationError, match=r"^file: [^\n]+$"):
            decode(flipped, "file")


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 900, b"my shopping list\n", b"[]", b"{}", b"[" * 9999, encode(LEARNT)[:-40], b"\xff\xfe"]
)
def test_a_torn_or_foreign_file_gives_way_to_the_one_before(
    data: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "calibration.json"
    save_calibration(path, EARLIER)
    save_calibration(path, LEARNT)
    path.write_bytes(data)
    assert load_calibration(path) == EARLIER
    (record,) = caplog.records
    assert "calibration.json: is no calibration or a damaged one" in record.getMessage()
    assert "the one before is used" in record.getMessage()
    assert (tmp_path / "set-aside-000001.json").read_bytes() == data
    assert load_calibration(path) == EARLIER
    save_calibration(path, LEARNT)
    assert load_calibration(path) == LEARNT


def test_without_a_sound_one_before_the_newest_is_named_at_every_start(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    save_calibration(path, LEARNT)
    path.write_bytes(path.read_bytes()[:200])
    for _ in range(2):
        with pytest.raises(CalibrationError, match=r"^\S+/calibration.json: is no .*: run volcano calibrate again, or"):
            load_calibration(path)


def with_checksum(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The file after somebody changed it and put the checksum right."""
    row = json.loads(encode(LEARNT))
    change(row)
    del row["checksum"]
    row["checksum"] = f"{zlib.crc32(json.dumps(row, sort_keys=True).encode()):08x}"
    return json.dumps(row).encode()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda row: row.update(format=2),
            "format: is 2, of another version; this one knows 1: run volcano calibrate again",
        ),
        (lambda row: row.pop("made"), "made: is missing; it must be a text"),
        (lambda row: row.update(colour=1), "colour: is not a key here"),
        (lambda row: row["pads"]["rock"].update(idle_pf="much"), "pads.rock.idle_pf: must be a number, is 'much'"),
        (lambda row: row["pads"]["rock"].update(idle_pf=0), "pads.rock.idle_pf: must be from 0.1 to 2900"),
        (lambda row: row["pads"]["rock"].update(place=[0x5A, 12]), "pads.rock.place: must be an address 90 to 93"),
        (lambda row: row["pads"]["rock"].update(place=[0x5A]), "pads.rock.place: must have 2 items"),
        (lambda row: row["chips"].update({"0x60": {}}), "chips.0x60: must be one of 0x5A, 0x5B, 0x5C, 0x5D"),
        (lambda row: row["chips"]["0x5A"]["charges"].pop(), "chips.0x5A.charges: must have 13 items, has 12"),
        (lambda row: row["chips"]["0x5A"]["charges"].append([64, 1]), "chips.0x5A.charges: must have 13 items"),
        (lambda row: row["chips"]["0x5A"]["charges"].__setitem__(3, [64, 1]), "CDC 0 to 63 and CDT 0 to 7, one is"),
        (lambda row: row["figures"].pop("red"), "figures.red: is missing"),
        (lambda row: row["figures"].update(red=3.0), "figures.red: is too near to white; the factor must be 1.5"),
        (lambda row: row["places"].update(rock=[1, 2]), "places.rock: must be an address"),
        (lambda row: row.update(absent=[1]), "absent: each item must be a text"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(change: Callable[[dict[str, Any]], object], problem: str) -> None:
    with pytest.raises(CalibrationError) as caught:
        decode(with_checksum(change), "/etc/x.json")
    assert str(caught.value).startswith("/etc/x.json: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_disk_that_cannot_be_written_is_one_line_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "calibration.json"
    save_calibration(path, EARLIER)
    save_calibration(path, LEARNT)
    damaged = tmp_path / "damaged.json"
    damaged.write_bytes(b"damaged")
    earlier(damaged).write_bytes(encode(EARLIER))
    disk = Disk(tmp_path, monkeypatch)

    def fail(_: Op) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    disk.fails = fail
    with pytest.raises(CalibrationError, match=r"calibration.json: cannot be written: Read-only file system$"):
        save_calibration(path, EARLIER)
    assert load_calibration(path) == LEARNT
    assert load_calibration(damaged) == EARLIER


def test_wherever_the_power_goes_there_is_the_old_calibration_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    disk = Disk(told, monkeypatch)
    small = replace(LEARNT, pads={}, chips={})
    tale = [replace(small, made=str(number)) for number in range(3)]
    for calibration in tale:
        save_calibration(told / "calibration.json", calibration)
        disk.ops.append(Op("kept", data=calibration.made.encode()))
    monkeypatch.undo()
    number = 0
    for cut in range(len(disk.ops) + 1):
        kept = [op.data.decode() for op in disk.ops[:cut] if op.kind == "kept"]
        for state in states(disk.ops[:cut]):
            number += 1
            folder = tmp_path / f"{number}"
            lay(folder, state)
            path = pathlib.Path(folder / "calibration.json")
            loaded = load_calibration(path)
            which = f"after {cut} operations: {sorted(state)}"
            if loaded is None:
                assert not kept, which
            else:
                assert loaded.made in (str(len(kept) - 1), str(len(kept))), which
            save_calibration(path, LEARNT)
            assert load_calibration(path) == LEARNT, which
            assert earlier(path).exists() == (loaded is not None), which
    assert number > len(disk.ops)


# --- the wiring it makes


def test_without_a_map_the_wiring_stays_as_it_is() -> None:
    assert LEARNT.wired(WIRING) == WIRING


def test_the_map_says_where_pads_are_whatever_the_file_says() -> None:
    places = {"rock": (0x5A, 9), "mountain-nw": (0x5A, 0), "beach-s": (0x5D, 11)}
    wired = Calibration("now", places=places).wired(WIRING)
    touch, coast, _, added = wired.chips
    assert touch.touches[Touch.ROCK] == 9
    assert touch.fields["mountain-nw"] == 0
    assert "beach-s" not in coast.fields
    assert (added.address, dict(added.fields)) == (0x5D, {"beach-s": 11})
    assert sorted(wired.fields) == sorted(WIRING.fields)


def test_absent_pads_are_left_out_and_an_empty_chip_with_them() -> None:
    coast = WIRING.chips[1]
    wired = Calibration("now", absent=frozenset({*coast.pads, "two"})).wired(WIRING)
    assert [chip.address for chip in wired.chips] == [0x5A, 0x5C]
    assert Touch.TWO not in wired.chips[0].touches
    assert "beach-s" not in wired.fields


@pytest.mark.parametrize(
    ("calibration", "problem"),
    [
        (Calibration("now", places={"moon": (0x5A, 1)}), "knows a pad 'moon' that the wiring does not have"),
        (Calibration("now", absent=frozenset({"moon"})), "knows a pad 'moon'"),
        (replace(LEARNT, pads={"moon": LEARNT.pads["rock"]}), "knows a pad 'moon'"),
        (Calibration("now", places={"one": (0x5A, 3)}), "puts one and two at electrode 3 of the chip at 0x5A"),
        (Calibration("now", absent=frozenset(LEARNT.pads)), "has mapped all pads away"),
        (replace(LEARNT, places={"rock": (0x5D, 1)}), "has rock on another wire than the wiring"),
        (replace(LEARNT, chips={}), "but not the chip at 0x5"),
    ],
)
def test_a_calibration_of_another_board_is_refused_in_one_line(calibration: Calibration, problem: str) -> None:
    with pytest.raises(CalibrationError) as caught:
        calibration.wired(WIRING)
    assert problem in str(caught.value)
    assert str(caught.value).endswith(": run volcano calibrate again")


def test_levels_measured_on_other_wires_are_refused() -> None:
    coast = WIRING.chips[1]
    swapped = replace(coast, fields={**coast.fields, "beach-ne": 1, "beach-se": 0})
    with pytest.raises(CalibrationError, match="has beach-ne on another wire"):
        LEARNT.wired(replace(WIRING, chips=(WIRING.chips[0], swapped, WIRING.chips[2])))


def test_figures_are_named_as_the_rules_name_them() -> None:
    assert set(LEARNT.figures) == set(Figure)
