"""The drawings to wire a board by: they say what wiring.toml says, for every wiring, and print at their true size."""

from __future__ import annotations

import html
import itertools
import json
import math
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from playroom import BOARD

from firmware.cli import main
from firmware.hal.calibration import Calibration, earlier, save_calibration
from firmware.hal.wiring import OWN_WIRING, RAIL_CODES, FigureMethod, Wiring, load_wiring
from firmware.owner.figure_foot import FOOT_MM, draw_foot, seen_pf
from firmware.owner.pad_board import EDGE_MM, PAD_MM, WIDTH_MM, WINDOW_MM, PadBoard, german_name
from firmware.owner.printed import OwnerError
from firmware.owner.wiring_drawings import wiring_drawings
from firmware.owner.wiring_plan import FORWARD_V, HEADER, PIN_OF, SUPPLY_V, draw_plan, resistor_ohm
from firmware.page.drawing import Island, read_island
from firmware.terms import FIGURES, SYMBOLS, TOUCHES

ROOT = Path(__file__).parent.parent
SVG = "{http://www.w3.org/2000/svg}"
OWN = OWN_WIRING.read_text(encoding="utf-8")
RAILS = """
[chips.rails]
address = 0x5D
[chips.rails.rails]
a = 0
b = 1
c = 2
[chips.rails.colour_pads]
white = 3
red = 4
green = 5
black = 6

[lights]"""
WIRINGS = {
    "as it comes": OWN,
    "on a mains adapter": re.sub(r"\[battery\]\nlow_pin.*\n", "", OWN),
    "an MCP3008 at the batteries": re.sub(r"low_pin = .*\n", "mcp3008_channel = 2\n", OWN),
    "four chips, rails and colour pads": OWN.replace("\n[lights]", RAILS).replace('"capacitor"\n', '"rails"\n'),
    "figures as they were sold": OWN.replace('"capacitor"\n', '"nothing"\n'),
    "another bus": OWN.replace("bus = 1 ", "bus = 3 "),
    "other pins": OWN.replace("star = 5 ", "star = 4 ").replace("pin = 17 ", "pin = 23 ").replace("= 27 ", "= 22 "),
}


@pytest.fixture(scope="module")
def island() -> Island:
    return read_island(BOARD)


@pytest.fixture(params=WIRINGS)
def wiring(request: pytest.FixtureRequest, island: Island, tmp_path: Path) -> Wiring:
    return load(WIRINGS[request.param], island, tmp_path)


def load(text: str, island: Island, tmp_path: Path) -> Wiring:
    path = tmp_path / "wiring.toml"
    path.write_text(text, encoding="utf-8")
    return load_wiring(path, [spot.field for spot in island.spots])


def own(island: Island) -> Wiring:
    return load_wiring(None, [spot.field for spot in island.spots])


def root(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own text


def texts(svg: str) -> list[tuple[str, float, float]]:
    return [
        (each.text or "", float(each.get("x", "")), float(each.get("y", ""))) for each in root(svg).iter(f"{SVG}text")
    ]


def words(svg: str) -> list[str]:
    return [text for text, _, _ in texts(svg)]


# --- the wiring plan


def test_the_wirings_differ() -> None:
    assert len(set(WIRINGS.values())) == len(WIRINGS)


def test_the_header_is_the_pi_s() -> None:
    assert len(HEADER) == 40
    assert sorted(PIN_OF) == list(range(28))
    known = {2: 3, 3: 5, 17: 11, 18: 12, 27: 13, 25: 22, 5: 29, 6: 31, 19: 35, 16: 36, 26: 37, 21: 40}
    assert {gpio: PIN_OF[gpio] for gpio in known} == known
    assert [pin for pin, each in enumerate(HEADER, 1) if each == "ground"] == [6, 9, 14, 20, 25, 30, 34, 39]
    assert [pin for pin, each in enumerate(HEADER, 1) if each in {"5 V", "3.3 V"}] == [1, 2, 4, 17]


def test_the_comments_of_the_wiring_name_the_same_header_pins() -> None:
    named = re.findall(r"^\w+ = (\d+) +# header pin (\d+)", OWN, re.MULTILINE)
    assert len(named) >= 3
    assert all(PIN_OF[int(gpio)] == int(pin) for gpio, pin in named)


def test_every_electrode_stands_beside_its_pad(wiring: Wiring) -> None:
    plan = texts(draw_plan(wiring))
    for chip in wiring.chips:
        assert f"MPR121 {chip.name}" in [text for text, _, _ in plan]
        for pad, electrode in chip.wires.items():
            name = f"rail {pad}" if pad in chip.rails else f"colour {pad}" if pad in chip.badges else pad
            _, x, y = next(each for each in plan if each[0] == name)
            beside = [text for text, at_x, at_y in plan if at_y == y and 0 < x - at_x < 6]
            assert beside == [str(electrode)], name


def test_every_pin_that_is_used_stands_in_its_row(wiring: Wiring) -> None:
    plan = texts(draw_plan(wiring))
    used = {f"light {symbol}": gpio for symbol, gpio in wiring.lights.items()} | {"push button": wiring.button}
    if wiring.battery_low is not None:
        used["weak batteries"] = wiring.battery_low
    if wiring.battery_adc is not None:
        used |= {"MCP3008 CS": 8, "MCP3008 DOUT": 9, "MCP3008 DIN": 10, "MCP3008 CLK": 11}
    rows = {text: y for text, _, y in reversed(plan)}  # the header comes first
    for name, gpio in used.items():
        assert rows[name] == rows[f"GPIO {gpio}"], name
    assert ("weak batteries" in rows) == (wiring.battery_low is not None)
    assert ("4 AA cells, fuse" in rows) == (wiring.battery_low is not None or wiring.battery_adc is not None)


def test_of_another_bus_it_is_said_that_its_pins_are_elsewhere(wiring: Wiring) -> None:
    said = {"Drawn are bus 1's pins:", "bus 3 has its own,"} & set(words(draw_plan(wiring)))
    assert len(said) == (2 if wiring.bus == 3 else 0)


def test_the_address_pin_goes_where_the_data_sheet_says(island: Island, tmp_path: Path) -> None:
    four = load(WIRINGS["four chips, rails and colour pads"], island, tmp_path)
    assert [chip.address for chip in four.chips] == [0x5A, 0x5B, 0x5C, 0x5D]
    lines = root(draw_plan(four)).iter(f"{SVG}path")
    down = [(each.get("class"), each.get("d", "")) for each in lines]
    x_of = {int(x) for text, x, _ in texts(draw_plan(four)) if text == "ADDR"}
    ends = [
        (style, path)
        for style, path in down
        if re.match(rf"M({'|'.join(map(str, x_of))})(\.\d+)? 1[34]\d\.?\d*L", path)
    ]
    assert [style for style, _ in ends] == ["wire ground", "wire v3", "wire sda", "wire scl"]


@pytest.mark.parametrize("forward_v", [1.7, 1.9, 2.0, 2.1, 2.4, 3.0, 3.2])
def test_a_light_s_resistor_keeps_its_current_below_what_is_allowed(forward_v: float) -> None:
    ohm = resistor_ohm(forward_v)
    assert 1000 * (SUPPLY_V - forward_v) / ohm <= 5.0
    assert 1000 * (SUPPLY_V - forward_v) / ohm > 3.9, "the next smaller value would have been allowed"


def test_the_guide_names_the_resistors_that_are_drawn(island: Island) -> None:
    ohms = {colour: resistor_ohm(volts) for colour, volts in FORWARD_V.items()}
    assert ohms["yellow"] == ohms["green"]
    named = f"red {ohms['red']} Ω, yellow or green {ohms['green']} Ω, blue or white {ohms['blue or white']} Ω"
    assert named in page("docs/wiring.md")
    assert any(f"red {ohms['red']} Ω, yellow {ohms['yellow']} Ω" in text for text in words(draw_plan(own(island))))


def test_the_pages_name_the_pins_of_the_wiring(island: Island) -> None:
    wiring = own(island)
    gpios = [wiring.lights[symbol] for symbol in SYMBOLS]
    lights = f"GPIO {', '.join(map(str, gpios))} (pins {', '.join(str(PIN_OF[gpio]) for gpio in gpios)})"
    readme, guide = page("README.md"), page("docs/wiring.md")
    assert lights in readme
    assert f"| push button | GPIO {wiring.button} (pin {PIN_OF[wiring.button]}), closes to ground |" in readme
    assert wiring.battery_low is not None
    assert f"GPIO {wiring.battery_low} (pin {PIN_OF[wiring.battery_low]}), low when weak" in readme
    for terminal, gpio in (("BCLK", 18), ("LRC", 19), ("DIN", 21)):
        assert f"{terminal} to pin {PIN_OF[gpio]} (GPIO {gpio})" in guide


def test_the_guide_names_the_sizes_that_are_drawn() -> None:
    guide = page("docs/wiring.md")
    assert f"Pads are {PAD_MM:g} mm wide" in guide
    assert f"four feet of {FOOT_MM:g} mm" in guide
    assert f"{WIDTH_MM:g} mm wide" in guide
    assert pytest.approx(FOOT_MM * (1 + math.sqrt(2)), abs=0.5) == PAD_MM, "four circles in one"


def page(name: str) -> str:
    """A page's text, its lines joined."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


# --- the pads


def test_every_pad_is_on_the_map_with_its_electrode(wiring: Wiring, island: Island) -> None:
    board = PadBoard(island, wiring)
    assert len(board.fields) == 23
    assert [pad.name for pad in board.others] == [*TOUCHES, *wiring.badges]
    pads = texts(board.draw_map())
    for pad in (*board.fields, *board.others):
        _, x, y = next(each for each in pads if each[0] == pad.name)
        assert str(pad.electrode) in [text for text, at_x, at_y in pads if at_x == x and 0 < y - at_y < 5], pad.name
    listed = sorted(text for text, _, _ in pads if text in {f"rail {each}" for each in "abc"})
    assert listed == ([] if wiring.rail_chip is None else ["rail a", "rail b", "rail c"])


def test_pads_keep_their_distance_and_lie_on_the_board(wiring: Wiring, island: Island) -> None:
    board = PadBoard(island, wiring, 300, 25)
    assert min(one.apart(other) for one, other in itertools.combinations(board.fields, 2)) >= 6
    for pad in (*board.fields, *board.others):
        assert pad.width_mm / 2 <= pad.at[0] <= board.side_mm - pad.width_mm / 2
        assert pad.height_mm / 2 <= pad.at[1] <= board.height_mm - pad.height_mm / 2


@pytest.mark.parametrize(("width_mm", "pad_mm"), [(WIDTH_MM, PAD_MM), (412.5, 36), (800, 60), (300, 25)])
def test_the_width_is_from_pad_to_pad(width_mm: float, pad_mm: float, island: Island) -> None:
    board = PadBoard(island, own(island), width_mm, pad_mm)
    west = min(board.fields, key=lambda pad: pad.at[0])
    east = max(board.fields, key=lambda pad: pad.at[0])
    assert (west.name, east.name) == ("statue-w", "statue-e")
    assert east.at[0] - west.at[0] + pad_mm == pytest.approx(width_mm)
    turned = math.dist(west.at, east.at) / (east.at[0] - west.at[0])
    on_the_island = {spot.field: spot.at for spot in island.spots}
    ends = (on_the_island["statue-w"], on_the_island["statue-e"])
    assert turned == pytest.approx(math.dist(*ends) / (ends[1][0] - ends[0][0])), "and as high as it is wide"


def test_fields_on_one_line_have_no_width(island: Island) -> None:
    line = Island(tuple(replace(spot, at=(0.0, spot.at[1])) for spot in island.spots), island.paths)
    with pytest.raises(OwnerError, match="all fields lie on one line"):
        PadBoard(line, own(island))


def test_a_tail_lies_over_no_other_pad(island: Island) -> None:
    board = PadBoard(island, own(island))
    for pad in board.fields:
        corners = board.tail(pad)
        for other in board.fields:
            if other is not pad:
                assert min(math.dist(corner, other.at) for corner in corners) > PAD_MM / 2, (pad.name, other.name)


def test_the_volcano_lies_over_no_pad(island: Island) -> None:
    board = PadBoard(island, own(island))
    assert all(math.dist(pad.at, board.middle) - PAD_MM / 2 > board.crater_mm / 2 > 30 for pad in board.fields)


@pytest.mark.parametrize(("width_mm", "sheets"), [(375, 4), (376, 6), (600, 12)])
def test_sheets_cover_the_board_in_true_size(width_mm: float, sheets: int, island: Island) -> None:
    board = PadBoard(island, own(island), width_mm)
    drawn = [root(sheet) for sheet in board.draw_sheets()]
    assert len(drawn) == sheets
    columns = math.ceil(board.side_mm / WINDOW_MM[0])
    seen_mm2 = dict.fromkeys((pad.name for pad in board.fields), 0)
    for number, sheet in enumerate(drawn):
        assert (sheet.get("width"), sheet.get("height"), sheet.get("viewBox")) == ("210mm", "297mm", "0 0 210 297")
        row, column = divmod(number, columns)
        for circle in sheet.iter(f"{SVG}circle"):
            if "chip" in circle.get("class", ""):
                assert circle.get("r") == f"{PAD_MM / 2:g}"
                x, y = float(circle.get("cx", "")) - EDGE_MM, float(circle.get("cy", "")) - EDGE_MM
                at = (x + column * WINDOW_MM[0], y + row * WINDOW_MM[1])
                pad = next(each for each in board.fields if math.dist(each.at, at) < 0.02)
                seen_mm2[pad.name] += sum(
                    0 <= x + right < WINDOW_MM[0] and 0 <= y + down < WINDOW_MM[1]
                    for right in range(-18, 19)
                    for down in range(-18, 19)
                )
    assert set(seen_mm2.values()) == {37 * 37}, "every square millimetre is on one sheet and on one only"


def test_the_ruler_is_a_hundred_millimetres(island: Island) -> None:
    for sheet in PadBoard(island, own(island)).draw_sheets():
        assert "M10 284L110 284" in sheet


def test_a_sheet_names_the_one_that_joins_it(island: Island) -> None:
    first, second, third, fourth = (words(sheet) for sheet in PadBoard(island, own(island)).draw_sheets())
    joined = [[text for text in sheet if text.startswith("sheet ")] for sheet in (first, second, third, fourth)]
    assert [sorted(each) for each in joined] == [
        ["sheet 2", "sheet 3"],
        ["sheet 1", "sheet 4"],
        ["sheet 1", "sheet 4"],
        ["sheet 2", "sheet 3"],
    ]


def test_rails_are_rings_round_every_field(island: Island, tmp_path: Path) -> None:
    board = PadBoard(island, load(WIRINGS["four chips, rails and colour pads"], island, tmp_path))
    rings, centres = set(), set()
    for number, sheet in enumerate(board.draw_sheets()):
        rings |= {(number, each.get("d")) for each in root(sheet).iter(f"{SVG}path") if each.get("fill-rule")}
        circles = root(sheet).iter(f"{SVG}circle")
        centres |= {(number, each.get("cx"), each.get("cy")) for each in circles if "chip" in each.get("class", "")}
    assert len(centres) >= 23
    assert len(rings) == 3 * len(centres)


def test_fields_have_german_names_as_well() -> None:
    assert [german_name(field) for field in ("beach-ne", "mountain-sw", "ruin-e")] == [
        "Strand NO",
        "Berge SW",
        "Ruine O",
    ]
    assert german_name("harbour-1") == ""


@pytest.mark.parametrize(
    ("width_mm", "pad_mm", "problem"),
    [
        (300, 40, "pads of 40 mm do not fit on a board of 300 mm: "),
        (-380, 36, "a board must be 100 to 1500 mm wide, is -380 mm"),
        (math.nan, 36, "a board must be 100 to 1500 mm wide, is nan mm"),
        (380, 0, "a pad must be 10 to 100 mm wide, is 0 mm"),
    ],
)
def test_a_size_that_cannot_be_is_told(island: Island, width_mm: float, pad_mm: float, problem: str) -> None:
    with pytest.raises(OwnerError, match=re.escape(problem)):
        wiring_drawings(own(island), island, width_mm, pad_mm)


# --- the figures


def test_a_layer_takes_most_from_the_largest_capacitor() -> None:
    assert seen_pf(22, 0) == 22
    shares = [seen_pf(capacitor, 0.1) / capacitor for capacitor in (2.2, 4.7, 10, 22)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.95
    assert shares[-1] == pytest.approx(50 / 72, abs=0.01), "50 pF of film under a foot of 15 mm in series with 22 pF"


def test_the_two_largest_stay_apart_under_the_thickest_layer(island: Island) -> None:
    seen = [seen_pf(own(island).capacitor_pf[figure], 0.2) for figure in FIGURES]
    assert all(larger / smaller > 1.5 for smaller, larger in itertools.pairwise(sorted(seen)))


def test_a_foot_is_drawn_where_a_figure_needs_one(wiring: Wiring, island: Island) -> None:
    foot = draw_foot(wiring)
    assert ("figure-foot.svg" in wiring_drawings(wiring, island)) == (foot is not None)
    if wiring.figure_method is FigureMethod.CAPACITOR:
        assert foot is not None
        assert {f"{wiring.capacitor_pf[figure]:g} pF" for figure in FIGURES} <= set(words(foot))
    elif wiring.figure_method is FigureMethod.RAILS:
        assert foot is not None
        coloured = [each for each in root(foot).iter(f"{SVG}path") if each.get("class") == "box pin-3"]
        assert len(coloured) == sum(len(code) for code in RAIL_CODES.values())
    else:
        assert foot is None


# --- all of them


OVERLAPS = """
const found = [];
for (const drawing of document.querySelectorAll("div")) {
  const paper = drawing.querySelector("svg").getBoundingClientRect();
  for (const [layer, cut] of [["svg > text", false], ["g > text", true]]) {
    const boxes = [...drawing.querySelectorAll(layer)].map(each => [each.textContent, each.getBoundingClientRect()]);
    boxes.forEach(([text, box], number) => {
      const tell = problem => found.push([drawing.id, text, problem]);
      const off = box.left < paper.left || box.right > paper.right || box.top < paper.top || box.bottom > paper.bottom;
      if (off && !cut) tell("is off the paper");
      for (const [other, beside] of boxes.slice(0, number)) {
        const wide = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
        const high = Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top);
        if (wide > 1 && high > 0.4 * Math.min(box.height, beside.height)) tell("lies over " + other);
      }
    });
  }
}
document.body.innerHTML = "<pre></pre>";
document.querySelector("pre").textContent = JSON.stringify(found);
"""
"""In a browser's own letters; the boxes of lines that are set close overlap a little."""


def browse(*arguments: str) -> str:
    chromium = shutil.which("chromium")
    assert chromium, "chromium is missing: apt-get install chromium"
    headless = (chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer")
    return subprocess.run([*headless, *arguments], capture_output=True, text=True, check=True, timeout=60).stdout


def long_names(tmp_path: Path) -> dict[str, str]:
    """Another board on four chips, its fields and chips called at length."""
    texts = [BOARD.read_text(encoding="utf-8"), WIRINGS["four chips, rails and colour pads"]]
    for word, longer in (
        ("mountain", "mountain-of-the-lost-souls"),
        ("statue", "sunken-statue"),
        ("coast", "long-coast"),
    ):
        texts = [re.sub(rf"\b{word}(?=-[nesw]|\b(?=[.\]]))", longer, text) for text in texts]
    board = tmp_path / "board.toml"
    board.write_text(texts[0], encoding="utf-8")
    other = read_island(board)
    assert "mountain-of-the-lost-souls-ne" in {spot.field for spot in other.spots}
    return wiring_drawings(load(texts[1], other, tmp_path), other)


@pytest.mark.browser
def test_no_text_lies_over_another_or_off_the_paper(island: Island, tmp_path: Path) -> None:
    drawings = {which: wiring_drawings(load(text, island, tmp_path), island) for which, text in WIRINGS.items()}
    drawings["long names"] = long_names(tmp_path)
    page = ['<!doctype html><meta charset="utf-8"><body>']
    for which, each in drawings.items():
        page += [f'<div id="{which}: {name}">{svg}</div>' for name, svg in each.items()]
    path = tmp_path / "drawings.html"
    path.write_text("\n".join([*page, f"<script>{OVERLAPS}</script>"]), encoding="utf-8")
    shown = re.search(r"<pre>(.*)</pre>", browse("--dump-dom", path.as_uri()), re.DOTALL)
    assert shown
    assert json.loads(html.unescape(shown[1])) == []


@pytest.mark.browser
def test_a_browser_prints_a_sheet_on_one_page_in_true_size(island: Island, tmp_path: Path) -> None:
    sheet, pdf = tmp_path / "sheet.svg", tmp_path / "sheet.pdf"
    sheet.write_text(PadBoard(island, own(island)).draw_sheets()[0], encoding="utf-8")
    browse(f"--print-to-pdf={pdf}", sheet.as_uri())
    content = pdf.read_bytes()
    boxes = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", content)
    assert [tuple(float(side) * 25.4 / 72 for side in box) for box in boxes] == [pytest.approx((210, 297), abs=0.2)]
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    drawing = next(text for text in map(inflated, streams) if b"110 284 l" in text)
    page = re.match(rb"([\d.]+) 0 0 ", drawing)
    scaled = re.findall(rb"\n([\d.]+) 0 0 [\d.]+ [\d.-]+ [\d.-]+ cm\n", drawing.partition(b"110 284 l")[0])
    assert page
    assert float(scaled[-1]) * float(page[1]) * 25.4 / 72 == pytest.approx(1, abs=0.002), "0.2 mm in 100"


def inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_the_same_wiring_gives_the_same_drawings(wiring: Wiring, island: Island) -> None:
    assert wiring_drawings(wiring, island) == wiring_drawings(wiring, island)


def test_the_guide_s_drawings_are_those_of_the_wiring(island: Island) -> None:
    drawn = wiring_drawings(own(island), island)
    kept = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in drawn}
    assert kept == drawn, "draw them anew: volcano wiring --output docs"


def test_the_command_draws_an_owner_s_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "mine.toml"
    copy.write_text(OWN.replace("star = 5 ", "star = 12 "), encoding="utf-8")
    folder = tmp_path / "drawings"
    assert main(["wiring", "--wiring", str(copy), "--output", str(folder), "--pad-mm", "30"]) == 0
    written = sorted(path.name for path in folder.iterdir())
    sheets = [f"pad-sheet-{number}.svg" for number in range(1, 5)]
    assert written == sorted(["figure-foot.svg", "pads.svg", "wiring.svg", *sheets])
    assert capsys.readouterr().out.split() == [
        str(folder / name) for name in ("wiring.svg", "pads.svg", *sheets, "figure-foot.svg")
    ]
    rows = {text: y for text, _, y in texts((folder / "wiring.svg").read_text(encoding="utf-8"))}
    assert rows["light star"] == rows["GPIO 12"]


def test_the_wires_are_drawn_as_a_calibration_has_found_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = tmp_path / "calibration.json", tmp_path / "drawings"
    command = ["wiring", "--calibration", str(path), "--output", str(folder)]
    assert main(command) == 2
    assert capsys.readouterr().err == f"volcano: {path}: there is no calibration; volcano calibrate makes one\n"
    path.write_text("{}", encoding="utf-8")
    save_calibration(earlier(path), Calibration("2026-01-01T00:00:00"))
    assert main(command) == 2
    assert f"{path}: is no calibration or a damaged one" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "{}", "drawing moves no file"
    path.unlink()
    places = {"ruin-w": (0x5B, 11), "fire": (0x5D, 0)}
    absent = frozenset({"statue-n", "three"})
    save_calibration(path, Calibration("2026-01-02T03:04:05", places=places, absent=absent))
    assert main(command) == 0
    pads = texts((folder / "pads.svg").read_text(encoding="utf-8"))
    for pad, electrode in (("ruin-w", "11"), ("fire", "0")):
        _, x, y = next(each for each in pads if each[0] == pad)
        assert electrode in [text for text, at_x, at_y in pads if at_x == x and 0 < y - at_y < 5]
    assert not absent & {text for text, _, _ in pads}
    assert "MPR121 0x5D" in words((folder / "wiring.svg").read_text(encoding="utf-8"))


def test_a_wrong_wiring_or_folder_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "mine.toml"
    copy.write_text(OWN.replace("star = 5 ", "star = 18 "), encoding="utf-8")
    assert main(["wiring", "--wiring", str(copy), "--output", str(tmp_path / "drawings")]) == 2
    assert re.fullmatch(r"volcano: .*mine\.toml:\d+: lights\.star: GPIO 18 is needed.*\n", capsys.readouterr().err)
    assert main(["wiring", "--output", str(copy / "drawings")]) == 2
    assert re.fullmatch(r"volcano: .*drawings: cannot be made: .*\n", capsys.readouterr().err)
