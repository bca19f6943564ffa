"""Traces: what the chips of a board read, poll by poll, kept to be played again into the sensing.

A trace is lines of JSON. The first tells which board it is of, each further one a poll: the time in seconds and, of
each chip that has changed since, its registers in hexadecimal: from 0x00 what it measures, from 0x5C how it is set up
and charged; null while it did not answer. Replayed, driver, pads and contacts run as on the board, over a bus that
answers every read as the chips did at that time. So a trace outlives a driver that reads in another order.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from firmware import __version__
from firmware.disk import read_file
from firmware.hal import registers as reg
from firmware.hal.bus import EREMOTEIO, bus_error, read_registers
from firmware.hal.registers import ELECTRODES
from firmware.hal.touch_board import Mpr121Board
from firmware.hal.wiring import ChipWiring, FigureMethod, Rail
from firmware.terms import FIGURES, Figure, Touch, VolcanoError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from firmware.hal.bus import Bus
    from firmware.hal.wiring import Wiring
    from firmware.terms import Grip

FORMAT = 1
SETUP_EVERY_S = 0.5
"""How often 0x5C-0x72 are read: they change when a chip is set up anew, and when a dip of its supply has reset it."""

MEASURED = (reg.TOUCH_STATUS_L, reg.SNAPSHOT_SIZE)
SETUP = (reg.AFE1, reg.GPIO_CTL0 - reg.AFE1)
"""First register and number of the two blocks."""

LONGEST = 200
"""Characters of what is wrong in a line: some errors show the value."""

RESET_AFE = bytes((0x10, 0x24, 0x00))
"""0x5C-0x5E after a reset (data sheet, table 2)."""
_CHARGES = reg.CDC - reg.AFE1
"""Where CDC and CDT stand in the second block."""
_RUN_BITS = 0x3F
_ACE = 0x01


class TraceError(VolcanoError, ValueError):
    """A trace cannot be read; the text is ``file:line: what is wrong``."""


Blocks = dict[int, bytes]
"""First register -> what was read from there on."""


@dataclass(frozen=True, slots=True)
class Poll:
    """One poll: seconds, and the blocks of each chip that had changed; None: the chip did not answer."""

    t: float
    chips: Mapping[int, Blocks | None]


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded board: where from (`board`, or `emulated`), what is seen in it, its wires, and its polls."""

    source: str
    about: str
    chips: tuple[ChipWiring, ...]
    figure_method: FigureMethod
    capacitor_pf: Mapping[Figure, float]
    polls: tuple[Poll, ...]

    def wired(self, wiring: Wiring) -> Wiring:
        """`wiring` with the chips, pads and figures of the board that was recorded."""
        return replace(wiring, chips=self.chips, figure_method=self.figure_method, capacitor_pf=self.capacitor_pf)


# --- recording


class TraceRecorder:
    """Reads every chip beside the driver, once a poll, and writes down what has changed.

    Args:
        bus: the bus of the board.
        wiring: its wires, kept with the trace.
        write: takes one line, without its end.
        source: ``board`` or ``emulated``.
        about: what is done while it is recorded.
    """

    def __init__(
        self, bus: Bus, wiring: Wiring, write: Callable[[str], object], *, source: str, about: str = ""
    ) -> None:
        self._bus = bus
        self._write = write
        self._seen: dict[int, Blocks | None] = {chip.address: {} for chip in wiring.chips}
        self._setup_s = float("-inf")
        header = {
            "trace": FORMAT,
            "source": source,
            "about": about,
            "version": __version__,
            "chips": [_chip_row(chip) for chip in wiring.chips],
            "figures": {"method": wiring.figure_method, "capacitor_pf": dict(wiring.capacitor_pf)},
        }
        write(json.dumps(header, ensure_ascii=False))

    def record(self, now: float) -> None:
        """What the driver will find at the poll at `now`, to be called just before it."""
        setup_due = now - self._setup_s >= SETUP_EVERY_S
        if setup_due:
            self._setup_s = now
        chips: dict[str, dict[str, str] | None] = {}
        for address, seen in self._seen.items():
            try:
                found = {MEASURED[0]: read_registers(self._bus, address, *MEASURED)}
                if setup_due or not _charged(seen) or not any(found[MEASURED[0]][reg.FILTERED_DATA :]):
                    found[SETUP[0]] = read_registers(
                        self._bus, address, *SETUP
                    )  # also when a reset has left no readings
            except OSError:
                if seen is not None:
                    self._seen[address] = None
                    chips[f"0x{address:02X}"] = None
                continue
            changed = {first: values for first, values in found.items() if (seen or {}).get(first) != values}
            if changed or seen is None:
                self._seen[address] = {**(seen or {}), **found}
                chips[f"0x{address:02X}"] = {f"0x{first:02X}": values.hex() for first, values in changed.items()}
        self._write(json.dumps({"t": round(now, 4), "chips": chips}))


def _charged(seen: Blocks | None) -> bool:
    """Whether auto-configuration has found the charges: they come with a chip's first update."""
    return any((seen or {}).get(SETUP[0], b"")[_CHARGES:])


def _chip_row(chip: ChipWiring) -> dict[str, Any]:
    return {
        "name": chip.name,
        "address": f"0x{chip.address:02X}",
        "touches": dict(chip.touches),
        "fields": dict(chip.fields),
        "rails": dict(chip.rails),
        "badges": dict(chip.badges),
    }


# --- reading


def read_trace(path: Path) -> Trace:
    """A recorded trace. A last line that was cut off in writing is left out.

    Raises:
        TraceError: it cannot be read or is no trace; file and line are named.
    """
    try:
        text = read_file(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
        raise TraceError(f"{path}: cannot be read: {reason}") from error
    lines = text.splitlines()
    if lines and not text.endswith("\n"):
        lines.pop()
    number = 0
    polls: list[Poll] = []
    try:
        head = _header(json.loads(lines[0]) if lines else None)
        for number, line in enumerate(lines[1:], 1):  # noqa: B007 - the number is for the error
            polls.append(_poll(json.loads(line), polls[-1].t if polls else float("-inf")))
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise TraceError(f"{path}:{number + 1}: {what[:LONGEST]}") from error
    return replace(head, polls=tuple(polls))


def _header(row: Any) -> Trace:
    """A trace that has no polls yet."""
    if not isinstance(row, dict) or row.get("trace") != FORMAT:
        raise ValueError(f"is no trace of format {FORMAT}")
    source, chips, figures = str(row["source"]), tuple(map(_chip, row["chips"])), row["figures"]
    capacitor_pf = {figure: float(figures["capacitor_pf"][figure]) for figure in FIGURES}
    if not chips:
        raise ValueError("has no chips")
    for figure, pf in capacitor_pf.items():
        if not 0.0 < pf < math.inf:
            raise ValueError(f"{figure}'s capacitor cannot have {pf} pF")
    return Trace(
        source=source,
        about=str(row.get("about", "")),
        chips=chips,
        figure_method=FigureMethod(figures["method"]),
        capacitor_pf=capacitor_pf,
        polls=(),
    )


def _chip(row: Mapping[str, Any]) -> ChipWiring:
    chip = ChipWiring(
        str(row["name"]),
        int(row["address"], 16),
        touches={Touch(pad): electrode for pad, electrode in row["touches"].items()},
        fields={str(pad): electrode for pad, electrode in row["fields"].items()},
        rails={Rail(pad): electrode for pad, electrode in row["rails"].items()},
        badges={Figure(pad): electrode for pad, electrode in row["badges"].items()},
    )
    for pad, electrode in chip.wires.items():
        if type(electrode) is not int or not 0 <= electrode < ELECTRODES:
            raise ValueError(f"{pad}: must be an electrode 0 to {ELECTRODES - 1}, is {electrode!r}")
    if not chip.wires:
        raise ValueError(f"chip {chip.name} has no pads")
    return chip


def _poll(row: Mapping[str, Any], before: float) -> Poll:
    if not (t := float(row["t"])) >= before:
        raise ValueError(f"t must not fall from line to line, is {t} after {before}")
    sizes = dict((MEASURED, SETUP))
    chips: dict[int, Blocks | None] = {}
    for address, blocks in row["chips"].items():
        values = None if blocks is None else {int(first, 16): bytes.fromhex(text) for first, text in blocks.items()}
        for first, block in (values or {}).items():
            if len(block) != sizes.get(first):
                raise ValueError(f"{address}: block 0x{first:02X} has {counted(len(block), 'byte')}")
        chips[int(address, 16)] = values
    return Poll(t, chips)


# --- playing


class TraceBus:
    """A bus whose chips answer as they did: what they measured from the trace, what was written to them from memory.

    Writes change nothing of what was measured. While a chip is in Stop it answers what was written, so that settings
    can be compared; in Run the charges are those that auto-configuration had found, if it is switched on.
    """

    def __init__(self, trace: Trace) -> None:
        self._recorded: dict[int, Blocks | None] = {chip.address: {} for chip in trace.chips}
        self._written = {chip.address: _after_reset() for chip in trace.chips}

    def show(self, poll: Poll) -> None:
        """From now on the chips answer as at `poll`."""
        for address, blocks in poll.chips.items():
            before = self._recorded.get(address) or {}
            self._recorded[address] = None if blocks is None else {**before, **blocks}
            setup, first = (blocks or {}).get(SETUP[0], b""), before.get(SETUP[0], b"")
            if setup.startswith(RESET_AFE) and not first.startswith(RESET_AFE):
                self._written[address] = _after_reset()  # a dip of its supply

    def try_lock(self) -> bool:
        """Nobody else is on this bus."""
        return True

    def unlock(self) -> None:
        """Nothing to do."""

    def writeto(self, address: int, buffer: bytes | bytearray, *, start: int = 0, end: int | None = None) -> None:
        """Remember what is written."""
        self._answering(address)
        first, *values = bytes(buffer[start:end]) or b"\0"
        registers = self._written[address]
        registers[first : first + len(values)] = bytes(values)
        if first == reg.SOFT_RESET and values == [reg.SOFT_RESET_KEY]:
            self._written[address] = _after_reset()

    def readfrom_into(self, address: int, buffer: bytearray, *, start: int = 0, end: int | None = None) -> None:
        """As the chip does after a STOP: from register 0."""
        self.writeto_then_readfrom(address, b"\0", buffer, in_start=start, in_end=end)

    def writeto_then_readfrom(
        self,
        address: int,
        out_buffer: bytes | bytearray,
        in_buffer: bytearray,
        *,
        out_start: int = 0,
        out_end: int | None = None,
        in_start: int = 0,
        in_end: int | None = None,
    ) -> None:
        """Answer a read of registers."""
        recorded = self._answering(address)
        answer = bytearray(self._written[address])
        if answer[reg.ECR] & _RUN_BITS:
            measured = recorded.get(MEASURED[0], bytes(MEASURED[1]))
            answer[: len(measured)] = measured
            if answer[reg.AUTO_CONFIG0] & _ACE:
                charges = recorded.get(SETUP[0], b"")[_CHARGES:]
                answer[reg.CDC : reg.CDC + len(charges)] = charges
        first = bytes(out_buffer[out_start:out_end])[0]
        view = memoryview(in_buffer)[in_start:in_end]
        view[:] = answer[first : first + len(view)]

    def _answering(self, address: int) -> Blocks:
        recorded = self._recorded.get(address)
        if recorded is None:
            raise bus_error(EREMOTEIO, address, "the recorded I2C bus")
        return recorded


def _after_reset() -> bytearray:
    registers = bytearray(256)
    registers[reg.AFE1 : reg.AFE1 + len(RESET_AFE)] = RESET_AFE
    return registers


def replay(trace: Trace, wiring: Wiring) -> Iterator[tuple[float, Grip]]:
    """Play a trace into the sensing as it is now: each contact that it finds, with the seconds of its poll.

    `wiring` gives what no trace has: pins, which are not used.
    """
    bus = TraceBus(trace)
    board = Mpr121Board(trace.wired(wiring), bus)
    for poll in trace.polls:
        bus.show(poll)
        if (grip := board.poll(poll.t)) is not None:
            yield poll.t, grip
