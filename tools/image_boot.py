"""Boot the image under QEMU and let a test in the guest play: what it tells on its console decides.

A read-only card (tools/image --appliance) loses its power when the guest says so, and is started again. Beside the
state's blocks nothing may then have been written.

The image is not changed: a file beside it takes what is written. A second, read-only disk has the test; the kernel's
command line lets systemd mount it and start it. Time goes by executed instructions (QEMU, -icount), so that a guest is
never too slow for its own clock, however busy the machine is: two nanoseconds each make one processor about as fast as
one core of a Pi Zero 2 W (estimate).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING

from image_disk import ROOT_AT_BYTES, boot_files
from image_root import ROOT, ImageError, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from image_root import Architecture

MARK = "image-test: "
"""How the guest's own lines begin."""
CUT = "cut the power"
"""What the guest says when it wants to be killed and started again."""
STATE_AT = "the state lies at "
"""And before that: the first byte of its blocks on the root partition, and how many they are."""
CARD_DISK = "card.qcow2"
"""The card as it is written to."""
TEST_DISK = "test.ext4"
REPORT_BYTES = 128 << 20
"""A recording of twenty minutes."""
TEST_LABEL = "VOLCANOTEST"
MOUNTED = "/run/volcano-test"
PATIENCE_S = 7200.0
"""Of one start: an arm64 guest on a busy machine needs most of an hour."""
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


def command_line(card: str, console: str, start: int) -> str:
    """The kernel's: that of the card (cmdline.txt) with another console, a sound card that is none, and the test."""
    return " ".join(
        (
            *(word for word in card.split() if not word.startswith("console=")),
            f"console={console} panic=5 loglevel=4",
            f"modules_load=snd-aloop snd_aloop.id={CARD}",
            f"systemd.mount-extra=LABEL={TEST_LABEL}:{MOUNTED}:ext4:ro",
            f"systemd.run={MOUNTED}/guest/run systemd.setenv=VOLCANO_START={start}",
            "systemd.run_success_action=poweroff systemd.run_failure_action=poweroff",
        )
    )


def qemu(architecture: Architecture, folder: Path, report: Path, start: int) -> list[str]:
    """The command that boots for the `start`th time from what is in `folder`; it writes the card and `report`."""
    program, machine, console = MACHINES[architecture.name]
    (kernel,), (initramfs,) = (list(folder.glob(f"{name}*")) for name in ("vmlinuz", "initrd.img"))
    words = command_line((folder / "cmdline.txt").read_text(encoding="ascii"), console, start)
    return [
        *("nice", "-n", "19", program, "-accel", "tcg", "-icount", f"shift={ICOUNT_SHIFT}", *machine),
        *("-smp", "1", "-m", str(MEMORY_MIB), "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"),
        *("-kernel", str(kernel), "-initrd", str(initramfs), "-append", words),
        *("-drive", f"file={folder / CARD_DISK},format=qcow2,if=virtio"),
        *("-drive", f"file={folder / TEST_DISK},format=raw,if=virtio,read-only=on"),
        *(
            "-drive",
            f"file={report},format=raw,if=none,id=report",
            "-device",
            "virtio-blk-pci,drive=report,serial=report",
        ),
    ]


def make_disks(image: Path, folder: Path, report: Path) -> None:
    """The card, a disk with what tests/guest has, and an empty one for what is found out."""
    run("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", image.resolve(), folder / CARD_DISK)
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
    with log.open("a", encoding="utf-8") as file:
        for line in console:
            file.write(line)
            file.flush()
            if line.startswith(MARK):
                yield line.removeprefix(MARK).strip()


def written(pieces: Iterable[dict[str, Any]], first: int, length: int) -> tuple[int, list[tuple[int, int]]]:
    """What was written of a card: bytes within `length` from `first` on, and all else as first byte and length.

    `pieces`: what qemu-img map says of it; those of depth 0 have been written.
    """
    known = [(each["start"], each["length"]) for each in pieces if each["depth"] == 0]
    outside = [(start, size) for start, size in known if start < first or start + size > first + length]
    return sum(size for _, size in known) - sum(size for _, size in outside), outside


def _kept_to_the_state(card: Path, lines: Sequence[str], tell: Callable[[str], None]) -> bool:
    """Whether nothing was written but the state; the guest of a read-only card says where it lies."""
    said = next((line for line in lines if line.startswith(STATE_AT)), None)
    if said is None:
        return True
    first, length = map(int, said.removeprefix(STATE_AT).split())
    pieces = json.loads(run("qemu-img", "map", "--output=json", card))
    inside, outside = written(pieces, ROOT_AT_BYTES + first, length)
    tell(f"written within the state: {inside} bytes; outside: {outside or 'nothing'}")
    return inside > 0 and not outside


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
    boot_files(image, folder, "vmlinuz*", "initrd.img*", "cmdline.txt")
    report = log.with_suffix(".tar")
    make_disks(image, folder, report)
    log.unlink(missing_ok=True)
    began = time.monotonic()
    lines: list[str] = []
    kept = True
    for start in (1, 2):
        _run_guest(qemu(architecture, folder, report, start), log, lines, tell)
        kept = kept and _kept_to_the_state(folder / CARD_DISK, lines, tell)
        if lines[-1] != CUT:
            break
    return Verdict(kept and lines[-1] == "passed", lines, time.monotonic() - began)


def _run_guest(command: Sequence[str], log: Path, lines: list[str], tell: Callable[[str], None]) -> None:
    """Until it ends or wants its power cut; what it tells is added to `lines`."""
    machine = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    patience = Timer(PATIENCE_S, machine.kill)
    patience.start()
    before = len(lines)
    try:
        for line in told(iter(machine.stdout or ()), log):
            lines.append(line)
            tell(line)
            if line == CUT:
                machine.kill()
        status = machine.wait()
    finally:
        patience.cancel()
        machine.kill()
    if len(lines) == before:
        raise ImageError(f"QEMU ended with {status} before the guest said anything; its console: {log}")
