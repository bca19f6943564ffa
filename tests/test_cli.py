"""The command `volcano`: exit status, one line per problem, no traceback."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from table import ARIKI, TWO

from firmware import __version__
from firmware.cli import main
from firmware.journal import checked_line, parse_line

SCRIPT = "wait 30\n" + TWO + ARIKI + "red ruin-n explore\nwait 30\nwhite jungle-s explore\nwait 30\n"
VOLCANO = (sys.executable, "-c", "import sys; from firmware.cli import main; sys.exit(main(sys.argv[1:]))")


class Shell:
    """The command run in this process, its streams caught."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, caught: pytest.CaptureFixture[bytes], folder: Path) -> None:
        self.monkeypatch, self.caught, self.folder = monkeypatch, caught, folder
        self.out, self.err = "", ""

    def run(self, *arguments: str | Path, typed: str | bytes = "") -> int:
        data = typed if isinstance(typed, bytes) else typed.encode()
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        status = main([str(each) for each in arguments])
        sys.stdout.flush()
        caught = self.caught.readouterr()
        self.out, self.err = caught.out.decode(), caught.err.decode()
        assert "Traceback" not in self.err
        return status

    def console(self, *arguments: str | Path, typed: str | bytes = SCRIPT) -> list[dict[str, object]]:
        """Rows of a console that nothing disturbs."""
        assert self.run("console", "--json", *arguments, typed=typed) == 0
        assert self.err == ""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> Shell:
    return Shell(monkeypatch, capfdbinary, tmp_path)


# --- console


def test_the_console_prints_one_object_a_line(shell: Shell) -> None:
    rows = shell.console()
    assert rows[0] == {"t": 0.0, "event": "powered_on"}
    assert any(row.get("event") == "story" for row in rows)


def test_without_json_it_is_text(shell: Shell) -> None:
    assert shell.run("console", typed=SCRIPT) == 0
    assert "* powered_on" in shell.out
    assert "\x1b" not in shell.out, "no colours into a file"
    assert not shell.out.lstrip().startswith("{")


def test_options_of_the_console(shell: Shell) -> None:
    plain = shell.console()
    assert shell.console("--seed", "0", "--language", "de", "--battery", "full", "--game", "insel") == plain
    assert shell.console("--seed", "1") != plain
    assert [row["text"] for row in shell.console("--language", "en") if row.get("line") == "welcome"] == [
        "Welcome to the island!"
    ]
    low = shell.console("--battery", "low")
    assert low[1] == {"t": 0.0, "event": "battery_low"}


@pytest.mark.parametrize(
    ("arguments", "blamed"),
    [
        (("console", "--language", "fr"), "fr"),
        (("console", "--seed", "seven"), "seven"),
        (("console", "--frobnicate"), "--frobnicate"),
        (("erupt",), "erupt"),
        ((), "COMMAND"),
    ],
)
def test_a_wrong_argument_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], blamed: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert blamed in line
    assert line.endswith("--help")


def test_a_state_nested_without_end_is_no_state(shell: Shell) -> None:
    state = shell.folder / "state.json"
    state.write_text("[" * 100_000, encoding="utf-8")
    assert shell.run("console", "--state", state) == 2
    (line,) = shell.err.splitlines()
    assert line.startswith("volcano: state: is not JSON")


def test_a_closed_standard_input_is_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["console", "--json"]) == 0


def test_bad_lines_are_one_line_each_on_standard_error_and_status_2(shell: Shell) -> None:
    bad = "wait 30\npurple beach-s explore\nwhite nowhere explore\nwhite beach-s dance\nchance spawn unicorn\n"
    assert shell.run("console", "--json", typed=bad + "white beach-s explore\n") == 2
    assert len(shell.err.splitlines()) == 4
    assert '"game_started"' in shell.out


def test_bytes_that_are_no_text_are_a_bad_line(shell: Shell) -> None:
    assert shell.run("console", "--json", typed=b"wait 30\n\xff\xfe\x00\nwhite beach-s explore\n") == 2
    assert len(shell.err.splitlines()) == 1
    assert '"game_started"' in shell.out


def test_an_empty_input_is_a_greeting(shell: Shell) -> None:
    assert [row.get("event") or row["cue"] for row in shell.console(typed="")] == ["powered_on", "symbols", "sound"]


def test_the_last_line_needs_no_line_end_and_lines_may_end_as_on_windows(shell: Shell) -> None:
    assert shell.console(typed="wait 30\r\nwhite beach-s explore") == shell.console(
        typed="wait 30\nwhite beach-s explore\n"
    )


def test_a_state_goes_on_in_another_run(shell: Shell) -> None:
    *_, state = shell.console(typed=SCRIPT + "state\n")
    assert state["event"] == "state"
    file = shell.folder / "state.json"
    file.write_text(json.dumps(state) + "\n", encoding="utf-8")
    *_, again = shell.console("--state", file, typed="state\n")
    assert {**again, "t": 0} == {**state, "t": 0}
    assert any(row.get("event") == "relics" for row in shell.console("--state", file, typed="red beach-sw explore"))


@pytest.mark.parametrize("held", [None, "", "{}", "no state", '{"event":"state"}', b"\xff"])
def test_a_wrong_state_file_is_one_line_and_status_2(shell: Shell, held: str | bytes | None) -> None:
    file = shell.folder / "state.json"
    if held is not None:
        file.write_bytes(held if isinstance(held, bytes) else held.encode())
    assert shell.run("console", "--json", "--state", file) == 2
    assert len(shell.err.splitlines()) == 1
    assert shell.err.startswith("volcano: ")
    assert shell.out == ""


def test_wrong_data_files_are_named_with_their_line(shell: Shell) -> None:
    file = shell.folder / "tuning.toml"
    file.write_text("surprise = 1\n", encoding="utf-8")
    assert shell.run("console", "--tuning", file) == 2
    assert len(shell.err.splitlines()) == 1
    assert "tuning.toml:1: " in shell.err
    assert shell.run("console", "--board", shell.folder / "none.toml") == 2
    assert "none.toml: cannot be read" in shell.err


def test_an_unknown_game_is_named(shell: Shell) -> None:
    assert shell.run("console", "--game", "chess") == 2
    assert shell.err == "volcano: no game is called 'chess'; there are: insel\n"


# --- replay


def test_a_record_is_replayed(shell: Shell) -> None:
    file = shell.folder / "game.journal"
    shell.console(
        "--record", file, typed="wait 30\nbutton\nwait 60\nwhite beach-s explore\npower off\npower on\n" + SCRIPT
    )
    assert shell.run("replay", file) == 0
    assert shell.out.splitlines() == [
        f"{file}: insel-intro: 1 contact, the same events",
        f"{file}: insel: 5 contacts, the same events",
    ]
    assert shell.err == ""


def test_a_record_over_a_power_cut_and_from_a_state_is_replayed(shell: Shell) -> None:
    file, state = shell.folder / "game.journal", shell.folder / "state.json"
    rows = shell.console(
        "--record", file, typed=SCRIPT + "power off\npower on\nwait 60\nwhite jungle-s explore\nstate\n"
    )
    assert shell.run("replay", file) == 0
    assert "6 contacts" in shell.out
    state.write_text(json.dumps(rows[-1]), encoding="utf-8")
    shell.console("--record", file, "--state", state, typed="wait 20\nwhite beach-s explore\n")
    assert shell.run("replay", file) == 0
    assert "1 contact," in shell.out


def test_a_record_of_another_game_fails_the_comparison(shell: Shell) -> None:
    file = shell.folder / "game.journal"
    shell.console("--record", file)
    lines = file.read_bytes().splitlines(keepends=True)
    row = parse_line(lines[2])
    row["events"][0]["figure"] = "black"
    file.write_bytes(b"".join([*lines[:2], checked_line(row), *lines[3:]]))
    assert shell.run("replay", file) == 1
    assert "contact 2 of the record led to" in shell.out
    row = parse_line(lines[0])
    row["begun"] = "chess"
    file.write_bytes(b"".join([checked_line(row), *lines[1:]]))
    assert shell.run("replay", file) == 1
    assert "chess" in shell.out


def test_a_damaged_record_is_played_as_far_as_it_is_whole(shell: Shell) -> None:
    file = shell.folder / "game.journal"
    shell.console("--record", file)
    file.write_bytes(file.read_bytes()[:-10])
    assert shell.run("replay", file) == 1
    assert "the last line is torn" in shell.out


def test_what_is_no_record_is_one_line_and_status_2(shell: Shell) -> None:
    for name, held in (("none", None), ("empty", b""), ("foreign", b"hello\n")):
        file = shell.folder / name
        if held is not None:
            file.write_bytes(held)
        assert shell.run("replay", file) == 2
        assert len(shell.err.splitlines()) == 1
        assert str(file) in shell.err


def test_a_record_that_cannot_be_written_is_said_in_one_line(shell: Shell) -> None:
    assert shell.run("console", "--record", shell.folder / "no" / "folder") == 2
    assert "cannot be written: No such file" in shell.err
    full = Path("/dev/full")
    if not full.exists():
        pytest.fail("this system has no /dev/full")
    assert shell.run("console", "--json", "--record", full, typed=SCRIPT) == 2
    assert len(shell.err.splitlines()) == 1
    assert "No space left" in shell.err
    assert '"story"' in shell.out, "the game went on"


# --- the command itself


def test_ctrl_c_is_no_error_even_while_commands_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("firmware.cli._add_other_commands", interrupt)
    assert main(["check"]) == 130


def test_help_and_version(shell: Shell) -> None:
    for arguments in (["--help"], ["console", "--help"], ["replay", "--help"], ["run", "--help"], ["play", "--help"]):
        with pytest.raises(SystemExit) as ended:
            shell.run(*arguments)
        assert ended.value.code == 0
    assert b"KIND OUTCOME" in shell.caught.readouterr().out
    with pytest.raises(SystemExit):
        shell.run("--version")
    assert shell.caught.readouterr().out.decode() == f"volcano {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["console", "--seed", "x"], ["console", "--battery", "new"], ["replay"]]
)
def test_wrong_arguments_are_status_2(shell: Shell, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        shell.run(*arguments)
    assert ended.value.code == 2


# --- as a process of its own


def run(*arguments: str, typed: bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*VOLCANO, *arguments],
        input=typed,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
        cwd=Path(__file__).parent.parent,
    )


def test_the_output_is_the_same_byte_for_byte_in_every_locale() -> None:
    typed = SCRIPT.encode()
    there = run("console", "--json", typed=typed, LC_ALL="C", PYTHONIOENCODING="latin-1", PYTHONHASHSEED="1")
    here = run("console", "--json", typed=typed, LC_ALL="C.UTF-8", PYTHONHASHSEED="2")
    assert (there.returncode, there.stderr) == (0, b"")
    assert there.stdout == here.stdout
    assert "Weiß".encode() in here.stdout


def test_text_on_a_terminal_without_umlauts() -> None:
    ended = run("console", typed=b"wait 30\n\xc3\xa4\n", PYTHONIOENCODING="ascii")
    assert ended.returncode == 2
    assert b"Traceback" not in ended.stderr
    assert b"ready" in ended.stdout


def test_an_output_that_cannot_be_written_is_one_line() -> None:
    script = '"$0" -c "$1" console --json > /dev/full'
    ended = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable, VOLCANO[2]],
        input=b"wait 30\n",
        capture_output=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parent.parent,
    )
    assert ended.returncode == 2
    assert ended.stderr == b"volcano: the output cannot be written: No space left on device\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = '"$0" -c "$1" console --json | head -n 1'
    ended = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable, VOLCANO[2]],
        input=SCRIPT.encode() * 20,
        capture_output=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parent.parent,
    )
    assert ended.stdout == b'{"t": 0.0, "event": "powered_on"}\n'
    assert ended.stderr == b""
