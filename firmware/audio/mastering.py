"""What every clip passes through before it is stored: filters, room, loudness, peaks, fades, file.

Signals are one-dimensional float64 arrays at `RATE_HZ`, full scale 1. Only the build of a sound pack uses this module.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Signal = NDArray[np.float64]
    Curve = Callable[[NDArray[np.float64]], NDArray[np.complex128] | NDArray[np.float64]]
    """Frequencies in Hz -> gain."""

RATE_HZ = 24_000
"""Speech has nothing above 12 kHz that a speaker in a plastic volcano could tell."""

FILE_RATE_HZ = 2 * RATE_HZ
"""Files are at the mixer's rate: it resamples slowly (up to 40 ms a clip on a desktop, more on a small board), and it
would do so when the clip is to be heard. Every second sample is ours, the others lie on the curve between them."""

LOUDNESS_LUFS = -18.0
PEAK_DBTP = -1.5
"""Half a decibel under the promised -1 dB, for resampling and 16 bit."""

FULL_SCALE = 32767

LEAD_MS = 10
TAIL_MS = 120
FADE_IN_MS = 5
FADE_OUT_MS = 80
START_DB = -50.0
END_DB = -40.0
"""Relative to the peak: below the first speech has not begun, below the second it has ended."""

PAUSE_MS = 240
"""Pauses inside a line are cut down to this; engines make half a second between sentences."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Loudness and true peak of a clip."""

    lufs: float
    peak_db: float


def decibel(db: float) -> float:
    """The factor for a level in decibels."""
    return float(10 ** (db / 20))


def frames(ms: float) -> int:
    """Number of samples."""
    return round(ms * RATE_HZ / 1000)


# --- filters


def filtered(signal: Signal, curve: Curve, *, tail_ms: float = 0) -> Signal:
    """The signal through a frequency response; `tail_ms` longer, for what rings on."""
    size = len(signal) + frames(tail_ms)
    block = 1 << (size + frames(500) - 1).bit_length()
    spectrum = np.fft.rfft(signal, block) * curve(np.asarray(np.fft.rfftfreq(block, 1 / RATE_HZ), dtype=np.float64))
    return np.fft.irfft(spectrum, block)[:size]


def low_pass(cut_hz: float, order: int = 2) -> Curve:
    """A Butterworth magnitude without phase shift; -3 dB at `cut_hz`."""
    return lambda hz: 1 / np.sqrt(1 + (hz / cut_hz) ** (2 * order))


def high_pass(cut_hz: float, order: int = 2) -> Curve:
    """A Butterworth magnitude without phase shift, nothing at 0 Hz."""
    return lambda hz: (hz / cut_hz) ** order / np.sqrt(1 + (hz / cut_hz) ** (2 * order))


def band_pass(low_hz: float, high_hz: float, order: int = 2) -> Curve:
    """What lies between two frequencies."""
    low, high = high_pass(low_hz, order), low_pass(high_hz, order)
    return lambda hz: low(hz) * high(hz)


def shelves(bass_db: float = 0, treble_db: float = 0, bass_hz: float = 180, treble_hz: float = 3000) -> Curve:
    """Bass and treble controls."""

    def curve(hz: Signal) -> Signal:
        bass = bass_db / (1 + (hz / bass_hz) ** 2)
        treble = treble_db / (1 + (treble_hz / np.maximum(hz, 1)) ** 2)
        return np.asarray(10 ** ((bass + treble) / 20))

    return curve


def resonances(*peaks: tuple[float, float, float]) -> Curve:
    """Formants: (centre in Hz, half width in Hz, gain) each."""
    return lambda hz: np.sum([gain / (1 + ((hz - centre) / width) ** 2) for centre, width, gain in peaks], axis=0)


def room(signal: Signal, seconds: float, wet: float, seed: int, *, damping_hz: float = 3500) -> Signal:
    """The signal in a hall: decaying noise after 12 ms, duller as it fades; `seconds` longer than before.

    `wet` is the energy of the hall relative to the direct sound, `seconds` the time to -60 dB.
    """
    noise = np.random.Generator(np.random.PCG64(seed)).standard_normal(frames(1000 * seconds))
    fade = np.linspace(0, 1, len(noise))
    bright = filtered(noise, low_pass(2 * damping_hz)) * (1 - fade)
    dark = filtered(noise, low_pass(damping_hz / 2)) * fade
    decay = (bright + 1.5 * dark) * decibel(-60) ** fade
    decay *= wet / np.sqrt(np.sum(decay**2))
    delay = frames(12)
    size = len(signal) + delay + len(decay)
    block = 1 << (size - 1).bit_length()
    tail = np.fft.irfft(np.fft.rfft(signal, block) * np.fft.rfft(decay, block), block)
    out = np.zeros(size)
    out[: len(signal)] = signal
    out[delay:] += tail[: size - delay]
    return out


def resampled(signal: Signal, ratio: float) -> Signal:
    """The signal with `ratio` times as many samples (band-limited, by its spectrum)."""
    before = 256
    padded = np.pad(signal, (before, _quick(len(signal) + 2 * before) - len(signal) - before))
    size = round(len(padded) * ratio)
    spectrum = np.fft.rfft(padded)
    kept = np.zeros(size // 2 + 1, dtype=np.complex128)
    shared = min(len(kept), len(spectrum))
    kept[:shared] = spectrum[:shared]
    start = round(before * ratio)
    return np.fft.irfft(kept, size)[start : start + round(len(signal) * ratio)] * (size / len(padded))


def doubled(signal: Signal) -> Signal:
    """Twice as many samples: between each two of ours one on the curve through the 64 nearest (windowed sinc)."""
    taps = 32
    place = np.arange(taps) + 0.5
    curve = np.sinc(place) * np.kaiser(2 * taps, 8)[taps:]
    curve /= 2 * np.sum(curve)
    padded = np.pad(signal, taps)
    between = np.zeros(len(signal))
    for tap in range(taps):  # one by one, so that the sum has the same bits on every machine
        left, right = taps - tap, taps + tap + 1
        between += curve[tap] * (padded[left : left + len(signal)] + padded[right : right + len(signal)])
    out = np.empty(2 * len(signal))
    out[::2], out[1::2] = signal, between
    return out


def _quick(size: int) -> int:
    """The next size whose only prime factors are 2, 3 and 5: large primes make a Fourier transform slow."""
    while True:
        rest = size
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return size
        size += 1


# --- voices


def driven(signal: Signal, drive_db: float) -> Signal:
    """Saturated: `drive_db` above full scale into a soft ceiling."""
    peak = float(np.max(np.abs(signal), initial=1e-9))
    return np.asarray(np.tanh(signal * (decibel(drive_db) / peak)) * peak)


def chorus(signal: Signal, level: float) -> Signal:
    """Two more voices that follow 18 and 26 ms later, each wavering in its own time."""
    place = np.arange(len(signal), dtype=np.float64)
    out = signal.copy()
    for delay_ms, hz, depth_ms in ((18, 0.31, 2.2), (26, 0.43, 2.8)):
        delay = frames(1) * (delay_ms + depth_ms * np.sin(2 * np.pi * hz * place / RATE_HZ))
        out += level * np.interp(place - delay, place, signal, left=0)
    return out


def tremolo(signal: Signal, hz: float, depth: float) -> Signal:
    """Louder and softer by `depth` (0 to 1), `hz` times a second."""
    place = np.arange(len(signal)) / RATE_HZ
    return np.asarray(signal * (1 - depth * (0.5 + 0.5 * np.sin(2 * np.pi * hz * place))))


def echo(signal: Signal, delay_ms: float, level: float) -> Signal:
    """The signal and its repetitions, each weaker by `level`."""
    delay, out, gain = frames(delay_ms), np.pad(signal, (0, frames(4 * delay_ms))), 1.0
    for repeat in range(1, 5):
        gain *= level
        start = repeat * delay
        out[start : start + len(signal)] += gain * signal
    return out


# --- loudness


def _k_weighting(hz: Signal) -> NDArray[np.complex128]:
    """ITU-R BS.1770-4, annex 1: a shelf for the head and a high-pass, carried from 48 kHz to our rate."""
    z = np.exp(-2j * np.pi * hz / RATE_HZ)
    gain, low = decibel(3.999843853973347), np.tan(np.pi * 1681.974450955533 / RATE_HZ)
    q, middle = 0.7071752369554196, gain**0.4996667741545416
    norm = 1 + low / q + low**2
    shelf = (gain + middle * low / q + low**2) + 2 * (low**2 - gain) * z + (gain - middle * low / q + low**2) * z**2
    shelf /= norm + 2 * (low**2 - 1) * z + (1 - low / q + low**2) * z**2
    low, q = np.tan(np.pi * 38.13547087602444 / RATE_HZ), 0.5003270373238773
    norm = 1 + low / q + low**2
    high = (1 - 2 * z + z**2) / (1 + 2 * (low**2 - 1) / norm * z + (1 - low / q + low**2) / norm * z**2)
    return np.asarray(shelf * high)


def loudness_lufs(signal: Signal) -> float:
    """Integrated loudness of one channel: ITU-R BS.1770-4, blocks of 400 ms that overlap by three quarters.

    A clip shorter than a block is one block of its own length. Silence gives -inf.
    """
    weighted = filtered(signal, _k_weighting, tail_ms=0)
    block, step = min(frames(400), len(signal)), frames(100)
    powers = np.array(
        [np.mean(weighted[start : start + block] ** 2) for start in range(0, len(weighted) - block + 1, step)]
    )
    for absolute in (True, False):  # the gates: -70 LUFS, then 10 LU below what is left
        with np.errstate(divide="ignore"):
            levels = -0.691 + 10 * np.log10(powers)
            mean = -0.691 + 10 * np.log10(np.mean(powers)) if len(powers) else -np.inf
        powers = powers[levels > (-70.0 if absolute else mean - 10)]
    return float(-0.691 + 10 * np.log10(np.mean(powers))) if len(powers) else float("-inf")


def true_peak_db(signal: Signal) -> float:
    """Highest level between the samples too, four times oversampled (ITU-R BS.1770-4, annex 2), in dBTP."""
    return float(20 * np.log10(max(float(np.max(np.abs(resampled(signal, 4)))), 1e-9)))


def _limited(signal: Signal, ceiling: float) -> Signal:
    """Peaks turned down before they come: the lowest gain needed within 5 ms, smoothed over as long."""
    width = frames(5) | 1
    over = np.abs(resampled(signal, 4)).reshape(-1, 4).max(axis=1)
    if float(np.max(over, initial=0)) <= ceiling:
        return signal
    needed = np.minimum(1, ceiling / np.maximum(over, 1e-9))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(needed, width, constant_values=1), width)
    lowest = windows.min(axis=1)
    shape = np.hanning(width + 2)[1:-1]
    gain = np.convolve(lowest, shape / shape.sum(), mode="valid")
    return signal * gain[1 : 1 + len(signal)]


def levelled(signal: Signal) -> Signal:
    """At `LOUDNESS_LUFS`, true peak under `PEAK_DBTP`. Silence stays silence."""
    for _ in range(6):  # what the limiter takes is given back
        loudness = loudness_lufs(signal)
        if loudness == float("-inf") or abs(loudness - LOUDNESS_LUFS) < 0.02:
            break
        signal = _limited(signal * decibel(LOUDNESS_LUFS - loudness), decibel(PEAK_DBTP))
    return signal


# --- edges


def faded(signal: Signal, in_ms: float, out_ms: float) -> Signal:
    """Raised-cosine fades at both ends."""
    signal = signal.copy()
    rise = 0.5 - 0.5 * np.cos(np.pi * np.arange(frames(in_ms)) / max(1, frames(in_ms)))
    fall = 0.5 + 0.5 * np.cos(np.pi * (np.arange(frames(out_ms)) + 1) / max(1, frames(out_ms)))
    signal[: len(rise)] *= rise[: len(signal)]
    signal[len(signal) - len(fall) :] *= fall
    return signal


def trimmed(signal: Signal) -> Signal:
    """Speech without what is silent before and after it, with the lead, a short tail and fades."""
    level = np.abs(signal)
    peak = float(np.max(level, initial=0))
    loud = np.flatnonzero(level > decibel(START_DB) * peak)
    if not len(loud):
        return np.zeros(frames(LEAD_MS + TAIL_MS))
    first = max(0, int(loud[0]) - frames(FADE_IN_MS))
    last = int(np.flatnonzero(level > decibel(END_DB) * peak)[-1]) + 1 + frames(TAIL_MS)
    kept = np.pad(signal, (0, max(0, last - len(signal))))[first:last]
    return np.pad(faded(kept, FADE_IN_MS, FADE_OUT_MS), (frames(LEAD_MS), 0))


def tightened(signal: Signal) -> Signal:
    """Speech with no pause longer than `PAUSE_MS`; what is cut out is the silent middle of a pause."""
    loud = np.flatnonzero(np.abs(signal) > decibel(END_DB) * np.max(np.abs(signal), initial=0))
    kept = np.ones(len(signal), dtype=np.bool_)
    half = frames(PAUSE_MS) // 2
    for pause in np.flatnonzero(np.diff(loud) > 2 * half):
        kept[loud[pause] + half : loud[pause + 1] - half] = False
    return signal[kept]


def measured(signal: Signal) -> Measured:
    """Loudness and true peak."""
    return Measured(loudness_lufs(signal), true_peak_db(signal))


# --- files


def unpacked(samples: bytes) -> Signal:
    """16 bit little-endian to full scale 1."""
    return np.asarray(np.frombuffer(samples[: len(samples) & ~1], dtype="<i2") / FULL_SCALE, dtype=np.float64)


def pcm(signal: Signal) -> bytes:
    """16 bit, little-endian."""
    return bytes(np.round(np.clip(signal, -1, 1) * FULL_SCALE).astype("<i2").tobytes())


def write_wav(path: Path, signal: Signal) -> None:
    """One channel, 16 bit, `FILE_RATE_HZ`."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(FILE_RATE_HZ)
        file.writeframes(pcm(doubled(signal)))


def read_wav(path: Path) -> Signal:
    """What `write_wav` wrote."""
    with wave.open(str(path), "rb") as file:
        return unpacked(file.readframes(file.getnframes()))[::2]
