"""The live table of `volcano check`: a restorer touches pad after pad and sees its name light up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

from firmware.identity import identify
from firmware.terms import FIGURES, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from firmware.check.gauge import Gauge
    from firmware.hal.tended_chip import TendedChip
    from firmware.terms import Grip, Likelihood
    from firmware.workshop import Terminal

DRAWN_EVERY_S = 0.1
CELL = 39
"""Characters of a pad: two of them fit on the narrowest terminal, and 29 pads on its 24 lines."""

HOME, CLEAR_LINE, CLEAR_BELOW = "\033[H", "\033[K", "\033[J"
OTHER_SCREEN, FIRST_SCREEN = "\033[?1049h\033[?25l", "\033[?25h\033[?1049l"
"""The table has a screen of its own, without a cursor: what was written before comes back after it."""
BRIGHT, FAINT, PLAIN = "\033[7m", "\033[2m", "\033[0m"


def figure_words(likelihood: Likelihood) -> str:
    """Who it may be, the likeliest first: ``white 98 %, red 2 %``; ``unknown`` if all fit alike."""
    total = sum(likelihood)
    shares = sorted(((share / total, figure) for share, figure in zip(likelihood, FIGURES, strict=True)), reverse=True)
    if math.isclose(shares[0][0], shares[-1][0]):
        return "unknown"
    return ", ".join(f"{figure} {share:.0%}".replace("%", " %") for share, figure in shares if round(share, 2) > 0)


def contact_words(grip: Grip) -> str:
    """A contact in a line."""
    return f"{figure_words(grip.likelihood)}; {grip.field}, {grip.touch}"


def _share(names: Sequence[str], done: Collection[str], what: str) -> str:
    missing = [name for name in names if name not in done]
    rest = f", not {', '.join(missing)}" if missing else ""
    return f"{len(names) - len(missing)} of {len(names)} {what}{rest}"


class LiveTable:
    """Every pad with its picofarads, drawn anew ten times a second, for as long as the context lasts.

    A pad that is touched has a star, one that has been touched before a plus.
    """

    def __init__(self, terminal: Terminal, gauge: Gauge, chips: Sequence[TendedChip]) -> None:
        self._terminal = terminal
        self._gauge = gauge
        self._chips = {chip.address: chip for chip in chips}
        self._drawn_s = float("-inf")
        self._last = "none yet; hold a figure by the head and touch a Touch field"
        self._pressed = False
        self._seen: set[str] = set()
        self._figures: set[str] = set()

    def __enter__(self) -> Self:
        self._terminal.write(OTHER_SCREEN)
        return self

    def __exit__(self, *_: object) -> None:
        self._terminal.write(FIRST_SCREEN)

    def coverage(self) -> Iterator[tuple[str, str]]:
        """What of the board has been tried, and what has not: pads that were touched, figures that were recognised."""
        pads = [pad for gauge in self._gauge.chips for pad in gauge.wiring.pads if pad not in gauge.wiring.rails]
        if self._seen:
            yield "pads", _share(pads, self._seen, "were touched")
        if self._figures:
            yield "figures", _share(FIGURES, self._figures, "were recognised")

    def update(self, now: float, grip: Grip | None, *, pressed: bool) -> None:
        """Take one poll; draw if it is time and there is a terminal. `pressed`: the push button is down."""
        if grip is not None:
            self._last = contact_words(grip)
            if (figure := identify(grip.likelihood, UNKNOWN).figure) is not None:
                self._figures.add(figure)
        for gauge in self._gauge.chips:
            mask = self._chips[gauge.wiring.address].mask
            if mask:
                self._seen.update(pad for pad, electrode in gauge.wiring.wires.items() if mask >> electrode & 1)
        if self._terminal.interactive and now - self._drawn_s >= DRAWN_EVERY_S:
            self._drawn_s = now
            self._pressed = pressed
            self._gauge.read()
            lines = "".join(f"{line}{CLEAR_LINE}\n" for line in self.lines())
            self._terminal.write(f"{HOME}{lines}{CLEAR_BELOW}")

    def lines(self) -> list[str]:
        """The table as it is now: a line for the last contact, the pads in columns, what is not there."""
        cells, lost = self._cells()
        width, height = self._terminal.size
        columns = max(1, (width - 1) // CELL)
        rows, room = -(-len(cells) // columns), max(1, height - 3 - len(lost))
        if rows > room:
            rows = max(1, room - 1)
            cells.sort(key=lambda cell: not cell[0])
            lost.append(f"{len(cells) - rows * columns} more: enlarge the window"[: width - 1])
        grid = ["".join(text for _, text in cells[number : rows * columns : rows]) for number in range(rows)]
        button = self._lit("button  down".ljust(12), lit=True) if self._pressed else "button  up  "
        return [f"last contact: {self._last}"[: width - 1], f"{button}  (q ends)", *grid, *lost]

    def _cells(self) -> tuple[list[tuple[bool, str]], list[str]]:
        """Each pad, whether it is touched, and how it is shown; and what is said of chips that are not there."""
        cells: list[tuple[bool, str]] = []
        width = self._terminal.size[0] - 1
        lost: list[str] = []
        for gauge in self._gauge.chips:
            address = gauge.wiring.address
            chip = self._chips[address]
            if trouble := gauge.trouble:
                lost.append(f"{gauge.wiring.name} at 0x{address:02X}: {trouble}"[:width])
            for pad, electrode in sorted(gauge.wiring.wires.items(), key=lambda wire: wire[1]):
                pf = gauge.pf(electrode)
                touched = bool(chip.mask >> electrode & 1) and not trouble
                rise = pf - chip.levels.idle_pf[electrode]
                mark = "*" if touched else "+" if pad in self._seen else " "
                numbers = f"{pf:7.2f} {rise:+7.2f} pF" if math.isfinite(pf) else "      -       - pF"
                cell = f"{mark}{pad:<12.12}{address:02X}.{electrode:<2} {numbers}".ljust(CELL)[:width]
                cells.append((touched, self._lit(cell, lit=touched, faint=bool(trouble))))
        return cells, lost

    def _lit(self, text: str, *, lit: bool, faint: bool = False) -> str:
        if not self._terminal.colour or not (lit or faint):
            return text
        return f"{BRIGHT if lit else FAINT}{text}{PLAIN}"
