"""Data files in TOML: typed, checked, and wrong in words with file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.config import (
    ConfigError,
    Configuration,
    Table,
    config_file,
    load_configuration,
    read_table,
    state_folder,
)
from firmware.terms import VolcanoError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without anything in it."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "STATE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def written(folder: Path, text: str) -> Path:
    path = folder / "volcano.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def table(folder: Path, text: str) -> Table:
    return read_table(written(folder, text))


def refusal(folder: Path, text: str) -> str:
    """What is said of a configuration; one line, the file first."""
    path = written(folder, text)
    with pytest.raises(ConfigError) as refused:
        load_configuration(path)
    told = str(refused.value)
    assert "\n" not in told
    assert told.startswith(str(path))
    return told.removeprefix(str(path))


# --- volcano.toml


def test_without_a_file_everything_has_a_default() -> None:
    assert load_configuration() == Configuration()
    assert Configuration().language == "de"


def test_every_key_is_optional(tmp_path: Path) -> None:
    assert load_configuration(written(tmp_path, "")) == Configuration()
    assert load_configuration(written(tmp_path, "volume = 5\n")) == Configuration(volume=5)


def test_every_key_is_read_and_files_lie_beside_it(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'language = "en"\nvolume = 1\n[sound]\ncard = "Headphones"\nbuffer = 1024\n'
        '[files]\nwiring = "my-wiring.toml"\nboard = "/etc/board.toml"\ntuning = "t/tuning.toml"\n'
        '[page]\nlisten = "0.0.0.0"\nport = 80\nnames = ["Volcano.example.org"]\n',
    )
    assert load_configuration(path) == Configuration(
        language="en",
        volume=1,
        card="Headphones",
        buffer=1024,
        wiring=tmp_path / "my-wiring.toml",
        board=Path("/etc/board.toml"),
        tuning=tmp_path / "t" / "tuning.toml",
        listen="0.0.0.0",  # noqa: S104 - nothing is served
        port=80,
        names=("volcano.example.org",),
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('language = "fr"\n', ":1: language: must be one of de, en, is 'fr'"),
        ("language = 3\n", ":1: language: must be a text, is 3"),
        ("\n# loud\nvolume = 9\n", ":3: volume: must be from 1 to 5, is 9"),
        ("volume = 3.5\n", ":1: volume: must be a whole number, is 3.5"),
        ("volume = true\n", ":1: volume: must be a whole number, is True"),
        ('[sound]\ncard = ""\nbuffer = "big"\n', ":3: sound.buffer: must be a whole number, is 'big'"),
        ("[sound]\nbuffer = 1\n", ":2: sound.buffer: must be from 256 to 4096, is 1"),
        ("sound = 3\n", ":1: sound: must be a table, is 3"),
        ("volume = 3\nloudness = 3\n", ":2: loudness: is not a key here; known: files, language, page, sound, volume"),
        (
            '[page]\nlisten = "everywhere"\n',
            ":2: page.listen: must be an address such as 127.0.0.1 or 0.0.0.0, is 'everywhere'",
        ),
        ("[page]\nport = 0\n", ":2: page.port: must be from 1 to 65535, is 0"),
        ("[page]\nnames = [8]\n", ":2: page.names: each item must be a text, one is 8"),
        ("[files]\nmap = 'x'\n", ":2: files.map: is not a key here; known: board, tuning, wiring"),
        ("[lights]\nstar = 3\n", ":1: lights: is not a key here; known: files, language, page, sound, volume"),
        ("volume = \n", ":1: is not TOML: Invalid value"),
        ("volume = 3\nvolume = 4\n", ":2: is not TOML: Cannot overwrite a value"),
    ],
)
def test_a_wrong_key_is_named_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    assert refusal(tmp_path, text) == told


def test_a_mark_at_the_beginning_as_of_windows_is_no_error(tmp_path: Path) -> None:
    assert load_configuration(written(tmp_path, "\ufeffvolume = 5\r\n")) == Configuration(volume=5)


@pytest.mark.parametrize("endless", ["9" * 5_000, "[" * 100_000], ids=["number", "nesting"])
def test_what_has_no_end_is_not_toml(tmp_path: Path, endless: str) -> None:
    file = tmp_path / "volcano.toml"
    file.write_text(f"volume = {endless}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^[^\n]*volcano\.toml: is not TOML: [^\n]*\Z"):
        read_table(file)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file"):
        load_configuration(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_configuration(tmp_path)
    path = tmp_path / "latin.toml"
    path.write_bytes("card = 'Höhle'\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        load_configuration(path)


def test_an_error_is_one_that_a_user_can_act_on_and_a_value_error() -> None:
    assert issubclass(ConfigError, VolcanoError)
    assert issubclass(ConfigError, ValueError)


# --- where things lie


def test_the_personal_file_counts_before_the_system_s(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = Path("/etc/volcano.toml").exists()
    personal = home / ".config" / "volcano.toml"
    assert config_file() == (Path("/etc/volcano.toml") if system else personal)
    written(personal.parent, "volume = 2\n")
    assert config_file() == personal
    assert load_configuration().volume == 2
    other = home / "elsewhere"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(other))
    written(other, "volume = 4\n")
    assert load_configuration().volume == 4


def test_the_state_lies_where_systemd_says_else_in_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert state_folder() == home / ".local" / "state" / "volcano"
    monkeypatch.setenv("XDG_STATE_HOME", "/tmp/state")  # noqa: S108 - only a name
    assert state_folder() == Path("/tmp/state/volcano")  # noqa: S108 - only a name
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/volcano:/var/lib/other")
    assert state_folder() == Path("/var/lib/volcano")


# --- tables


def test_values_are_taken_by_type(tmp_path: Path) -> None:
    read = table(tmp_path, "a = 1\nb = 2.5\nc = true\nd = [1, 2]\ne = [1, 2.5]\nf = 'x'\n")
    assert (read.whole("a"), read.number("a"), read.number("b")) == (1, 1.0, 2.5)
    assert read.flag("c") is True
    assert read.list_of("d", int) == [1, 2]
    assert read.list_of("e", float) == [1.0, 2.5]
    assert read.text("f") == "x"
    assert list(read) == ["a", "b", "c", "d", "e", "f"]
    assert "a" in read
    assert "z" not in read
    read.done()


@pytest.mark.parametrize(
    ("take", "told"),
    [
        (lambda read: read.whole("none"), r":1: none: is missing; it must be a whole number"),
        (lambda read: read.whole("text"), r":2: text: must be a whole number, is 'x'"),
        (lambda read: read.flag("one"), r":1: one: must be true or false, is 1"),
        (lambda read: read.number("yes"), r":4: yes: must be a number, is True"),
        (lambda read: read.whole("one", low=2), r":1: one: must be from 2, is 1"),
        (lambda read: read.number("one", high=0.5), r":1: one: must be at most 0\.5, is 1\.0"),
        (lambda read: read.list_of("list", int), r":3: list: each item must be a whole number, one is 'b'"),
        (lambda read: read.list_of("list", str, size=3), r":3: list: must have 3 items, has 2"),
        (lambda read: read.list_of("one", str), r":1: one: must be a list, is 1"),
        (lambda read: read.table("one"), r":1: one: must be a table, is 1"),
        (lambda read: read.table("inner").whole("deep"), r":6: inner\.deep: must be a whole number, is 'y'"),
        (lambda read: read.table("inner").whole("none"), r":5: inner\.none: is missing"),
        (lambda read: read.tables("many")[0].whole("x"), r":7: many\.0\.x: is missing"),
        (lambda read: read.tables("many")[1].whole("x"), r":9: many\.1\.x: is missing"),
        (lambda read: read.tables("many")[1].whole("n"), r":10: many\.1\.n: must be a whole number, is 'z'"),
    ],
)
def test_what_is_wrong_in_a_table_is_named(tmp_path: Path, take: object, told: str) -> None:
    read = table(
        tmp_path,
        "one = 1\ntext = 'x'\nlist = ['a', 'b']\nyes = true\n[inner]\ndeep = 'y'\n[[many]]\nn = 1\n[[many]]\nn = 'z'\n",
    )
    assert callable(take)
    if "list" in told and "whole" in told:
        read.values["list"] = [1, "b"]
    with pytest.raises(ConfigError, match=told):
        take(read)


def test_lists_of_tables_below_lists_of_tables(tmp_path: Path) -> None:
    read = table(tmp_path, "[[a]]\n[[a.b]]\nn = 1\n[[a.b]]\nn = 2\n[[a]]\n[a.c]\nn = 3\n[[a.b]]\nn = 4\n")
    one, two = read.tables("a")
    for found, line in (
        (one.tables("b")[0], 3),
        (one.tables("b")[1], 5),
        (two.table("c"), 8),
        (two.tables("b")[0], 10),
    ):
        assert f":{line}: " in str(found.error("n", "is wrong"))


def test_an_optional_table_may_be_absent(tmp_path: Path) -> None:
    read = table(tmp_path, "")
    assert list(read.table("sound", optional=True)) == []
    with pytest.raises(ConfigError, match="sound: is missing"):
        read.table("sound")
