"""A card as a disk: a root file system on a block device, which a power cut leaves as it was at that instant.

`pi_root.Card` is a folder, good enough for an installer. Whether a root is read-only in truth, and what a power cut
leaves, can only be seen on a disk. What differs from a Pi besides `pi_root.EDGES`:

- no boot loader and no kernel of its own: `Disk` reads init= from cmdline.txt, mounts the root read-only;
- /boot/firmware is a folder of the outside (ext4 or whatever there is, not FAT), bound in place, since no udev brings
  partitions here; on a read-only card the unit `BOOT_MOUNT` does what the line of fstab does on a Pi;
- the loop devices are the outside's.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pi_root import Card, Running, run, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOM = Path("/opt/volcano/appliance")
CMDLINE = "console=serial0,115200 console=tty1 root=PARTUUID=fb33757d-02 rootfstype=ext4 fsck.repair=yes rootwait"
"""As Raspberry Pi OS has it (there is no line end)."""
FSTAB = """\
proc            /proc           proc    defaults          0       0
PARTUUID=fb33757d-01  /boot/firmware  vfat    defaults          0       2
/dev/root             /               ext4    defaults,noatime  0       1
"""
BOOT_MOUNT = f"""\
[Unit]
DefaultDependencies=no
ConditionPathIsDirectory={ROOM}/card/usr
Before=local-fs.target

[Mount]
What={ROOM}/card/boot/firmware
Where=/boot/firmware
Type=none
Options=bind,ro

[Install]
WantedBy=local-fs.target
"""
SIZE = "1536M"
RESTARTED = 133
"""The exit status of systemd-nspawn --keep-unit when what runs inside wants to start again."""
BLOCK = 4096


class Disk(Card):
    """The disk of a card that is installed; `card` may go away afterwards."""

    def __init__(self, card: Card, name: str = "disk") -> None:
        self.suite = card.suite
        self._wheels = card._wheels
        folder = card.root.parent / name
        self.root = folder / "root"
        self.root.mkdir(parents=True)
        self.image = folder / "disk.img"
        self.boot_folder = folder / "boot"
        self._running: Running | None = None
        self._loop = ""
        shutil.copytree(card.path("/boot/firmware"), self.boot_folder)
        if not (self.boot_folder / "cmdline.txt").exists():
            (self.boot_folder / "cmdline.txt").write_text(CMDLINE, encoding="ascii")
        card.write("/etc/fstab", FSTAB)
        card.write("/etc/systemd/system/boot-firmware.mount", BOOT_MOUNT)
        card.do("systemctl", "--quiet", "enable", "boot-firmware.mount")
        run("mke2fs", "-q", "-t", "ext4", "-d", card.root, self.image, SIZE)

    def copy(self, name: str) -> Disk:
        """The disk as it is at this instant: what a power cut would leave."""
        other = object.__new__(type(self))
        other.suite, other._wheels, other._running, other._loop = self.suite, self._wheels, None, ""
        folder = self.image.parent.with_name(name)
        other.root, other.image, other.boot_folder = folder / "root", folder / "disk.img", folder / "boot"
        other.root.mkdir(parents=True)
        shutil.copytree(self.boot_folder, other.boot_folder)
        run("cp", "--sparse=always", self.image, other.image)
        return other

    def path(self, inside: str | Path) -> Path:
        """A path of the card: as what runs on it sees it, or as it lies on the disk if nothing runs."""
        if self._running is not None:
            return Path(f"/proc/{self._running.leader}/root", str(inside).lstrip("/"))
        return super().path(inside)

    def _mount(self, options: str) -> None:
        self._loop = run("losetup", "--find", "--show", self.image).strip()
        run("mount", "-o", options, self._loop, self.root)

    def _unmount(self) -> None:
        """Only when the loop device is gone has everybody inside let go, and is everything on the disk."""
        if self._loop:
            command = ["umount", str(self.root)]
            wait_for(lambda: subprocess.run(command, check=False, capture_output=True).returncode == 0, "it is busy")
            run("losetup", "--detach", self._loop)
            wait_for(lambda: not run("losetup", "--associated", self.image), "it is in use")
            self._loop = ""

    def _nspawn(self, *more: str) -> list[str]:
        loops = sorted(Path("/dev").glob("loop[0-9]*"))
        return super()._nspawn(
            f"--bind={self.boot_folder}:/boot/firmware",
            "--bind=/dev/loop-control",
            *(f"--bind={loop}" for loop in loops),
            *more,
        )

    @contextmanager
    def mounted(self, options: str = "ro") -> Iterator[None]:
        """With the root file system to be seen from outside; nothing runs on it."""
        self._mount(options)
        try:
            yield
        finally:
            self._unmount()

    def do(self, *command: str) -> str:
        """Run a command on the card, whose systemd does not run, and whose root can be written."""
        with self.mounted("rw"):
            return super().do(*command)

    def power_on(self) -> Running:
        """Start as a kernel does: the root read-only, and init= of cmdline.txt, or systemd, which makes it writable."""
        words = (self.boot_folder / "cmdline.txt").read_text(encoding="ascii").split()
        init = next((word.removeprefix("init=") for word in words if word.startswith("init=")), "/sbin/init")
        self._mount("ro")
        self._running = Running(self, init)
        return self._running

    def wait_restart(self) -> Running:
        """Wait until what runs wants to start again, and let it."""
        assert self._running is not None
        nspawn, log = self._running._nspawn, self._running.card.root.with_suffix(".log")
        status = wait_for(nspawn.poll, lambda: log.read_text(encoding="utf-8", errors="replace")[-4000:], 240.0)
        assert status == RESTARTED
        self._off()
        return self.power_on()

    def shut_down(self) -> None:
        if self._running is not None:
            self._running.halt()
            self._off()

    def pull_the_plug(self, name: str) -> Disk:
        """Everything stands still, and the disk is as it was then; returns that disk. This one is put away."""
        assert self._running is not None
        for process in self._processes():
            subprocess.run(["kill", "-STOP", process], check=False, capture_output=True)
        other = self.copy(name)
        os.kill(self._running.leader, signal.SIGKILL)
        self._running._nspawn.kill()
        self._running._nspawn.wait()
        self._off()
        return other

    def _processes(self) -> Iterator[str]:
        """Every process inside, the first one last."""
        assert self._running is not None
        inside = Path(f"/proc/{self._running.leader}/ns/pid").readlink()
        for namespace in Path("/proc").glob("[0-9]*/ns/pid"):
            try:
                if namespace.readlink() == inside:
                    yield namespace.parts[2]
            except OSError:
                continue  # it has just ended

    def _off(self) -> None:
        assert self._running is not None
        self._running.log.close()
        self._running = None
        self._unmount()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shut_down()

    def state_blocks(self) -> tuple[int, int]:
        """The first block of the state file on the disk and the one after its last."""
        with self.mounted():
            listed = run("filefrag", "-v", f"-b{BLOCK}", self.root / "var/lib/volcano-state.img")
        pieces = re.findall(r"^ *\d+: +\d+\.\. +\d+: +(\d+)\.\. +(\d+):", listed, re.MULTILINE)
        return int(pieces[0][0]), int(pieces[-1][1]) + 1

    def sum_outside_the_state(self, state: tuple[int, int]) -> str:
        """A checksum of every byte of the disk that is not the state file's."""
        digest = hashlib.sha256()
        with self.image.open("rb") as file:
            rest = state[0] * BLOCK
            while data := file.read(min(rest, 1 << 20)):
                digest.update(data)
                rest -= len(data)
            file.seek(state[1] * BLOCK)
            while data := file.read(1 << 20):
                digest.update(data)
        return digest.hexdigest()
