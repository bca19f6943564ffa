"""What sounds are made of: noise, tones and things that are struck or blown, from nothing but arithmetic.

Signals are as in `mastering`. Everything random has its seed, so that the same bits come out wherever it is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firmware.audio.mastering import RATE_HZ, band_pass, decibel, faded, filtered, frames, low_pass, resonances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware.audio.mastering import Signal


def instants(seconds: float) -> Signal:
    """The second of every sample."""
    return np.arange(round(seconds * RATE_HZ)) / RATE_HZ


def noise(seconds: float, seed: int) -> Signal:
    """White noise."""
    return np.random.Generator(np.random.PCG64(seed)).standard_normal(round(seconds * RATE_HZ))


def wander(seconds: float, per_second: float, seed: int) -> Signal:
    """A smooth random course between about -1 and 1 with so many turns a second."""
    count = max(4, round(seconds * per_second) + 2)
    points = np.random.Generator(np.random.PCG64(seed)).uniform(-1, 1, count)
    place = instants(seconds) / seconds * (count - 2)
    left = place.astype(np.int64)
    blend = 0.5 - 0.5 * np.cos(np.pi * (place - left))
    return np.asarray(points[left] * (1 - blend) + points[left + 1] * blend)


def course(seconds: float, *points: tuple[float, float]) -> Signal:
    """Straight lines through (second, value)."""
    return np.interp(instants(seconds), [second for second, _ in points], [value for _, value in points])


def sine(hz: Signal | float, seconds: float) -> Signal:
    """One pure tone; its pitch may change."""
    return np.sin(2 * np.pi * np.cumsum(np.broadcast_to(hz, round(seconds * RATE_HZ))) / RATE_HZ)


def rich(hz: Signal, partials: int, slope: float) -> Signal:
    """Harmonics whose amplitude falls with their number to the power of `slope`; none above the band."""
    phase = 2 * np.pi * np.cumsum(hz) / RATE_HZ
    out = np.zeros(len(hz))
    for number in range(1, partials + 1):
        below = np.clip((0.46 * RATE_HZ - number * hz) / 1000, 0, 1)
        out += below * np.sin(number * phase) / number**slope
    return out


def mix(seconds: float, parts: Sequence[tuple[float, float, Signal]]) -> Signal:
    """(second, gain, signal) laid over one another."""
    out = np.zeros(round(seconds * RATE_HZ))
    for second, gain, signal in parts:
        start = round(second * RATE_HZ)
        stop = min(len(out), start + len(signal))
        out[start:stop] += gain * signal[: stop - start]
    return out


def at_peak(signal: Signal, peak: float = 1.0) -> Signal:
    """As loud as its highest peak allows."""
    return signal * (peak / float(np.max(np.abs(signal))))


def hump(seconds: float, sharpness: float = 1.0) -> Signal:
    """Rises and falls like half a sine."""
    return np.sin(np.pi * (instants(seconds) + 0.5 / RATE_HZ) / seconds) ** sharpness


def struck(hz: float, seconds: float, partials: Sequence[tuple[float, float, float]], attack_ms: float = 2) -> Signal:
    """Something struck: partials of (ratio, amplitude, seconds to -60 dB)."""
    time = instants(seconds)
    tone = sum(
        (
            amplitude * decibel(-60) ** (time / decay) * np.sin(2 * np.pi * hz * ratio * time)
            for ratio, amplitude, decay in partials
            if hz * ratio < 0.46 * RATE_HZ
        ),
        start=np.zeros(len(time)),
    )
    return faded(tone, attack_ms, 10)


def string(hz: float, seconds: float, seed: int) -> Signal:
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
    nail = filtered(noise(0.012, seed + 500), band_pass(800, 5000)) * np.linspace(1, 0, frames(12)) ** 2
    return mix(seconds, [(0, 1, struck(hz, seconds, partials, 3)), (0, 0.05, nail)])


def mallet(hz: float, seconds: float) -> Signal:
    """A wooden bar over a tube, struck softly (its second partial is tuned to two octaves)."""
    return struck(hz, seconds, [(1, 1, 1.5), (2, 0.06, 0.9), (3.93, 0.22, 0.45), (9.2, 0.05, 0.12)], 3)


def flute(hz: float, seconds: float, seed: int) -> Signal:
    """A breathy wooden flute: few harmonics, air around the tone, vibrato that comes late."""
    late = course(seconds, (0, 0), (0.35, 0), (0.8, 1))
    pitch = hz * (
        1 + 0.005 * late * np.sin(2 * np.pi * 4.8 * instants(seconds)) - 0.02 * np.exp(-instants(seconds) / 0.04)
    )
    tone = rich(pitch, 5, 1.9)
    air = filtered(noise(seconds, seed), resonances((hz, 60, 1), (2 * hz, 120, 0.7), (3500, 1500, 0.12)))
    breath = course(seconds, (0, 0), (0.05, 1), (0.14, 0.75), (seconds * 0.6, 0.9), (seconds, 0))
    return at_peak((tone + 0.35 * at_peak(air)) * breath)


def ticks(seconds: float, times: Sequence[float], seed: int, hz_range: tuple[float, float], decay_ms: float) -> Signal:
    """Short hard clicks, each of its own colour."""
    chance = np.random.Generator(np.random.PCG64(seed))
    parts: list[tuple[float, float, Signal]] = []
    for second in times:
        hz = chance.uniform(*hz_range)
        tick = struck(hz, 6 * decay_ms / 1000, [(1, 1, decay_ms / 250), (1.71, 0.6, decay_ms / 400)], 0.3)
        parts.append((second, chance.uniform(0.5, 1), tick))
    return mix(seconds, parts)


def in_flight(signal: Signal) -> Signal:
    """Ever farther away: softer and duller towards the end."""
    near = np.linspace(1, 0, len(signal)) ** 1.3
    far = filtered(signal, low_pass(900, 1))
    return (signal * near + 1.4 * far * (1 - near)) * decibel(-20) ** (np.linspace(0, 1, len(signal)) ** 1.4)
