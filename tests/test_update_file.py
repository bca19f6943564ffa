"""The file of an update: a torn copy is noticed, and with an owner's key only what that key has signed is installed.

What comes of an update on a card is in test_appliance.py; here only the file is looked at, by the tools' own lines.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
UPDATE = ROOT / "tools/appliance/update"

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen: openssh-client")

SETUP = """\
tool=tools/make-update root={root} venv={root}/venv
tell() {{ echo "$@" >&2; }}
stop() {{ tell "$@"; exit 1; }}
step() {{ shift; "$@"; }}
set_up() {{ :; }}
"""
"""In place of tools/setup.sh: no environment is made, and `PIP` builds the wheel."""
PIP = """#!/bin/sh
while [ "$1" != --wheel-dir ]; do shift; done
echo wheel >"$2/volcano-1.2.3-py3-none-any.whl"
"""


class Owner:
    """A checkout in which updates are made, a key, and a Pi's check of a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "checkout"
        (self.checkout / "venv/bin").mkdir(parents=True)
        shutil.copytree(ROOT / "systemd", self.checkout / "systemd")
        shutil.copytree(ROOT / "tools/appliance", self.checkout / "tools/appliance")
        for tool in ("install", "make-update"):
            shutil.copy(ROOT / "tools" / tool, self.checkout / "tools")
        (self.checkout / "tools/setup.sh").write_text(SETUP.format(root=self.checkout), encoding="utf-8")
        pip = self.checkout / "venv/bin/python"
        pip.write_text(PIP, encoding="utf-8")
        pip.chmod(0o755)
        self.key = self.new_key("mine")
        self.keys = folder / "volcano-update.pub"

    def new_key(self, name: str) -> Path:
        key = self.folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key], check=True)
        return key

    def make(self, *options: str | Path) -> Path:
        file = self.folder / "volcano-update.tar"
        command = [self.checkout / "tools/make-update", *options, file]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return file

    def wrong(self, file: Path) -> str:
        """What volcano-update finds wrong with a file; empty if nothing."""
        lines, _, _ = UPDATE.read_text(encoding="utf-8").partition('\ncase "${1-}" in')
        script = f'{lines}\nowners={self.keys}\ndpkg() {{ echo arm64; }}\ncheck "$1"\nprintf %s "$wrong"\n'
        command = ["sh", "-c", script, "volcano-update", str(file)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


def altered(file: Path, edit: Callable[[dict[str, bytes]], None]) -> Path:
    """The same file with other contents."""
    with tarfile.open(file) as tar:
        members = {member.name: held.read() for member in tar if (held := tar.extractfile(member))}
    edit(members)
    with tarfile.open(file, "w") as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return file


def test_a_whole_file_is_taken_and_a_torn_copy_is_not(owner: Owner) -> None:
    file = owner.make()
    assert owner.wrong(file) == ""
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert owner.wrong(file) == "is damaged: copy it again"
    file.write_bytes(whole[:100])
    assert owner.wrong(file).startswith("is no update of the volcano")


def test_a_signed_file_is_taken_with_its_key_and_without_any(owner: Owner) -> None:
    file = owner.make("--key", owner.key)
    assert owner.wrong(file) == ""
    owner.keys.write_text("# who may\n" + Path(f"{owner.key}.pub").read_text(encoding="utf-8"), encoding="utf-8")
    assert owner.wrong(file) == ""


def unsigned(members: dict[str, bytes]) -> None:
    del members["update.txt.sig"]


def other_label(members: dict[str, bytes]) -> None:
    members["update.txt"] = members["update.txt"].replace(b"version=1.2.3", b"version=9.9.9")


def other_payload(members: dict[str, bytes]) -> None:
    members["payload.tar"] += b"\0"


@pytest.mark.parametrize(
    ("edit", "problem"),
    [(unsigned, "is signed by none of the keys"), (other_label, "is signed by none"), (other_payload, "is damaged")],
)
def test_with_a_key_of_the_owner_s_nothing_else_is_installed(
    owner: Owner, edit: Callable[[dict[str, bytes]], None], problem: str
) -> None:
    shutil.copy(f"{owner.key}.pub", owner.keys)
    assert problem in owner.wrong(altered(owner.make("--key", owner.key), edit))


def test_another_s_key_and_a_file_without_keys_let_nothing_in(owner: Owner) -> None:
    file = owner.make("--key", owner.new_key("stranger"))
    shutil.copy(f"{owner.key}.pub", owner.keys)
    assert owner.wrong(file) == f"is signed by none of the keys in {owner.keys}"
    owner.keys.write_text("", encoding="utf-8")
    assert owner.wrong(owner.make("--key", owner.key)).startswith("is signed by none")
