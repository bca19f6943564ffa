"""Engines and characters: what is said, by whom, and that it comes out the same every time."""

from __future__ import annotations

import shutil
import sys
import wave
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from firmware.audio import engines, mastering
from firmware.audio.characters import Voice, load_cast, speak
from firmware.audio.engines import EngineError, Espeak, Pcm, Pico, find_engine
from firmware.audio.mastering import RATE_HZ
from firmware.catalogue import load
from firmware.config import ConfigError

VOICES = Path(__file__).parent.parent / "sounds" / "voices.toml"
LINE = "Der Vulkan erwacht."


class Whistle:
    """An engine for tests: a buzz of 200 Hz times `pitch`, half a second divided by `tempo`, formants at 1 kHz."""

    name = "whistle"
    version = "1"
    RATE_HZ = 16_000

    def render(self, text: str, speaker: str, *, pitch: float, tempo: float) -> Pcm:
        time = np.arange(round(0.5 * self.RATE_HZ / tempo)) / self.RATE_HZ
        hz = 200 * pitch * np.arange(1, int(7000 / (200 * pitch)))
        weights = 1 / (1 + ((hz - 1000) / 150) ** 2)
        buzz = (weights[:, None] * np.sin(2 * np.pi * hz[:, None] * time)).sum(axis=0)
        return Pcm((buzz * (15_000 / np.max(np.abs(buzz)))).astype("<i2").tobytes(), self.RATE_HZ)


def spectrum(signal: mastering.Signal) -> tuple[mastering.Signal, mastering.Signal]:
    level = np.abs(np.fft.rfft(signal * np.hanning(len(signal))))
    return np.asarray(np.fft.rfftfreq(len(signal), 1 / RATE_HZ)), np.asarray(level)


def fundamental_hz(signal: mastering.Signal) -> float:
    """By autocorrelation, between 60 and 400 Hz."""
    middle = signal[len(signal) // 4 : -len(signal) // 4]
    match = np.fft.irfft(np.abs(np.fft.rfft(middle, 2 * len(middle))) ** 2)
    first, last = RATE_HZ // 400, RATE_HZ // 60
    return RATE_HZ / (first + int(np.argmax(match[first:last])))


def strongest_hz(signal: mastering.Signal) -> float:
    hz, level = spectrum(signal)
    return float(hz[np.argmax(level)])


# --- Pico


def test_pico_says_the_same_each_time_at_its_own_rate() -> None:
    first, second = (Pico().render(LINE, "de-DE", pitch=0.9, tempo=1.1) for _ in range(2))
    assert first == second
    assert first.rate_hz == 16_000
    assert 0.5 < len(first.samples) / 32_000 < 3


def test_pico_obeys_pitch_and_tempo_and_does_not_clip() -> None:
    plain, deep, fast = (
        mastering.unpacked(Pico().render(LINE, "de-DE", pitch=pitch, tempo=tempo).samples)
        for pitch, tempo in ((1, 1), (0.7, 1), (1, 1.5))
    )
    assert len(fast) < 0.8 * len(plain)
    assert fundamental_hz(mastering.resampled(deep, 1.5)) < 0.85 * fundamental_hz(mastering.resampled(plain, 1.5))
    assert np.max(np.abs(plain)) < 0.99


def test_pico_reads_angle_brackets_as_no_mark_up() -> None:
    marked, plain = (
        Pico().render(f'Eins {bracket}break time="3000ms"/> zwei', "de-DE", pitch=1, tempo=1) for bracket in "< "
    )
    assert marked == plain


def test_pico_names_the_line_that_it_cannot_say() -> None:
    with pytest.raises(EngineError, match=r"pico: .*Vulkan"):
        Pico().render(LINE, "xx-XX", pitch=1, tempo=1)


# --- espeak-ng, by a program of its name that notes how it was called


@pytest.fixture
def espeak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sound = BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(22_050)
        file.writeframes(b"\x01\x02" * 500)
    program = tmp_path / Espeak.PROGRAM
    program.write_text(
        f"#!{sys.executable}\n"
        "import pathlib, sys\n"
        "if '--version' in sys.argv:\n"
        "    print('eSpeak NG text-to-speech: 1.51  Data at: /usr/lib/espeak-ng-data')\n"
        "    raise SystemExit\n"
        f"pathlib.Path({str(tmp_path / 'called')!r}).write_text(' '.join(sys.argv[1:]) + '|' + sys.stdin.read())\n"
        f"sys.stdout.buffer.write({sound.getvalue()!r} if 'mute' not in sys.argv else b'?')\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "called"


def test_espeak_gets_the_text_and_scaled_pitch_and_rate(espeak: Path) -> None:
    spoken = Espeak().render("Hallo <du>", "de", pitch=0.8, tempo=1.25)
    assert spoken == Pcm(b"\x01\x02" * 500, 22_050)
    assert espeak.read_text(encoding="utf-8") == "-v de -p 40 -s 200 --stdin --stdout|Hallo <du>"
    assert Espeak().version == "1.51"


def test_espeak_without_sound_is_an_error(espeak: Path) -> None:
    with pytest.raises(EngineError, match="gave no sound"):
        Espeak().render("Hallo", "mute", pitch=1, tempo=1)


def test_the_best_engine_that_is_here_is_taken(espeak: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_engine().name == "pico"
    monkeypatch.setattr(Pico, "is_here", staticmethod(lambda: False))
    assert find_engine().name == "espeak-ng"
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(EngineError, match="pip install volcano"):
        find_engine()
    with pytest.raises(EngineError, match="known: pico, espeak-ng"):
        find_engine("loudspeaker")


# --- characters


def test_formants_pitch_and_tempo_are_three_independent_things() -> None:
    plain = speak(Whistle(), "", "", Voice())
    giant = speak(Whistle(), "", "", Voice(formants=0.8))
    deep = speak(Whistle(), "", "", Voice(pitch=0.75))
    slow = speak(Whistle(), "", "", Voice(tempo=0.5))
    assert fundamental_hz(plain) == pytest.approx(200, rel=0.02)
    assert fundamental_hz(giant) == pytest.approx(200, rel=0.02)
    assert fundamental_hz(deep) == pytest.approx(150, rel=0.02)
    assert fundamental_hz(slow) == pytest.approx(200, rel=0.02)
    assert strongest_hz(plain) == pytest.approx(1000, rel=0.02)
    assert strongest_hz(giant) == pytest.approx(800, rel=0.02)
    assert strongest_hz(deep) == pytest.approx(1050, rel=0.1)
    assert len(giant) == pytest.approx(len(plain), rel=0.02)
    assert len(slow) == pytest.approx(len(plain) + RATE_HZ / 2, rel=0.05)


@pytest.mark.parametrize(
    "voice",
    [
        Voice(octave=0.6),
        Voice(drive_db=9),
        Voice(bass_db=6),
        Voice(treble_db=6),
        Voice(band_hz=(400, 3000)),
        Voice(chorus=0.5),
        Voice(tremolo=0.4),
        Voice(echo=0.4),
        Voice(room=0.4, room_s=0.8),
    ],
)
def test_every_colour_can_be_heard_and_keeps_the_loudness(voice: Voice) -> None:
    plain, coloured = speak(Whistle(), "", "", Voice()), speak(Whistle(), "", "", voice)
    size = min(len(plain), len(coloured))
    assert np.sqrt(np.mean((plain[:size] - coloured[:size]) ** 2)) > 0.001
    assert mastering.loudness_lufs(coloured) == pytest.approx(-18, abs=0.1)
    assert mastering.true_peak_db(coloured) < -1


def test_the_second_voice_lies_a_fifth_below() -> None:
    hz, level = spectrum(speak(Whistle(), "", "", Voice(octave=1.0)))
    near = level[(hz > 390) & (hz < 410)].max()
    assert level[(hz > 523) & (hz < 543)].max() > 0.1 * near


def test_the_cast_has_every_voice_and_language_of_the_catalogues_and_a_clean_narrator() -> None:
    cast = load_cast(VOICES)
    for language in ("de", "en"):
        lines = load(language)
        assert {lines.voice(line, args) for line, args, _, _ in lines.clips()} <= set(cast.voices)
        assert set(cast.languages[language].speakers) == {"pico", "espeak-ng"}
    assert cast.voices["narrator"] == Voice()
    assert len(set(cast.voices.values())) == len(cast.voices)


def test_words_are_respelled_as_whole_words(tmp_path: Path) -> None:
    path = tmp_path / "voices.toml"
    path.write_text('[languages.en]\npico = "en-GB"\nrespell = { Ariki = "Areekee" }\n[voices.narrator]\n', "utf-8")
    english = load_cast(path).languages["en"]
    assert english.written("Ariki's path, Arikis, the Ariki.") == "Areekee's path, Arikis, the Areekee."
    assert english.speakers == {"pico": "en-GB"}


PHONEMES = (
    ("de", "Ariki", '?a."Ri:.ki:'),
    ("de", "Triton", '"tRi:.tOn'),
    ("de", "Greif", '"gRa_If'),
    ("en", "Ariki", r'@."r\\i:.ki:'),
)
"""How the island's names are to be said, in Pico's X-SAMPA."""


@pytest.mark.parametrize(("code", "name", "phonemes"), PHONEMES)
def test_pico_says_the_island_s_names_as_they_are_said(
    code: str, name: str, phonemes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the name sounds like as it is written for Pico is, sample for sample, what its phonemes sound like."""
    language = load_cast(VOICES).languages[code]
    speaker = language.speakers["pico"]
    written = Pico().render(language.written(f"{name}."), speaker, pitch=1, tempo=1)
    monkeypatch.setattr(engines, "_plain", lambda text: text)  # let Pico's own mark-up through
    spoken = f"<phoneme alphabet='xsampa' ph='{phonemes}'/>."
    assert written == Pico().render(spoken, speaker, pitch=1, tempo=1)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("pitch = 3", r"voices.toml:3: voices.narrator.pitch: must be from 0.5 to 2.0, is 3"),
        ("growl = 1", r"voices.narrator.growl: is not a key here"),
        ("band_hz = [300, 100]", r"band_hz: must be two rising frequencies"),
        ("room = 1.5", r"room: must be from 0.0 to 1.0"),
    ],
)
def test_a_wrong_voice_is_named_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "voices.toml"
    path.write_text(f'languages = {{ de = {{ pico = "de-DE" }} }}\n[voices.narrator]\n{line}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=problem):
        load_cast(path)
