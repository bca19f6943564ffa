"""Claims of speed, size and latency as figures that anyone can measure: ratios against a named peer in the same run."""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from bench_core import core
from bench_disk import disk
from bench_figures import Figures, report
from bench_start import first_sample, memory, start

from firmware.catalogue import load
from firmware.game.registry import load_title
from firmware.hal.backends import mock_hardware
from firmware.hal.bus import CountingBus
from firmware.hal.ports import POLLS_PER_S
from firmware.hal.wiring import load_wiring
from firmware.loop import Loop
from firmware.terms import FIGURES, Touch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firmware.audio.player import Audible
    from firmware.game.kernel import Record
    from firmware.hal.backends import MockHardware
    from firmware.hal.bus import Bus
    from firmware.terms import Cue, Fault
    from firmware.unit_events import Settings

Buffer = bytes | bytearray

PERIOD_S = 1 / POLLS_PER_S
STARTS = 31
"""Rounds of process starts; the median of the rounds' ratios counts. Two runs with 15 differed by a sixth on a quiet
machine, seven with 31 lay between 0.93 and 1.10 on a busy one."""
GRIPS = 1000
SLOW_SHARE = 0.2
"""Every fifth grip is slow: hand or finger closes in 0.2 to 1 s."""


class Clock:
    """Virtual seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


class EndlessPatience:
    """A player whose cues end at the next poll; it notes when they begin."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.began: list[float] = []
        self._playing = False

    def play(self, cue: Audible, following: Cue | None = None) -> None:  # noqa: ARG002 - the port
        """Begin."""
        self.began.append(self._clock())
        self._playing = True

    def follow(self, following: Cue | None) -> None:
        """Not needed: nothing lasts."""

    def stop(self, fade_ms: int = 0) -> None:  # noqa: ARG002 - the port
        """Break off."""
        self._playing = False

    def poll(self, now: float) -> bool:  # noqa: ARG002 - the port
        """Ended at once."""
        ended, self._playing = self._playing, False
        return ended

    def set_volume(self, step: int) -> None:
        """Nothing is heard."""

    def faults(self) -> Sequence[Fault]:
        """None."""
        return ()

    def close(self) -> None:
        """Nothing to give back."""


class NoStore:
    """Nothing lasts; writing to a disk is not what is measured here."""

    def load(self) -> Sequence[Record]:
        """No game."""
        return ()

    def append(self, record: Record) -> None:
        """Forget it."""

    def settled(self, within_s: float = 0.0) -> bool:  # noqa: ARG002 - the port
        """Always."""
        return True

    def close(self) -> None:
        """Nothing is under way."""

    def load_settings(self, default: Settings) -> Settings:
        """The default."""
        return default

    def save_settings(self, settings: Settings) -> None:
        """Forget them."""


class RememberingBus:
    """Answers each read as it was answered first and swallows writes: the bus itself then costs next to nothing."""

    def __init__(self, bus: Bus) -> None:
        self.bus, self.frozen = bus, False
        self._answers: dict[tuple[int, bytes, int], bytes] = {}
        self.try_lock, self.unlock, self.readfrom_into = bus.try_lock, bus.unlock, bus.readfrom_into

    def writeto(self, address: int, buffer: Buffer, *, start: int = 0, end: int | None = None) -> None:
        """Written only until the bus is frozen."""
        if not self.frozen:
            self.bus.writeto(address, buffer, start=start, end=end)

    def writeto_then_readfrom(
        self,
        address: int,
        out_buffer: Buffer,
        in_buffer: bytearray,
        *,
        out_start: int = 0,
        out_end: int | None = None,
        in_start: int = 0,
        in_end: int | None = None,
    ) -> None:
        """From memory once it is frozen."""
        out, into = bytes(out_buffer[out_start:out_end]), memoryview(in_buffer)[in_start:in_end]
        key = address, out, len(into)
        if not self.frozen or key not in self._answers:
            answer = bytearray(len(into))
            self.bus.writeto_then_readfrom(address, out, answer)
            self._answers[key] = bytes(answer)
        into[:] = self._answers[key]


def volcano() -> tuple[MockHardware, Clock]:
    """An emulated volcano, idle for twelve seconds: in the first ten it looks for hands that were there."""
    clock = Clock()
    mock = mock_hardware(load_wiring(None, load_title().fields), clock)
    _polls(mock.hardware.poll, clock, 12)
    return mock, clock


# --- what is measured


def idle(seconds: int) -> list[Figures]:
    """Bus bytes and CPU of an idle second, against `is_touched` of the driver over all pads at the same 50 Hz."""
    mock, clock = volcano()
    mock.bus.bus = remembering = RememberingBus(mock.emulated_bus)
    _polls(mock.hardware.poll, clock, 2)
    remembering.frozen = True
    mock.bus.clear()
    ours_s = _cpu(lambda: _polls(mock.hardware.touch.poll, clock, seconds)) / seconds
    ours_bytes = mock.bus.wire_bytes / seconds

    import adafruit_mpr121  # noqa: PLC0415 - the peer

    mock, clock = volcano()
    peer_bus = RememberingBus(mock.emulated_bus)
    counted = CountingBus(peer_bus)
    drivers = {chip.address: adafruit_mpr121.MPR121(counted, chip.address) for chip in mock.wiring.chips}
    peer_bus.frozen = True
    pads = [(drivers[chip.address], electrode) for chip in mock.wiring.chips for electrode in range(len(chip.pads))]

    def ask_all(_: float) -> None:
        for driver, electrode in pads:
            driver.is_touched(electrode)

    counted.clear()
    peer_seconds = max(1, seconds // 10)
    peer_s = _cpu(lambda: _polls(ask_all, clock, peer_seconds)) / peer_seconds
    peer_bytes = counted.wire_bytes / peer_seconds
    peer = f"{len(pads)} x is_touched: "
    return [
        _ratio("bus bytes in an idle second", ours_bytes, peer_bytes, target=0.1, form="{:.0f}", name=peer),
        _ratio("CPU ms in an idle second", ours_s * 1e3, peer_s * 1e3, target=0.1, form="{:.2f}", name=peer),
    ]


def _polls(poll: Callable[[float], Any], clock: Clock, seconds: int) -> None:
    for _ in range(int(seconds * POLLS_PER_S)):
        poll(clock.now)
        clock.now += PERIOD_S


def grips(count: int, seed: int) -> list[Figures]:
    """From the touch to the first cue: in virtual time, and the CPU time of the poll that answers."""
    chance = random.Random(seed)
    title = load_title()
    clock = Clock()
    mock = mock_hardware(load_wiring(None, title.fields), clock)
    player = EndlessPatience(clock)
    loop = Loop(title, load, mock.hardware, player, NoStore(), clock=clock)

    def run_for(seconds: float) -> None:
        end = clock.now + seconds
        while clock.now < end:
            loop.step()
            clock.now += PERIOD_S

    loop.power_on(held=False)
    run_for(3.0)
    fast_ms: list[float] = []
    slow_ms: list[float] = []
    cpu_ms: list[float] = []
    missed = 0
    for _ in range(count):
        figure, field = chance.choice(FIGURES), chance.choice(title.fields)
        slow = chance.random() < SLOW_SHARE
        mock.hands.place(figure, field)
        run_for(0.3 + chance.random() * PERIOD_S)
        hand_s, finger_s = (chance.uniform(0.2, 1.0), chance.uniform(0.0, 0.3)) if slow else (0.0, 0.0)
        mock.hands.grip(figure, hand_s)
        if not slow:
            run_for(chance.uniform(0.0, 0.4))
        mock.hands.touch(Touch.ROCK, finger_s)
        began = clock.now
        settled = began + max(hand_s, finger_s)
        player.began.clear()
        clock.now += chance.random() * PERIOD_S
        while not player.began and clock.now < settled + 2.0:
            before = time.process_time()
            loop.step()
            spent = time.process_time() - before
            if player.began:
                cpu_ms.append(spent * 1e3)
                (slow_ms if slow else fast_ms).append((clock.now - (settled if slow else began)) * 1e3)
            clock.now += PERIOD_S
        missed += not player.began
        mock.hands.lift(Touch.ROCK)
        mock.hands.let_go(figure)
        run_for(0.5)
        mock.hands.place(figure, None)
        run_for(1.0)
    p95 = _percentile(fast_ms, 95)
    cpu = _percentile(cpu_ms, 50)
    return [
        Figures(
            "touch to cue, virtual ms",
            f"p50 {_percentile(fast_ms, 50):.0f}, p95 {p95:.0f}, max {max(fast_ms):.0f} ({len(fast_ms)} grips)",
            "-",
            f"{missed} of {count} unanswered",
            "p95 at most 100, all answered",
            p95 <= 100 and not missed,
        ),
        Figures(
            "... slow grips, after hand and finger have closed",
            f"p50 {_percentile(slow_ms, 50):.0f}, p95 {_percentile(slow_ms, 95):.0f} ({len(slow_ms)} grips)",
            "-",
            "-",
        ),
        Figures(
            "touch to cue, CPU ms of the answering poll",
            f"p50 {cpu:.2f}, p95 {_percentile(cpu_ms, 95):.2f}",
            "-",
            "with the emulator",
            "p50 at most 1",
            cpu <= 1,
        ),
    ]


def emulator(seconds: int) -> list[Figures]:
    """Virtual seconds per CPU second: three chips, the real driver, 50 polls a second."""
    mock, clock = volcano()
    spent = _cpu(lambda: _polls(mock.hardware.poll, clock, seconds))
    factor = seconds / spent
    return [
        Figures(
            "emulator, three chips, polled at 50 Hz",
            f"{factor:.0f} virtual s per CPU s",
            "real time: 1",
            f"{factor:.0f} times",
            "at least 100 times",
            factor >= 100,
        )
    ]


def sound() -> list[Figures]:
    """From a cue to Sound.play(), and what the firmware weighs that has spoken for a while."""
    import bench_sound  # noqa: PLC0415 - nothing else here needs pygame

    return bench_sound.measure()


# --- arithmetic


def _cpu(work: Callable[[], None]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def _percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def _ratio(what: str, ours: float, peer: float, *, form: str, name: str, target: float | None = None) -> Figures:
    ratio = ours / peer
    wanted = "" if target is None else f"at most {target:g} times"
    return Figures(
        what,
        form.format(ours),
        name + form.format(peer),
        f"{ratio:.3f} times",
        wanted,
        None if target is None else ratio <= target,
    )


def main() -> int:
    """Measure; exit status 1 if a target is missed."""
    measures: dict[str, Callable[[], list[Figures]]] = {
        "idle": lambda: idle(options.seconds),
        "grips": lambda: grips(options.grips, options.seed),
        "start": lambda: start(options.starts),
        "first-sample": lambda: first_sample(options.starts),
        "disk": lambda: disk(options.seed),
        "emulator": lambda: emulator(options.seconds),
        "memory": memory,
        "core": lambda: core(options.seed),
        "sound": sound,
    }
    parser = argparse.ArgumentParser(prog="tools/bench", description=__doc__)
    parser.add_argument("what", nargs="*", metavar="WHAT", help=f"of {', '.join(measures)} (default: all)")
    parser.add_argument("--seconds", type=int, default=100, help="virtual seconds of idling (default: %(default)s)")
    parser.add_argument("--grips", type=int, default=GRIPS, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the grips (default: %(default)s)")
    parser.add_argument(
        "--starts",
        type=int,
        default=STARTS,
        help="rounds of starts; fewer than 30 make no stable median (default: %(default)s)",
    )
    options = parser.parse_args()
    for name in options.what:
        if name not in measures:
            parser.error(f"{name} is not measured; there are {', '.join(measures)}")
    missed = False
    for name in options.what or measures:
        print(f"[{name}]", flush=True)
        rows = measures[name]()
        report(rows)
        missed = missed or any(row.met is False for row in rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
