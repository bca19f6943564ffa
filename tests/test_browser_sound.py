"""Sound in the browser, as it reaches the loudspeaker.

Whatever the page connects to the loudspeaker is recorded there too, sample by sample, by an AudioWorklet in the audio
thread. Every clip is a step of one height, an odd number: so the record tells which clip was heard from when to when
and how loud, and two at once, an even number, would be no clip at all.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from playroom import TAIL_MS, Playroom, Recorded, write_pack
from selenium.webdriver.common.action_chains import ActionChains
from test_browser import Page, chromium, play

from firmware.audio.pack import load_pack
from firmware.catalogue import load
from firmware.game.insel.board import load_board
from firmware.page.clips import Clips
from firmware.page.server import PageServer, make_app
from firmware.terms import SoundName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from playroom import Json
    from selenium import webdriver

__all__ = ["chromium"]  # the fixture

pytestmark = [pytest.mark.browser, pytest.mark.alone]

LOWEST = 2001
"""The lowest step: two of these are above the highest, and a fade of 80 ms passes each height in a sample or two."""
EDGE_MS = 6.0
"""How exactly a beginning and an end are seen."""
QUIET_MS = 1000
"""A silence longer than the pauses inside announcements (0.4 s)."""
SAME_ANNOUNCEMENT_S = 0.1
"""A cue that the unit tells so soon after the end of the one before belongs to it."""
SHORTEST_STEP_MS = 4.0
"""What is shorter is an edge: resampling from 24 kHz rings for less than a millisecond."""
AUDIBLE = 0.3
"""Less is the rest of an exponential fade: 100 dB below full scale."""
GAIN_DB = {1: -24, 2: -18, 3: -12, 4: -6, 5: 0}
"""Volume step -> decibels: 6 dB a step up to the clips' own loudness."""

RECORDER = """
(() => {
  const module = URL.createObjectURL(new Blob([`
    registerProcessor("recorder", class extends AudioWorkletProcessor {
      constructor() { super(); this.runs = []; this.port.onmessage = () => this.port.postMessage(this.runs); }
      process([[channel]]) {
        for (let index = 0; index < 128; index += 1) {
          const height = channel ? channel[index] * 32768 : 0;
          const last = this.runs.at(-1);
          if (last && Math.abs(last[0] - height) <= 0.25) { last[2] += 1; last[3] += height; }
          else this.runs.push([height, currentFrame + index, 1, height]);
        }
        return true;
      }
    });`], { type: "text/javascript" }));
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (target, ...more) {
    if (target === this.context.destination) {
      window.recorded = { context: this.context };
      this.context.audioWorklet.addModule(module).then(() => {
        recorded.node = new AudioWorkletNode(this.context, "recorder");
        connect.call(connect.call(this, recorded.node), target); // its own output is silence
      });
    }
    return connect.call(this, target, ...more);
  };
})();
"""
READ = """
const done = arguments[0];
if (!window.recorded?.node) { done(null); return; }
recorded.node.port.onmessage = ({ data }) => done({ rate: recorded.context.sampleRate, runs: data });
recorded.node.port.postMessage("");
"""
ATTEMPTS = 10
TELL_TWICE = """
const [row, after, done] = arguments, began = performance.now();
const tell = () => document.dispatchEvent(new CustomEvent("cue", { detail: row }));
tell();
setTimeout(() => { done(performance.now() - began); tell(); }, after);
"""
ARRIVALS = """
window.arrived = {};
document.addEventListener("cue", ({ detail: row }) => { arrived[row.cue] ??= recorded.context.currentTime; });
new MutationObserver(() => {
  if (document.body.classList.contains("off")) arrived.off ??= recorded.context.currentTime;
}).observe(document.body, { attributeFilter: ["class"] });
"""


@dataclass(frozen=True)
class Step:
    """One height that was heard for a while."""

    height: float
    begin_ms: float
    end_ms: float

    @property
    def ms(self) -> float:
        return self.end_ms - self.begin_ms


class Ear:
    """A page and what its loudspeaker gets."""

    def __init__(self, chrome: webdriver.Chrome) -> None:
        self._chrome = chrome

    def recording(self) -> bool:
        return bool(self._chrome.execute_script("return Boolean(window.recorded?.node)"))

    def exists(self) -> bool:
        return bool(self._chrome.execute_script("return Boolean(window.recorded)"))

    def steps(self) -> list[Step]:
        """Everything heard so far that is no silence and no edge."""
        return [step for step in self._runs() if step.ms > SHORTEST_STEP_MS]

    def now_ms(self) -> float:
        return float(self._chrome.execute_script("return recorded.context.currentTime * 1000"))

    def note_arrivals(self) -> None:
        """From now on note when the page hears of a `stop` and of the switch: only its own delay counts."""
        self._chrome.execute_script(ARRIVALS)

    def arrived_ms(self, what: str) -> float:
        return float(self._chrome.execute_script("return arrived[arguments[0]] * 1000", what))

    def last_sample_ms(self) -> float:
        """When the last sample was heard that was no silence."""
        return self._runs()[-1].end_ms

    def _runs(self) -> list[Step]:
        record = self._chrome.execute_async_script(READ)
        assert record, "nothing was connected to the loudspeaker"
        ms = 1000 / record["rate"]
        runs = [Step(total / count, first * ms, (first + count) * ms) for _, first, count, total in record["runs"]]
        return [run for run in runs if abs(run.height) > AUDIBLE]


@pytest.fixture
def ear(chromium: webdriver.Chrome) -> Iterator[Ear]:
    chromium.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})  # the recorder is no script of the page
    script = chromium.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": RECORDER})
    yield Ear(chromium)
    chromium.execute_script("localStorage.clear()")
    chromium.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    chromium.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})


# --- the introductory game over the real firmware


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Recorded]]:
    """A pack of every German line and every sound, spoken very fast, in steps: its data folder, and address -> clip."""
    texts = load("de")
    spoken = [(text, texts.voice(line, args)) for line, args, _, text in texts.clips()]
    recorded = [
        Recorded(text, voice, 200 + 4 * len(text), LOWEST + 2 * number)
        for number, (text, voice) in enumerate(dict.fromkeys([*((name.value, "") for name in SoundName), *spoken]))
    ]
    assert recorded[-1].height < 2 * LOWEST
    data = tmp_path_factory.mktemp("data")
    write_pack(data / "volcano" / "sounds" / "effects", [clip for clip in recorded if not clip.voice])
    write_pack(data / "volcano" / "sounds" / "de", [clip for clip in recorded if clip.voice])
    return data, {f"/clips/{'de' if clip.voice else 'effects'}/{clip.file}": clip for clip in recorded}


def test_the_introductory_game_is_heard_in_order_without_gaps_and_one_clip_at_a_time(
    chromium: webdriver.Chrome, ear: Ear, everything: tuple[Path, dict[str, Recorded]], tmp_path: Path
) -> None:
    data, clips = everything
    with play(tmp_path, "--seed", "1", speed=1, data=data) as url:
        page = Page(chromium, url)
        page.click("h1")
        page.wait(ear.recording, "the recorder")
        page.click("#switch")
        page.happened("ready")
        page.click("#button")
        page.happened("intro_started")
        for turn in load_board().intro[:4]:
            page.play(turn.figure, turn.field, "explore")
            page.happened("discovered", field=turn.field)
        page.happened("points", figure="red", count=3)
        page.wait(lambda: page.all('#told [data-voice="ariki"]'), "the Ariki's voice")
        page.happened("story")
        page.wait(lambda: ear.now_ms() - ear.last_sample_ms() > QUIET_MS, "the end of the story")
        rows = [row for row in page.snapshot()["rows"] if row.get("cue") in {"say", "sound", "stop"}]
        told = hear(rows, ear.steps(), clips)
        assert page.problems() == []
    assert len(told) > 25
    assert sum(row.get("name") == "point" for row, _ in told) == 3
    gaps = [
        later.begin_ms - earlier.end_ms - TAIL_MS
        for (row, earlier), (following, later) in pairwise(told)
        if abs(following["t"] - row["t"] - row["ms"] / 1000) < SAME_ANNOUNCEMENT_S
    ]
    assert len(gaps) > 20
    assert min(gaps) > -EDGE_MS
    assert max(gaps) <= 300
    assert sorted(gaps)[len(gaps) // 2] < EDGE_MS


def hear(rows: Sequence[Json], steps: Sequence[Step], clips: Mapping[str, Recorded]) -> list[tuple[Json, Step]]:
    """Each cue told with its step heard: all of them, in their order, as long as they are unless speech broke off."""
    heard = []
    waiting = deque(steps)
    for row, after in pairwise([*rows, {}]):
        if row["cue"] == "stop":
            continue
        clip = clips[row["clip"]]
        broken = after.get("cue") == "stop"
        if broken and not (waiting and fits(waiting[0], clip)):
            continue  # broken off before it was heard at all
        assert waiting, f"{row} was not heard"
        step = waiting.popleft()
        assert fits(step, clip), f"{row} was told, {step} was heard"
        assert abs(step.ms - clip.ms + TAIL_MS) < EDGE_MS or (broken and step.ms < clip.ms), (
            f"{row} was heard as {step}"
        )
        heard.append((row, step))
    assert not waiting
    return heard


def fits(step: Step, clip: Recorded, volume: int = 3) -> bool:
    """Whether this is the clip alone, at this volume step."""
    return abs(step.height / 10 ** (GAIN_DB[volume] / 20) - clip.height) < 0.7


# --- the page alone, over a machine that only listens


class Stage:
    """A page with three clips: a long one, a short one, one that is damaged, one that has gone."""

    def __init__(self, chrome: webdriver.Chrome, folder: Path) -> None:
        self.long = Recorded("Lang", "ariki", 20_000, 3001)
        self.short = Recorded("Kurz", "ariki", 200, 3201)
        self.damaged = Recorded("Kaputt", "ariki", 200, 3401)
        self.gone = Recorded("Weg", "ariki", 200, 3601)
        write_pack(folder / "de", [self.long, self.short, self.damaged, self.gone])
        (folder / "de" / self.damaged.file).write_bytes(b"RIFF, but no sound")
        (folder / "de" / self.gone.file).unlink()
        self.volume = 5
        self.playroom = Playroom(sound="browser", clips=Clips(load_pack(folder)), volume=lambda: self.volume)
        self.playroom.room.power(on=True)
        self.ear = Ear(chrome)

    def say(self, clip: Recorded) -> None:
        self.playroom.machine.tell(cue="say", line="line", args={}, text=clip.text, voice=clip.voice)

    def set_volume(self, step: int) -> None:
        self.volume = step
        self.playroom.machine.tell(event="volume", level=step)

    def heard(self, clip: Recorded) -> list[Step]:
        return [step for step in self.ear.steps() if fits(step, clip, self.volume)]


@pytest.fixture
def scene(chromium: webdriver.Chrome, ear: Ear, tmp_path: Path) -> Iterator[tuple[Stage, Page]]:
    stage = Stage(chromium, tmp_path)
    with PageServer(make_app(stage.playroom.room, stage.playroom.island)) as server:
        yield stage, Page(chromium, server.url)


def awake(stage: Stage, page: Page) -> None:
    page.click("h1")
    page.wait(stage.ear.recording, "the recorder")


def test_nothing_is_heard_before_a_gesture_and_the_page_asks_for_one(scene: tuple[Stage, Page]) -> None:
    stage, page = scene
    stage.say(stage.long)
    page.wait(lambda: page.find("#sound").text == "Für Ton tippen", "the request")
    assert not stage.ear.exists()
    page.click("#sound")
    page.wait(stage.ear.recording, "the recorder")
    page.wait(lambda: stage.heard(stage.long), "the line, from its middle")
    assert page.find("#sound").text == "Ton an"
    assert page.problems() == []


def test_an_interruption_is_silent_within_150_ms_and_drops_what_waits(scene: tuple[Stage, Page]) -> None:
    stage, page = scene
    ear = stage.ear
    awake(stage, page)
    stage.say(stage.long)
    page.wait(lambda: stage.heard(stage.long), "the line")
    ear.note_arrivals()
    stage.playroom.machine.tell(cue="stop")
    page.wait(lambda: ear.now_ms() - ear.last_sample_ms() > QUIET_MS, "silence")
    assert 70 < ear.last_sample_ms() - ear.arrived_ms("stop") < 150
    stage.say(stage.short)
    stage.say(stage.short)
    stage.playroom.machine.tell(cue="stop")
    before_ms = ear.now_ms()
    page.wait(lambda: ear.now_ms() - before_ms > QUIET_MS, "silence")
    assert stage.heard(stage.short) == []


@pytest.mark.parametrize("after_ms", [130, 240])
def test_a_cue_that_comes_a_little_early_or_late_joins_the_one_before(
    scene: tuple[Stage, Page], chromium: webdriver.Chrome, after_ms: int
) -> None:
    stage, page = scene
    awake(stage, page)
    stage.say(stage.short)
    page.wait(lambda: stage.heard(stage.short), "the clip, so that it is loaded")
    row = {"cue": "say", "clip": f"/clips/de/{stage.short.file}", "ms": stage.short.ms, "next": []}
    for _ in range(ATTEMPTS):
        count = len(stage.heard(stage.short)) + 2
        took_ms = chromium.execute_async_script(TELL_TWICE, row, after_ms)
        page.wait(lambda count=count: len(stage.heard(stage.short)) == count, "both")  # type: ignore[misc]
        if took_ms < after_ms + 30:  # the machine kept to the time
            first, second = stage.heard(stage.short)[-2:]
            assert abs(second.begin_ms - first.end_ms - TAIL_MS) < EDGE_MS
            return
    pytest.fail("this machine is too busy to keep a time of 30 ms")


def test_a_cue_that_comes_much_too_early_takes_over(scene: tuple[Stage, Page]) -> None:
    stage, page = scene
    awake(stage, page)
    stage.say(stage.long)
    page.wait(lambda: stage.heard(stage.long), "the line")
    stage.say(stage.short)
    page.wait(lambda: stage.heard(stage.short), "the next line")
    (cut,), (heard,) = stage.heard(stage.long), stage.heard(stage.short)
    assert cut.end_ms < heard.begin_ms


def test_the_volume_is_the_units(scene: tuple[Stage, Page]) -> None:
    stage, page = scene
    awake(stage, page)
    stage.say(stage.long)
    for volume in (5, 1, 2, 3, 4):
        stage.set_volume(volume)
        page.wait(lambda: stage.heard(stage.long), f"volume {volume}")


def test_sound_is_switched_off_and_on_with_a_key_and_stays_so(scene: tuple[Stage, Page], chromium: Any) -> None:
    stage, page = scene
    ear = stage.ear
    awake(stage, page)
    stage.say(stage.long)
    page.wait(lambda: stage.heard(stage.long), "the line")
    ActionChains(chromium).send_keys("m").perform()
    page.wait(lambda: page.find("#sound").text == "Ton aus", "the toggle")
    page.wait(lambda: ear.now_ms() - ear.last_sample_ms() > 100, "silence")
    muted_ms = ear.now_ms()
    page.click("#sound")
    page.wait(lambda: stage.ear.steps()[-1].begin_ms > muted_ms, "the line again")
    assert fits(ear.steps()[-1], stage.long, stage.volume)
    page.click("#sound")
    page = Page(chromium, page.url, "en")
    assert page.find("#sound").text == "Sound off"
    awake(stage, page)
    stage.say(stage.long)
    began_ms = ear.now_ms()
    page.wait(lambda: ear.now_ms() - began_ms > QUIET_MS, "time")
    assert ear.steps() == []


def test_the_switch_silences_at_once(scene: tuple[Stage, Page]) -> None:
    stage, page = scene
    ear = stage.ear
    awake(stage, page)
    stage.say(stage.long)
    page.wait(lambda: stage.heard(stage.long), "the line")
    ear.note_arrivals()
    stage.playroom.room.power(on=False)
    stage.say(stage.short)
    page.wait(lambda: ear.now_ms() - ear.last_sample_ms() > QUIET_MS, "silence")
    assert ear.last_sample_ms() - ear.arrived_ms("off") < 50
    assert stage.heard(stage.short) == []


def test_a_missing_or_damaged_clip_is_noted_once_and_the_rest_is_heard(
    scene: tuple[Stage, Page], chromium: webdriver.Chrome
) -> None:
    stage, page = scene
    awake(stage, page)
    chromium.execute_script("window.noted = []; console.info = (text) => noted.push(text);")
    for clip in (stage.damaged, stage.gone, stage.damaged, stage.gone, stage.short):
        stage.say(clip)
    page.wait(lambda: stage.heard(stage.short), "the clip that is whole")
    noted = chromium.execute_script("return noted")
    assert sorted(note.split()[0] for note in noted) == sorted(
        f"/clips/de/{clip.file}" for clip in (stage.damaged, stage.gone)
    )
    assert [line.text for line in page.all("#told .text")] == ["Kaputt", "Weg", "Kaputt", "Weg", "Kurz"]


@pytest.mark.parametrize(("sound", "label"), [("here", "Ton am Rechner"), ("none", "Ohne Ton")])
def test_a_page_that_is_not_to_be_heard_says_so(chromium: webdriver.Chrome, ear: Ear, sound: str, label: str) -> None:
    playroom = Playroom(sound=sound)
    with PageServer(make_app(playroom.room, playroom.island)) as server:
        page = Page(chromium, server.url)
        page.click("#switch")
        page.wait(lambda: page.snapshot()["on"], "the switch")
        playroom.machine.tell(cue="sound", name="harp")
        page.wait(lambda: page.all("#told .sound-harp"), "the harp as text")
        assert page.find("#sound").text == label
        assert not page.find("#sound").is_enabled()
        assert not ear.exists()
