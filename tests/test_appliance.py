"""A read-only card: it plays, loses its power, goes on; it is updated from a file, and can become writable again.

Slow: the disk of a card from `pi_disk`, started under systemd-nspawn as root.
"""

from __future__ import annotations

import hashlib
import io
import os
import random
import shutil
import subprocess
import tarfile
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest
from pi_disk import CMDLINE, Disk
from pi_root import ROOT, Card, Running, wait_for, wheels
from test_boot import Table, possible
from test_boot import contacts as contacts_in_the_journal
from test_install import SUITES, contents, differing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from firmware.terms import Contact

MAKE_UPDATE = ROOT / "tools/make-update"
CALIBRATION = '{"made": "2026-11-30T12:00:00"}\n'
OWN = {
    "/var/lib/volcano/calibration.json": CALIBRATION,
    "/var/lib/volcano/settings.json": "",  # an empty one is set aside, and must not be lost either
    "/etc/volcano.toml": 'language = "en"\n',
}
VOICE = "/var/lib/volcano/sounds/effects/manifest.json"
SSH = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"
"""Stands for Raspberry Pi OS's ssh.service, which is there and not enabled."""
CUTS = 3
MADE_BY_SYSTEMD = ("/etc/machine-id", "/etc/.updated", "/etc/ld.so.cache")
"""What is made at the first start of any card that may be written."""


class Appliance(NamedTuple):
    """A disk whose card will be read-only when it starts; where its state lies, and a sum over all the rest."""

    disk: Disk
    state: tuple[int, int]
    rest: str

    def unchanged(self, disk: Disk) -> bool:
        return disk.sum_outside_the_state(self.state) == self.rest


def make_update(target: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MAKE_UPDATE, *options, target], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


@pytest.fixture(scope="module", params=SUITES)
def ordinary(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Disk:
    """A disk with the firmware, and an owner's files."""
    card = Card(tmp_path_factory.mktemp("appliance"), request.param)
    card.do("useradd", "--create-home", "--uid", "1000", "keeper")
    card.write("/etc/systemd/system/ssh.service", SSH)
    card.install()
    card.prepare_hands()
    for path, text in OWN.items():
        card.write(path, text)
    card.write(VOICE, "{}")
    card.do("chown", "-R", "volcano:volcano", "/var/lib/volcano")
    return Disk(card)


@pytest.fixture(scope="module")
def converted(ordinary: Disk) -> Appliance:
    disk = ordinary.copy(f"converted-{ordinary.suite}")
    said = disk.install("--appliance")
    assert "the card is read-only" in said
    state = disk.state_blocks()
    return Appliance(disk, state, disk.sum_outside_the_state(state))


@pytest.fixture
def appliance(converted: Appliance, request: pytest.FixtureRequest) -> Appliance:
    return converted._replace(disk=converted.disk.copy(request.node.name.replace("[", "-").rstrip("]")))


@pytest.fixture(scope="module")
def update(ordinary: Disk, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An update of this checkout."""
    target = tmp_path_factory.mktemp("update") / "volcano-update.tar"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(wheels(ordinary.suite)))
        done = make_update(target)
    assert done.returncode == 0, done.stderr
    return target


def changed(update: Path, target: Path, edit: Callable[[str, bytes], bytes], **label: str) -> Path:
    """An update whose files and label are others; the checksum is right."""
    with tarfile.open(update) as outer:
        payload = outer.extractfile("payload.tar")
        text = outer.extractfile("update.txt")
        assert payload is not None
        assert text is not None
        lines = dict(line.split("=") for line in text.read().decode().splitlines())
        made = io.BytesIO()
        with tarfile.open(fileobj=payload) as inner, tarfile.open(fileobj=made, mode="w") as other:
            for member in inner:
                file = inner.extractfile(member)
                data = edit(member.name, file.read()) if file else b""
                member.size = len(data)
                other.addfile(member, io.BytesIO(data))
    lines |= {"sha256": hashlib.sha256(made.getvalue()).hexdigest(), **label}
    with tarfile.open(target, "w") as outer:
        for name, data in {
            "update.txt": "".join(f"{key}={value}\n" for key, value in lines.items()).encode(),
            "payload.tar": made.getvalue(),
        }.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            outer.addfile(member, io.BytesIO(data))
    return target


def untouched(_name: str, data: bytes) -> bytes:
    return data


def with_a_broken_service(name: str, data: bytes) -> bytes:
    if name.endswith("systemd/volcano.service"):
        return data.replace(b"Type=notify", b"Type=notify\nExecStartPre=/bin/false")
    return data


def root_kind(pi: Running) -> str:
    return " ".join(pi.ask("findmnt", "--noheadings", "--output=FSTYPE,OPTIONS", "/").split(",")[0].split())


def wait_booted(pi: Running) -> None:
    """Until systemd has nothing more to start."""
    wait_for(lambda: pi.ask("systemctl", "is-system-running") in {"running", "degraded"}, pi.journal)
    assert pi.ask("systemctl", "--failed", "--no-legend") == ""


def log(disk: Disk) -> str:
    path = disk.boot_folder / "volcano-update.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


# --- what the scripts say


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ([], 2, "usage: "),
        (["--frobnicate", "file"], 2, "usage: "),
        (["--sounds", "/nowhere", "file"], 1, "'/nowhere' holds no sound packs"),
        (["--wheels", "/nowhere", "file"], 1, "there is no folder '/nowhere'"),
        (["--wheels", "/", "file"], 1, "--wheels goes with --python and --architecture"),
        (["one", "another"], 1, "one file, please"),
    ],
)
def test_make_update_names_a_wrong_option(options: list[str], status: int, words: str) -> None:
    done = subprocess.run([MAKE_UPDATE, *options], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert words in done.stderr


MIB = 256
"""Blocks of 4096 bytes."""


@pytest.mark.parametrize(
    ("pieces", "place"),
    [
        ([(34 * MIB, 64 * MIB)], (36, 60)),  # from one multiple of 4 MiB to another
        ([(343 * MIB, 41 * MIB), (385 * MIB, 23 * MIB)], (344, 40)),  # the longest
        ([(40 * MIB, 32 * MIB), (72 * MIB, 32 * MIB)], (40, 64)),  # two extents, one piece
        ([(40 * MIB, 15 * MIB), (400 * MIB, 15 * MIB)], None),
        ([], None),
    ],
)
def test_the_state_lies_in_the_longest_piece_of_its_file(
    tmp_path: Path, pieces: list[tuple[int, int]], place: tuple[int, int] | None
) -> None:
    logical = 0
    lines = ["File size of it is 67108864 (16384 blocks of 4096 bytes)"]
    for number, (first, blocks) in enumerate(pieces):
        ends = f"{logical}.. {logical + blocks - 1}: {first}.. {first + blocks - 1}"
        lines.append(f"   {number}: {ends}: {blocks}: last,eof")
        logical += blocks
    filefrag = tmp_path / "filefrag"
    filefrag.write_text("#!/bin/sh\ncat <<'LIST'\n" + "\n".join(lines) + "\nLIST\n", encoding="ascii")
    filefrag.chmod(0o755)
    done = subprocess.run(
        [ROOT / "tools/appliance/state-file", "place"],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (0 if place else 1)
    assert done.stdout == (f"{place[0] << 20} {place[1] << 20}\n" if place else "")


# --- a read-only card


@pytest.mark.slow
@pytest.mark.alone
def test_a_read_only_card_plays_loses_its_power_and_goes_on(appliance: Appliance) -> None:
    disk = appliance.disk
    chance = random.Random(2005)
    known: list[Contact] = []
    for cut in range(CUTS):
        with disk:
            pi = disk.power_on()
            ready_s = pi.wait_ready()
            assert root_kind(pi).startswith("overlay")
            assert disk.read("/var/lib/volcano/calibration.json") == CALIBRATION
            assert disk.read(VOICE) == "{}"
            wait_booted(pi)
            assert not disk.path("/etc/left-behind").exists()
            disk.write("/etc/left-behind", "by somebody\n")
            with Table(pi) as table:
                table.hear("resumed" if cut else "ready")
                assert contacts_in_the_journal(disk)[: len(known)] == known
                for _ in range(2):
                    table.play(possible(disk, chance), disk)
                known = contacts_in_the_journal(disk)
                contact = possible(disk, chance)
                table.grip(contact)
                time.sleep(chance.uniform(0.0, 0.4))
                cut_off = disk.pull_the_plug(f"cut-{cut}")
        print(f"\nready {ready_s:.1f} s after the start; the power goes after {len(known)} contacts")
        assert appliance.unchanged(cut_off), "the power cut found the root file system as it was made"
        disk = cut_off
    with disk:
        pi = disk.power_on()
        pi.wait_ready()
        assert contacts_in_the_journal(disk)[: len(known)] == known
        assert not list(disk.path("/var/lib/volcano").glob("set-aside*.journal"))
    assert appliance.unchanged(disk)


@pytest.mark.slow
def test_a_card_becomes_writable_for_one_start_and_for_good(ordinary: Disk, appliance: Appliance) -> None:
    disk = appliance.disk
    with disk:
        pi = disk.power_on()
        pi.wait_ready()
        with pytest.raises(AssertionError, match="the card is read-only: sudo volcano-writable"):
            pi.do("/opt/volcano/appliance/card/mnt/tools/install", "--no-sounds")

        # One start.
        pi.do("volcano-writable", "--no-restart")
        pi.ask("systemctl", "reboot")
        pi = disk.wait_restart()
        pi.wait_ready()
        wait_booted(pi)
        assert root_kind(pi) == "ext4 rw"
        assert disk.read("/var/lib/volcano/calibration.json") == CALIBRATION
        disk.write("/etc/volcano.toml", 'language = "de"\n')
        disk.write("/var/lib/volcano/calibration.json", "{}")
        disk.write(VOICE, '{"language": "de"}')
        pi.ask("systemctl", "reboot")
        pi = disk.wait_restart()
        pi.wait_ready()
        assert root_kind(pi).startswith("overlay")
        assert disk.read("/etc/volcano.toml") == 'language = "de"\n'
        assert disk.read("/var/lib/volcano/calibration.json") == "{}"
        assert disk.read(VOICE) == '{"language": "de"}'

        # For good.
        pi.do("volcano-writable", "--no-restart")
        pi.ask("systemctl", "reboot")
        pi = disk.wait_restart()
        pi.wait_ready()
        assert "the card is writable again" in pi.do("/mnt/tools/install", "--no-sounds", "--no-appliance")
        assert pi.show("ActiveState") == "active"
        assert disk.read("/var/lib/volcano/calibration.json") == "{}"
        pi.ask("systemctl", "reboot")
        pi = disk.wait_restart()
        pi.wait_ready()
        assert root_kind(pi) == "ext4 rw"
        assert disk.read("/var/lib/volcano/calibration.json") == "{}"
        assert disk.read(VOICE) == '{"language": "de"}'
    assert (disk.boot_folder / "cmdline.txt").read_text(encoding="ascii") == CMDLINE
    with ordinary.mounted(), disk.mounted():
        left = differing(contents(ordinary), contents(disk))
        assert not disk.path("/var/lib/volcano-state.img").exists()
        assert sorted(disk.path("/usr/local/sbin").iterdir()) == [disk.path("/usr/local/sbin/volcano-update")]
    own = ("/etc/volcano.toml", "/var/lib/volcano")
    assert [path for path in left if not path.startswith((*own, *MADE_BY_SYSTEMD))] == []


@pytest.mark.slow
def test_a_read_only_card_is_cleared_and_what_is_its_owner_s_is_kept(appliance: Appliance) -> None:
    disk = appliance.disk
    with disk:
        disk.power_on().wait_ready()
        disk.write("/var/lib/volcano/calibration.json", "{}")
    assert "would: move_out" in disk.do("/mnt/tools/install", "--uninstall", "--dry-run")
    disk.do("/mnt/tools/install", "--uninstall")
    with disk.mounted():
        assert disk.read("/var/lib/volcano/calibration.json") == "{}"
        assert disk.read(VOICE) == "{}"
        assert not disk.path("/opt/volcano").exists()
        assert not disk.path("/var/lib/volcano-state.img").exists()
    assert (disk.boot_folder / "cmdline.txt").read_text(encoding="ascii") == CMDLINE


@pytest.mark.slow
def test_what_cannot_become_read_only_is_named(ordinary: Disk) -> None:
    disk = ordinary.copy(f"refused-{ordinary.suite}")
    line = disk.boot_folder / "cmdline.txt"
    for words, said in {
        " init=/usr/lib/raspberrypi-sys-mods/firstboot": "has another init=",
        " overlayroot=tmpfs": "the system's own overlay is on",
    }.items():
        line.write_text(CMDLINE + words, encoding="ascii")
        with pytest.raises(AssertionError, match=said):
            disk.install("--appliance")
        assert line.read_text(encoding="ascii") == CMDLINE + words
    line.unlink()
    with pytest.raises(AssertionError, match="there is no cmdline"):
        disk.install("--appliance")


@pytest.mark.slow
def test_without_its_state_file_the_volcano_plays_all_the_same(appliance: Appliance) -> None:
    disk = appliance.disk
    with disk.image.open("r+b") as file:
        for block in range(*appliance.state):
            file.seek(block * 4096)
            file.write(b"\xff" * 4096)
    with disk:
        pi = disk.power_on()
        pi.wait_ready()
        assert root_kind(pi).startswith("overlay")
        assert disk.read("/var/lib/volcano/calibration.json") == CALIBRATION, "that of the day it became read-only"
        wait_booted(pi)
    assert "holds no state" in disk.root.with_suffix(".log").read_text(encoding="utf-8")
    assert appliance.unchanged(disk)


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_an_image_that_is_made_read_only_gets_its_state_at_its_first_start(tmp_path: Path, suite: str) -> None:
    # Where an image is made the root is a folder, and where on a disk its files will lie is not known yet.
    card = Card(tmp_path, suite)
    card.write("/boot/firmware/cmdline.txt", CMDLINE)
    card.write("/var/lib/volcano/calibration.json", "{}")  # put there by root, before anything is installed
    card.install("--appliance")
    card.prepare_hands()
    disk = Disk(card)
    for kept in ("{}", CALIBRATION):
        with disk:
            pi = disk.power_on()
            pi.wait_ready()
            assert root_kind(pi).startswith("overlay")
            assert pi.ask("findmnt", "--noheadings", "--output=FSTYPE", "/var/lib/volcano") == "ext4"
            assert disk.read("/var/lib/volcano/calibration.json") == kept
            disk.write("/var/lib/volcano/calibration.json", CALIBRATION)


def test_a_key_is_not_joined_to_a_line_without_an_end(tmp_path: Path) -> None:
    """Written by another hand, or torn when the power went."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    file, keys = tmp_path / "key.pub", tmp_path / ".ssh/authorized_keys"
    keys.parent.mkdir()
    keys.write_text("ssh-ed25519 AAAAC3 another", encoding="ascii")
    script = (ROOT / "tools/appliance/ssh-key").read_text(encoding="ascii")
    script = script.replace("/boot/firmware/volcano-ssh.pub", str(file))
    for _ in range(2):
        subprocess.run(["sh", "-c", script], check=True, env={**os.environ, "HOME": str(tmp_path)})
        assert keys.read_text(encoding="ascii") == f"ssh-ed25519 AAAAC3 another\n{file.read_text(encoding='ascii')}"


@pytest.mark.slow
def test_a_key_on_the_boot_partition_lets_its_owner_in(appliance: Appliance, tmp_path: Path) -> None:
    disk = appliance.disk
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    key = (tmp_path / "key.pub").read_text(encoding="ascii")
    file = disk.boot_folder / "volcano-ssh.pub"

    def start(text: str) -> tuple[str, str, str]:
        """With this file: the user's keys, what was said, and whether SSH runs."""
        file.write_text(text, encoding="ascii", newline="")
        with disk:
            pi = disk.power_on()
            pi.wait_ready()
            wait_for(lambda: pi.ask("systemctl", "is-system-running") in {"running", "degraded"}, pi.journal)
            keys = pi.ask("sh", "-c", "cat ~keeper/.ssh/authorized_keys")
            mode = pi.ask("sh", "-c", "stat --format='%a %U' ~keeper/.ssh ~keeper/.ssh/authorized_keys")
            assert not keys or mode == "700 keeper\n600 keeper"
            said = pi.ask("journalctl", "--unit=volcano-ssh-key", "--output=cat", "--identifier=ssh-key")
            return keys, said, pi.ask("systemctl", "is-active", "ssh.service")

    assert start(key) == (key.strip(), "/boot/firmware/volcano-ssh.pub: 1 new key for keeper", "active")
    assert start(f"# mine\r\n{key.strip()}\r\n")[0] == key.strip()
    private = (tmp_path / "key").read_text(encoding="ascii")
    for wrong, words in {
        private: "is the private key",
        f'command="reboot" {key}': "key 1: is no public key",
        f"{key}ssh-ed25519 AAAA\n": "key 2: is no public key",
        "": "is empty",
    }.items():
        keys, said, ssh = start(wrong)
        assert (keys, ssh) == ("", "inactive")
        assert words in said
        assert len(said.splitlines()) == 1
    assert appliance.unchanged(disk)


# --- updates

STUBS = {
    "systemctl": 'n=$(cat "$0.n" 2>/dev/null || echo 0); echo $((n + 1)) >"$0.n"; [ "$1" = show ] || [ "$n" -ge 5 ]',
    "sleep": 'echo "$1" >>"$0.n"',
    "date": 'n=$(cat "$0.n" 2>/dev/null || echo 0); echo $((n + 1)) >"$0.n"; echo $((n * 86400))',
}
"""The service is ready when somebody asks the sixth time; nobody waits; each look at the date is a day later."""


def test_a_time_of_day_that_jumps_undoes_no_update(tmp_path: Path) -> None:
    """A Pi has no clock: an update at its start may be on trial just when the network tells the time."""
    for name, words in STUBS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{words}\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    script = (ROOT / "tools/appliance/update").read_text(encoding="ascii")
    is_ready = script[script.index("is_ready() {") : script.index("\n}\n", script.index("is_ready() {")) + 3]
    subprocess.run(
        ["sh", "-euc", f"patience=60; watched=5\n{is_ready}\nis_ready"],
        check=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )
    assert (tmp_path / "sleep.n").read_text(encoding="ascii").split() == ["1"] * 5 + ["5"]


@pytest.mark.slow
def test_an_update_from_the_boot_partition(appliance: Appliance, update: Path) -> None:
    disk = appliance.disk
    old = disk.do("sh", "-c", "echo '# of an older version' >>/opt/volcano/bin/init; readlink /opt/volcano/venv")
    shutil.copy(update, disk.boot_folder / "volcano-update.tar")
    with disk:
        disk.power_on()
        disk.wait_restart()  # writable
        pi = disk.wait_restart()  # and read-only again
        pi.wait_ready()
        wait_booted(pi)
        assert root_kind(pi).startswith("overlay")
        new = pi.ask("readlink", "/opt/volcano/venv")
        assert new != old.strip()
        assert pi.ask("ls", "/opt/volcano/environments").split() == [new.rpartition("/")[2]]
        assert disk.read("/opt/volcano/bin/init") == (ROOT / "tools/appliance/init").read_text(encoding="utf-8")
        assert disk.read("/var/lib/volcano/calibration.json") == CALIBRATION
    assert ": installed" in log(disk)
    assert not list(disk.boot_folder.glob("*.tar"))


@pytest.mark.slow
def test_an_update_that_does_not_work_is_undone(appliance: Appliance, update: Path, tmp_path: Path) -> None:
    disk = appliance.disk
    old = disk.do("sh", "-c", "readlink /opt/volcano/venv; cat /etc/systemd/system/volcano.service")
    changed(update, disk.boot_folder / "volcano-update.tar", with_a_broken_service)
    with disk:
        disk.power_on()
        disk.wait_restart()
        pi = disk.wait_restart()
        pi.wait_ready()
        wait_booted(pi)
        assert pi.do("sh", "-c", "readlink /opt/volcano/venv; cat /etc/systemd/system/volcano.service") == old
    assert "not installed" in log(disk)
    assert [path.name for path in disk.boot_folder.glob("*.tar")] == ["volcano-update.failed.tar"]


@pytest.mark.slow
def test_a_wrong_update_changes_nothing(appliance: Appliance, update: Path, tmp_path: Path) -> None:
    disk = appliance.disk
    file = disk.boot_folder / "volcano-update.tar"
    data = bytearray(update.read_bytes())
    data[len(data) // 2] ^= 1
    damaged = tmp_path / "damaged.tar"
    damaged.write_bytes(data)
    text = tmp_path / "text.tar"
    text.write_text("no archive\n", encoding="ascii")
    wrong = {
        damaged: "is damaged",
        text: "is no update of the volcano",
        changed(update, tmp_path / "python.tar", untouched, python="2.7"): "is for Python 2.7",
        changed(update, tmp_path / "arm.tar", untouched, architecture="sparc"): "is for sparc",
        changed(update, tmp_path / "kind.tar", untouched, format="2"): "of a newer kind",
    }
    for each, words in wrong.items():
        shutil.copy(each, file)
        with disk:
            pi = disk.power_on()
            pi.wait_ready()
            wait_booted(pi)
        assert words in log(disk).splitlines()[-1]
        assert not file.exists()
    assert appliance.unchanged(disk)


@pytest.mark.slow
def test_the_power_goes_during_an_update(appliance: Appliance, update: Path) -> None:
    disk = appliance.disk
    shutil.copy(update, disk.boot_folder / "volcano-update.tar")
    old = disk.do("readlink", "/opt/volcano/venv").strip()
    instants: list[Callable[[Running], object]] = [
        lambda pi: pi.ask("ls", "/opt/volcano/update/previous"),
        lambda pi: pi.ask("readlink", "/opt/volcano/venv") not in {old, ""},
    ]
    with disk:
        disk.power_on()
        pi = disk.wait_restart()
        for number, instant in enumerate(instants):
            wait_for(lambda: instant(pi), "the update does not begin", 120.0)  # noqa: B023 - used at once
            cut_off = disk.pull_the_plug(f"update-{number}-{disk.suite}")
            disk = cut_off
            pi = disk.power_on()
            pi.wait_ready()
        pi = disk.wait_restart()
        pi.wait_ready()
        wait_booted(pi)
        assert root_kind(pi).startswith("overlay")
        assert pi.ask("readlink", "/opt/volcano/venv") != old
        disk.shut_down()
    assert ": installed" in log(disk)


@pytest.mark.slow
def test_an_update_of_a_writable_card_needs_no_restart(ordinary: Disk, update: Path, tmp_path: Path) -> None:
    disk = ordinary.copy(f"updated-{ordinary.suite}")
    shutil.copy(update, disk.boot_folder / "brought.tar")
    changed(update, disk.boot_folder / "sparc.tar", untouched, architecture="sparc")
    with disk:
        pi = disk.power_on()
        pi.wait_ready()
        wait_booted(pi)
        old = pi.ask("readlink", "/opt/volcano/venv")
        with pytest.raises(AssertionError, match="is for sparc"):
            pi.do("volcano-update", "/boot/firmware/sparc.tar")
        assert ": installed" in pi.do("volcano-update", "/boot/firmware/brought.tar")
        assert pi.show("ActiveState") == "active"
        assert pi.ask("readlink", "/opt/volcano/venv") != old
        assert disk.read("/var/lib/volcano/calibration.json") == CALIBRATION
    assert (disk.boot_folder / "brought.tar").exists()
