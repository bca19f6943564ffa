"""Boot the image under QEMU and let a test in the guest play: what it tells on its console decides.

The image is not changed. A second, read-only disk has the test; the kernel's command line lets systemd mount it and
start it. Time goes by executed instructions (QEMU, -icount), so that a guest is never too slow for its own clock,
however busy the machine is: two nanoseconds each make one processor about as fast as one core of a Pi Zero 2 W
(estimate).
"""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from image_disk import boot_files
from image_root import ROOT, ImageError, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from image_root import Architecture

MARK = "image-test: "
"""How the guest's own lines begin."""
TEST_DISK = "test.ext4"
REPORT_BYTES = 128 << 20
"""A recording of twenty minutes."""
TEST_LABEL = "VOLCANOTEST"
MOUNTED = "/run/volcano-test"
PATIENCE_S = 7200.0
"""An arm64 guest on a busy machine needs an hour and more."""
ICOUNT_SHIFT = 1
"""2 ** 1 nanoseconds an instruction."""
MEMORY_MIB = 512
"""As a Pi Zero 2 W has."""
MACHINES = {
    "amd64": ("qemu-system-x86_64", ("-machine", "q35", "-cpu", "max"), "ttyS0"),
    "arm64": ("qemu-system-aarch64", ("-machine", "virt", "-cpu", "cortex-a53"), "ttyAMA0"),
}
"""Program, machine and console of each architecture."""
CARD = "Headphones"
"""The sound card that the image is configured for; in a guest it is the kernel's loopback."""


@dataclass(slots=True)
class Verdict:
    """What came out of a boot."""

    passed: bool
    lines: list[str]
    """What the guest told."""
    wall_s: float


def command_line(console: str) -> str:
    """The kernel's: the root as on a card, a sound card that is none, and the test."""
    return " ".join(
        (
            f"root=LABEL=RASPIROOT rootwait ro console={console} panic=5 loglevel=4",
            f"modules_load=snd-aloop snd_aloop.id={CARD}",
            f"systemd.mount-extra=LABEL={TEST_LABEL}:{MOUNTED}:ext4:ro",
            f"systemd.run={MOUNTED}/guest/run",
            "systemd.run_success_action=poweroff systemd.run_failure_action=poweroff",
        )
    )


def qemu(architecture: Architecture, folder: Path, image: Path, report: Path) -> list[str]:
    """The command that boots; kernel, initramfs and the test's disk are in `folder`. Only `report` is written."""
    program, machine, console = MACHINES[architecture.name]
    (kernel,), (initramfs,) = (list(folder.glob(f"{name}*")) for name in ("vmlinuz", "initrd.img"))
    return [
        *("nice", "-n", "19", program, "-accel", "tcg", "-icount", f"shift={ICOUNT_SHIFT}", *machine),
        *("-smp", "1", "-m", str(MEMORY_MIB), "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"),
        *("-kernel", str(kernel), "-initrd", str(initramfs), "-append", command_line(console)),
        *("-drive", f"file={image},format=raw,if=virtio,snapshot=on"),
        *("-drive", f"file={folder / TEST_DISK},format=raw,if=virtio,read-only=on"),
        *(
            "-drive",
            f"file={report},format=raw,if=none,id=report",
            "-device",
            "virtio-blk-pci,drive=report,serial=report",
        ),
    ]


def make_disks(folder: Path, report: Path) -> None:
    """A disk with what tests/guest has, and an empty one for what is found out."""
    disk, tree = folder / TEST_DISK, folder / "tree"
    shutil.copytree(ROOT / "tests/guest", tree / "guest", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.move(tree / "guest/volcano.toml", tree)
    with disk.open("wb") as file:
        file.truncate(8 << 20)
    run("mke2fs", "-q", "-t", "ext4", "-L", TEST_LABEL, "-d", tree, disk)
    with report.open("wb") as file:
        file.truncate(REPORT_BYTES)


def told(console: Iterator[str], log: Path) -> Iterator[str]:
    """The guest's own lines, as they come; all else goes to the log."""
    with log.open("w", encoding="utf-8") as file:
        for line in console:
            file.write(line)
            file.flush()
            if line.startswith(MARK):
                yield line.removeprefix(MARK).strip()


def boot(architecture: Architecture, image: Path, folder: Path, log: Path, tell: Callable[[str], None]) -> Verdict:
    """Boot the image and let the test play.

    Args:
        architecture: of the image.
        image: the card; not changed.
        folder: for what is needed meanwhile.
        log: where the whole console goes; if the test fails, what it recorded lies beside it as a tar file.
        tell: hears each line of the guest.

    Raises:
        ImageError: QEMU is not there, or ends with an error.
    """
    boot_files(image, folder, "vmlinuz*", "initrd.img*")
    report = log.with_suffix(".tar")
    make_disks(folder, report)
    command: Sequence[str] = qemu(architecture, folder, image, report)
    began = time.monotonic()
    lines: list[str] = []
    machine = subprocess.Popen(
        ["timeout", str(PATIENCE_S), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        for line in told(iter(machine.stdout or ()), log):
            lines.append(line)
            tell(line)
        status = machine.wait()
    finally:
        machine.kill()
    if status and not lines:
        raise ImageError(f"{command[3]} ended with {status} before the guest said anything; its console: {log}")
    return Verdict("passed" in lines, lines, time.monotonic() - began)
