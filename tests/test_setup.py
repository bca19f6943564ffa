"""The set-up of tools/run with a Python and a pip that only note what they are asked: fast, and without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent / "tools"

PYTHON = r"""#!/bin/sh
case $1 in -m) echo "$*" >>"$HERE/asked" ;; esac
case $1$2 in
    -cimport\ sys*_base_executable*) echo "$HERE/bin/python3 3.12.1 True"; exit ;;
    -mvenv) shift 2; mkdir -p "$1/bin"; cp "$HERE/bin/python3" "$1/bin/python" ;;
    -mpip)
        if [ -e "$HERE/no-network" ]; then echo "no network"; exit 1; fi
        case $3 in
            install) cp "$HERE/bin/volcano" .venv/bin/volcano ;;
        esac
        ;;
esac
"""

VOLCANO = r"""#!/bin/sh
echo "volcano $*"
case "$*" in
    "sounds check") [ -e "$HERE/sounds" ] ;;
    "sounds build") [ ! -e "$HERE/full-disk" ] && touch "$HERE/sounds" ;;
esac
"""


class Checkout:
    """A checkout in a folder with a space in its name, and what its set-up asked of Python."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "Die Insel"
        (home / "bin").mkdir(parents=True)
        for name, script in (("python3", PYTHON), ("volcano", VOLCANO)):
            program = home / "bin" / name
            program.write_text(script, encoding="ascii")
            program.chmod(0o755)
        (home / "sounds").touch()
        self.folder.mkdir()
        (self.folder / "pyproject.toml").write_text("", encoding="ascii")
        (self.folder / "tools").mkdir()
        for name in ("run", "setup.sh"):
            shutil.copy(TOOLS / name, self.folder / "tools" / name)

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.folder / "tools" / "run"), *args],
            cwd="/",
            env={"PATH": f"{self.home}/bin:{os.environ['PATH']}", "HERE": str(self.home), "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def asked(self) -> list[str]:
        """What Python was asked since the last question, by its first words."""
        note = self.home / "asked"
        asked = note.read_text(encoding="utf-8").splitlines() if note.exists() else []
        note.unlink(missing_ok=True)
        return [" ".join(line.split()[:3]) for line in asked]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "home")


INSTALL = "-m pip install"


def made(asked: list[str]) -> bool:
    return any(line.startswith("-m venv") for line in asked)


def test_the_first_start_sets_up_and_passes_the_arguments_on(checkout: Checkout) -> None:
    done = checkout.run("--no-browser", "--port", "8000")
    assert (done.returncode, done.stdout) == (0, "volcano play --no-browser --port 8000\n")
    asked = checkout.asked()
    assert made(asked)
    assert INSTALL in asked
    assert "tools/run: making .venv with Python 3.12.1" in done.stderr


def test_the_second_start_asks_nothing_and_says_nothing(checkout: Checkout) -> None:
    checkout.run()
    checkout.asked()
    (checkout.home / "no-network").touch()
    done = checkout.run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "volcano play\n", "")
    assert checkout.asked() == []


def test_a_failure_shows_pip_s_words_and_the_log_and_the_next_start_begins_anew(checkout: Checkout) -> None:
    (checkout.home / "no-network").touch()
    failed = checkout.run()
    assert failed.returncode == 1
    assert "no network" in failed.stderr
    assert f"{checkout.folder}/.venv/set-up.log" in failed.stderr.splitlines()[-1]
    half_built = checkout.folder / ".venv" / "half-built"
    half_built.touch()
    (checkout.home / "no-network").unlink()
    assert checkout.run().returncode == 0
    assert not half_built.exists()


def test_a_changed_pyproject_is_installed_into_the_same_environment(checkout: Checkout) -> None:
    checkout.run()
    checkout.asked()
    (checkout.folder / "pyproject.toml").write_text("# another version\n", encoding="ascii")
    assert checkout.run().returncode == 0
    asked = checkout.asked()
    assert INSTALL in asked
    assert not made(asked)


def test_missing_sounds_are_made_before_the_game(checkout: Checkout) -> None:
    (checkout.home / "sounds").unlink()
    done = checkout.run()
    assert done.stdout == "volcano play\n"
    assert done.stderr.endswith("tools/run: making the voices and sounds: a few minutes, once\nvolcano sounds build\n")
    assert checkout.run().stderr == ""


def test_without_its_sounds_the_game_is_played_all_the_same(checkout: Checkout) -> None:
    (checkout.home / "sounds").unlink()
    (checkout.home / "full-disk").touch()
    done = checkout.run()
    assert (done.returncode, done.stdout) == (0, "volcano play\n")
    assert done.stderr.endswith("tools/run: some sounds are missing; playing without them\n")


def test_a_moved_checkout_gets_a_new_environment(checkout: Checkout) -> None:
    checkout.run()
    checkout.asked()
    checkout.folder = checkout.folder.rename(checkout.home / "moved")
    assert checkout.run().returncode == 0
    assert made(checkout.asked())


@pytest.mark.parametrize("tool", ["run", "test"])
def test_help_sets_nothing_up(tool: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(TOOLS / tool), "--help"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=10
    )
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: tools/{tool} ")
    assert done.stderr == ""
