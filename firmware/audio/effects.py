"""The sounds that are no speech, made from nothing but arithmetic: the same bits wherever they are built.

Each recipe returns a raw signal; `effect` cuts it to its nominal length (`terms.SOUND_MS`), takes out what is below
hearing, fades the end and brings it to the loudness of the voices. What a speaker of 8 cm cannot move (under about
120 Hz) is never all there is of a sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firmware.audio import mastering
from firmware.audio.cries import CRIES, DEFEATS
from firmware.audio.mastering import (
    LEAD_MS,
    band_pass,
    faded,
    filtered,
    frames,
    high_pass,
    low_pass,
    resonances,
    room,
)
from firmware.audio.synthesis import (
    at_peak,
    course,
    flute,
    hump,
    instants,
    mallet,
    mix,
    noise,
    rich,
    sine,
    string,
    struck,
    wander,
)
from firmware.terms import SOUND_MS, SoundName

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.audio.mastering import Signal

RELEASE_MS = {
    SoundName.GREETING: 700,
    SoundName.HARP: 500,
    SoundName.RUMBLE: 900,
    SoundName.ERUPTION: 1800,
    SoundName.AWAKENING: 900,
    SoundName.POINT: 60,
}
"""Fade at the end where it is not a fifth of the sound."""


def effect(name: SoundName) -> Signal:
    """The finished sound, exactly as long as `terms.SOUND_MS` says."""
    lead, size = frames(LEAD_MS), frames(SOUND_MS[name])
    body = filtered(_RECIPES[name](), high_pass(35, 3))[: size - lead]
    body = np.pad(body, (0, size - lead - len(body)))
    release = RELEASE_MS.get(name, SOUND_MS[name] / 5)
    return mastering.levelled(np.pad(faded(body, 1, release), (lead, 0)))


def _greeting() -> Signal:
    """A motif that opens a door: D, A, C, G, a leap to E held by a flute, over an open fifth."""
    notes = ((0.12, 293.66, 0.9), (0.42, 440.0, 0.8), (0.72, 523.25, 0.85), (0.94, 392.0, 0.75), (1.24, 659.26, 1.0))
    swell = course(3.0, (0, 0), (0.5, 0.6), (1.3, 1), (2.2, 0.8), (3.0, 0.2))
    slow = 1 + 0.002 * wander(3.0, 2, 11)
    pad = np.zeros(frames(3000))
    for hz in (146.83, 220.0, 293.66):
        pad += rich(hz * slow * 0.9985, 9, 1.5) + rich(hz * slow * 1.0015, 9, 1.5)
    drum = sine(70 + 60 * np.exp(-instants(0.6) / 0.05), 0.6) * np.exp(-instants(0.6) / 0.16)
    parts = [(second, 0.75 * gain, mallet(hz, 1.6)) for second, hz, gain in notes]
    parts += [(second + 0.012, 0.18 * gain, string(2 * hz, 1.4, at)) for at, (second, hz, gain) in enumerate(notes, 30)]
    parts.append((1.24, 0.5, flute(659.26, 1.7, 12)))
    parts.append((0, 0.3, at_peak(filtered(pad, low_pass(900))) * swell))
    parts += [(0.1, 0.5, drum), (1.22, 0.6, drum)]
    return room(mix(3.0, parts), 1.8, 0.5, 1)


def _harp() -> Signal:
    """A pentatonic glissando over three octaves that gathers pace and rings out on a fifth."""
    steps = [261.63 * 2 ** ((12 * octave + step) / 12) for octave in range(3) for step in (0, 2, 4, 7, 9)]
    parts: list[tuple[float, float, Signal]] = []
    second = 0.0
    for at, hz in enumerate([*steps, 2093.0]):
        parts.append((second, 0.75 + 0.015 * at, string(hz, 2.4, 100 + at)))
        second += 0.085 - 0.0022 * at
    parts += [(second + 0.05, 0.9, string(hz, 1.6, 140)) for hz in (523.25, 783.99, 1046.5)]
    return room(mix(2.6, parts), 1.7, 0.45, 2)


def _point() -> Signal:
    """One bell tone, silent again before the next begins, so that points can be counted."""
    return struck(1046.5, 0.34, [(1, 1, 0.42), (2.0, 0.25, 0.3), (2.76, 0.3, 0.22), (5.4, 0.16, 0.1)], 1)


def _bird() -> Signal:
    """Three whistled calls from the crown of a tree, the last one falling."""
    parts: list[tuple[float, float, Signal]] = []
    for second, long, gain, (first, last) in (
        (0.00, 0.15, 0.7, (2500, 3900)),
        (0.19, 0.13, 0.8, (2700, 4200)),
        (0.38, 0.34, 1.0, (4300, 2300)),
    ):
        place = instants(long) / long
        hz = first * (last / first) ** (place**1.3)
        hz = hz * (1 + 0.03 * place * np.sin(2 * np.pi * 34 * instants(long)))
        parts.append((second, gain, (sine(hz, long) + 0.12 * sine(2 * hz, long)) * hump(long, 0.7)))
    return room(mix(0.75, parts), 0.9, 0.35, 3)


def _error() -> Signal:
    """Two wooden knocks, the second a tritone lower: not this way, but nobody is scolded."""
    wood = [(1, 1, 0.45), (2.01, 0.45, 0.3), (3.02, 0.3, 0.2), (5.1, 0.12, 0.08)]
    knocks = mix(0.6, [(0, 0.9, struck(311.13, 0.5, wood, 2)), (0.17, 1, struck(220.0, 0.4, wood, 2))])
    return room(knocks, 0.35, 0.2, 4)


def _beep() -> Signal:
    """A plain signal tone."""
    return rich(np.full(frames(230), 880.0), 3, 2.2) * course(0.23, (0, 0), (0.012, 1), (0.15, 0.9), (0.23, 0))


def _rumble() -> Signal:
    """The mountain turns over: a deep wave that swells twice, stones that break and roll."""
    long = 3.5
    chance = np.random.Generator(np.random.PCG64(42))
    swell = course(long, (0, 0), (0.5, 0.8), (0.95, 0.45), (1.7, 1), (2.4, 0.6), (long, 0))
    deep = at_peak(filtered(noise(long, 43), band_pass(38, 130, 2))) * (1 + 0.5 * wander(long, 7, 44))
    throat = at_peak(filtered(noise(long, 45), band_pass(110, 420, 2))) * (0.7 + 0.6 * wander(long, 11, 46))
    stones: list[tuple[float, float, Signal]] = []
    for second in np.sort(chance.uniform(0.25, 2.7, 26)):
        size = chance.uniform(0.04, 0.16)
        cut = chance.uniform(250, 1500)
        knock = filtered(noise(size, int(chance.integers(1 << 30))), band_pass(cut / 2.5, cut))
        knock = at_peak(knock * np.exp(-instants(size) / (size / 4)))
        stones.append((float(second), float(chance.uniform(0.25, 1)), knock))
    body = np.tanh(1.8 * (deep + 0.85 * throat) * swell) + 0.9 * mix(long, stones) * swell
    return room(body, 1.4, 0.4, 5, damping_hz=1200)


def _eruption() -> Signal:
    """The island is lost: the ground heaves, the mountain bursts, stones and ash rain down until nothing is left."""
    long, burst = 5.5, 0.75
    chance = np.random.Generator(np.random.PCG64(240))
    heave = course(long, (0, 0), (0.3, 0.25), (burst - 0.08, 0.75), (burst, 0.35), (burst + 0.1, 0.2), (long, 0))
    deep = at_peak(filtered(noise(long, 241), band_pass(40, 170, 2))) * (1 + 0.5 * wander(long, 9, 242))
    blast = at_peak(filtered(noise(long, 243), band_pass(90, 3800, 1)))
    blast *= course(
        long, (0, 0), (burst, 0), (burst + 0.012, 1), (burst + 0.25, 0.75), (2.0, 0.4), (3.4, 0.15), (long, 0)
    )
    dull = filtered(blast, low_pass(650, 1))  # the air over the crater clears from top to bottom
    clear = course(long, (0, 1), (burst + 0.1, 1), (2.6, 0.1), (long, 0))
    roar = blast * clear + 1.5 * dull * (1 - clear)
    drop = sine(course(long, (0, 110), (burst, 110), (burst + 0.5, 46), (long, 38)), long)
    drop *= course(long, (0, 0), (burst, 0), (burst + 0.02, 1), (burst + 0.9, 0.35), (2.6, 0))
    throat = at_peak(filtered(noise(long, 244), resonances((170, 60, 1), (330, 110, 0.8), (720, 240, 0.4))))
    throat *= (0.75 + 0.5 * wander(long, 13, 245)) * course(
        long, (0, 0), (burst, 0.5), (1.3, 1), (2.8, 0.55), (long, 0)
    )
    stones: list[tuple[float, float, Signal]] = []
    for second in burst + 0.35 + 3.6 * chance.beta(1.1, 1.9, 34):
        size = float(chance.uniform(0.05, 0.22))
        cut = float(chance.uniform(220, 1700)) * (1 - 0.12 * second)
        knock = filtered(noise(size, int(chance.integers(1 << 30))), band_pass(cut / 2.5, cut))
        knock = at_peak(knock * np.exp(-instants(size) / (size / 4)))
        stones.append((float(second), float(chance.uniform(0.2, 0.9)) * (1 - 0.16 * float(second)), knock))
    body = np.tanh(1.7 * (heave * deep + 1.5 * roar + 0.8 * throat + 0.4 * drop)) + 0.8 * mix(long, stones)
    return room(body, 2.2, 0.5, 23, damping_hz=1500)


def _awakening() -> Signal:
    """A statue opens its eyes: stone drags over stone and cracks, then light: a chord in D, string by string."""
    long, opens = 3.6, 1.25
    slip = np.clip(0.5 + 0.9 * wander(opens, 17, 250), 0, 1.4) * (1 + 0.4 * wander(opens, 60, 251))
    grind = filtered(noise(opens, 252), resonances((150, 60, 1), (310, 90, 0.9), (640, 200, 0.4), (1500, 600, 0.12)))
    grind = np.tanh(2 * at_peak(grind) * slip) * course(opens, (0, 0), (0.25, 0.6), (1.1, 1), (opens, 0))
    hum = rich(np.full(frames(1000 * long), 73.42), 8, 1.1) * course(long, (0, 0), (1.2, 0.8), (2.0, 0.5), (long, 0))
    crack = at_peak(filtered(noise(0.25, 253), band_pass(180, 2600))) * np.exp(-instants(0.25) / 0.035)
    thump = sine(75 + 80 * np.exp(-instants(0.5) / 0.03), 0.5) * np.exp(-instants(0.5) / 0.13)
    parts = [
        (0, 0.85, grind),
        (0, 0.4, at_peak(hum)),
        (opens - 0.05, 0.9, crack),
        (opens - 0.05, 0.8, faded(thump, 2, 20)),
    ]
    notes = (146.83, 220.0, 293.66, 369.99, 440.0, 587.33, 739.99, 880.0)
    for at, hz in enumerate(notes):
        second = opens + 0.055 * at
        parts.append((second, 0.42, string(hz, 2.2, 254 + at)))
        rest = long - second
        glow = rich(hz * (1 + 0.0015 * wander(rest, 3, 270 + at)), 5, 1.7)
        glow *= course(rest, (0, 0), (0.5, 1), (1.1, 0.8), (rest, 0))
        parts.append((second, 0.1, at_peak(glow)))
    shine = [(1174.66, 1.85), (1479.98, 2.0), (1760.0, 2.15)]
    parts += [(second, 0.16, struck(hz, 1.3, [(1, 1, 1.8), (2.76, 0.25, 0.6)], 4)) for hz, second in shine]
    return room(mix(long, parts), 2.0, 0.55, 24)


_RECIPES: dict[SoundName, Callable[[], Signal]] = {
    SoundName.GREETING: _greeting,
    SoundName.HARP: _harp,
    SoundName.POINT: _point,
    SoundName.BIRD: _bird,
    SoundName.ERROR: _error,
    SoundName.BEEP: _beep,
    SoundName.RUMBLE: _rumble,
    SoundName.ERUPTION: _eruption,
    SoundName.AWAKENING: _awakening,
    **CRIES,
    **DEFEATS,
}
