"""The sounds that are no speech, made from nothing but arithmetic: the same bits wherever they are built.

Each recipe returns a raw signal; `effect` cuts it to its nominal length (`terms.SOUND_MS`), takes out what is below
hearing, fades the end and brings it to the loudness of the voices. What a speaker of 8 cm cannot move (under about
120 Hz) is never all there is of a sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firmware.audio import mastering
from firmware.audio.mastering import (
    LEAD_MS,
    RATE_HZ,
    band_pass,
    decibel,
    faded,
    filtered,
    frames,
    high_pass,
    low_pass,
    resonances,
    room,
)
from firmware.terms import SOUND_MS, SoundName

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firmware.audio.mastering import Signal

RELEASE_MS = {SoundName.GREETING: 700, SoundName.HARP: 500, SoundName.RUMBLE: 900, SoundName.POINT: 60}
"""Fade at the end where it is not a fifth of the sound."""


def effect(name: SoundName) -> Signal:
    """The finished sound, exactly as long as `terms.SOUND_MS` says."""
    lead, size = frames(LEAD_MS), frames(SOUND_MS[name])
    body = filtered(_RECIPES[name](), high_pass(35, 3))[: size - lead]
    body = np.pad(body, (0, size - lead - len(body)))
    release = RELEASE_MS.get(name, SOUND_MS[name] / 5)
    return mastering.levelled(np.pad(faded(body, 1, release), (lead, 0)))


# --- what the recipes are made of


def _time(seconds: float) -> Signal:
    return np.arange(round(seconds * RATE_HZ)) / RATE_HZ


def _noise(seconds: float, seed: int) -> Signal:
    return np.random.Generator(np.random.PCG64(seed)).standard_normal(round(seconds * RATE_HZ))


def _wander(seconds: float, per_second: float, seed: int) -> Signal:
    """A smooth random course between about -1 and 1 with so many turns a second."""
    count = max(4, round(seconds * per_second) + 2)
    points = np.random.Generator(np.random.PCG64(seed)).uniform(-1, 1, count)
    place = _time(seconds) / seconds * (count - 2)
    left = place.astype(np.int64)
    blend = 0.5 - 0.5 * np.cos(np.pi * (place - left))
    return np.asarray(points[left] * (1 - blend) + points[left + 1] * blend)


def _course(seconds: float, *points: tuple[float, float]) -> Signal:
    """Straight lines through (second, value)."""
    return np.interp(_time(seconds), [second for second, _ in points], [value for _, value in points])


def _sine(hz: Signal | float, seconds: float) -> Signal:
    return np.sin(2 * np.pi * np.cumsum(np.broadcast_to(hz, round(seconds * RATE_HZ))) / RATE_HZ)


def _rich(hz: Signal, partials: int, slope: float) -> Signal:
    """Harmonics whose amplitude falls with their number to the power of `slope`; none above the band."""
    phase = 2 * np.pi * np.cumsum(hz) / RATE_HZ
    out = np.zeros(len(hz))
    for number in range(1, partials + 1):
        below = np.clip((0.46 * RATE_HZ - number * hz) / 1000, 0, 1)
        out += below * np.sin(number * phase) / number**slope
    return out


def _mix(seconds: float, parts: Sequence[tuple[float, float, Signal]]) -> Signal:
    """(second, gain, signal) laid over one another."""
    out = np.zeros(round(seconds * RATE_HZ))
    for second, gain, signal in parts:
        start = round(second * RATE_HZ)
        stop = min(len(out), start + len(signal))
        out[start:stop] += gain * signal[: stop - start]
    return out


def _at_peak(signal: Signal, peak: float = 1.0) -> Signal:
    return signal * (peak / float(np.max(np.abs(signal))))


def _hump(seconds: float, sharpness: float = 1.0) -> Signal:
    """Rises and falls like half a sine."""
    return np.sin(np.pi * (_time(seconds) + 0.5 / RATE_HZ) / seconds) ** sharpness


def _struck(hz: float, seconds: float, partials: Sequence[tuple[float, float, float]], attack_ms: float = 2) -> Signal:
    """Something struck: partials of (ratio, amplitude, seconds to -60 dB)."""
    time = _time(seconds)
    tone = sum(
        (
            amplitude * decibel(-60) ** (time / decay) * np.sin(2 * np.pi * hz * ratio * time)
            for ratio, amplitude, decay in partials
            if hz * ratio < 0.46 * RATE_HZ
        ),
        start=np.zeros(len(time)),
    )
    return faded(tone, attack_ms, 10)


def _string(hz: float, seconds: float, seed: int) -> Signal:
    """A harp string plucked at two fifths of its length: high partials die first, two layers beat softly."""
    bright = np.random.Generator(np.random.PCG64(seed)).uniform(0.9, 1.1)
    partials = [
        (
            number * (1 + 0.00025 * number**2) * detune,
            abs(np.sin(np.pi * 0.4 * number)) / number**1.5 * 0.5,
            3.2 * (262 / hz) ** 0.35 / (1 + 0.45 * (number - 1)) * bright,
        )
        for number in range(1, 13)
        for detune in (1.0, 1.0007)
    ]
    nail = filtered(_noise(0.012, seed + 500), band_pass(800, 5000)) * np.linspace(1, 0, frames(12)) ** 2
    return _mix(seconds, [(0, 1, _struck(hz, seconds, partials, 3)), (0, 0.05, nail)])


def _mallet(hz: float, seconds: float) -> Signal:
    """A wooden bar over a tube, struck softly (its second partial is tuned to two octaves)."""
    return _struck(hz, seconds, [(1, 1, 1.5), (2, 0.06, 0.9), (3.93, 0.22, 0.45), (9.2, 0.05, 0.12)], 3)


def _flute(hz: float, seconds: float, seed: int) -> Signal:
    """A breathy wooden flute: few harmonics, air around the tone, vibrato that comes late."""
    late = _course(seconds, (0, 0), (0.35, 0), (0.8, 1))
    pitch = hz * (1 + 0.005 * late * np.sin(2 * np.pi * 4.8 * _time(seconds)) - 0.02 * np.exp(-_time(seconds) / 0.04))
    tone = _rich(pitch, 5, 1.9)
    air = filtered(_noise(seconds, seed), resonances((hz, 60, 1), (2 * hz, 120, 0.7), (3500, 1500, 0.12)))
    breath = _course(seconds, (0, 0), (0.05, 1), (0.14, 0.75), (seconds * 0.6, 0.9), (seconds, 0))
    return _at_peak((tone + 0.35 * _at_peak(air)) * breath)


def _ticks(seconds: float, times: Sequence[float], seed: int, hz_range: tuple[float, float], decay_ms: float) -> Signal:
    """Short hard clicks, each of its own colour."""
    chance = np.random.Generator(np.random.PCG64(seed))
    parts: list[tuple[float, float, Signal]] = []
    for second in times:
        hz = chance.uniform(*hz_range)
        tick = _struck(hz, 6 * decay_ms / 1000, [(1, 1, decay_ms / 250), (1.71, 0.6, decay_ms / 400)], 0.3)
        parts.append((second, chance.uniform(0.5, 1), tick))
    return _mix(seconds, parts)


# --- recipes


def _greeting() -> Signal:
    """A motif that opens a door: D, A, C, G, a leap to E held by a flute, over an open fifth."""
    notes = ((0.12, 293.66, 0.9), (0.42, 440.0, 0.8), (0.72, 523.25, 0.85), (0.94, 392.0, 0.75), (1.24, 659.26, 1.0))
    swell = _course(3.0, (0, 0), (0.5, 0.6), (1.3, 1), (2.2, 0.8), (3.0, 0.2))
    slow = 1 + 0.002 * _wander(3.0, 2, 11)
    pad = np.zeros(frames(3000))
    for hz in (146.83, 220.0, 293.66):
        pad += _rich(hz * slow * 0.9985, 9, 1.5) + _rich(hz * slow * 1.0015, 9, 1.5)
    drum = _sine(70 + 60 * np.exp(-_time(0.6) / 0.05), 0.6) * np.exp(-_time(0.6) / 0.16)
    parts = [(second, 0.75 * gain, _mallet(hz, 1.6)) for second, hz, gain in notes]
    parts += [
        (second + 0.012, 0.18 * gain, _string(2 * hz, 1.4, at)) for at, (second, hz, gain) in enumerate(notes, 30)
    ]
    parts.append((1.24, 0.5, _flute(659.26, 1.7, 12)))
    parts.append((0, 0.3, _at_peak(filtered(pad, low_pass(900))) * swell))
    parts += [(0.1, 0.5, drum), (1.22, 0.6, drum)]
    return room(_mix(3.0, parts), 1.8, 0.5, 1)


def _harp() -> Signal:
    """A pentatonic glissando over three octaves that gathers pace and rings out on a fifth."""
    steps = [261.63 * 2 ** ((12 * octave + step) / 12) for octave in range(3) for step in (0, 2, 4, 7, 9)]
    parts: list[tuple[float, float, Signal]] = []
    second = 0.0
    for at, hz in enumerate([*steps, 2093.0]):
        parts.append((second, 0.75 + 0.015 * at, _string(hz, 2.4, 100 + at)))
        second += 0.085 - 0.0022 * at
    parts += [(second + 0.05, 0.9, _string(hz, 1.6, 140)) for hz in (523.25, 783.99, 1046.5)]
    return room(_mix(2.6, parts), 1.7, 0.45, 2)


def _point() -> Signal:
    """One bell tone, silent again before the next begins, so that points can be counted."""
    return _struck(1046.5, 0.34, [(1, 1, 0.42), (2.0, 0.25, 0.3), (2.76, 0.3, 0.22), (5.4, 0.16, 0.1)], 1)


def _bird() -> Signal:
    """Three whistled calls from the crown of a tree, the last one falling."""
    parts: list[tuple[float, float, Signal]] = []
    for second, long, gain, course in (
        (0.00, 0.15, 0.7, (2500, 3900)),
        (0.19, 0.13, 0.8, (2700, 4200)),
        (0.38, 0.34, 1.0, (4300, 2300)),
    ):
        place = _time(long) / long
        hz = course[0] * (course[1] / course[0]) ** (place**1.3)
        hz = hz * (1 + 0.03 * place * np.sin(2 * np.pi * 34 * _time(long)))
        parts.append((second, gain, (_sine(hz, long) + 0.12 * _sine(2 * hz, long)) * _hump(long, 0.7)))
    return room(_mix(0.75, parts), 0.9, 0.35, 3)


def _error() -> Signal:
    """Two wooden knocks, the second a tritone lower: not this way, but nobody is scolded."""
    wood = [(1, 1, 0.45), (2.01, 0.45, 0.3), (3.02, 0.3, 0.2), (5.1, 0.12, 0.08)]
    knocks = _mix(0.6, [(0, 0.9, _struck(311.13, 0.5, wood, 2)), (0.17, 1, _struck(220.0, 0.4, wood, 2))])
    return room(knocks, 0.35, 0.2, 4)


def _beep() -> Signal:
    """A plain signal tone."""
    return _rich(np.full(frames(230), 880.0), 3, 2.2) * _course(0.23, (0, 0), (0.012, 1), (0.15, 0.9), (0.23, 0))


def _rumble() -> Signal:
    """The mountain turns over: a deep wave that swells twice, stones that break and roll."""
    long = 3.5
    chance = np.random.Generator(np.random.PCG64(42))
    swell = _course(long, (0, 0), (0.5, 0.8), (0.95, 0.45), (1.7, 1), (2.4, 0.6), (long, 0))
    deep = _at_peak(filtered(_noise(long, 43), band_pass(38, 130, 2))) * (1 + 0.5 * _wander(long, 7, 44))
    throat = _at_peak(filtered(_noise(long, 45), band_pass(110, 420, 2))) * (0.7 + 0.6 * _wander(long, 11, 46))
    stones: list[tuple[float, float, Signal]] = []
    for second in np.sort(chance.uniform(0.25, 2.7, 26)):
        size = chance.uniform(0.04, 0.16)
        cut = chance.uniform(250, 1500)
        knock = filtered(_noise(size, int(chance.integers(1 << 30))), band_pass(cut / 2.5, cut))
        knock = _at_peak(knock * np.exp(-_time(size) / (size / 4)))
        stones.append((float(second), float(chance.uniform(0.25, 1)), knock))
    body = np.tanh(1.8 * (deep + 0.85 * throat) * swell) + 0.9 * _mix(long, stones) * swell
    return room(body, 1.4, 0.4, 5, damping_hz=1200)


def _spider() -> Signal:
    """Eight hard legs run, stop, run nearer, and something clicks its jaws."""
    runs = ((0.0, 0.34, 24), (0.5, 0.3, 24), (0.92, 0.4, 34))
    times = [start + long * (at / count) ** 0.9 for start, long, count in runs for at in range(count)]
    jitter = np.random.Generator(np.random.PCG64(60)).uniform(0, 0.007, len(times))
    legs = _ticks(1.5, [second + more for second, more in zip(times, jitter, strict=True)], 61, (1500, 4200), 5)
    near = _course(1.5, (0, 0.35), (0.34, 0.6), (0.9, 0.8), (1.4, 1), (1.5, 0.8))
    jaws = filtered(_noise(0.5, 62), resonances((2300, 350, 1), (4700, 700, 0.6)))
    jaws = _at_peak(jaws) * _hump(0.5) * (np.sin(2 * np.pi * 17 * _time(0.5)) > 0.2)
    jaws = filtered(jaws, low_pass(6500))
    return room(_mix(1.5, [(0, 1, _at_peak(legs) * near), (0.92, 0.5, jaws), (0.36, 0.25, jaws)]), 0.6, 0.3, 6)


def _snake() -> Signal:
    """A hiss that draws itself up and strikes, over a rattle."""
    breath = _course(1.5, (0, 0), (0.15, 0.35), (0.6, 0.5), (0.8, 0.25), (0.98, 1), (1.25, 0.7), (1.5, 0))
    low = filtered(_noise(1.5, 70), resonances((3200, 700, 0.8), (5400, 900, 0.9)))
    high = filtered(_noise(1.5, 71), resonances((6200, 1000, 1), (8300, 1400, 0.7)))
    rise = _course(1.5, (0, 0.1), (0.7, 0.3), (1.0, 1), (1.5, 0.4))
    hiss = (_at_peak(low) * (1 - 0.6 * rise) + _at_peak(high) * rise) * breath * (1 + 0.15 * _wander(1.5, 40, 72))
    rattle = _ticks(1.5, [0.03 + at / 27 for at in range(34)], 73, (2400, 3600), 7)
    rattle = _at_peak(rattle) * _course(1.5, (0, 0.2), (0.7, 0.5), (0.9, 0.15), (1.5, 0.05))
    return room(hiss + 0.5 * rattle, 0.5, 0.2, 7)


def _griffin() -> Signal:
    """An eagle's scream from above, rough at the edge, between two beats of great wings."""
    long = 0.95
    hz = _course(long, (0, 1500), (0.08, 2550), (0.3, 2350), (0.7, 1750), (long, 1250))
    rough = 1 + 0.045 * np.sin(2 * np.pi * 68 * _time(long)) * _course(long, (0, 0.2), (0.3, 0.6), (long, 1.5))
    scream = _rich(hz * rough * (1 + 0.01 * _wander(long, 30, 80)), 5, 1.1)
    scream += 0.5 * _at_peak(filtered(_noise(long, 81), resonances((2400, 500, 1), (4300, 800, 0.6))))
    scream *= _course(long, (0, 0), (0.05, 1), (0.35, 0.9), (0.75, 0.55), (long, 0))
    beak = resonances((2300, 900, 1.0), (4200, 1100, 0.5), (6800, 1500, 0.25))
    wing = _at_peak(filtered(_noise(0.36, 82), band_pass(140, 750))) * _hump(0.36, 2.2)
    parts = [(0.0, 0.55, wing), (0.24, 0.6, _at_peak(filtered(scream, beak))), (0.84, 0.6, wing), (1.12, 0.4, wing)]
    return room(_mix(1.5, parts), 1.1, 0.45, 8)


def _dragon() -> Signal:
    """A roar out of a long throat that ends in fire."""
    long = 1.55
    hz = _course(long, (0, 62), (0.3, 108), (0.8, 92), (long, 48)) * (1 + 0.09 * _wander(long, 26, 90))
    voice = _rich(hz, 60, 0.75) * (1 + 0.55 * np.sin(2 * np.pi * np.cumsum(27 + 6 * _wander(long, 9, 91)) / RATE_HZ))
    voice = _at_peak(voice) + 0.35 * _at_peak(filtered(_noise(long, 92), band_pass(200, 2600)))
    shut = filtered(voice, resonances((280, 110, 1), (620, 160, 0.6), (1900, 400, 0.15)))
    wide = filtered(voice, resonances((520, 170, 1), (1050, 240, 0.75), (2600, 500, 0.3)))
    mouth = _course(long, (0, 0), (0.4, 1), (0.9, 0.8), (long, 0.1))
    roar = np.tanh(2.6 * (_at_peak(shut) * (1 - mouth) + _at_peak(wide) * mouth))
    roar *= _course(long, (0, 0), (0.12, 0.7), (0.4, 1), (1.0, 0.85), (long, 0))
    fire = filtered(_noise(1.1, 93), band_pass(350, 4200, 1)) * (1 + 0.6 * _wander(1.1, 45, 94))
    fire = _at_peak(fire) * _course(1.1, (0, 0), (0.35, 0.9), (0.6, 1), (1.1, 0))
    return room(_mix(2.0, [(0, 0.8, roar), (0.9, 0.55, fire)]), 1.3, 0.4, 9)


def _gnome() -> Signal:
    """Somebody small behind a root laughs: five syllables that climb and tumble down."""
    parts: list[tuple[float, float, Signal]] = []
    for at, (second, start, end) in enumerate(
        ((0.02, 420, 470), (0.24, 480, 530), (0.45, 560, 590), (0.65, 610, 520), (0.86, 540, 330))
    ):
        long = 0.17 if at < 4 else 0.36
        hz = _course(long, (0, start), (0.06, max(start, end)), (long, end)) * (1 + 0.012 * _wander(long, 60, 120 + at))
        throat = _rich(hz, 22, 0.8)
        aspirate = _noise(long, 130 + at) * _course(long, (0, 1.2), (0.04, 0.5), (0.07, 0.08), (long, 0.05))
        vowel = resonances((480, 260, 0.55), (2250, 260, 1.7), (3000, 300, 1.3), (4200, 400, 0.5))
        loud = _course(long, (0, 0), (0.025, 0.6), (0.06, 1), (long * 0.6, 0.8), (long, 0))
        parts.append((second, 0.8 + 0.05 * at, _at_peak(filtered(throat + aspirate, vowel) * loud)))
    return room(_mix(1.25, parts), 0.6, 0.28, 10)


def _triton() -> Signal:
    """A conch calls over the surf, and bubbles rise."""
    long = 1.2
    hz = 233.08 * _course(long, (0, 0.93), (0.18, 1.0), (0.85, 1.005), (long, 0.96))
    swell = _course(long, (0, 0), (0.16, 0.6), (0.6, 1), (0.95, 0.8), (long, 0))
    soft = _at_peak(_rich(hz, 4, 1.4))
    brassy = _at_peak(filtered(_rich(hz, 18, 0.7), resonances((700, 350, 1), (1500, 500, 0.5))))
    conch = (soft * (1 - 0.6 * swell) + 0.9 * brassy * swell) * swell * (1 + 0.05 * _wander(long, 12, 140))
    surf = _at_peak(filtered(_noise(1.5, 141), band_pass(300, 3800, 1)))
    surf *= _course(1.5, (0, 0.3), (0.5, 0.15), (1.0, 0.7), (1.5, 0.1))
    chance = np.random.Generator(np.random.PCG64(142))
    bubbles: list[tuple[float, float, Signal]] = []
    for second in chance.uniform(0.0, 1.3, 22):
        size = float(chance.uniform(0.03, 0.08))
        start = float(chance.uniform(450, 1300))
        rise = _sine(start * (1 + 0.9 * (_time(size) / size) ** 2), size) * np.exp(-_time(size) / (size / 3))
        bubbles.append((float(second), float(chance.uniform(0.3, 1)), faded(rise, 2, 4)))
    parts = [(0.05, 0.8, conch), (0, 0.3, surf), (0, 0.22, _mix(1.5, bubbles))]
    return room(_mix(1.5, parts), 1.4, 0.5, 11)


def _golem() -> Signal:
    """Stone drags over stone, catching and slipping, then two steps."""
    long = 1.25
    slip = np.clip(0.55 + 0.9 * _wander(long, 19, 150), 0, 1.4) * (1 + 0.5 * _wander(long, 70, 151))
    grind = filtered(_noise(long, 152), resonances((240, 90, 1), (520, 140, 0.8), (980, 300, 0.45), (2400, 900, 0.16)))
    grind = np.tanh(2.2 * _at_peak(grind) * slip) * _course(long, (0, 0), (0.12, 0.8), (0.9, 1), (long, 0))
    moan = _rich(_course(long, (0, 78), (0.6, 92), (long, 66)) * (1 + 0.03 * _wander(long, 20, 153)), 14, 0.8)
    moan = _at_peak(filtered(moan, resonances((330, 120, 1), (780, 150, 0.5)))) * _hump(long)
    thump = _sine(88 + 70 * np.exp(-_time(0.45) / 0.03), 0.45) * np.exp(-_time(0.45) / 0.11)
    crunch = _at_peak(filtered(_noise(0.3, 154), band_pass(180, 1500))) * np.exp(-_time(0.3) / 0.05)
    step = _mix(0.5, [(0, 1, faded(thump, 2, 20)), (0, 1, crunch)])
    parts = [(0, 0.55, grind), (0, 0.35, moan), (1.12, 0.9, step), (1.52, 1, step)]
    return room(_mix(2.0, parts), 1.0, 0.35, 12, damping_hz=1600)


_RECIPES: dict[SoundName, Callable[[], Signal]] = {
    SoundName.GREETING: _greeting,
    SoundName.HARP: _harp,
    SoundName.POINT: _point,
    SoundName.BIRD: _bird,
    SoundName.ERROR: _error,
    SoundName.BEEP: _beep,
    SoundName.RUMBLE: _rumble,
    SoundName.SPIDER: _spider,
    SoundName.SNAKE: _snake,
    SoundName.GRIFFIN: _griffin,
    SoundName.DRAGON: _dragon,
    SoundName.GNOME: _gnome,
    SoundName.TRITON: _triton,
    SoundName.GOLEM: _golem,
}
