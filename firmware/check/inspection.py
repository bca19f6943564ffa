"""The automatic part of `volcano check`: bus, chips, pads, lights, button, speaker, battery, supply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firmware.audio.pack import SOUNDS, said
from firmware.check.gauge import Gauge
from firmware.hal.levels import HIGHEST_IDLE, LOWEST_IDLE
from firmware.hal.wiring import FigureMethod
from firmware.terms import SYMBOLS, Part, Sound, SoundName, Symbols, counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.audio.pack import Pack
    from firmware.check.gauge import ChipGauge, PadReading
    from firmware.hal.wiring import Wiring
    from firmware.terms import Fault
    from firmware.workshop import Bench

SETTLE_S = 0.6
"""Chips are up after a tenth of a second, one that needs a second try after a half."""
LISTEN_S = 1.0
"""Fifty readings: enough to tell a noise of one count from one of three."""
LIGHT_S = 0.4
"""Long enough to see which light it is."""
MENDED_S = 1.5
"""A chip that was reset without a sign is found within a second and measures a tenth later."""
SOUND_S = 6.0
"""The harp takes 2.5 seconds; after so long it does not come to its end."""

LOOSE_PF = 17.0
"""Less is a pin without a wire: it has up to 15 pF of its own (data sheet, electrical characteristics). A pad on a wire
has 20 at least (estimate: 10 for the pad, 10 for a short wire); a supply of 3.0 to 3.6 V reads them as 18 and 16.4."""
NOISY_COUNTS = 3.0
"""A quiet board has one to two counts of noise; the least threshold is four."""

UNDER_VOLTAGE = {
    0: "the Pi's supply is too low now: check the adapter or batteries, the regulator and its wires",
    16: "the Pi's supply has been too low since it was switched on: check the adapter or batteries, the regulator"
    " and its wires, and whether it happens when the speaker is loud",
}
"""Bits of `vcgencmd get_throttled` (Raspberry Pi documentation, vcgencmd)."""
HOT = {3: "the Pi is too hot now", 19: "the Pi has been too hot since it was switched on"}

FIGURES_BY = {
    FigureMethod.CAPACITOR: "by the capacitors in their feet",
    FigureMethod.RAILS: "by the rails that their feet join",
    FigureMethod.COLOUR_PADS: "by the colour pad that is touched before",
    FigureMethod.NOTHING: "not at all: the volcano goes by whose turn it is, and asks",
}

PRESSED = {True: "pressed", False: "not pressed", None: "cannot be asked"}
LEVELS = {True: "weak", False: "full", None: "cannot be asked"}
LANGUAGES = {"de": "German", "en": "English"}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not work: which part, which one of its kind, and one line with the remedy."""

    part: str
    name: str
    text: str

    @classmethod
    def of(cls, fault: Fault) -> Finding:
        """As the hardware tells it."""
        return cls(str(fault.part), fault.name, fault.text)


@dataclass(slots=True)
class Inspection:
    """What was found."""

    chips: list[ChipGauge] = field(default_factory=list)
    states: dict[int, str] = field(default_factory=dict)
    """How the driver fares with each chip, by address."""
    strangers: list[int] = field(default_factory=list)
    lights: dict[str, bool] = field(default_factory=dict)
    """Whether each light's pin could be driven; only an eye can see whether it shone."""
    button_pressed: bool | None = False
    """None: its pin cannot be had. Likewise of the batteries."""
    battery_low: bool | None = False
    battery_volts: float | None = None
    battery_source: str = ""
    supply: str | None = None
    """What `vcgencmd get_throttled` says; None where there is no such program."""
    clips: int = 0
    clips_missing: int = 0
    figures: str = ""
    """How they are told apart."""
    calibration: str = ""
    findings: list[Finding] = field(default_factory=list)
    noticed: list[str] = field(default_factory=list)
    """What the hardware has told of meanwhile, and is no fault now: a chip that was reset, one that works again."""

    @property
    def pads(self) -> list[tuple[ChipGauge, PadReading]]:
        """Every pad that was read, with its chip."""
        return [(chip, pad) for chip in self.chips for pad in chip.pads()]

    def add(self, part: str, name: str, text: str) -> None:
        """Something does not work."""
        self.findings.append(Finding(part, name, text))


class Inspector:
    """Looks at a board. `tell` hears a word and a line for each part."""

    def __init__(self, bench: Bench, tell: Callable[[str, str], None]) -> None:
        self.bench = bench
        self.gauge = Gauge(bench.hardware.bus, bench.wired.chips)
        self.found = Inspection(chips=self.gauge.chips)
        self._tell = tell
        self._always_pressed = True
        self._sensed: list[Finding] = []
        """What the driver told of when chips and pads were looked at."""

    def inspect(self) -> Inspection:
        """Everything that can be seen without hands; takes some eight seconds."""
        self.bench.hardware.battery.is_low()  # weak is what has been weak for a while
        self._touch()
        self._lights()
        self._sound()
        self._button_and_battery()
        self._supply()
        self._figures()
        self._calibration()
        return self.found

    def look_again(self) -> None:
        """How it is at the end: what has healed is no fault any more, what has broken since is one."""
        self.gauge.read()
        if any(chip.empty for chip in self.gauge.chips):
            self._run(MENDED_S, read=True)
        hardware, found = self.bench.hardware, self.found
        found.states = {chip.address: chip.state.value for chip in hardware.touch.pads.chips}
        now = [Finding.of(fault) for fault in hardware.faults()]
        found.findings = [finding for finding in found.findings if finding in now or finding not in self._sensed]
        found.findings += [finding for finding in now if finding not in found.findings]
        if any(finding.part == Part.BUS for finding in found.findings):
            return
        named = {(finding.part, finding.name) for finding in found.findings}
        for chip in self.gauge.chips:
            if (Part.CHIP, str(chip.wiring.number)) not in named:
                self._last_reading(chip, {name for part, name in named if part == Part.PAD})

    def _last_reading(self, chip: ChipGauge, named: set[str]) -> None:
        """A chip that is silent, or its pads that have been torn off or shorted since they were looked at."""
        wiring = chip.wiring
        if chip.silent:
            text = (
                f"{wiring.title} measures nothing ({', '.join(wiring.pads)} are dead): check REXT (75 kOhm) and its"
                " pads for shorts to ground; if these are sound, the chip is damaged: change it"
            )
            self.found.add(Part.CHIP, str(wiring.number), text)
        elif not chip.trouble:
            counts = chip.snapshots[-1].filtered
            for pad, electrode in wiring.wires.items():
                if pad in named:
                    continue
                if not LOWEST_IDLE <= counts[electrode] <= HIGHEST_IDLE:
                    text = f"{wiring.pad_title(pad)} is out of range: check for a broken wire or a short"
                    self.found.add(Part.PAD, pad, text)
                elif chip.pf(electrode) < LOOSE_PF:
                    self._loose(chip, pad, chip.pf(electrode))

    def _loose(self, chip: ChipGauge, pad: str, pf: float) -> None:
        where = chip.wiring.pad_title(pad)
        self.found.add(Part.PAD, pad, f"{where} has only {pf:.1f} pF, as without a wire: check the wire and its joints")

    def _run(self, seconds: float, *, read: bool = False) -> None:
        for _ in self.bench.polls(seconds):
            self._always_pressed &= self.bench.hardware.button.is_pressed()
            if read:
                self.gauge.read()

    # --- chips and pads

    def _touch(self) -> None:
        found, touch = self.found, self.bench.hardware.touch
        self._run(SETTLE_S)
        self.gauge.read()
        self.gauge.forget()
        self._run(LISTEN_S, read=True)
        named = {chip.address for wiring in (self.bench.wiring, self.bench.wired) for chip in wiring.chips}
        found.strangers = self.gauge.strangers(named)
        self._sensed = [Finding.of(fault) for fault in touch.faults()]
        found.findings += self._sensed
        pads = {finding.name for finding in found.findings if finding.part == Part.PAD}
        answering = sum(not chip.error for chip in found.chips)
        self._tell("bus", f"I2C bus {self.bench.wired.bus}: {answering} of {len(found.chips)} chips answer")
        for chip in found.chips:
            self._chip(chip, pads)
        for address in found.strangers:
            text = f"a chip answers at 0x{address:02X} that the wiring file does not name: check the ADDR wires"
            found.add(Part.CHIP, f"0x{address:02X}", text)

    def _chip(self, chip: ChipGauge, named: set[str]) -> None:
        wiring = chip.wiring
        name = f"{wiring.name} at 0x{wiring.address:02X}"
        if chip.trouble:
            self._tell(f"chip {wiring.number}", f"{name}: {chip.trouble}")
            return
        pads = chip.pads()
        touched = [pad.pad for pad in pads if pad.touched]
        for pad in pads:
            if pad.pad in named:
                continue
            if pad.pf < LOOSE_PF:
                self._loose(chip, pad.pad, pad.pf)
            elif pad.noise_counts > NOISY_COUNTS and not pad.touched:
                where = wiring.pad_title(pad.pad)
                text = f"{where} is noisy, {pad.noise_counts:.1f} counts: check ground, supply and what runs beside it"
                self.found.add(Part.PAD, pad.pad, text)
        levels, noise = [pad.pf for pad in pads], max(pad.noise_counts for pad in pads)
        text = f"{counted(len(pads), 'pad')} of {min(levels):.0f} to {max(levels):.0f} pF, noise {noise:.1f} counts"
        touched_now = f"; touched: {', '.join(touched)}" if touched else ""
        self._tell(f"chip {wiring.number}", f"{name}: {text}{touched_now}")

    # --- the other parts

    def _lights(self) -> None:
        lights = self.bench.hardware.lights
        self._tell("lights", f"watch them: {', '.join(SYMBOLS)}")
        for symbol in SYMBOLS:
            lights.show(Symbols((symbol,)))
            self._run(LIGHT_S)
        lights.show(Symbols())
        broken = lights.faults()
        self.found.lights = {symbol: symbol not in [fault.name for fault in broken] for symbol in SYMBOLS}
        self.found.findings += map(Finding.of, broken)

    def _sound(self) -> None:
        bench = self.bench
        pack = bench.around.pack()
        self._clips(pack)
        player = bench.player(pack)
        try:
            player.play(Sound(SoundName.HARP))
            ended = False
            for now, _ in bench.polls(SOUND_S):
                if player.poll(now):
                    ended = True
                    break
            faults = list(player.faults())
        finally:
            player.close()
        self.found.findings += map(Finding.of, faults)
        card = "emulated, silent" if bench.mock else bench.configuration.card or "the system's card"
        if not ended and not faults:
            self.found.add(Part.SOUND, "", f"{card} does not play to the end: check it with aplay -l and speaker-test")
        heard = "a harp was played" if ended and not faults else "no sound"
        clips = f"{self.found.clips - self.found.clips_missing} of {self.found.clips} clips are there"
        self._tell("sound", f"{card}: {heard}; {clips}")

    def _clips(self, pack: Pack) -> None:
        language = self.bench.configuration.language
        wanted, found = said(self.bench.around.load(language)), self.found
        found.clips, found.clips_missing = len(wanted), len(pack.lacks(wanted))
        effects = len(pack.lacks(SOUNDS))
        if found.clips_missing or effects:
            clips = f"{found.clips_missing} of {found.clips} {LANGUAGES[language]} clips"
            missing = f"{clips} and {counted(effects, 'sound')}"
            found.add(Part.SOUND, "", f"{missing} are missing: make them with: volcano sounds build")

    def _button_and_battery(self) -> None:
        bench, found = self.bench, self.found
        button, battery = bench.hardware.button, bench.hardware.battery
        self._run(SETTLE_S)
        pressed, faults = button.is_pressed(), button.faults()
        found.button_pressed = None if faults else pressed
        found.findings += map(Finding.of, faults)
        if self._always_pressed:
            text = "the push button is down all the time: is it stuck, or its wire shorted to ground?"
            found.add(Part.BUTTON, "", text)
        self._tell("button", PRESSED[found.button_pressed])
        low, found.battery_volts, faults = battery.is_low(), battery.volts(), battery.faults()
        found.battery_source = battery_source(bench.wired)
        found.battery_low = low if found.battery_source and not faults else None
        found.findings += map(Finding.of, faults)
        level = LEVELS[found.battery_low] if found.battery_source else "not watched"
        volts = "" if found.battery_volts is None else f", {found.battery_volts:.2f} V"
        self._tell("battery", f"{level}{volts} ({found.battery_source or 'nothing for it in the wiring file'})")
        if found.battery_low:
            found.add(Part.BATTERY, "", f"the batteries are weak{volts}: change them, or check {found.battery_source}")

    def _supply(self) -> None:
        answer = self.bench.around.ask(("vcgencmd", "get_throttled"))
        self.found.supply = answer
        if answer is None:
            self._tell("supply", "cannot be asked here (vcgencmd)")
            return
        try:
            bits = int(answer.partition("=")[2], 16)
        except ValueError:
            self._tell("supply", f"unknown answer of vcgencmd: {answer}")
            return
        low = [text for bit, text in UNDER_VOLTAGE.items() if bits >> bit & 1]
        for text in low[:1]:
            self.found.add(Part.BATTERY, "supply", text)
        seen = [text.partition(":")[0] for text in low] + [text for bit, text in HOT.items() if bits >> bit & 1]
        self._tell("supply", "; ".join(seen) or "never too low since the Pi was switched on")

    def _figures(self) -> None:
        bench = self.bench
        method, learnt = bench.wired.figure_method, bench.calibration and bench.calibration.figures
        self.found.figures = FIGURES_BY[method]
        if method is FigureMethod.CAPACITOR:
            feet = learnt or bench.wired.capacitor_pf
            words = ", ".join(f"{figure} {foot_pf:.1f}" for figure, foot_pf in feet.items())
            self.found.figures += f" in pF: {words}; as {'measured' if learnt else 'the wiring file says'}"
        self._tell("figures", self.found.figures)

    def _calibration(self) -> None:
        bench = self.bench
        if bench.calibration_problem:
            self.found.calibration = "cannot be used"
            self.found.add("calibration", "", bench.calibration_problem)
        elif bench.calibration is None:
            self.found.calibration = "none yet (volcano calibrate)"
        else:
            self.found.calibration = f"made {bench.calibration.made}, {counted(len(bench.calibration.pads), 'pad')}"
            if bench.calibration.absent:
                self.found.calibration += f", without {', '.join(sorted(bench.calibration.absent))}"
            if not bench.calibration_file.exists():
                self.found.calibration += f"; the one before, since there is no {bench.calibration_file.name}"
        self._tell("calibration", self.found.calibration)


def battery_source(wiring: Wiring) -> str:
    """What tells of the batteries; empty if nothing does."""
    if wiring.battery_low is not None:
        return f"the signal on GPIO {wiring.battery_low}"
    return f"channel {wiring.battery_adc.channel} of the MCP3008" if wiring.battery_adc else ""
