"""The page in a browser: the introductory game over the real firmware, keys, widths, connection."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playroom import Playroom
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from firmware.game.insel.board import load_board
from firmware.page.server import PageServer, make_app
from firmware.terms import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selenium.webdriver.remote.webelement import WebElement

pytestmark = [pytest.mark.browser, pytest.mark.alone]

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1280,800"
)
PATIENCE_S = 20
SPEED = 6
"""How many times faster the unit's time runs; a click of 150 ms must stay far below the long press of 3 s."""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert browser, "chromium is missing: apt-get install chromium chromium-driver"
    assert driver, "chromedriver is missing: apt-get install chromium chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=Service(driver)) as chrome:
        yield chrome


class Page:
    """What a person sees and does."""

    def __init__(self, chrome: webdriver.Chrome, url: str, language: str = "de") -> None:
        self.chrome = chrome
        self.url = url
        chrome.get_log("browser")  # type: ignore[no-untyped-call]
        chrome.get(f"{url}?lang={language}")
        self.wait(lambda: not self.all("body.lost") and self.find("#sound").is_displayed(), "what the volcano tells")

    def find(self, selector: str) -> WebElement:
        return self.chrome.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.chrome.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, condition: Callable[[], object], what: str) -> None:
        def look(_: object) -> bool:
            return bool(condition())

        WebDriverWait(self.chrome, PATIENCE_S, poll_frequency=0.02).until(look, what)

    def snapshot(self) -> dict[str, Any]:
        with urllib.request.urlopen(self.url + "snapshot", timeout=5) as answer:  # noqa: S310 - our own page
            return json.loads(answer.read())  # type: ignore[no-any-return]

    def happened(self, event: str, **fields: object) -> None:
        """Wait until the firmware has told this event."""
        wanted = {"event": event, **fields}
        self.wait(lambda: any(wanted.items() <= row.items() for row in self.snapshot()["rows"]), str(wanted))

    def click(self, selector: str) -> None:
        ActionChains(self.chrome).click(self.find(selector)).perform()

    def play(self, figure: str, field: str, touch: str) -> None:
        """Choose a figure, put it on a field, click a Touch field: three short clicks of a newcomer."""
        self.click(f"button[data-figure={figure}]")
        if self.snapshot()["figures"][figure] != field:
            self.click(f'g[data-field="{field}"] .reach')
        self.click(f"button[data-touch={touch}]")

    def lit(self, *symbols: str) -> None:
        def glowing() -> bool:
            return {each.get_attribute("data-symbol") for each in self.all(".light.lit")} == set(symbols)

        self.wait(glowing, f"the lights {symbols}")

    def problems(self) -> list[str]:
        return [entry["message"] for entry in self.chrome.get_log("browser")]  # type: ignore[no-untyped-call]


# --- the real firmware


@contextmanager
def play(state: Path, *options: str, speed: float = SPEED, data: Path | None = None) -> Iterator[str]:
    """`volcano play`; its address. Sound packs below `data` if there are any."""
    command = [str(Path(sys.executable).with_name("volcano")), "play", "--no-browser", "--port", "0"]
    command += ["--speed", str(speed), "--state-dir", str(state), "--language", "de", *options]
    surroundings = os.environ | ({"XDG_DATA_HOME": str(data)} if data else {})
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=surroundings) as playing:
        assert playing.stdout
        try:
            yield playing.stdout.readline().split(" at ")[1].split(" ")[0]
        finally:
            playing.terminate()
            assert playing.wait(10) == 0


@pytest.fixture
def volcano(tmp_path: Path) -> Iterator[str]:
    with play(tmp_path) as url:
        yield url


def test_the_introductory_game_is_played_through_the_page(chromium: webdriver.Chrome, volcano: str) -> None:
    page = Page(chromium, volcano)
    assert "Schalter" in page.find("#hint").text
    page.click("#switch")
    page.happened("ready")
    page.click("#button")
    page.happened("intro_started")

    lights = {
        "temple": ["star"],
        "well": ["circle"],
        "crystal": ["triangle"],
        "tower": ["square"],
        "ariki": ["ariki"],
        "beachcomber": ["star", "circle", "triangle", "square"],
    }
    for turn in load_board().intro:
        page.play(turn.figure, turn.field, "explore")
        if turn.site:
            page.happened("discovered", field=turn.field, site=turn.site)
            page.wait(lambda site=turn.site: page.all(f".token.site-{site}"), f"the piece of {turn.site}")  # type: ignore[misc]
            if turn.site in lights:
                page.lit(*lights[turn.site])
        if turn.site == "ariki":
            page.happened("points", figure="red", count=3)
            page.wait(lambda: len(page.all("#told .points i")) == 3, "three tones")
            page.wait(lambda: page.all('#told [data-voice="ariki"]'), "the Ariki's voice")
        if turn.guardian:
            page.happened("guardian_appeared", field=turn.field, relic=turn.guardian, demand=turn.demand)
            page.wait(lambda: page.all(".token.guardian"), "the guardian")
            page.play(turn.figure, turn.field, "one")
            page.happened("relics_handed", field=turn.field, count=1)
        if turn.appears:
            page.happened("creature_appeared", creature=turn.appears, field=turn.at)
            page.wait(lambda: page.all(".token.creature-spider"), "the spider")
        if turn.field.startswith("statue"):
            page.happened("statue_asks", field=turn.field)
        if turn.fights:
            page.happened("creature_met", creature=turn.fights)
            page.lit("circle")
            page.play(turn.figure, turn.field, "one")
            page.happened("fought", creature=turn.fights, outcome="vanishes")
            page.wait(lambda: not page.all(".token.creature"), "the spider's leaving")
    page.happened("intro_finished")
    page.wait(lambda: "Einführungsspiel" in page.find("#hint").text, "the hint that the unit is ready")
    rejected = [row for row in page.snapshot()["rows"] if row.get("event") == "rejected"]
    assert rejected == []
    assert page.problems() == []


def test_a_wrong_move_is_explained_and_the_board_comes_back_after_a_reload(
    chromium: webdriver.Chrome, volcano: str
) -> None:
    page = Page(chromium, volcano)
    page.click("#switch")
    page.happened("ready")
    page.click("#button")
    page.happened("intro_started")
    page.play("green", "statue-n", "three")
    page.happened("rejected", reason="not_expected")
    page.wait(lambda: "nicht der nächste Zug" in page.find("#told").text, "the reason")
    page.play("white", "beach-s", "explore")
    page.happened("discovered", site="temple")
    page = Page(chromium, volcano)
    page.wait(lambda: page.all(".token.site-temple"), "the temple")
    page.lit("star")
    assert page.find("button[data-figure=white] .where").text == "Strand im Süden"
    page.click("#switch")
    page.lit()
    page.wait(lambda: "Schalter" in page.find("#hint").text, "the first hint")


def test_an_unfinished_game_is_on_the_board_when_the_firmware_starts_again(
    chromium: webdriver.Chrome, tmp_path: Path
) -> None:
    with play(tmp_path) as url:
        page = Page(chromium, url)
        page.click("#switch")
        page.happened("ready")
        page.play("red", "beach-sw", "explore")
        page.happened("discovered", figure="red", field="beach-sw")
    with play(tmp_path) as url:
        page = Page(chromium, url)
        assert "Strand im Südwesten" in page.find("button[data-figure=red]").text
        assert page.find("button[data-figure=white]").text.endswith("neben dem Brett")
        assert page.all('.token[data-key="site beach-sw"]')
        assert "Schalter" in page.find("#hint").text
        page.click("#switch")
        page.happened("resumed", figure="red")
        assert page.problems() == []


# --- the service page of a board


@contextmanager
def run_with_page(state: Path, **surroundings: str) -> Iterator[str]:
    """`volcano run --page` over emulated chips; the page's address."""
    command = [str(Path(sys.executable).with_name("volcano")), "run", "--mock", "--page", "--port", "0"]
    command += ["--state-dir", str(state), "--language", "de"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | surroundings) as running:
        assert running.stderr
        try:
            yield next(line for line in running.stderr if "the page is at" in line).split(" at ")[1].strip()
        finally:
            running.terminate()
            assert running.wait(10) == 0


def test_a_board_is_watched_and_played_through_its_service_page(chromium: webdriver.Chrome, tmp_path: Path) -> None:
    with run_with_page(tmp_path, SDL_AUDIODRIVER="dummy") as url:
        page = Page(chromium, url)
        page.wait(lambda: page.find("#faults").text == "Alle Teile antworten.", "no faults")
        page.happened("ready")
        for emulated in ("#switch", "#battery", "#latch"):
            assert not page.find(emulated).is_displayed()
        page.click("#button")
        page.happened("intro_started")
        page.play("white", "beach-s", "explore")
        page.happened("discovered", figure="white", field="beach-s", site="temple")
        page.wait(lambda: page.all(".token.site-temple"), "the temple")
        page.lit("star")
        ActionChains(chromium).click_and_hold(page.find("#button")).pause(3.2).release().perform()
        page.happened("volume", level=4)
        assert [row for row in page.snapshot()["rows"] if row.get("event") == "repeated"] == [], "long only"
        assert page.problems() == []
    with run_with_page(tmp_path, SDL_AUDIODRIVER="nowhere") as url:
        page = Page(chromium, url)
        page.wait(lambda: page.find("#faults").text.startswith("Die Soundkarte antwortet nicht. Prüfe"), "the fault")
        assert page.find("#sound").text == "Ton am Brett"
        assert page.find("#faults small[lang=en]").text.startswith("the default sound card cannot be opened")
        page.click("#language")
        page.wait(lambda: page.find("#faults").text.startswith("The sound card does not answer. Check"), "in English")
        page.happened("ready")
        chromium.execute_script("localStorage.clear()")


# --- the page alone, over a machine that only listens


@pytest.fixture
def table() -> Playroom:
    return Playroom()


@pytest.fixture
def served(table: Playroom) -> Iterator[str]:
    with PageServer(make_app(table.room, table.island)) as server:
        yield server.url


def test_touching_without_a_figure_on_the_board_is_explained(
    chromium: webdriver.Chrome, table: Playroom, served: str
) -> None:
    page = Page(chromium, served)
    page.click("button[data-touch=explore]")
    page.wait(
        lambda: "ausgeschaltet" in page.find("#hint").text or "ist aus" in page.find("#hint").text, "switch first"
    )
    page.click("#switch")
    page.wait(lambda: page.snapshot()["on"], "the switch")
    page.click("button[data-touch=explore]")
    page.wait(lambda: "zuerst eine Figur" in page.find("#hint").text, "choose a figure")
    page.click("button[data-figure=black]")
    page.click("button[data-touch=explore]")
    page.wait(lambda: "Schwarz steht neben dem Brett" in page.find("#hint").text, "place it")
    table.machine.turn()
    assert table.hands.done == []


def test_a_click_on_a_touch_field_lasts_while_the_volcano_has_not_felt_it(
    chromium: webdriver.Chrome, table: Playroom, served: str
) -> None:
    page = Page(chromium, served)
    table.room.power(on=True)
    page.wait(lambda: not page.all("body.off"), "the switch")
    page.play("white", "beach-s", "explore")
    page.wait(lambda: page.snapshot()["hold"], "the grip")
    held_since = time.monotonic()
    page.wait(lambda: not page.snapshot()["hold"], "the release")
    assert time.monotonic() - held_since > 1.2


def test_everything_can_be_done_with_keys(chromium: webdriver.Chrome, table: Playroom, served: str) -> None:
    page = Page(chromium, served)
    reached = []
    for _ in range(30):
        ActionChains(chromium).send_keys(Keys.TAB).perform()
        focused = chromium.switch_to.active_element
        reached.append(focused.get_attribute("id") or focused.get_attribute("data-touch") or focused.accessible_name)
        assert focused.tag_name == "body" or focused.accessible_name
    assert {"language", "told", "rock", "explore", "fire", "one", "two", "three", "switch", "button"} <= set(reached)
    assert any("Norden" in name or "Strand" in name for name in reached)

    page.find("#switch").send_keys(Keys.ENTER)
    page.wait(lambda: page.snapshot()["on"], "the switch")
    ActionChains(chromium).send_keys("w").perform()
    field = page.find('g.field[tabindex="0"]')
    field.send_keys(Keys.ARROW_DOWN)
    field = chromium.switch_to.active_element
    field.send_keys(Keys.ENTER)
    name = field.get_attribute("data-field")
    page.wait(lambda: page.snapshot()["figures"]["white"] == name, "the white figure")
    ActionChains(chromium).key_down("e").perform()
    page.wait(lambda: page.snapshot()["hold"] == {"figure": "white", "touch": "explore"}, "the grip")
    ActionChains(chromium).key_up("e").perform()
    page.wait(lambda: page.snapshot()["hold"] is None, "the release")
    ActionChains(chromium).key_down(Keys.SHIFT).send_keys("r").key_up(Keys.SHIFT).perform()
    page.wait(lambda: page.snapshot()["hold"] == {"figure": "white", "touch": "rock"}, "Rock")
    ActionChains(chromium).key_down(Keys.SHIFT).key_down("b").perform()
    page.wait(lambda: page.snapshot()["button"], "the button")
    ActionChains(chromium).key_up("b").key_up(Keys.SHIFT).perform()
    page.wait(lambda: not page.snapshot()["button"], "the button's release")
    ActionChains(chromium).send_keys(Keys.DELETE).perform()
    page.wait(lambda: page.snapshot()["figures"]["white"] is None, "the white figure beside the board")
    assert page.problems() == []


def test_a_figure_is_dragged_to_a_field_and_off_the_board(chromium: webdriver.Chrome, served: str) -> None:
    page = Page(chromium, served)
    target = page.find('g[data-field="jungle-w"] .reach')
    ActionChains(chromium).drag_and_drop(page.find("button[data-figure=green]"), target).perform()
    page.wait(lambda: page.snapshot()["figures"]["green"] == "jungle-w", "the green figure")
    ActionChains(chromium).drag_and_drop(page.find(".pawn.figure-green use"), page.find("#figures")).perform()
    page.wait(lambda: page.snapshot()["figures"]["green"] is None, "the green figure beside the board")


def test_the_button_can_be_held_at_the_switch(chromium: webdriver.Chrome, table: Playroom, served: str) -> None:
    page = Page(chromium, served)
    page.click("#latch")
    page.click("#button")
    page.wait(lambda: page.snapshot()["button"], "the button")
    page.click("#switch")
    page.wait(lambda: page.snapshot()["on"], "the switch")
    page.click("#button")
    page.wait(lambda: not page.snapshot()["button"], "the release")
    table.machine.turn()
    assert table.machine.switched == ["on held"]


def test_a_cue_is_announced_once_to_whoever_makes_it_heard(
    chromium: webdriver.Chrome, table: Playroom, served: str
) -> None:
    table.machine.tell(cue="sound", name="greeting")
    page = Page(chromium, served)
    chromium.execute_script(
        "window.begun = []; document.addEventListener('cue', (cue) => window.begun.push(cue.detail.name));"
    )
    table.machine.tell(cue="sound", name="harp")
    page.wait(lambda: chromium.execute_script("return window.begun") == ["harp"], "the harp")


def test_the_field_and_the_figure_of_the_present_line_are_shown(
    chromium: webdriver.Chrome, table: Playroom, served: str
) -> None:
    table.room.power(on=True)
    page = Page(chromium, served)
    line = {"cue": "say", "line": "go", "text": "Rot landet im Südwesten.", "voice": "narrator"}
    table.machine.tell(**line, args={"figure": "red", "field": "beach-sw"})
    page.wait(lambda: page.all('g.spoken[data-field="beach-sw"]'), "the field")
    assert [each.get_attribute("data-figure") for each in page.all("button.spoken")] == ["red"]
    page = Page(chromium, served)
    page.wait(lambda: page.all('g.spoken[data-field="beach-sw"]'), "the field after a reload")
    table.machine.tell(**line, args={"figure": "red", "count": 2})
    page.wait(lambda: not page.all(".spoken"), "nothing shown")


def test_the_page_speaks_english_too(chromium: webdriver.Chrome, table: Playroom, served: str) -> None:
    page = Page(chromium, served, "en")
    assert page.find("button[data-touch=rock]").text.startswith("Rock")
    assert chromium.find_element(By.TAG_NAME, "html").get_attribute("lang") == "en"
    page.click("#language")
    page.wait(lambda: page.find("button[data-touch=rock]").text.startswith("Fels"), "German")
    chromium.execute_script("localStorage.clear()")


def test_the_page_follows_the_unit_to_another_language(chromium: webdriver.Chrome) -> None:
    unit = ["de"]
    room = Playroom(language=lambda: unit[0])
    room.room.power(on=True)
    with PageServer(make_app(room.room, room.island)) as server:
        page = Page(chromium, server.url)
        room.machine.tell(cue="say", line="settings", args={}, text="Einstellungen", voice="narrator")
        page.wait(lambda: "Einstellungen" in page.find("#hint").text, "the hint on the settings")
        unit[0] = "en"
        room.machine.tell(event="ready")
        page.wait(lambda: page.find("h1").text == "The Island", "English")
        page.wait(lambda: "introductory game" in page.find("#hint").text, "the English hint")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (768, 1024)])
def test_the_page_fits(chromium: webdriver.Chrome, table: Playroom, served: str, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page = Page(chromium, served)
        table.room.place(Figure.BLACK, "mountain-ne")
        page.wait(lambda: page.all("button.gone[data-figure=black]"), "the black figure")
        script = "return [...document.querySelectorAll('button, #told, #island')].filter((each) => {"
        script += "const box = each.getBoundingClientRect(), right = document.documentElement.clientWidth;"
        script += "return box.left < 0 || box.right > right || box.width < 24 || box.height < 24;"
        script += "}).map((each) => each.id || each.className)"
        assert chromium.execute_script(script) == []
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_newest_line_stays_in_sight_when_the_panel_becomes_lower(
    chromium: webdriver.Chrome, table: Playroom, served: str
) -> None:
    page = Page(chromium, served)
    table.room.power(on=True)
    for number in range(12):
        table.machine.tell(cue="say", line="points", args={}, text=f"Satz {number}. " * 9, voice="narrator")
    page.wait(lambda: len(page.all("#told .line")) == 12, "the lines")
    script = (
        "const told = document.getElementById('told'); return told.scrollHeight - told.scrollTop - told.clientHeight"
    )
    page.wait(lambda: chromium.execute_script(script) < 2, "the end of the list")
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.wait(lambda: page.find("#told").size["height"] < 200, "the lower panel")
        page.wait(lambda: chromium.execute_script(script) < 2, "the end of the list again")
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_page_comes_back_by_itself_when_the_volcano_does(chromium: webdriver.Chrome, table: Playroom) -> None:
    first = PageServer(make_app(table.room, table.island))
    first.start()
    page = Page(chromium, first.url)
    first.stop()
    page.wait(lambda: "Verbindung verloren" in page.find("#connection").text, "lost")
    table.machine.tell(event="discovered", figure="white", field="beach-s", site="temple")
    with PageServer(make_app(table.room, table.island), first.port):
        page.wait(lambda: "Wieder verbunden" in page.find("#connection").text, "back")
        page.wait(lambda: page.all(".token.site-temple"), "what was missed")
