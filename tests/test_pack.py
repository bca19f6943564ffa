"""Sound packs: built only where something changed, never half there, found by what is said."""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from firmware.audio import build, mastering, pack
from firmware.audio.build import BuildError, Built, build_effects, build_language
from firmware.audio.characters import Cast, Language, Voice
from firmware.audio.command import Surroundings, add_sounds_command
from firmware.audio.engines import EngineError, Pcm
from firmware.audio.pack import EFFECTS, Clip, PackError, load_pack, packs_folder, read_manifest
from firmware.terms import SOUND_MS, Args, Say, Sound, SoundName

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Parrot:
    """An engine that makes noise as long as the text, and notes what it was asked for."""

    name = "parrot"
    version = "1.0"

    def __init__(self) -> None:
        self.said: Counter[str] = Counter()
        self.fails_on = ""

    def render(self, text: str, speaker: str, *, pitch: float, tempo: float) -> Pcm:
        if text == self.fails_on:
            raise EngineError(f"parrot: failed on {text!r}")
        self.said[text] += 1
        noise = np.random.Generator(np.random.PCG64(len(text))).uniform(-9000, 9000, 800 * len(text))
        return Pcm(noise.astype("<i2").tobytes(), 16_000)


@dataclass
class Lines:
    """A catalogue of three lines, one of them with an argument and two wordings."""

    texts: dict[tuple[str, Args, int], str] = field(
        default_factory=lambda: {
            ("welcome", (), 0): "Welcome!",
            ("found", (("relic", "stone"),), 0): "A stone.",
            ("found", (("relic", "stone"),), 1): "Here is a stone.",
            ("again", (), 0): "Welcome!",
        }
    )
    speaker: str = "narrator"

    def clips(self) -> Iterator[tuple[str, Args, int, str]]:
        yield from ((*name, text) for name, text in self.texts.items())

    def voice(self, line: str, args: Args) -> str:
        return self.speaker


CAST = Cast({"en": Language({"parrot": "polly"}, {})}, {"narrator": Voice(), "ariki": Voice(pitch=0.9)})
STONE = Say("found", (("relic", "stone"), ("figure", "red")), voice="narrator", text="A stone.")


@dataclass
class Workshop:
    packs: Path
    engine: Parrot = field(default_factory=Parrot)
    lines: Lines = field(default_factory=Lines)
    cast: Cast = CAST
    progress: list[tuple[int, int]] = field(default_factory=list)

    def build(self) -> Built:
        return build_language(
            "en", self.lines, self.cast, self.engine, self.packs, progress=lambda *step: self.progress.append(step)
        )

    def files(self) -> set[str]:
        return {path.name for path in (self.packs / "en").iterdir() if path.name != ".building"}


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "packs")


@pytest.fixture(scope="module")
def effects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The effects, built once."""
    packs = tmp_path_factory.mktemp("effects")
    build_effects(packs)
    return packs / EFFECTS


# --- building


def test_a_pack_holds_each_text_once_and_names_all_lines(shop: Workshop) -> None:
    built = shop.build()
    assert (built.clips, built.made) == (3, 3)
    assert shop.engine.said == {"Welcome!": 1, "A stone.": 1, "Here is a stone.": 1}
    manifest = read_manifest(shop.packs / "en")
    assert manifest.engine == "parrot 1.0"
    assert [entry.name for entry in manifest.clips] == [
        "welcome",
        "found(relic=stone)",
        "found(relic=stone) #2",
        "again",
    ]
    for entry in manifest.clips:
        assert entry.lufs == pytest.approx(-18, abs=0.1)
        assert entry.peak_db < -1
        assert entry.duration_ms == pytest.approx(50 * len(entry.text) + 130, abs=40)
    assert shop.progress == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_nothing_is_made_twice(shop: Workshop) -> None:
    shop.build()
    before = read_manifest(shop.packs / "en")
    assert shop.build().made == 0
    assert read_manifest(shop.packs / "en") == before
    assert max(shop.engine.said.values()) == 1


def test_only_what_changed_is_made_again_and_the_old_clip_goes(shop: Workshop) -> None:
    shop.build()
    old = shop.files()
    shop.lines.texts["found", (("relic", "stone"),), 0] = "One stone."
    assert shop.build().made == 1
    assert len(shop.files() - old) == len(old - shop.files()) == 1


def test_another_voice_or_engine_makes_everything_again(shop: Workshop) -> None:
    shop.build()
    shop.lines.speaker = "ariki"
    assert shop.build().made == 3
    shop.engine.version = "1.1"
    assert shop.build().made == 3


def test_other_code_makes_everything_again(shop: Workshop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shop.build()
    changed = tmp_path / "mastering.py"
    changed.write_text("# louder\n", encoding="utf-8")
    monkeypatch.setattr(mastering, "__file__", str(changed))
    assert shop.build().made == 3


def test_a_build_that_breaks_off_leaves_the_old_pack_whole_and_is_resumed(shop: Workshop) -> None:
    shop.build()
    before, old = read_manifest(shop.packs / "en"), shop.files()
    shop.lines.texts = {("l", (), number): f"Line {'x' * number}." for number in range(8)}
    shop.engine.fails_on = "Line xxxxxxx."
    with pytest.raises(EngineError, match="failed on 'Line xxxxxxx"):
        shop.build()
    assert read_manifest(shop.packs / "en") == before
    assert old <= shop.files()
    assert not [name for name in shop.files() if name.startswith(".")]
    shop.engine.fails_on = ""
    assert shop.build().made < 8
    assert max(shop.engine.said.values()) == 1
    assert not old & shop.files() - {"manifest.json"}


def test_a_full_disk_is_seen_before_anything_is_written(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.build()
    before = shop.files()
    usage = shutil.disk_usage("/")._replace(free=build.SPARE_BYTES)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage)
    shop.lines.texts["new", (), 0] = "A new line."
    with pytest.raises(BuildError, match="MiB are needed"):
        shop.build()
    assert shop.files() == before


def test_a_disk_that_fills_up_while_writing_leaves_nothing_half_done(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.build()
    before, files = read_manifest(shop.packs / "en"), shop.files()

    def write_some(path: Path, _signal: object) -> None:
        path.write_bytes(b"RIFF")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(mastering, "write_wav", write_some)
    shop.lines.texts["new", (), 0] = "A new line."
    with pytest.raises(BuildError, match="No space left on device"):
        shop.build()
    assert (read_manifest(shop.packs / "en"), shop.files()) == (before, files)


def test_only_one_build_at_a_time(shop: Workshop) -> None:
    shop.build()
    with build._alone(shop.packs / "en"), pytest.raises(BuildError, match="another build is running"):
        shop.build()
    assert shop.build().made == 0


@pytest.mark.parametrize(
    ("cast", "speaker", "problem"),
    [
        (Cast({}, CAST.voices), "narrator", r"languages\.en: is missing"),
        (Cast({"en": Language({"pico": "en-GB"}, {})}, CAST.voices), "narrator", r"languages\.en\.parrot: is missing"),
        (CAST, "witch", r"the line welcome is spoken by 'witch'; voices\.toml knows narrator, ariki"),
    ],
)
def test_what_voices_toml_does_not_know_is_named(shop: Workshop, cast: Cast, speaker: str, problem: str) -> None:
    shop.cast, shop.lines.speaker = cast, speaker
    with pytest.raises(BuildError, match=problem):
        shop.build()


# --- finding


def test_a_clip_is_found_by_what_is_said_and_by_whom(shop: Workshop, effects: Path) -> None:
    shop.build()
    shutil.copytree(effects, shop.packs / EFFECTS)
    found = load_pack(shop.packs)
    clip = found.find(STONE)
    assert clip
    assert clip.path.stat().st_size == pytest.approx(clip.duration_ms * 96, abs=100)
    assert found.find(Say("found", voice="narrator", text="A stone!")) is None
    assert found.find(Say("found", voice="ariki", text="A stone.")) is None
    for name in SoundName:
        sound = found.find(Sound(name))
        assert sound
        assert sound.duration_ms == SOUND_MS[name]
    assert len(found) == 3 + len(SoundName)


def test_the_first_folder_that_has_a_clip_counts(shop: Workshop, tmp_path: Path) -> None:
    shop.build()
    own = tmp_path / "own"
    shutil.copytree(shop.packs, own)
    found = load_pack(own, shop.packs).find(STONE)
    assert found
    assert found.path.parent == own / "en"
    assert not load_pack(tmp_path / "nowhere")


def test_an_owner_s_recording_beside_the_packs_counts_before_them(shop: Workshop) -> None:
    """As docs/sounds.md shows: a folder that sorts first, with the text letter for letter."""
    shop.build()
    own = shop.packs / "a-recordings"
    own.mkdir()
    own.joinpath(pack.MANIFEST).write_text(
        """{"format": 1, "engine": "my aunt", "clips": [
         {"line": "welcome", "args": {}, "variant": 0, "voice": "narrator", "text": "Welcome!",
          "file": "welcome.wav", "duration_ms": 1800, "lufs": -18.0, "peak_db": -3.0, "sha256": ""}]}""",
        encoding="utf-8",
    )
    shop.build()
    found = load_pack(shop.packs)
    assert found.find(Say("welcome", voice="narrator", text="Welcome!")) == Clip(own / "welcome.wav", 1800)
    stone = found.find(STONE)
    assert stone
    assert stone.path.parent == shop.packs / "en"
    assert len(list(found.clips())) == len(found) == 3


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"format": 99}', '{"format": 1, "engine": "", "clips": [{"line": 1}]}']
)
def test_a_damaged_manifest_is_named_and_left_out(
    shop: Workshop, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    shop.build()
    path = shop.packs / "en" / pack.MANIFEST
    path.write_text(content, encoding="utf-8")
    with pytest.raises(PackError, match="volcano sounds build"):
        read_manifest(path.parent)
    assert load_pack(shop.packs).find(STONE) is None
    assert [str(path) in record.message for record in caplog.records] == [True]
    assert shop.build().made == 0
    assert load_pack(shop.packs).find(STONE)


def test_manifests_are_read_no_further_than_a_clip_is_looked_for(
    shop: Workshop, effects: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """So the greeting, a sound, does not wait for every language."""
    shop.build()
    shutil.copytree(effects, shop.packs / "a-sounds")
    (shop.packs / "en" / pack.MANIFEST).write_text("{", encoding="utf-8")
    found = load_pack(shop.packs)
    assert found
    assert found.find(Sound(SoundName.GREETING))
    assert caplog.records == []
    found.load()
    assert len(caplog.records) == 1
    assert found.find(STONE) is None


def test_packs_lie_in_the_service_s_state_or_the_user_s_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert packs_folder() == tmp_path / "volcano" / "sounds"
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/volcano")
    assert str(packs_folder()) == "/var/lib/volcano/sounds"


# --- volcano sounds


class Bench:
    """The command over the workshop's pack."""

    def __init__(self, shop: Workshop, tmp_path: Path) -> None:
        voices = tmp_path / "voices.toml"
        voices.write_text('[languages.en]\nparrot = "polly"\n[voices.narrator]\n', encoding="utf-8")
        self.folder = shop.packs
        self.around = Surroundings(
            ["en"], lambda _language: shop.lines, lambda: voices, time.monotonic, lambda _s: None
        )

    def run(self, *words: str) -> int:
        parser = argparse.ArgumentParser()
        add_sounds_command(parser.add_subparsers(), self.around)
        options = parser.parse_args(["sounds", *words, "--folder", str(self.folder)])
        status: int = options.command(options)
        return status


@pytest.fixture
def bench(shop: Workshop, effects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    shutil.copytree(effects, shop.packs / EFFECTS)
    monkeypatch.setattr("firmware.audio.engines.find_engine", lambda _name: shop.engine)
    return Bench(shop, tmp_path)


def test_build_check_and_list(bench: Bench, shop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run("check") == 1
    assert capsys.readouterr().out.count("there is no sound pack") == 1
    assert bench.run("build") == 0
    assert "en (parrot): 3 clips, 3 of them new" in capsys.readouterr().out
    assert bench.run("check") == 0
    capsys.readouterr()
    assert bench.run("list", "--language", "en", "STONE", "here") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown == "en 0.9 s narrator found(relic=stone) #2: Here is a stone."


def test_check_finds_what_is_missing_damaged_or_too_loud(
    bench: Bench, shop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.run("build")
    folder = shop.packs / "en"
    welcome, first, second, _ = read_manifest(folder).clips
    (folder / first.file).write_bytes(b"RIFF")
    (folder / second.file).unlink()
    path = folder / pack.MANIFEST
    held = json.loads(path.read_text(encoding="utf-8"))
    held["clips"][0] |= {"lufs": -14.0, "peak_db": 0.2}
    path.write_text(json.dumps(held), encoding="utf-8")
    shop.lines.texts["new", (), 0] = "A new line."
    capsys.readouterr()
    assert bench.run("check") == 1
    faults = capsys.readouterr().out.splitlines()
    assert len(faults) == 5
    assert faults[0] == "en: new: no clip says 'A new line.'; build it: volcano sounds build"
    for fault, (entry, problem) in zip(
        faults[1:],
        [(welcome, "loudness is -14.0"), (welcome, "peak is 0.2"), (first, "is damaged"), (second, "cannot be read")],
        strict=True,
    ):
        assert entry.file in fault
        assert problem in fault


def test_play_is_heard_to_its_end(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("SDL_AUDIODRIVER", "disk")
    monkeypatch.setenv("SDL_DISKAUDIOFILE", str(tmp_path / "heard.raw"))
    monkeypatch.setenv("SDL_DISKAUDIODELAY", "1")
    bench.run("build")
    capsys.readouterr()
    assert bench.run("play", "point", "found(relic=stone)") == 0
    assert capsys.readouterr().out.splitlines() == ["point", "narrator: A stone."]
    heard = np.frombuffer((tmp_path / "heard.raw").read_bytes(), dtype="<i2")
    loud = np.flatnonzero(heard)
    assert (loud[-1] - loud[0]) / 48_000 == pytest.approx(0.340 + 0.010 + 0.400, abs=0.02)


def test_play_is_heard_on_the_owners_card(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "volcano.toml").write_text('[sound]\ncard = "Nowhere"\n', encoding="utf-8")
    bench.run("build")
    assert bench.run("play", "point") == 1
    assert "there is no sound card Nowhere" in caplog.text


def test_play_names_what_is_not_there(bench: Bench) -> None:
    bench.run("build")
    with pytest.raises(Exception, match="there is no clip 'moo'; volcano sounds list"):
        bench.run("play", "moo")
