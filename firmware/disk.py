"""Files: read with bounds, and written so that a power cut leaves the old one or the new one, whole."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


MOST_BYTES = 64 * 2**20
"""Two hours of a trace; every other file of the firmware is smaller."""


def read_file(path: Path) -> bytes:
    """All of a file. A card's image or an endless device, named by mistake, would take all memory.

    Raises:
        OSError: it cannot be read, or has more than `MOST_BYTES`.
    """
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def replace_file(path: Path, data: bytes, *, earlier: Path | None = None) -> None:
    """Atomically: a power cut leaves the old file or the new one. With `earlier` the old one is kept there.

    Raises:
        OSError: the disk refuses.
    """
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if earlier is not None and path.exists():
        path.replace(earlier)  # a cut between the two leaves the old one there, where it is found
    new.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make what was created, renamed and deleted in `folder` last.

    Raises:
        OSError: the disk refuses.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def free_name(folder: Path, stem: str, suffix: str) -> Path:
    """`folder`/`stem`-NUMBER`suffix`, one beyond the highest number that is taken."""
    taken: Iterable[Path] = folder.glob(f"{stem}-*{suffix}")
    numbers = [int(path.stem.rpartition("-")[2]) for path in taken if path.stem.rpartition("-")[2].isdigit()]
    return folder / f"{stem}-{max(numbers, default=0) + 1:06}{suffix}"
