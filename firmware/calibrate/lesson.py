"""What a board is taught, step by step with its owner: the empty board, the map of the wires, the figures.

The voice tells what to do, and so does the screen; Enter or the push button skips a pad, q ends everything.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from firmware.hal.calibration import Calibration, CalibrationError
from firmware.hal.learning import IdleScan, PadMap, Survey
from firmware.hal.levels import SILENT
from firmware.hal.ports import POLLS_PER_S
from firmware.hal.signatures import Signatures, signature_fields
from firmware.hal.wiring import FigureMethod
from firmware.terms import Part, Say, Sound, SoundName, Touch, VolcanoError, say
from firmware.unit_script import pad_name
from firmware.workshop import ENTER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from firmware.hal.calibration import Place
    from firmware.hal.wiring import Wiring
    from firmware.terms import Fault, Figure
    from firmware.workshop import Bench

CLEAR_S = 5
"""Time to take figures and hands off the board."""
SCANS = 3
"""So often the empty board is measured anew because something moved."""
ROUNDS = 2
"""A pad that is skipped is asked for once more at the end."""
SEARCH_S = 1.0
LONGEST_SEARCH_S = 8.0
"""A chip that is silent for so long while the wires are mapped is started anew, with pauses that double."""
BAR = 30


class Stopped(VolcanoError):
    """The owner has ended the lesson, or it cannot go on; what was written before stays."""


class Lesson:
    """One board, its owner, and a voice."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._terminal = bench.terminal
        self._hardware = bench.hardware
        self._texts = bench.around.load(bench.configuration.language)
        self._player = bench.player(bench.around.pack())
        self._queue: deque[Say | Sound] = deque()
        self._speaking = False
        self._drawing = False
        self._button = self._hardware.button.is_pressed()
        self._key: str | None = None
        self._heard_s: dict[int, float] = {}
        """When each chip measured last, by address."""
        self._search_s = float("-inf")
        self._pause_s = SEARCH_S
        self._lost: set[str] = set()
        """What was told of chips that do not answer now."""

    def close(self) -> None:
        """Say no more."""
        self._player.close()

    def _survey(self) -> Survey:
        return Survey(self._hardware.bus, self._hardware.reopen_bus)

    # --- the empty board

    def scan(self, wiring: Wiring, before: Calibration) -> tuple[Calibration, list[Fault]]:
        """Measure every pad with nothing on the board; what could not be measured is told as faults.

        Raises:
            Stopped: something moved again and again, or a chip does not answer.
        """
        self.tell("Take all figures off the board, and your hands away.", say("calibrate-clear"))
        survey = self._survey()
        for attempt in range(1, SCANS + 1):
            self._count_down()
            scan = IdleScan(survey, wiring)
            try:
                for now in self._ticks():
                    scan.step(now)
                    self._draw(f"measuring [{'#' * int(BAR * scan.progress):{BAR}}] {scan.progress:4.0%}")
                    if scan.done:
                        break
            except CalibrationError as error:
                if attempt == SCANS:
                    raise Stopped(str(error)) from error
                self.tell(str(error), say("calibrate-again"), say("calibrate-clear"))
            else:
                break
        self._terminal.write(self._end_drawing())
        faults = scan.faults()
        if lost := [fault for fault in faults if fault.part is Part.CHIP]:
            raise Stopped(f"{lost[0]}{_way_out(lost, wiring)}")
        return scan.calibration(self.bench.around.date(), before), faults

    def _count_down(self) -> None:
        for left in range(CLEAR_S, 0, -1):
            self._draw(f"measuring in {left} s ")
            for _ in self._ticks(1.0):
                pass

    def _draw(self, text: str) -> None:
        """Progress, drawn over on a terminal."""
        if self._terminal.interactive:
            self._terminal.write(f"\r{text[: self._terminal.size[0] - 1]}")
            self._drawing = True

    def _end_drawing(self) -> str:
        drawing, self._drawing = self._drawing, False
        return "\n" if drawing else ""

    # --- the map

    def map(self, wanted: Sequence[str], known: dict[str, Place]) -> tuple[dict[str, Place], list[str]]:
        """Ask for pad after pad and see which electrode rises: the places, and pads that were skipped twice.

        `known` are the places of pads that are not asked for.
        """
        survey, pads = self._survey(), PadMap()
        pads.places.update(known)
        self.tell("Touch each pad that is named, with a finger. Enter or the push button skips it, q ends.")
        later = list(wanted)
        for _ in range(ROUNDS):
            asked, later = later, []
            for pad in asked:
                place = self._touched(survey, pads, pad)
                if place is None:
                    later.append(pad)
        return dict(pads.places), later

    def _touched(self, survey: Survey, pads: PadMap, pad: str) -> Place | None:
        """Where `pad` is; None if it was skipped."""
        asked = False
        for now in self._ticks():
            levels = survey.read()
            self._search(survey, {address for address, _ in levels}, now)
            risen = pads.step(levels)
            if not asked:
                asked = pads.ready
                if asked:
                    self.tell(f"{pad}: touch it", say("calibrate-touch"), pad_name(pad))
            elif self._skipped():
                self._terminal.write(f"{pad}: skipped\n")
                return None
            elif len(risen) > 1:
                where = " and ".join(f"electrode {electrode} of 0x{address:02X}" for address, electrode in risen)
                self.tell(f"{where} rose alike: two fingers, or a bridge of solder?", *self._again(pad))
            elif risen:
                try:
                    pads.assign(pad, risen[0])
                except CalibrationError as error:
                    self.tell(str(error), *self._again(pad))
                    continue
                address, electrode = risen[0]
                self.tell(f"{pad}: electrode {electrode} of 0x{address:02X}", Sound(SoundName.BIRD))
                return risen[0]
        raise AssertionError  # the ticks never end

    def _search(self, survey: Survey, heard: Collection[int], now: float) -> None:
        """Look for wired chips that have not measured for a while, with growing pauses, and tell of them."""
        silent = []
        for chip in self.bench.wired.chips:
            since_s = self._heard_s.setdefault(chip.address, now)
            if chip.address in heard:
                self._heard_s[chip.address] = now
            elif now - since_s >= SEARCH_S:
                why = survey.missing.get(chip.address, SILENT)
                silent.append(f"{chip.title}: {why}")
        if silent and now >= self._search_s:
            survey.start()
            self._search_s, self._pause_s = now + self._pause_s, min(2 * self._pause_s, LONGEST_SEARCH_S)
        elif not silent:
            self._pause_s = SEARCH_S
        self._tell_lost(silent)

    @staticmethod
    def _again(pad: str) -> tuple[Say, Say]:
        return say("calibrate-again"), pad_name(pad)

    # --- the figures

    def figures(self, calibration: Calibration) -> dict[Figure, float]:
        """Three grips of each figure, on a field where the touching finger grounds the body.

        Raises:
            Stopped: the figures cannot be told apart.
        """
        touch = self._hardware.touch
        touch.adopt(calibration)
        fields = signature_fields(touch.wiring)
        touches = [pad for chip in touch.wiring.chips for pad in chip.touches]
        if not fields or not touches:
            raise Stopped("figures cannot be held on this board: no field or no Touch field is left")
        other = "Explore" if Touch.EXPLORE in touches else touches[0].title()
        signatures = Signatures(touch.wiring)
        self.tell(f"Hold each figure that is named on one of {', '.join(fields)}, and touch {other}; three times.")
        self.speak(say("calibrate-figure"))
        asked: Figure | None = None
        for now in self._ticks():
            wanted = signatures.wanted
            if wanted is None:
                break
            if wanted is not asked:
                asked = wanted
                self.tell(f"{wanted}: hold it and touch {other}")
                self._queue.append(self._spoken(say("figure-name", figure=wanted)))
            grip = self._hardware.poll(now)
            self._tell_lost(fault.text for fault in touch.faults() if fault.part is not Part.PAD)
            if grip is None:
                continue
            if grip.field not in fields:
                self.tell(f"{grip.field} is none of {', '.join(fields)}", say("calibrate-again"))
                continue
            if (reading := touch.reading) is None or grip.field not in calibration.pads:
                continue
            rise_pf = reading.rise_pf + reading.idle_pf - calibration.pads[grip.field].idle_pf
            try:
                signatures.take(wanted, rise_pf)
            except CalibrationError as error:
                self.tell(str(error), say("calibrate-again"), say("figure-name", figure=wanted))
            else:
                count = len(signatures.grips[wanted])
                self.tell(f"{wanted}: {rise_pf:.2f} pF ({count} of 3)", say("calibrate-heard"))
        try:
            return signatures.figures()
        except CalibrationError as error:
            raise Stopped(str(error)) from error

    # --- the owner

    def asked(self, question: str) -> bool:
        """Whether the owner says yes; no, where nobody can."""
        if not self._terminal.interactive:
            return False
        self._terminal.write(f"{question} [y/n] ")
        for _ in self._ticks(keys=False):
            if (key := self._terminal.key()) in ("y", "n", "q"):
                self._terminal.write(f"{key}\n")
                return key == "y"
        raise AssertionError  # the ticks never end

    def _tell_lost(self, lines: Iterable[str]) -> None:
        """Chips that do not answer: each is told of when it falls silent, not as long as it is."""
        lost = set(lines)
        for line in sorted(lost - self._lost):
            self.tell(line)
        if self._lost and not lost:
            self.tell("all chips answer again")
        self._lost = lost

    def tell(self, line: str, *spoken: Say | Sound) -> None:
        """A line on the screen, and in the voice."""
        self._terminal.write(f"{self._end_drawing()}{line}\n")
        self.speak(*spoken)

    def speak(self, *items: Say | Sound) -> None:
        """Say this now, in place of what is being said."""
        if not items:
            return
        self._player.stop()
        self._speaking = False
        self._queue = deque(map(self._spoken, items))

    def _spoken(self, item: Say | Sound) -> Say | Sound:
        if isinstance(item, Sound):
            return item
        return item.spoken(self._texts.text(item.line, item.args), 0, self._texts.voice(item.line, item.args))

    def speak_out(self) -> None:
        """Wait until all has been said."""
        while self._speaking or self._queue:
            for _ in self._ticks(1 / POLLS_PER_S):
                pass

    def _ticks(self, seconds: float | None = None, *, keys: bool = True) -> Iterator[float]:
        """The time, 50 times a second, for so long or for ever: the voice speaks on, q ends everything.

        Raises:
            Stopped: q was pressed.
        """
        for now in self.bench.ticks(seconds):
            self._speak_on(now)
            self._key = self._terminal.key() if keys else None
            if self._key == "q":
                raise Stopped("ended")
            yield now

    def _speak_on(self, now: float) -> None:
        if self._speaking and self._player.poll(now):
            self._speaking = False
        if not self._speaking and self._queue:
            self._player.play(self._queue.popleft(), self._queue[0] if self._queue else None)
            self._speaking = True

    def _skipped(self) -> bool:
        """Whether Enter, or the push button anew, has been pressed in this tick."""
        before, self._button = self._button, self._hardware.button.is_pressed()
        return self._key == ENTER or (self._button and not before)


def _way_out(lost: Sequence[Fault], wiring: Wiring) -> str:
    """How to go on without chips that do not answer; nothing where none does: that is the bus."""
    if len(lost) == len(wiring.chips):
        return ""
    numbers = [fault.name for fault in lost]
    pads = [pad for chip in wiring.chips if str(chip.number) in numbers for pad in chip.pads]
    return f" (to go on without: {' '.join(f'--without {pad}' for pad in pads)})"


def learns_figures(wiring: Wiring) -> bool:
    """Whether figures have something that can be measured."""
    return wiring.figure_method is FigureMethod.CAPACITOR


def with_map(before: Calibration, places: dict[str, Place], absent: Collection[str]) -> Calibration:
    """The calibration with another map: what was measured at the old places means nothing any more."""
    return replace(before, places=places, absent=frozenset(absent), pads={}, chips={})
