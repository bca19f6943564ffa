"""The unit on a terminal: one command a line, a virtual clock, stable output (docs/console.md)."""

from __future__ import annotations

import io
import json
import math
import sys
from typing import IO, TYPE_CHECKING, Any

from firmware.game.kernel import Event, ScriptedChance, StateError, unfinished
from firmware.journal import encode
from firmware.terms import (
    FIGURES,
    TOUCHES,
    UNKNOWN,
    Figure,
    Grip,
    Press,
    Say,
    Sound,
    Stop,
    Symbols,
    Touch,
    VolcanoError,
    certain,
    nominal_ms,
)
from firmware.unit import Unit
from firmware.unit_events import Settings
from firmware.unit_state import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from firmware.game.kernel import Json, Outcome, Record, Title
    from firmware.terms import Texts
    from firmware.unit import Output

SEED_STEP = 1_000_003
"""So that the games after a power cut differ from those before."""
UNUSABLE = 2
"""Exit status when a line could not be used."""


class Misuse(VolcanoError):
    """A line that is no command; it changes nothing."""


def cue_row(cue: Say | Sound | Symbols | Stop) -> Json:
    """A cue as the contract's JSON object, without the time."""
    if isinstance(cue, Say):
        return {"cue": "say", "line": cue.line, "args": dict(cue.args), "text": cue.text, "voice": cue.voice}
    if isinstance(cue, Sound):
        return {"cue": "sound", "name": cue.name.value}
    if isinstance(cue, Symbols):
        row: Json = {"cue": "symbols", "lit": [symbol.value for symbol in cue.lit]}
        return {**row, "blink": True} if cue.blink else row
    return {"cue": "stop"}


def output_row(output: Output) -> Json | None:
    """The row of an event or a cue, None for records and settings."""
    if isinstance(output, Event):
        return output.row()
    return cue_row(output) if isinstance(output, Say | Sound | Symbols | Stop) else None


class Console:
    """One unit with a virtual clock and a player that plays nothing in nominal time."""

    def __init__(
        self,
        title: Title,
        texts: Callable[[str], Texts],
        *,
        seed: int = 0,
        language: str = "de",
        low_battery: bool = False,
        write: Callable[[Json], None],
        complain: Callable[[str], None],
        record: IO[bytes] | None = None,
    ) -> None:
        self.title, self.texts, self.seed = title, texts, seed
        self.settings = Settings(language)
        self.low_battery = low_battery
        self.write, self._complain, self.record = write, complain, record
        self.chance = ScriptedChance()
        self.now = 0.0
        self.records: list[Record] = []
        self.status = 0
        self._cue_ends: float | None = None
        self._starts = 0
        self.unit = self._new_unit()

    def power_on(self, *, held: bool = False) -> None:
        """Switch on; an unfinished game in the records goes on."""
        game = unfinished(self.records)
        self.unit.power_on(self.now, low_battery=self.low_battery, held=held, unfinished=game)
        self._flush()

    def restore(self, line: str) -> None:
        """Start from what `state` printed.

        Raises:
            StateError: the line is no state of this unit.
        """
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise StateError(f"state: is not JSON: {error}") from error
        if not isinstance(row, dict) or row.get("event") != "state":
            raise StateError("state: is no line that the command state printed")
        self.unit.restore(row, self.now)
        self.settings, self.low_battery = self.unit.settings, self.unit.batteries.low
        self._flush()

    def command(self, line: str) -> bool:
        """Carry out one line; False at ``quit``. A line that cannot be used is complained about and changes nothing."""
        words = line.split()
        if not words or words[0].startswith("#"):
            return True
        if words == ["quit"]:
            return False
        try:
            self._do(words)
        except Misuse as error:
            self.complain(f"{line.strip()}: {error}")
        self._flush()
        return True

    def complain(self, problem: str) -> None:
        """One line on standard error; the exit status becomes 2."""
        self.status = UNUSABLE
        self._complain(problem)

    # --- commands

    def _do(self, words: list[str]) -> None:
        match words:
            case ["button"]:
                self.unit.press(self.now, Press())
            case ["button", "long"]:
                self.unit.press(self.now, Press(long=True))
            case ["wait", seconds]:
                self._wait(seconds)
            case ["battery", "full" | "low" as level]:
                self.low_battery = level == "low"
                self.unit.battery(self.now, self.low_battery)
            case ["chance", kind, outcome]:
                self._queue(kind, outcome)
            case ["state"]:
                state = self.unit.dump(unfinished(self.records))
                self.write({"t": round(self.now, 3), "event": "state", **state})
            case ["power", "off"]:
                self._power_off()
            case ["power", "on", *held] if held in ([], ["held"]):
                if self.unit.mode is not Mode.OFF:
                    raise Misuse("the unit is on")
                self.power_on(held=bool(held))
            case [figure, field, touch]:
                self.unit.grip(self.now, self._grip(figure, field, touch))
            case _:
                raise Misuse("is no command; see volcano console --help")

    def _grip(self, figure: str, field: str, touch: str) -> Grip:
        if figure != "?" and figure not in FIGURES:
            raise Misuse(f"{figure!r} is no figure; there are ? {' '.join(FIGURES)}")
        if field not in self.title.fields:
            raise Misuse(f"{field!r} is no field; there are {' '.join(self.title.fields)}")
        if touch not in TOUCHES:
            raise Misuse(f"{touch!r} is no Touch field; there are {' '.join(TOUCHES)}")
        return Grip(field, Touch(touch), UNKNOWN if figure == "?" else certain(Figure(figure)))

    def _queue(self, kind: str, outcome: str) -> None:
        chances = {**self.title.intro.chances, **self.title.game.chances}
        if kind not in chances:
            raise Misuse(f"{kind!r} is no draw; there are {' '.join(chances)}")
        value: Outcome = int(outcome) if outcome.isdecimal() else outcome
        if value not in chances[kind]:
            known = " ".join(sorted(map(str, chances[kind])))
            raise Misuse(f"{outcome!r} is no outcome of {kind}; there are {known}")
        self.chance.queue(kind, value)

    def _wait(self, text: str) -> None:
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1.0
        if not (math.isfinite(seconds) and seconds >= 0):
            raise Misuse(f"{text!r} is no number of seconds")
        end = self.now + seconds
        while True:
            times = [time for time in (self._cue_ends, self.unit.next_timer()) if time is not None and time <= end]
            if not times:
                break
            self.now = max(self.now, min(times))
            if self._cue_ends is not None and self._cue_ends <= self.now:
                self._cue_ends = None
                self.unit.finished(self.now)
            else:
                self.unit.tick(self.now)
            self._flush()
        self.now = end

    def _power_off(self) -> None:
        if self.unit.mode is Mode.OFF:
            raise Misuse("the unit is off")
        self._cue_ends = None
        self.unit = self._new_unit()

    def _new_unit(self) -> Unit:
        self._starts += 1
        seed = self.seed + SEED_STEP * (self._starts - 1)
        return Unit(self.title, self.texts, settings=self.settings, seed=seed, chance=self.chance)

    def _flush(self) -> None:
        for output in self.unit.take():
            if isinstance(output, Settings):
                self.settings = output
            elif (row := output_row(output)) is not None:
                self.write({"t": round(self.now, 3), **row})
                if isinstance(output, Say | Sound):
                    self._cue_ends = self.now + nominal_ms(output) / 1000
                elif isinstance(output, Stop):
                    self._cue_ends = None
            else:
                self._keep(output)  # type: ignore[arg-type]  # what is no row and no settings is a record
        for refused in self.chance.refused:
            self.complain(refused)
        self.chance.refused.clear()

    def _keep(self, record: Record) -> None:
        self.records.append(record)
        if self.record is not None:
            try:
                self.record.write(encode(record))
                self.record.flush()
            except OSError as error:
                self.record = None
                self.complain(f"the record cannot be written: {error.strerror}; the game goes on without it")


def run(console: Console, lines: Iterable[str]) -> int:
    """Carry out all lines; the exit status. What is no UTF-8 in a file makes its line unusable, not the console."""
    if isinstance(lines, io.TextIOWrapper):
        lines.reconfigure(encoding="utf-8", errors="replace")
    for line in lines:
        if not console.command(line):
            break
    return console.status


def write_json(row: Json) -> None:
    """One JSON object a line, UTF-8 whatever the locale, flushed."""
    sys.stdout.buffer.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    sys.stdout.buffer.flush()


class Transcript:
    """The same rows as a person reads them: time, speaker and words, sounds, lights, events."""

    def __init__(self, stream: IO[str], *, colour: bool) -> None:
        self.stream, self.colour = stream, colour
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without umlauts is no reason to stop

    def __call__(self, row: Json) -> None:
        """Write one row; a state as the JSON line that --state takes."""
        if row.get("event") == "state":
            self.stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            self.stream.flush()
            return
        row = dict(row)
        time = f"{row.pop('t'):9.3f}"
        if "event" in row:
            text, style = self._event(row), "2"
        elif row["cue"] == "say":
            text, style = f"{row['voice']}: {row['text']}", "1"
        elif row["cue"] == "symbols":
            lit = " ".join(row["lit"]) or "none"
            text, style = f"[lights: {lit}{' blinking' if row.get('blink') else ''}]", "33"
        else:
            text, style = f"({row.get('name', 'interrupted')})", "36"
        if self.colour:
            text = f"\x1b[{style}m{text}\x1b[0m"
        self.stream.write(f"{time}  {text}\n")
        self.stream.flush()

    @staticmethod
    def _event(row: Json) -> str:
        name = row.pop("event")
        return " ".join([f"* {name}", *(f"{key}={_plain(value)}" for key, value in row.items())])


def _plain(value: Any) -> str:
    if isinstance(value, str | int | float):
        return str(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
