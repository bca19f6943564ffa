"""The sounds that are no speech, and the mastering that every clip passes through."""

from __future__ import annotations

import itertools
import wave
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from firmware.audio import mastering, sdl
from firmware.audio.effects import effect
from firmware.audio.mastering import RATE_HZ, frames, loudness_lufs, true_peak_db
from firmware.terms import SOUND_MS, SoundName

if TYPE_CHECKING:
    from pathlib import Path

    from firmware.audio.mastering import Signal

made = cache(effect)
every_sound = pytest.mark.parametrize("name", list(SoundName))


def sine(hz: float, seconds: float, level: float = 1.0) -> Signal:
    return np.asarray(level * np.sin(2 * np.pi * hz * np.arange(round(seconds * RATE_HZ)) / RATE_HZ))


def share(signal: Signal, low_hz: float, high_hz: float) -> float:
    """How much of the energy lies between two frequencies."""
    power = np.abs(np.fft.rfft(signal)) ** 2
    hz = np.fft.rfftfreq(len(signal), 1 / RATE_HZ)
    return float(power[(hz >= low_hz) & (hz < high_hz)].sum() / power.sum())


def strongest_hz(signal: Signal) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(signal))) * RATE_HZ / len(signal))


# --- every sound


@every_sound
def test_lasts_exactly_its_nominal_time(name: SoundName) -> None:
    assert len(made(name)) == SOUND_MS[name] * RATE_HZ // 1000


@every_sound
def test_is_as_loud_as_the_voices_and_never_clips(name: SoundName) -> None:
    assert loudness_lufs(made(name)) == pytest.approx(-18, abs=0.1)
    assert true_peak_db(made(name)) < -1


@every_sound
def test_begins_after_ten_milliseconds_and_neither_end_clicks(name: SoundName) -> None:
    signal = made(name)
    assert not signal[: frames(10)].any()
    assert signal[frames(10) :][: frames(150)].any()
    assert abs(signal[frames(10)]) < 0.01
    assert np.max(np.abs(signal[-frames(2) :])) < 0.005


@every_sound
def test_has_no_direct_current_and_something_for_a_small_speaker(name: SoundName) -> None:
    assert abs(np.mean(made(name))) < 1e-4
    assert share(made(name), 120, RATE_HZ) > 0.4


@every_sound
def test_comes_out_the_same_each_time(name: SoundName) -> None:
    assert mastering.pcm(effect(name)) == mastering.pcm(made(name))


def test_no_two_sounds_are_alike() -> None:
    assert len({mastering.pcm(made(name)) for name in SoundName}) == len(SoundName)


# --- what they must tell


def test_points_can_be_counted() -> None:
    """Four tones one after the other: each begins out of silence."""
    row = np.concatenate([made(SoundName.POINT)] * 4)
    levels = np.sqrt(np.mean(row.reshape(-1, frames(10)) ** 2, axis=1))
    counted, silent = 0, True
    for level in levels / levels.max():
        if silent and level > 0.5:
            counted, silent = counted + 1, False
        elif level < 0.05:
            silent = True
    assert counted == 4


def test_the_harp_climbs() -> None:
    harp = made(SoundName.HARP)
    heights = [strongest_hz(harp[frames(start) : frames(start + 120)]) for start in (10, 300, 600, 850)]
    assert heights == sorted(heights)
    assert heights[-1] > 3 * heights[0]


def test_the_error_falls_and_the_point_does_not() -> None:
    error = made(SoundName.ERROR)
    assert strongest_hz(error[: frames(160)]) > 1.3 * strongest_hz(error[frames(220) :])
    point = made(SoundName.POINT)
    assert strongest_hz(point) == pytest.approx(1046.5, abs=5)


def test_the_greeting_ends_on_its_highest_note() -> None:
    greeting = made(SoundName.GREETING)
    assert strongest_hz(mastering.filtered(greeting, mastering.high_pass(350, 4))[frames(1500) :]) == pytest.approx(
        659.26, rel=0.02
    )


@pytest.mark.parametrize(
    ("name", "low_hz", "high_hz"),
    [
        (SoundName.SNAKE, 2500, 12000),
        (SoundName.SPIDER, 1200, 12000),
        (SoundName.BIRD, 2000, 6000),
        (SoundName.RUMBLE, 30, 500),
        (SoundName.GOLEM, 30, 1200),
        (SoundName.TRITON, 180, 1500),
    ],
)
def test_each_creature_has_its_own_region(name: SoundName, low_hz: float, high_hz: float) -> None:
    assert share(made(name), low_hz, high_hz) > 0.85


CREATURES = ("spider", "snake", "griffin", "dragon", "gnome", "triton", "golem")


def centre_hz(signal: Signal) -> float:
    """Where the energy lies, as the ear hears it: the middle of the spectrum in octaves."""
    power = np.abs(np.fft.rfft(signal)) ** 2
    hz = np.fft.rfftfreq(len(signal), 1 / RATE_HZ)
    heard = (hz > 60) & (hz < 11_000)
    return float(2 ** (np.sum(np.log2(hz[heard]) * power[heard]) / np.sum(power[heard])))


def colour(signal: Signal) -> Signal:
    """Amplitude in each third of an octave from 100 Hz on, length 1."""
    edges = 100 * 2 ** (np.arange(21) / 3)
    bands = np.sqrt([share(signal, low, high) for low, high in itertools.pairwise(edges)])
    return np.asarray(bands / np.linalg.norm(bands))


@pytest.mark.parametrize("creature", CREATURES)
def test_a_beaten_creature_is_heard_to_fall_and_to_fade(creature: str) -> None:
    gone = made(SoundName(f"{creature}-gone"))
    start, end = gone[: frames(400)], gone[frames(750) :]
    assert centre_hz(end) < 0.9 * centre_hz(start)
    fall_db = 10 * np.log10(np.mean(start**2) / np.mean(end**2))
    assert fall_db > 12


@pytest.mark.parametrize("creature", CREATURES)
def test_a_defeat_is_by_the_same_animal_as_the_cry(creature: str) -> None:
    gone = colour(made(SoundName(f"{creature}-gone")))
    alike = {other: float(gone @ colour(made(SoundName(other)))) for other in CREATURES}
    assert alike[creature] > 0.8
    assert creature in sorted(alike, key=lambda other: -alike[other])[:2], alike


def test_the_eruption_bursts_and_then_only_fades() -> None:
    levels = np.sqrt(np.mean(made(SoundName.ERUPTION).reshape(-1, frames(500)) ** 2, axis=1))
    assert levels[0] < 0.3 * levels.max()
    assert np.argmax(levels) in {1, 2}
    assert list(levels[3:]) == sorted(levels[3:], reverse=True)
    assert levels[-1] < 0.1 * levels.max()


def test_the_awakening_begins_in_deep_stone_and_ends_in_a_bright_chord_of_d_major() -> None:
    awakening = made(SoundName.AWAKENING)
    stone, chord = awakening[: frames(1100)], awakening[frames(2000) : frames(3000)]
    assert share(stone, 0, 700) > 0.9
    assert share(chord, 500, 12_000) > 2 * share(stone, 500, 12_000)
    tuned = sum(
        share(chord, hz * 0.985, hz * 1.015)
        for octave in (0.5, 1, 2, 4, 8)
        for hz in (146.83 * octave, 184.997 * octave, 220.0 * octave)
    )
    assert tuned > 0.9


# --- mastering


@pytest.mark.parametrize(
    ("hz", "level_lufs", "tolerance"),
    [(997, -3.01, 0.05), (60, -6.6, 0.3), (6000, 0.4, 0.3)],
)
def test_loudness_of_a_full_scale_sine(hz: float, level_lufs: float, tolerance: float) -> None:
    """ITU-R BS.1770-4: 997 Hz at full scale in one channel is at -3.01 LKFS; the weighting at 60 Hz and 6 kHz."""
    assert loudness_lufs(sine(hz, 3)) == pytest.approx(level_lufs, abs=tolerance)


def test_silence_does_not_count_for_loudness() -> None:
    tone = sine(997, 4, 0.1)
    assert loudness_lufs(np.concatenate([tone, np.zeros(8 * RATE_HZ)])) == pytest.approx(loudness_lufs(tone), abs=0.2)
    assert loudness_lufs(np.zeros(RATE_HZ)) == float("-inf")
    assert not mastering.levelled(np.zeros(RATE_HZ)).any()


def test_the_true_peak_lies_between_the_samples() -> None:
    """A quarter of the sampling rate, sampled at 45 degrees: 3 dB more than any sample shows."""
    place = np.arange(4800)
    signal = mastering.faded(np.sin(np.pi / 2 * place + np.pi / 4), 50, 50)
    assert 20 * np.log10(np.max(np.abs(signal))) == pytest.approx(-3.01, abs=0.01)
    assert true_peak_db(signal) == pytest.approx(0, abs=0.1)


def test_levelling_turns_peaks_down_and_keeps_the_loudness() -> None:
    signal = sine(440, 2, 0.05)
    signal[20_000:20_400] *= 18
    levelled = mastering.levelled(signal)
    assert loudness_lufs(levelled) == pytest.approx(-18, abs=0.05)
    assert true_peak_db(levelled) <= mastering.PEAK_DBTP + 0.1


def test_resampling_keeps_pitch_and_level() -> None:
    twice = mastering.resampled(sine(1000, 1), 2)
    assert len(twice) == 2 * RATE_HZ
    expected = np.sin(2 * np.pi * 1000 * np.arange(2 * RATE_HZ) / (2 * RATE_HZ))
    assert np.max(np.abs(twice - expected)[2000:-2000]) < 1e-3


def test_speech_is_trimmed_to_a_lead_and_a_tail() -> None:
    signal = np.concatenate([np.zeros(9000), sine(300, 0.5, 0.4), np.zeros(12_000)])
    trimmed = mastering.trimmed(signal)
    assert not trimmed[: frames(10)].any()
    assert len(trimmed) == pytest.approx(frames(10 + 5 + 500 + 120), abs=frames(2))
    assert not mastering.trimmed(np.zeros(100)).any()


def test_long_pauses_inside_a_line_are_cut() -> None:
    word = sine(300, 0.4, 0.4)
    signal = np.concatenate([word, np.zeros(frames(700)), word, np.zeros(frames(200)), word])
    assert len(mastering.tightened(signal)) == pytest.approx(3 * len(word) + frames(240 + 200), abs=frames(2))


def test_a_hall_rings_as_long_as_it_says() -> None:
    click = np.zeros(frames(100))
    click[0] = 1
    tail = mastering.room(click, 1.0, 0.5, seed=3)
    early, late = tail[frames(20) : frames(120)], tail[frames(700) : frames(800)]
    fall_db = 10 * np.log10(np.sum(early**2) / np.sum(late**2))
    assert fall_db == pytest.approx(60 * 0.68, abs=8)


def test_wav_files_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "x.wav"
    signal = sine(500, 0.2, 0.7)
    mastering.write_wav(path, signal)
    assert np.max(np.abs(mastering.read_wav(path) - signal)) < 1 / 32000


def test_wav_files_are_at_the_mixer_s_rate_and_nothing_is_above_the_voices_band(tmp_path: Path) -> None:
    path = tmp_path / "x.wav"
    mastering.write_wav(path, made(SoundName.SNAKE))
    with wave.open(str(path), "rb") as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (sdl.RATE_HZ, 1, 2)
        heard = mastering.unpacked(file.readframes(file.getnframes()))
    assert len(heard) == 2 * len(made(SoundName.SNAKE))
    power = np.abs(np.fft.rfft(heard)) ** 2
    assert power[round(len(power) * 14_000 / 24_000) :].sum() < 1e-6 * power.sum()
