"""The house in order: who may import whom, what must lie where, what the pages say about the code."""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import firmware
from firmware import unit_events
from firmware.game.insel import events
from firmware.game.kernel import Event
from firmware.game.registry import load_title
from firmware.terms import FIGURES, SYMBOLS, TOUCHES, SoundName

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# --- who may import whom

GAME = ("terms", "config", "game.kernel")
UNIT = ("unit_batteries", "unit_events", "unit_play", "unit_outages", "unit_script", "unit_state")
STAGE = (
    *("terms", "config", "catalogue", "speech", "unit", "unit_events", "unit_state", "journal"),
    *("game.kernel", "game.registry"),
)
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "terms": (),
    "config": ("terms", "disk"),
    "disk": (),
    "catalogue": ("terms", "config"),
    "identity": ("terms",),
    "speech": ("terms",),
    "journal": ("terms", "disk", "unit_events", "game.kernel"),
    "writer": ("unit_events", "game.kernel", "journal"),
    "unit_events": ("terms", "game.kernel"),
    "unit_script": ("terms",),
    "unit_batteries": (),
    "unit_play": ("terms", "game.kernel"),
    "unit_outages": ("terms",),
    "unit_state": ("terms", "speech", "unit_batteries", "unit_events", "game.kernel"),
    "unit": ("terms", "speech", "identity", *UNIT, "game.kernel"),
    "game.kernel": ("terms",),
    "game.registry": (*GAME, "game"),
    "game": GAME,  # each game is a folder of its own and knows no other
    "hal": ("terms", "config", "disk", "hal"),
    "audio": ("terms", "config", "audio"),
    # faults are told in the words of the self-test
    "page": ("terms", "config", "unit_events", "unit_script", "page"),
    "loop": (*STAGE, "console", "hal.ports", "audio.player"),  # the page's rows are the console's
    "console": (*STAGE, "hal.ports", "audio.player"),
    "workshop": ("terms", "config", "catalogue", "game.registry", "hal", "audio"),
    "check": ("terms", "config", "identity", "game.registry", "hal", "audio", "workshop", "check"),
    "calibrate": ("terms", "config", "unit_script", "hal", "workshop", "check.command", "calibrate"),
    "service": ("terms", "config", "game.kernel", "game.registry", "hal.wiring"),
    # the owner's wires and island are drawn
    "owner": (*GAME, "game", "owner", "hal.calibration", "hal.registers", "hal.wiring", "page.drawing"),
    "balance": ("terms", "catalogue", "console", "game.insel", "game.registry", "balance"),
    "start": ("",),
    "cli": ("",),
}
"""Module or folder -> what of the firmware it may know; the longest name that fits decides."""

ONLY_IN: dict[str, tuple[str, ...]] = {
    "gpiozero": ("hal.gpio", "hal.emulated_pins"),
    "lgpio": ("hal.gpio",),
    "fluent": ("catalogue",),
    "smbus2": ("hal.bus",),
    "adafruit_mpr121": ("hal.mpr121",),
    "pygame": ("audio.sdl",),
    "numpy": ("audio.build", "audio.cries", "audio.effects", "audio.mastering", "audio.synthesis"),
    "py_nanotts": ("audio.engines",),
    "matplotlib": ("balance.plots",),
    "distributed": ("balance.workers",),
    "starlette": ("page.server",),
    "uvicorn": ("page.server",),
    "asyncio": ("page.server",),
    "concurrent": ("audio.build", "balance.workers"),
    "multiprocessing": ("balance.workers",),
    "time": ("loop", "start", "cli"),
    "random": (),
    "secrets": (),
    "datetime": (),
}
"""Packages from outside, and what of the standard library is no common property -> the modules that may load it."""

CORE = ("terms", "identity", "speech", "unit", *UNIT, "game")
CORE_LIBRARY = (
    *("__future__", "bisect", "collections", "dataclasses", "enum", "functools", "heapq", "importlib", "itertools"),
    *("json", "math", "operator", "pathlib", "re", "types", "typing"),
)
"""The core has no clock, no I/O and no chance of its own; its data files it reads through importlib.resources."""


class Import(NamedTuple):
    """`module` (without ``firmware.``) imports `name` in `line`; only for annotations if `typing`."""

    module: str
    name: str
    line: int
    typing: bool

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.name}"


def under(name: str, *roofs: str) -> bool:
    """Whether `name` is one of the modules or in one of the folders."""
    return any(not roof or name == roof or name.startswith(f"{roof}.") for roof in roofs)


def sources() -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / "firmware").rglob("*.py")):
        parts = path.relative_to(ROOT / "firmware").with_suffix("").parts
        yield ".".join(parts).removesuffix("__init__").removesuffix("."), path


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports() -> tuple[Import, ...]:
    return tuple(find_imports())


def find_imports() -> Iterator[Import]:
    modules = {name for name, _ in sources()}
    for module, path in sources():
        typing = {
            each
            for node in nodes(path)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for each in ast.walk(node)
        }
        for node in nodes(path):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
                source = f"{node.module}"
                inside = [f"{source}.{alias.name}" for alias in node.names]
                known = [name for name in inside if name.removeprefix("firmware.") in modules]
                names = known or [source]
            else:
                continue
            yield from (Import(module, name, node.lineno, node in typing) for name in names)


def ours() -> Iterator[Import]:
    for found in imports():
        if under(found.name, "firmware") and found.name != "firmware":  # the version is everybody's
            yield found._replace(name=found.name.removeprefix("firmware."))


def permitted(module: str) -> tuple[str, ...]:
    """What a module may know, and its own folder if it belongs to a game."""
    roof = max((roof for roof in MAY_IMPORT if under(module, roof)), key=len, default=None)
    assert roof is not None, f"firmware/{module}: a new room; say in MAY_IMPORT what it may know"
    home = module.split(".")
    return (*MAY_IMPORT[roof], *([".".join(home[:2])] if roof == "game" and len(home) > 2 else []))


def test_dependencies_point_inward() -> None:
    found = list(ours())
    assert len(found) > 20, "the rule looks at nothing"
    assert [str(each) for each in found if not under(each.name, *permitted(each.module))] == []


def test_what_comes_from_outside_stays_in_its_room() -> None:
    strangers = []
    for found in imports():
        package = found.name.split(".")[0]
        if package in ONLY_IN:
            if not found.typing and not under(found.module, *ONLY_IN[package]):
                strangers.append(str(found))
        elif package not in sys.stdlib_module_names | {"firmware"}:
            strangers.append(f"{found}: unknown in ONLY_IN")
    assert strangers == []


def test_the_core_is_pure() -> None:
    impure = [
        str(found)
        for found in imports()
        if under(found.module, *CORE) and not under(found.name, "firmware", *CORE_LIBRARY)
    ]
    for module, path in sources():
        if under(module, *CORE):
            for node in nodes(path):
                match node:
                    case ast.Call(func=ast.Name(id="open" | "print" | "input" | "exec" | "eval" as name)):
                        impure.append(f"{module}:{node.lineno} calls {name}")
    assert impure == []


# --- what must lie where

PAGES = ("README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml")
FOLDERS = ("firmware", "docs", "sounds", "systemd", "tests", "tools", ".ci")
SCRIPTS = ("tools/run", "tools/test", ".ci/run")
ROOMS = ("firmware/game", "firmware/hal", "firmware/audio", "firmware/page")


def test_the_top_level_is_complete() -> None:
    empty = [name for name in (*FOLDERS, *ROOMS) if not any(path.is_file() for path in (ROOT / name).rglob("*"))]
    missing = [name for name in (*PAGES, *SCRIPTS) if not (ROOT / name).is_file()]
    assert empty + missing == []  # git keeps no empty folder


def test_scripts_can_be_executed() -> None:
    assert [name for name in SCRIPTS if not os.access(ROOT / name, os.X_OK)] == []


def test_one_version_everywhere() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(\d[^\]]*)\]", changelog, re.MULTILINE)
    assert newest
    assert {PROJECT["version"], newest[1]} == {firmware.__version__}


SKIPPED = """
import pytest

@pytest.mark.skip(reason="no chip")
def test_of_a_chip():
    pass

@pytest.mark.xfail(reason="a known fault", strict=True)
def test_of_a_known_fault():
    raise AssertionError
"""


@pytest.mark.parametrize(("ci", "closing"), [("true", "1 xfailed, 1 error in"), ("", "1 skipped, 1 xfailed in")])
def test_a_skipped_test_has_failed_in_ci(tmp_path: Path, ci: str, closing: str) -> None:
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    (tmp_path / "test_chip.py").write_text(SKIPPED, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, env=os.environ | {"CI": ci}, capture_output=True, text=True, check=False)
    assert closing in done.stdout.splitlines()[-1]
    assert done.returncode == (1 if ci else 0)


# --- what the pages say

TEXT = {"", ".css", ".ftl", ".html", ".js", ".md", ".py", ".service", ".sh", ".svg", ".toml"}
HOSTS = {
    "127.0.0.1",
    "localhost",
    "example.org",
    "keepachangelog.com",
    "semver.org",
    "www.nxp.com",
    "www.w3.org",
}
"""Hosts that a text may name: this machine, nobody (RFC 2606), and pages that stay."""


def texts() -> Iterator[tuple[Path, str]]:
    for name in FOLDERS:
        for path in sorted((ROOT / name).rglob("*")):
            if path.is_file() and path.suffix in TEXT and "built" not in path.parts:
                yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
    for name in PAGES:
        yield Path(name), (ROOT / name).read_text(encoding="utf-8")


def sightings(pattern: str) -> Iterator[tuple[str, re.Match[str]]]:
    for path, text in texts():
        for number, line in enumerate(text.splitlines(), 1):
            yield from ((f"{path}:{number}: {found[0]}", found) for found in re.finditer(pattern, line))


def test_nothing_is_left_for_later() -> None:
    assert [where for where, _ in sightings(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b")] == []


def test_no_path_of_somebody_s_machine() -> None:
    assert [where for where, _ in sightings(r"(?<![\w./~*-])/(?:home|root|work|Users)/")] == []


def test_pages_that_are_named_exist() -> None:
    pages = {path.name for path, _ in texts() if path.suffix == ".md"}
    assert [where for where, found in sightings(r"[\w-]+\.md\b") if found[0] not in pages] == []


def test_one_thing_is_told_in_the_singular() -> None:
    """Numbers of things are told by `counted`; of a share of them ("2 of 3 chips") nothing is said here."""
    told, plurals = 0, []
    for module, path in sources():
        for node in nodes(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "counted":
                told += 1
            elif isinstance(node, ast.JoinedStr):
                text = "".join(
                    f"{{{ast.unparse(part.value)}}}" if isinstance(part, ast.FormattedValue) else ast.literal_eval(part)
                    for part in node.values
                )
                found = re.findall(r"(?<!of )(?<!of the )\{(?:len|sum)\([^{}]*\)\} [a-z]+s\b", text)
                plurals += [f"{module}:{node.lineno}: {each}" for each in found]
    assert plurals == []
    assert told > 10, "the rule looks at nothing"


def test_links_lead_somewhere() -> None:
    broken = []
    for path, text in texts():
        if path.suffix == ".md":
            for target in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text):
                link = "".join(target).split("#")[0]
                if link and "://" not in link and not (ROOT / path.parent / link).exists():
                    broken.append(f"{path}: {link}")
    assert broken == []


def test_only_hosts_that_stay_are_named() -> None:
    assert [where for where, found in sightings(r"https?://([\w.-]+)") if found[1] not in HOSTS] == []


def console_table(start: str, end: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words in the first and in the second column of the console page's rows between two headings."""
    page = (ROOT / "docs/console.md").read_text(encoding="utf-8")
    for line in page[page.index(start) : page.index(end) if end else None].splitlines():
        if line.startswith("| `"):
            first, second = (re.findall(r"`(\w+)`", column) for column in line.split("|")[1:3])
            yield first, second


def test_the_console_page_names_every_event_with_its_fields() -> None:
    table = console_table("### Events of the unit", "### Reasons")
    told = {name: tuple(columns) for names, columns in table for name in names}
    for module in (unit_events, events):
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, Event) and each.__module__ == module.__name__:
                assert told.get(each.name) == tuple(column for _, column in each.columns), each.name


def test_the_console_page_names_every_draw() -> None:
    told = {kind for kinds, _ in console_table("## Draws of Die Insel", "") for kind in kinds}
    assert told == set(load_title("insel").game.chances)


def test_the_console_page_names_every_word_of_the_input_and_the_cues() -> None:
    words = set(re.findall(r"`([\w-]+)`", (ROOT / "docs/console.md").read_text(encoding="utf-8")))
    assert {*FIGURES, *TOUCHES, *SYMBOLS, *SoundName} - words == set()


def test_the_pictures_are_drawn_from_the_data() -> None:
    drawings = runpy.run_path(str(ROOT / "tools/drawings.py"))
    for name, draw in drawings["PICTURES"].items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == draw(), f"run tools/drawings.py: {name} is old"
