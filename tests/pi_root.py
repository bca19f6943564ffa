"""A Debian root that stands for a Raspberry Pi's card: installed into and booted by systemd under systemd-nspawn.

It is real Debian with real systemd, pip, apt and useradd. What a Pi has and it has not is put in place at the edges:
`EDGES` says what.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
ROOT = Path(__file__).parent.parent
EDGES = {
    "python3-lgpio": "a package of Raspberry Pi OS: a module that can be imported, in a package source on the card",
    "config.txt": "as Raspberry Pi OS has it, in /boot/firmware; no firmware reads it",
    "the network": "the wheels were fetched before, pip finds them in a folder",
    "chips and pins": "emulated (volcano run --mock), moved through a socket by emulated_hands.py",
    "the sound card": "there is none: cues last as long as they would be heard; the voices are left out (--no-sounds)",
    "udev and modules": "neither runs in a container: the rules are verified, and nobody has made devices by them",
    "the Pi's watchdog": "there is none: systemd reads that it shall feed one",
    "the checkout": "mounted read-only",
}

CONFIG_TXT = """\
# For more options and information see the manual
dtparam=audio=on
camera_auto_detect=1

[cm4]
otg_mode=1

[all]
"""

PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
PACKAGES = ("systemd", "systemd-sysv", "udev", "python3", "python3-venv", "alsa-utils", "e2fsprogs", "openssh-client")
DIET = (
    '--aptopt=Acquire::Languages "none"',
    *(f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("man", "locale", "doc", "i18n")),
)
HANDS = Path("/opt/volcano-test/emulated_hands.py")
DROP_IN = f"""\
[Service]
ExecStart=
ExecStart=/opt/volcano/venv/bin/python {HANDS} run --mock
"""
NSPAWN_S_OWN = "Attempted to remove disk file system under"
"""How systemd-nspawn 252 ends where no systemd runs outside; harmless."""
READY_S = 60.0
"""Patience with a loaded machine; what is measured is printed."""


def cache() -> Path:
    """Where roots and wheels are kept between runs: outside the checkout, can be deleted at any time."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "volcano-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def alone(name: str) -> Iterator[None]:
    """One process at a time makes what is cached."""
    with (cache() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(*command: str | Path, **more: str) -> str:
    """Run to the end; the output.

    Raises:
        AssertionError: it failed; the text has its last lines.
    """
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, **more},
    )
    assert done.returncode == 0, f"{command}: exit status {done.returncode}\n{done.stdout[-4000:]}"
    return done.stdout


def base_card(suite: str) -> Path:
    """The bare system as a tar file, made with mmdebstrap the first time (two to four minutes)."""
    t64 = "" if suite == "bookworm" else "t64"
    packages = ",".join((*PACKAGES, f"libglib2.0-0{t64}"))
    digest = hashlib.sha256(f"{packages} {DIET}".encode()).hexdigest()[:8]
    card = cache() / f"{suite}-{platform.machine()}-{digest}.tar"
    with alone(suite):
        if not card.exists():
            part = card.with_name(f"part-{card.name}")  # mmdebstrap goes by the suffix
            command = ("mmdebstrap", "--mode=root", "--variant=minbase", "--components=main", *DIET)
            run(*command, f"--include={packages}", suite, part)
            part.rename(card)
    return card


def wheels(suite: str) -> Path:
    """What the firmware needs from a package index, for the suite's Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    wanted += project["project"]["optional-dependencies"]["page"]
    if PYTHONS[suite] == "3.11":
        wanted.append("lgpio>=0.2.2")
    digest = hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:8]
    folder = cache() / f"wheels-{PYTHONS[suite]}-{digest}"
    with alone(folder.name):
        if not folder.exists():
            part = folder.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            platforms = [f"manylinux{tag}_{platform.machine()}" for tag in ("_2_34", "_2_28", "_2_17", "2014")]
            run(
                *(sys.executable, "-m", "pip", "download", "--quiet", "--dest", part),
                *("--python-version", PYTHONS[suite], "--only-binary=:all:"),
                *(word for name in platforms for word in ("--platform", name)),
                *wanted,
            )
            part.rename(folder)
    return folder


class Card:
    """A Pi's card: Debian, with the edges in place."""

    def __init__(self, folder: Path, suite: str) -> None:
        assert os.geteuid() == 0, "a card can only be made and booted by root: sudo tools/test --all"
        self.root = folder / suite
        self.suite = suite
        self._wheels = wheels(suite)
        self.root.mkdir()
        run("tar", "-x", "-f", base_card(suite), "-C", self.root, "--exclude=./dev/*")
        self.boot_config = self.write("/boot/firmware/config.txt", CONFIG_TXT)
        self.write("/etc/hostname", "volcano\n")
        self._package_source()

    def path(self, inside: str | Path) -> Path:
        """A path of the card, as seen from outside."""
        return self.root / str(inside).lstrip("/")

    def write(self, inside: str | Path, text: str) -> Path:
        path = self.path(inside)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, inside: str | Path) -> str:
        return self.path(inside).read_text(encoding="utf-8")

    def _package_source(self) -> None:
        """A source of packages on the card that has python3-lgpio, and nothing else."""
        made = self.root.with_name(f"lgpio-{self.suite}")
        module = made / "usr/lib/python3/dist-packages/lgpio.py"
        module.parent.mkdir(parents=True)
        module.write_text('"""Stands for Raspberry Pi OS\'s lgpio."""\n', encoding="ascii")
        control = "Package: python3-lgpio\nVersion: 0.2.2\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\n"
        control += "Description: stands for the package of Raspberry Pi OS\n"
        (made / "DEBIAN").mkdir()
        (made / "DEBIAN/control").write_text(control, encoding="ascii")
        deb = self.path("/srv/packages/python3-lgpio.deb")
        deb.parent.mkdir(parents=True)
        run("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", made, deb)
        data = deb.read_bytes()
        where = f"Filename: ./{deb.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
        self.write("/srv/packages/Packages", control + where)
        for each in self.path("/etc/apt/sources.list.d").glob("*"):
            each.unlink()
        self.write("/etc/apt/sources.list", "deb [trusted=yes] file:/srv/packages ./\n")

    def _nspawn(self, *more: str) -> list[str]:
        return [
            *("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network"),
            *(f"--directory={self.root}", f"--bind-ro={ROOT}:/mnt", f"--bind-ro={self._wheels}:/srv/wheels"),
            *("--setenv=PIP_NO_INDEX=1", "--setenv=PIP_FIND_LINKS=/srv/wheels"),
            *more,
        ]

    def do(self, *command: str) -> str:
        """Run a command on the card, whose systemd does not run."""
        said = run(*self._nspawn("--pipe", "--as-pid2"), *command)
        return "".join(line for line in said.splitlines(keepends=True) if not line.startswith(NSPAWN_S_OWN))

    def install(self, *options: str) -> str:
        """`tools/install` from the checkout."""
        return self.do("/mnt/tools/install", "--no-sounds", *options)

    def prepare_hands(self) -> None:
        """Let the service start with emulated hands."""
        self.write(HANDS, Path(__file__).with_name("emulated_hands.py").read_text(encoding="utf-8"))
        self.write("/etc/systemd/system/volcano.service.d/hands.conf", DROP_IN)

    def boot(self) -> Running:
        return Running(self)


class Running:
    """A card whose systemd runs, as the machine's first process."""

    def __init__(self, card: Card, init: str = "--boot") -> None:
        self.card = card
        self.log = card.root.with_suffix(".log").open("wb")
        self.began = time.monotonic()
        self._nspawn = subprocess.Popen(
            card._nspawn("--console=pipe", "--kill-signal=SIGRTMIN+3", init),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        self._leader = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.halt()

    @property
    def leader(self) -> int:
        """The process id, outside, of the systemd inside."""
        if not self._leader:
            self._leader = wait_for(self._first_process, "nspawn has no child")
        return self._leader

    def _first_process(self) -> int | None:
        """The child of nspawn that is process 1 inside; others come and go before it."""
        for child in Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children").read_text("ascii").split():
            with suppress(OSError):
                status = Path("/proc", child, "status").read_text("ascii")
                if re.search(r"^NSpid:\t\d+\t1$", status, re.MULTILINE):
                    return int(child)
        return None

    def do(self, *command: str) -> str:
        """Run a command inside."""
        return run(*self._inside(), *command)

    def ask(self, *command: str) -> str:
        """What a command says inside, whatever its exit status; empty if it cannot be run yet."""
        done = subprocess.run(
            [*self._inside(), *command], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        return done.stdout.strip()

    def _inside(self) -> list[str]:
        return [
            *("nsenter", "--target", str(self.leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"),
            *("--root", "--wd", "env", "PIP_NO_INDEX=1", "PIP_FIND_LINKS=/srv/wheels"),
        ]

    def show(self, name: str) -> str:
        """A property of the service."""
        return self.ask("systemctl", "show", "--value", f"--property={name}", "volcano.service")

    def wait_ready(self) -> float:
        """Wait until systemd has been told READY; seconds since the boot began."""
        wait_for(lambda: self.show("ActiveState") == "active", self.journal)
        return time.monotonic() - self.began

    def journal(self) -> str:
        """What the service has logged."""
        return self.ask("journalctl", "--no-pager", "--output=cat", "--unit=volcano.service")

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Kill the service's main process, as a crash or the out-of-memory killer does."""
        self.do("systemctl", "kill", "--kill-whom=main", f"--signal={int(number)}", "volcano.service")

    def hands(self) -> socket.socket:
        """A connection to the emulated hands."""
        path = str(Path("/proc", str(self.leader), "root", "run/volcano/hands"))

        def connected() -> socket.socket | None:
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                made.connect(path)
            except OSError:
                made.close()
                return None
            return made

        return wait_for(connected, self.journal)

    def halt(self) -> None:
        """Shut down, or give up after a while; harmless when called again."""
        if self._nspawn.poll() is None:
            self._nspawn.terminate()
            try:
                self._nspawn.wait(30)
            except subprocess.TimeoutExpired:
                self._nspawn.kill()
                self._nspawn.wait()
        self.log.close()


def wait_for(look: Callable[[], T | None], otherwise: str | Callable[[], str], seconds: float = READY_S) -> T:
    """Look until there is something to see.

    Raises:
        AssertionError: `otherwise`, after so many seconds.
    """
    until = time.monotonic() + seconds
    while not (seen := look()):
        if time.monotonic() > until:
            raise AssertionError(otherwise if isinstance(otherwise, str) else otherwise())
        time.sleep(0.05)
    return seen
