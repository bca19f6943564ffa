"""Traces: recorded beside the driver, replayed into it, and three that are kept as regression data.

Run as a program, this module records the three anew: they are of the emulated board and say so.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from table import TITLE

from firmware.hal import registers as reg
from firmware.hal.backends import MockHardware, mock_hardware
from firmware.hal.emulated_bus import Disturbance
from firmware.hal.mpr121 import Mpr121
from firmware.hal.mpr121_config import Mpr121Config
from firmware.hal.ports import BusError
from firmware.hal.trace import MEASURED, SETUP_EVERY_S, TraceBus, TraceError, TraceRecorder, read_trace, replay
from firmware.hal.wiring import load_wiring
from firmware.identity import identify
from firmware.terms import UNKNOWN, Figure, Grip, Touch

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.hal.trace import Trace

WIRING = load_wiring(None, TITLE.fields)
TRACES = Path(__file__).parent / "traces"
POLL_S = 0.02
TOUCH_CHIP, COAST_CHIP = 0x5A, 0x5B

Told = list[tuple[Figure | None, str, Touch]]


def told(grips: list[Grip]) -> Told:
    return [(identify(grip.likelihood, UNKNOWN).figure, grip.field, grip.touch) for grip in grips]


class Recorded:
    """An emulated board with a recorder beside it."""

    def __init__(self, *, noise_counts: float = 0.0, seed: int = 0, about: str = "") -> None:
        self.now = 0.0
        self.mock: MockHardware = mock_hardware(WIRING, lambda: self.now, noise_counts=noise_counts, seed=seed)
        self.hands = self.mock.hands
        self.lines: list[str] = []
        self.grips: list[Grip] = []
        bus = self.mock.hardware.bus
        self.recorder = TraceRecorder(bus, WIRING, self.lines.append, source="emulated", about=about)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / POLL_S)):
            self.now += POLL_S
            self.recorder.record(self.now)
            if (grip := self.mock.hardware.poll(self.now)) is not None:
                self.grips.append(grip)

    def write(self, path: Path) -> Path:
        path.write_text("".join(f"{line}\n" for line in self.lines), encoding="utf-8")
        return path


def a_contact(board: Recorded) -> None:
    board.run(0.5)
    board.hands.place(Figure.RED, "beach-s")
    board.run(0.6)
    board.hands.grip(Figure.RED)
    board.run(0.2)
    board.hands.touch(Touch.EXPLORE)
    board.run(0.4)
    board.hands.lift(Touch.EXPLORE)
    board.hands.let_go(Figure.RED)
    board.run(0.6)


def a_slow_grip(board: Recorded) -> None:
    board.run(0.5)
    board.hands.place(Figure.GREEN, "jungle-w")
    board.run(0.6)
    board.hands.touch(Touch.TWO, over_s=0.2)
    board.run(0.3)
    board.hands.grip(Figure.GREEN, over_s=1.2)  # while it closes it looks like white, then like red
    board.run(1.6)
    board.hands.lift(Touch.TWO)
    board.hands.let_go(Figure.GREEN)
    board.run(0.4)


def hands_and_a_dip(board: Recorded) -> None:
    board.run(0.5)
    for field in ("beach-s", "beach-sw", "statue-w", "jungle-s"):
        board.hands.lay_hand(field)
    board.run(0.6)
    for chip in board.mock.chips.values():
        chip.set_vdd(3.0, over_s=0.05)
    board.run(0.2)
    board.mock.chips[COAST_CHIP].set_vdd(0.9)  # and back before anybody asks
    for chip in board.mock.chips.values():
        chip.set_vdd(3.3)
    board.run(1.6)
    for field in ("beach-s", "beach-sw", "statue-w", "jungle-s"):
        board.hands.raise_hand(field)
    board.run(0.6)


KEPT: dict[str, tuple[Callable[[Recorded], None], float, str, Told]] = {
    "emulated-contact": (
        a_contact,
        0.0,
        "red is set down on beach-s, held there, touches Explore, and is let go",
        [(Figure.RED, "beach-s", Touch.EXPLORE)],
    ),
    "emulated-slow-grip-with-noise": (
        a_slow_grip,
        1.2,
        "a finger comes to Two, and a hand closes in 1.2 s round green on jungle-w; readings with 1.2 counts of noise",
        [(Figure.GREEN, "jungle-w", Touch.TWO)],
    ),
    "emulated-hands-and-supply-dip": (
        hands_and_a_dip,
        0.5,
        "hands lie on four fields while 3V3 sags to 3.0 V and 0x5B is reset by a deeper dip; nothing is touched",
        [],
    ),
}


def record(name: str) -> Recorded:
    act, noise_counts, about, _ = KEPT[name]
    board = Recorded(noise_counts=noise_counts, seed=5, about=about)
    act(board)
    return board


@pytest.fixture(scope="module")
def live() -> dict[str, Recorded]:
    """The three scenes, played now."""
    return {name: record(name) for name in KEPT}


# --- regression data


@pytest.mark.parametrize("name", KEPT)
def test_a_kept_trace_still_tells_the_same_contacts(name: str) -> None:
    trace = read_trace(TRACES / f"{name}.jsonl")
    assert trace.source == "emulated", "a trace of a board bears another name"
    assert trace.about == KEPT[name][2]
    assert told([grip for _, grip in replay(trace, WIRING)]) == KEPT[name][3]


def test_the_kept_traces_are_small_and_all_are_replayed() -> None:
    files = sorted(TRACES.iterdir())
    assert [file.stem for file in files] == sorted(KEPT)
    assert sum(file.stat().st_size for file in files) < 170_000


# --- recording and replay


@pytest.mark.parametrize("name", KEPT)
def test_what_is_recorded_now_is_told_alike_by_its_replay(name: str, live: dict[str, Recorded], tmp_path: Path) -> None:
    board = live[name]
    trace = read_trace(board.write(tmp_path / "trace.jsonl"))
    assert told(board.grips) == told([grip for _, grip in replay(trace, WIRING)]) == KEPT[name][3]


def test_a_replayed_contact_comes_when_it_came(live: dict[str, Recorded], tmp_path: Path) -> None:
    trace = read_trace(live["emulated-contact"].write(tmp_path / "trace.jsonl"))
    ((t, _),) = replay(trace, WIRING)
    assert t == pytest.approx(1.36, abs=0.1)


def test_a_trace_can_be_joined_in_the_middle(live: dict[str, Recorded], tmp_path: Path) -> None:
    board = Recorded()
    board.run(1.0)
    lines: list[str] = []
    board.recorder = TraceRecorder(board.mock.hardware.bus, WIRING, lines.append, source="emulated")
    a_contact(board)
    board.lines = lines
    trace = read_trace(board.write(tmp_path / "trace.jsonl"))
    assert told([grip for _, grip in replay(trace, WIRING)]) == KEPT["emulated-contact"][3]


def test_recording_disturbs_nothing(live: dict[str, Recorded]) -> None:
    other = Recorded(seed=5)
    other.recorder.record = lambda now: None  # type: ignore[method-assign]
    a_contact(other)
    assert other.grips == live["emulated-contact"].grips


def test_only_what_has_changed_is_written() -> None:
    board = Recorded()
    board.run(3.0)
    rows = [json.loads(line) for line in board.lines[-100:]]
    assert [row["chips"] for row in rows if row["chips"]] == []
    assert [round(row["t"], 2) for row in rows[:3]] == [1.02, 1.04, 1.06]


def test_a_chip_that_does_not_answer_is_null_in_the_trace_and_an_error_in_the_replay(tmp_path: Path) -> None:
    board = Recorded()
    board.run(0.2)
    board.mock.emulated_bus.inject(Disturbance.NACK, address=COAST_CHIP)
    board.run(0.2)
    board.mock.emulated_bus.clear()
    board.run(0.2)
    trace = read_trace(board.write(tmp_path / "trace.jsonl"))
    bus, buffer = TraceBus(trace), bytearray(2)
    silent = []
    for poll in trace.polls:
        bus.show(poll)
        with contextlib.suppress(BusError):
            bus.writeto_then_readfrom(COAST_CHIP, b"\0", buffer)
            continue
        silent.append(poll.t)
    assert [poll.t for poll in trace.polls if COAST_CHIP in poll.chips and poll.chips[COAST_CHIP] is None] == [0.22]
    assert [silent[0], silent[-1]] == pytest.approx([0.22, 0.4])


def test_no_chip_is_on_the_recorded_bus_that_was_not_recorded(tmp_path: Path) -> None:
    board = Recorded()
    board.run(0.1)
    with pytest.raises(BusError, match="0x5D"):
        TraceBus(read_trace(board.write(tmp_path / "trace.jsonl"))).writeto(0x5D, b"")


def replayed_chip(tmp_path: Path, config: Mpr121Config | None = None) -> tuple[Mpr121, TraceBus, Trace]:
    board = Recorded()
    board.run(1.0)
    trace = read_trace(board.write(tmp_path / "trace.jsonl"))
    bus = TraceBus(trace)
    for poll in trace.polls:
        bus.show(poll)
    return Mpr121(bus, TOUCH_CHIP, 10, config), bus, trace


def test_the_driver_starts_and_is_healthy_on_a_recorded_bus(tmp_path: Path) -> None:
    chip, _, _ = replayed_chip(tmp_path)
    chip.start()
    assert chip.healthy()
    before = chip.snapshot()
    chip.set_thresholds({3: (40, 20)})
    chip.rebase(3)
    assert chip.snapshot() == before, "writes change nothing of what was measured"


def test_charges_are_those_of_the_recorded_board(tmp_path: Path) -> None:
    chip, _, trace = replayed_chip(tmp_path)
    chip.start()
    snapshot = chip.snapshot()
    original = mock_hardware(WIRING, lambda: 0.0)
    for pad, electrode in WIRING.chip_of("rock").wires.items():
        pf = chip.capacitance_pf(electrode, snapshot.filtered[electrode])
        assert pf == pytest.approx(original.hands.pad_pf(pad), rel=0.01)
    assert trace.polls[-1].t == 1.0


def test_charges_that_are_written_are_read_back(tmp_path: Path) -> None:
    recorded, _, _ = replayed_chip(tmp_path)
    recorded.start()
    recorded.snapshot()
    assert recorded.charges
    chip, bus, _ = replayed_chip(tmp_path, Mpr121Config(charges=recorded.charges))
    chip.start()
    found = bytearray(reg.CHANNELS)
    bus.writeto_then_readfrom(TOUCH_CHIP, bytes((reg.CDC,)), found)
    assert list(found) == [charge.cdc for charge in recorded.charges]


def test_a_recorded_reset_is_found_and_mended_in_the_replay(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    board = Recorded()
    board.run(0.5)
    board.mock.chips[COAST_CHIP].set_vdd(0.9)  # and back before anybody asks; nothing is touched, so nobody asks soon
    board.mock.chips[COAST_CHIP].set_vdd(3.3)
    board.run(1.6)
    trace = read_trace(board.write(tmp_path / "trace.jsonl"))
    caplog.clear()
    assert list(replay(trace, WIRING)) == []
    assert [line for line in caplog.messages if "'coast' at 0x5B was reset" in line]
    assert SETUP_EVERY_S <= 0.5, "a reset is mended within a second: it must be seen before"


# --- wrong files


def test_the_last_line_may_be_cut_off(tmp_path: Path) -> None:
    board = Recorded()
    board.run(0.5)
    path = board.write(tmp_path / "trace.jsonl")
    path.write_bytes(path.read_bytes()[:-9])
    assert len(read_trace(path).polls) == 24


GOOD_POLL = {"t": 1.0, "chips": {"0x5A": {"0x00": "00" * MEASURED[1]}}}


@pytest.mark.parametrize(
    ("line", "change", "where"),
    [
        (1, None, ":1: is no trace of format 1"),
        (1, {"trace": 2}, ":1: is no trace of format 1"),
        (1, {"trace": 1}, ":1: 'source' is missing|:1: 'chips' is missing"),
        (2, None, ":2: "),
        (2, [], ":2: "),
        (2, {"chips": {}}, ":2: 't' is missing"),
        (2, {**GOOD_POLL, "t": "soon"}, ":2: "),
        (2, {"t": 1.0, "chips": {"0x5A": {"0x00": "0000"}}}, ":2: 0x5A: block 0x00 has 2 bytes"),
        (2, {"t": 1.0, "chips": {"0x5A": {"0x00": "zz"}}}, ":2: "),
        (3, {**GOOD_POLL, "t": 0.5}, r":3: t must not fall from line to line, is 0.5 after 1.0"),
        (3, {**GOOD_POLL, "t": float("nan")}, ":3: t must not fall"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: int, change: Any, where: str) -> None:
    header = json.loads(Recorded().lines[0])
    rows: list[Any] = [header, GOOD_POLL, {**GOOD_POLL, "t": 2.0}]
    rows[line - 1] = change
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(TraceError, match=where) as refused:
        read_trace(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("data", [b"", b"\n", b"\xff\xfe", b"[" * 100_000 + b"\n"])
def test_what_is_no_trace_at_all_is_told_in_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=r"trace\.jsonl") as refused:
        read_trace(path)
    assert "\n" not in str(refused.value)


def test_a_missing_trace_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="No such file"):
        read_trace(tmp_path / "none.jsonl")


if __name__ == "__main__":
    for kept in KEPT:
        print(record(kept).write(TRACES / f"{kept}.jsonl"))
