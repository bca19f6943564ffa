"""The card itself: a FAT partition for the Pi's firmware and an ext4 root, put together without mounting anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from image_root import ImageError, run

if TYPE_CHECKING:
    from pathlib import Path

SECTOR_BYTES = 512
MIB = 1 << 20
FIRST_MIB = 1
"""Before the first partition: the partition table, and room to align to the blocks of a card."""
BOOT_MIB = 256
"""Kernel, initramfs and the Pi's firmware are 90 MiB, and an upgrade has two kernels there for a while."""
SPARE_MIB = 512
"""Of the root: journals, games, an upgrade beside the old firmware. The rest of a card stays unused."""
ROOT_AT_BYTES = (FIRST_MIB + BOOT_MIB) * MIB
BOOT_LABEL = "RASPIFIRM"
ROOT_LABEL = "RASPIROOT"
OLD_FEATURES = "^metadata_csum_seed,^orphan_file"
"""Features that the mke2fs of some machines switches on and the e2fsck of others does not know."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the partitions are, in MiB."""

    root_mib: int

    @property
    def root_at_mib(self) -> int:
        """Where the root begins."""
        return FIRST_MIB + BOOT_MIB

    @property
    def size_mib(self) -> int:
        """All of it; QEMU's SD card must be a power of two, and so are real ones, roughly."""
        used = self.root_at_mib + self.root_mib
        return 1 << (used - 1).bit_length()

    def table(self) -> str:
        """The partition table in the words of sfdisk; the root takes what is left."""
        boot = f"start={_sectors(FIRST_MIB)}, size={_sectors(BOOT_MIB)}, type=c, bootable"
        return f"label: dos\n{boot}\nstart={_sectors(self.root_at_mib)}, type=83\n"


def _sectors(mib: int) -> int:
    return mib * MIB // SECTOR_BYTES


def layout(content_bytes: int) -> Layout:
    """Partitions for a root of so many bytes in files.

    ext4's own tables and half-filled blocks take a tenth; the root then fills its power of two.
    """
    needed = Layout(-(-content_bytes * 11 // 10 // MIB) + SPARE_MIB)
    return Layout(needed.size_mib - needed.root_at_mib)


def write_card(root: Path, image: Path) -> None:
    """Make `image` of the tree `root`, whose boot/firmware becomes the FAT partition and is emptied.

    Raises:
        ImageError: the boot files do not fit, or a tool failed.
    """
    boot, ext4 = image.with_suffix(".vfat"), image.with_suffix(".ext4")
    try:
        files = sorted((root / "boot/firmware").iterdir())
        if sum(each.stat().st_size for each in (root / "boot/firmware").rglob("*")) > (BOOT_MIB - 8) * MIB:
            raise ImageError(f"the boot files are more than {BOOT_MIB} MiB")
        _empty(boot, BOOT_MIB)
        run("mkfs.vfat", "-F", "32", "-n", BOOT_LABEL, boot)
        run("mcopy", "-s", "-i", boot, *files, "::/")
        for each in files:
            run("rm", "-r", each)
        content = int(run("du", "--summarize", "--one-file-system", "--block-size=1", root).split()[0])
        planned = layout(content)
        _empty(ext4, planned.root_mib)
        run("mke2fs", "-q", "-t", "ext4", "-O", OLD_FEATURES, "-L", ROOT_LABEL, "-d", root, ext4)
        _empty(image, planned.size_mib)
        run("sh", "-c", 'printf %s "$1" | sfdisk --quiet "$2"', "sfdisk", planned.table(), image)
        for part, at_mib in ((boot, FIRST_MIB), (ext4, planned.root_at_mib)):
            run("dd", f"if={part}", f"of={image}", "bs=1M", f"seek={at_mib}", "conv=notrunc,sparse", "status=none")
    finally:
        boot.unlink(missing_ok=True)
        ext4.unlink(missing_ok=True)


def _empty(path: Path, mib: int) -> None:
    """A file of zeros that takes no room."""
    with path.open("wb") as file:
        file.truncate(mib * MIB)


def boot_files(image: Path, folder: Path, *names: str) -> None:
    """Copy files out of the FAT partition; a name may have a star.

    Raises:
        ImageError: there is none of that name.
    """
    for name in names:
        run("mcopy", "-n", "-i", f"{image}@@{FIRST_MIB}M", f"::/{name}", folder)
