"""The creatures: each one's cry, and how it takes flight when it is beaten.

A defeat is the same animal as its cry, 1.2 s long: it falls, grows dull with distance and fades.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firmware.audio.mastering import RATE_HZ, band_pass, faded, filtered, low_pass, resonances, room
from firmware.audio.synthesis import at_peak, course, hump, in_flight, instants, mix, noise, rich, sine, ticks, wander
from firmware.terms import SoundName

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.audio.mastering import Signal


def _spider() -> Signal:
    """Eight hard legs run, stop, run nearer, and something clicks its jaws."""
    runs = ((0.0, 0.34, 24), (0.5, 0.3, 24), (0.92, 0.4, 34))
    times = [start + long * (at / count) ** 0.9 for start, long, count in runs for at in range(count)]
    jitter = np.random.Generator(np.random.PCG64(60)).uniform(0, 0.007, len(times))
    legs = ticks(1.5, [second + more for second, more in zip(times, jitter, strict=True)], 61, (1500, 4200), 5)
    near = course(1.5, (0, 0.35), (0.34, 0.6), (0.9, 0.8), (1.4, 1), (1.5, 0.8))
    jaws = filtered(noise(0.5, 62), resonances((2300, 350, 1), (4700, 700, 0.6)))
    jaws = at_peak(jaws) * hump(0.5) * (np.sin(2 * np.pi * 17 * instants(0.5)) > 0.2)
    jaws = filtered(jaws, low_pass(6500))
    return room(mix(1.5, [(0, 1, at_peak(legs) * near), (0.92, 0.5, jaws), (0.36, 0.25, jaws)]), 0.6, 0.3, 6)


def _snake() -> Signal:
    """A hiss that draws itself up and strikes, over a rattle."""
    breath = course(1.5, (0, 0), (0.15, 0.35), (0.6, 0.5), (0.8, 0.25), (0.98, 1), (1.25, 0.7), (1.5, 0))
    low = filtered(noise(1.5, 70), resonances((3200, 700, 0.8), (5400, 900, 0.9)))
    high = filtered(noise(1.5, 71), resonances((6200, 1000, 1), (8300, 1400, 0.7)))
    rise = course(1.5, (0, 0.1), (0.7, 0.3), (1.0, 1), (1.5, 0.4))
    hiss = (at_peak(low) * (1 - 0.6 * rise) + at_peak(high) * rise) * breath * (1 + 0.15 * wander(1.5, 40, 72))
    rattle = ticks(1.5, [0.03 + at / 27 for at in range(34)], 73, (2400, 3600), 7)
    rattle = at_peak(rattle) * course(1.5, (0, 0.2), (0.7, 0.5), (0.9, 0.15), (1.5, 0.05))
    return room(hiss + 0.5 * rattle, 0.5, 0.2, 7)


def _griffin() -> Signal:
    """An eagle's scream from above, rough at the edge, between two beats of great wings."""
    long = 0.95
    hz = course(long, (0, 1500), (0.08, 2550), (0.3, 2350), (0.7, 1750), (long, 1250))
    rough = 1 + 0.045 * np.sin(2 * np.pi * 68 * instants(long)) * course(long, (0, 0.2), (0.3, 0.6), (long, 1.5))
    scream = rich(hz * rough * (1 + 0.01 * wander(long, 30, 80)), 5, 1.1)
    scream += 0.5 * at_peak(filtered(noise(long, 81), resonances((2400, 500, 1), (4300, 800, 0.6))))
    scream *= course(long, (0, 0), (0.05, 1), (0.35, 0.9), (0.75, 0.55), (long, 0))
    beak = resonances((2300, 900, 1.0), (4200, 1100, 0.5), (6800, 1500, 0.25))
    wing = at_peak(filtered(noise(0.36, 82), band_pass(140, 750))) * hump(0.36, 2.2)
    parts = [(0.0, 0.55, wing), (0.24, 0.6, at_peak(filtered(scream, beak))), (0.84, 0.6, wing), (1.12, 0.4, wing)]
    return room(mix(1.5, parts), 1.1, 0.45, 8)


def _dragon() -> Signal:
    """A roar out of a long throat that ends in fire."""
    long = 1.55
    hz = course(long, (0, 62), (0.3, 108), (0.8, 92), (long, 48)) * (1 + 0.09 * wander(long, 26, 90))
    voice = rich(hz, 60, 0.75) * (1 + 0.55 * np.sin(2 * np.pi * np.cumsum(27 + 6 * wander(long, 9, 91)) / RATE_HZ))
    voice = at_peak(voice) + 0.35 * at_peak(filtered(noise(long, 92), band_pass(200, 2600)))
    shut = filtered(voice, resonances((280, 110, 1), (620, 160, 0.6), (1900, 400, 0.15)))
    wide = filtered(voice, resonances((520, 170, 1), (1050, 240, 0.75), (2600, 500, 0.3)))
    mouth = course(long, (0, 0), (0.4, 1), (0.9, 0.8), (long, 0.1))
    roar = np.tanh(2.6 * (at_peak(shut) * (1 - mouth) + at_peak(wide) * mouth))
    roar *= course(long, (0, 0), (0.12, 0.7), (0.4, 1), (1.0, 0.85), (long, 0))
    fire = filtered(noise(1.1, 93), band_pass(350, 4200, 1)) * (1 + 0.6 * wander(1.1, 45, 94))
    fire = at_peak(fire) * course(1.1, (0, 0), (0.35, 0.9), (0.6, 1), (1.1, 0))
    return room(mix(2.0, [(0, 0.8, roar), (0.9, 0.55, fire)]), 1.3, 0.4, 9)


def _gnome() -> Signal:
    """Somebody small behind a root laughs: five syllables that climb and tumble down."""
    parts: list[tuple[float, float, Signal]] = []
    for at, (second, start, end) in enumerate(
        ((0.02, 420, 470), (0.24, 480, 530), (0.45, 560, 590), (0.65, 610, 520), (0.86, 540, 330))
    ):
        long = 0.17 if at < 4 else 0.36
        hz = course(long, (0, start), (0.06, max(start, end)), (long, end)) * (1 + 0.012 * wander(long, 60, 120 + at))
        throat = rich(hz, 22, 0.8)
        aspirate = noise(long, 130 + at) * course(long, (0, 1.2), (0.04, 0.5), (0.07, 0.08), (long, 0.05))
        vowel = resonances((480, 260, 0.55), (2250, 260, 1.7), (3000, 300, 1.3), (4200, 400, 0.5))
        loud = course(long, (0, 0), (0.025, 0.6), (0.06, 1), (long * 0.6, 0.8), (long, 0))
        parts.append((second, 0.8 + 0.05 * at, at_peak(filtered(throat + aspirate, vowel) * loud)))
    return room(mix(1.25, parts), 0.6, 0.28, 10)


def _triton() -> Signal:
    """A conch calls over the surf, and bubbles rise."""
    long = 1.2
    hz = 233.08 * course(long, (0, 0.93), (0.18, 1.0), (0.85, 1.005), (long, 0.96))
    swell = course(long, (0, 0), (0.16, 0.6), (0.6, 1), (0.95, 0.8), (long, 0))
    soft = at_peak(rich(hz, 4, 1.4))
    brassy = at_peak(filtered(rich(hz, 18, 0.7), resonances((700, 350, 1), (1500, 500, 0.5))))
    conch = (soft * (1 - 0.6 * swell) + 0.9 * brassy * swell) * swell * (1 + 0.05 * wander(long, 12, 140))
    surf = at_peak(filtered(noise(1.5, 141), band_pass(300, 3800, 1)))
    surf *= course(1.5, (0, 0.3), (0.5, 0.15), (1.0, 0.7), (1.5, 0.1))
    chance = np.random.Generator(np.random.PCG64(142))
    bubbles: list[tuple[float, float, Signal]] = []
    for second in chance.uniform(0.0, 1.3, 22):
        size = float(chance.uniform(0.03, 0.08))
        start = float(chance.uniform(450, 1300))
        rise = sine(start * (1 + 0.9 * (instants(size) / size) ** 2), size) * np.exp(-instants(size) / (size / 3))
        bubbles.append((float(second), float(chance.uniform(0.3, 1)), faded(rise, 2, 4)))
    parts = [(0.05, 0.8, conch), (0, 0.3, surf), (0, 0.22, mix(1.5, bubbles))]
    return room(mix(1.5, parts), 1.4, 0.5, 11)


def _golem() -> Signal:
    """Stone drags over stone, catching and slipping, then two steps."""
    long = 1.25
    slip = np.clip(0.55 + 0.9 * wander(long, 19, 150), 0, 1.4) * (1 + 0.5 * wander(long, 70, 151))
    grind = filtered(noise(long, 152), resonances((240, 90, 1), (520, 140, 0.8), (980, 300, 0.45), (2400, 900, 0.16)))
    grind = np.tanh(2.2 * at_peak(grind) * slip) * course(long, (0, 0), (0.12, 0.8), (0.9, 1), (long, 0))
    moan = rich(course(long, (0, 78), (0.6, 92), (long, 66)) * (1 + 0.03 * wander(long, 20, 153)), 14, 0.8)
    moan = at_peak(filtered(moan, resonances((330, 120, 1), (780, 150, 0.5)))) * hump(long)
    thump = sine(88 + 70 * np.exp(-instants(0.45) / 0.03), 0.45) * np.exp(-instants(0.45) / 0.11)
    crunch = at_peak(filtered(noise(0.3, 154), band_pass(180, 1500))) * np.exp(-instants(0.3) / 0.05)
    step = mix(0.5, [(0, 1, faded(thump, 2, 20)), (0, 1, crunch)])
    parts = [(0, 0.55, grind), (0, 0.35, moan), (1.12, 0.9, step), (1.52, 1, step)]
    return room(mix(2.0, parts), 1.0, 0.35, 12, damping_hz=1600)


# --- beaten


def _spider_gone() -> Signal:
    """The jaws click once more, then eight legs run away over the stones."""
    long = 1.2
    times = [0.2 + 0.95 * (at / 40) ** 1.1 for at in range(40)]
    jitter = np.random.Generator(np.random.PCG64(160)).uniform(0, 0.009, len(times))
    times = [second + more for second, more in zip(times, jitter, strict=True)]
    legs = np.zeros(round(long * RATE_HZ))
    for at, hz_range in enumerate(((2600, 4200), (2000, 3200), (1400, 2300))):  # the beat of the legs falls
        legs += ticks(long, times[14 * at : 14 * at + 14], 161 + at, hz_range, 5)
    squeal = sine(course(0.34, (0, 4300), (0.08, 4700), (0.34, 1900)), 0.34)
    jaws = at_peak(filtered(noise(0.34, 164), resonances((2300, 350, 1), (4700, 700, 0.6))))
    jaws = (jaws + 0.5 * squeal) * hump(0.34) * (np.sin(2 * np.pi * 23 * instants(0.34)) > 0)
    jaws = filtered(jaws, low_pass(6500))
    return room(in_flight(mix(long, [(0, 1, at_peak(legs)), (0, 0.6, jaws)])), 0.6, 0.35, 16)


def _snake_gone() -> Signal:
    """The hiss loses its breath and sinks, the rattle slackens."""
    long = 1.2
    fall = course(long, (0, 1), (0.25, 0.75), (0.7, 0.2), (long, 0))
    high = filtered(noise(long, 170), resonances((6200, 1000, 1), (8300, 1400, 0.7)))
    low = filtered(noise(long, 171), resonances((2700, 600, 0.9), (4300, 800, 0.7)))
    hiss = at_peak(high) * fall + at_peak(low) * (1 - fall) * 1.5
    hiss *= course(long, (0, 0), (0.05, 1), (0.45, 0.6), (0.6, 0.3), (0.72, 0.55), (long, 0))
    times = [1.1 * (at / 22) ** 1.5 + 0.04 for at in range(22)]
    rattle = at_peak(ticks(long, times, 173, (1900, 3200), 7))
    return room(in_flight(hiss + 0.6 * rattle), 0.5, 0.25, 17)


def _griffin_gone() -> Signal:
    """A short scream that breaks and falls; the wings beat fast and bear it away."""
    long = 0.62
    hz = course(long, (0, 2350), (0.05, 2500), (0.2, 1900), (0.26, 1300), (long, 780))
    rough = 1 + 0.05 * np.sin(2 * np.pi * 60 * instants(long)) * course(long, (0, 0.3), (0.2, 1.6), (long, 1.2))
    scream = rich(hz * rough * (1 + 0.012 * wander(long, 30, 180)), 6, 1.1)
    scream += 0.4 * at_peak(filtered(noise(long, 181), resonances((2400, 500, 1), (4300, 800, 0.6))))
    scream *= course(long, (0, 0), (0.03, 1), (0.2, 0.85), (0.24, 0.4), (0.3, 0.7), (long, 0))
    beak = resonances((2300, 900, 1.0), (4200, 1100, 0.5), (1100, 500, 0.6))
    wing = at_peak(filtered(noise(0.2, 182), band_pass(160, 900))) * hump(0.2, 2.2)
    beats = [(0.3 + 0.155 * at, 0.75, wing) for at in range(6)]
    return room(in_flight(mix(1.2, [(0, 0.8, at_peak(filtered(scream, beak))), *beats])), 1.0, 0.45, 18)


def _dragon_gone() -> Signal:
    """The roar sinks into the throat, a last breath of fire goes out."""
    long = 0.9
    hz = course(long, (0, 118), (0.15, 104), (long, 36)) * (1 + 0.09 * wander(long, 26, 190))
    voice = rich(hz, 60, 0.75) * (1 + 0.55 * np.sin(2 * np.pi * np.cumsum(24 + 6 * wander(long, 9, 191)) / RATE_HZ))
    voice = at_peak(voice) + 0.3 * at_peak(filtered(noise(long, 192), band_pass(200, 2600)))
    wide = filtered(voice, resonances((520, 170, 1), (1050, 240, 0.75), (2600, 500, 0.3)))
    shut = filtered(voice, resonances((260, 100, 1), (560, 150, 0.5)))
    mouth = course(long, (0, 0.8), (0.12, 1), (0.5, 0.3), (long, 0))
    roar = np.tanh(2.4 * (at_peak(wide) * mouth + at_peak(shut) * (1 - mouth)))
    roar *= course(long, (0, 0), (0.06, 1), (0.35, 0.8), (long, 0))
    fire = at_peak(filtered(noise(0.6, 193), band_pass(200, 900, 1)) * (1 + 0.7 * wander(0.6, 50, 194)))
    fire *= course(0.6, (0, 0), (0.1, 1), (0.2, 0.4), (0.28, 0.7), (0.6, 0))
    return room(in_flight(mix(1.2, [(0, 0.85, roar), (0.5, 0.35, fire)])), 1.2, 0.4, 19)


def _gnome_gone() -> Signal:
    """The laughter turns into a wail that tumbles down a hole."""
    parts: list[tuple[float, float, Signal]] = []
    for at, (second, long, start, end) in enumerate(
        ((0.0, 0.13, 560, 620), (0.17, 0.13, 640, 600), (0.35, 0.75, 690, 190))
    ):
        hz = course(long, (0, start), (0.05, max(start, end)), (long, end)) * (1 + 0.02 * wander(long, 40, 200 + at))
        wail = 1 + 0.05 * np.sin(2 * np.pi * 9 * instants(long)) * course(long, (0, 0), (0.12, 1), (long, 1))
        throat = rich(hz * wail, 22, 0.8)
        aspirate = noise(long, 205 + at) * course(long, (0, 1.0), (0.04, 0.4), (0.07, 0.08), (long, 0.1))
        vowel = resonances((520, 260, 0.7), (2150, 260, 1.5), (3000, 300, 1.1), (4200, 400, 0.4))
        loud = course(long, (0, 0), (0.02, 0.7), (0.05, 1), (long * 0.5, 0.5), (long, 0))
        parts.append((second, 0.8 + 0.1 * at, at_peak(filtered(throat + aspirate, vowel) * loud)))
    return room(in_flight(mix(1.2, parts)), 0.8, 0.4, 20)


def _triton_gone() -> Signal:
    """The conch sinks by an octave and goes under; a wave closes over it and bubbles burst, deeper and deeper."""
    long = 0.75
    hz = 233.08 * course(long, (0, 1.0), (0.12, 1.02), (long, 0.5))
    swell = course(long, (0, 0), (0.06, 1), (0.3, 0.8), (long, 0))
    brassy = at_peak(filtered(rich(hz, 18, 0.7), resonances((700, 350, 1), (1500, 500, 0.5))))
    conch = (at_peak(rich(hz, 4, 1.4)) * (1 - 0.6 * swell) + 0.9 * brassy * swell) * swell
    wave = at_peak(filtered(noise(1.2, 211), band_pass(160, 900, 1)))
    wave *= course(1.2, (0, 0.05), (0.35, 0.2), (0.5, 1), (0.75, 0.35), (1.2, 0))
    chance = np.random.Generator(np.random.PCG64(212))
    bubbles: list[tuple[float, float, Signal]] = []
    for second in np.sort(chance.uniform(0.4, 1.12, 18)):
        size = float(chance.uniform(0.04, 0.09))
        start = float(chance.uniform(0.7, 1.2) * np.interp(second, (0.4, 1.12), (620, 150)))
        rise = sine(start * (1 + 0.7 * (instants(size) / size) ** 2), size) * np.exp(-instants(size) / (size / 3))
        bubbles.append((float(second), float(chance.uniform(0.4, 1)), faded(rise, 2, 4)))
    return room(in_flight(mix(1.2, [(0, 0.8, conch), (0, 0.4, wave), (0, 0.4, mix(1.2, bubbles))])), 1.2, 0.45, 21)


def _golem_gone() -> Signal:
    """He groans and falls to pieces: heavy stones break out, the rest rolls away, deeper and deeper."""
    long = 0.55
    moan = rich(course(long, (0, 96), (0.12, 92), (long, 44)) * (1 + 0.03 * wander(long, 20, 220)), 14, 0.8)
    moan = at_peak(filtered(moan, resonances((330, 120, 1), (780, 150, 0.5)))) * course(
        long, (0, 0), (0.06, 1), (long, 0)
    )
    slip = np.clip(0.5 + 0.9 * wander(long, 24, 221), 0, 1.4)
    grind = filtered(noise(long, 222), resonances((240, 90, 0.8), (520, 140, 0.8), (980, 300, 0.6), (2400, 900, 0.2)))
    grind = np.tanh(2.2 * at_peak(grind) * slip) * course(long, (0, 0), (0.08, 1), (long, 0))
    crack = at_peak(filtered(noise(0.25, 224), band_pass(250, 2600))) * np.exp(-instants(0.25) / 0.03)
    parts: list[tuple[float, float, Signal]] = [(0, 0.3, moan), (0, 0.55, grind), (0.24, 0.9, crack)]
    chance = np.random.Generator(np.random.PCG64(223))
    for second, size in (
        (0.3, 0.2),
        (0.42, 0.16),
        (0.52, 0.17),
        *((0.6 + 0.035 * at, 0.12 - 0.005 * at) for at in range(15)),
    ):
        knock = filtered(noise(size, int(chance.integers(1 << 30))), band_pass(100, 1500 * (1.15 - second)))
        knock = at_peak(knock * np.exp(-instants(size) / (size / 4.5)))
        parts.append(
            (second + float(chance.uniform(0, 0.02)), min(1.0, 6 * size) * float(chance.uniform(0.6, 1)), knock)
        )
    return room(in_flight(mix(1.2, parts)), 0.9, 0.35, 22, damping_hz=1600)


CRIES: dict[SoundName, Callable[[], Signal]] = {
    SoundName.SPIDER: _spider,
    SoundName.SNAKE: _snake,
    SoundName.GRIFFIN: _griffin,
    SoundName.DRAGON: _dragon,
    SoundName.GNOME: _gnome,
    SoundName.TRITON: _triton,
    SoundName.GOLEM: _golem,
}
DEFEATS: dict[SoundName, Callable[[], Signal]] = {
    SoundName.SPIDER_GONE: _spider_gone,
    SoundName.SNAKE_GONE: _snake_gone,
    SoundName.GRIFFIN_GONE: _griffin_gone,
    SoundName.DRAGON_GONE: _dragon_gone,
    SoundName.GNOME_GONE: _gnome_gone,
    SoundName.TRITON_GONE: _triton_gone,
    SoundName.GOLEM_GONE: _golem_gone,
}
