"""Build an SD card image from Debian packages, and boot it under QEMU.

Experimental; docs/image.md says what has been tried and what has not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import image_boot
import image_disk
import image_root
from image_root import ARCHITECTURES, ROOT, Architecture, Cache, ImageError, Parts, run

TOOLS = {
    "mmdebstrap": "mmdebstrap",
    "systemd-nspawn": "systemd-container",
    "mkfs.vfat": "dosfstools",
    "mcopy": "mtools",
    "mke2fs": "e2fsprogs",
    "sfdisk": "fdisk",
    "zstd": "zstd",
    "arch-test": "arch-test",
    "fdtput": "device-tree-compiler",
    "pip3": "python3-pip",
}
"""Program -> the Debian package that brings it."""
FOR_ARM64 = {"qemu-aarch64-static": "qemu-user-static"}
FOR_TESTS = {
    "amd64": {"qemu-system-x86_64": "qemu-system-x86", "qemu-img": "qemu-utils"},
    "arm64": {"qemu-system-aarch64": "qemu-system-arm", "qemu-img": "qemu-utils"},
}
"""And more of them, where another machine's programs run, and where the image is booted."""
MADE_FROM = (
    *("firmware", "sounds", "systemd", "pyproject.toml", "README.md"),
    *("tools/install", "tools/appliance", "tools/image_root.py", "tools/image_disk.py"),
)
"""What is installed, and what installs and puts together."""


def tell(line: str) -> None:
    """Progress, for people."""
    print(f"tools/image: {line}", file=sys.stderr, flush=True)


def main() -> int:
    """Build, and boot if asked to; 0 if all went well."""
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # what is half made goes
    architecture = ARCHITECTURES[options.arch]
    try:
        _bring_tools(architecture, test=options.test)
        cache = Cache(options.cache, tell)
        more = ("--appliance",) if options.appliance else ()
        image = build(cache, architecture, options.sounds, ("--audio", options.audio, *more))
        if options.test:
            return test(cache, architecture, image)
        packed = options.output or Path(f"volcano-{architecture.name}.img.zst")
        tell(f"packing {packed}")
        run("nice", "zstd", "--quiet", "--force", "-T0", "-9", image, "-o", packed)
        tell(f"done; to write it: zstd -dc {packed} | sudo dd of=/dev/sdX bs=4M conv=fsync  (X: the card)")
    except ImageError as error:
        tell(str(error))
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sudo tools/image",
        description="Build an SD card image from Debian packages: a Pi 3, 4 or Zero 2 W that boots into the game. "
        "Experimental (docs/image.md); a Pi 5 needs Raspberry Pi OS and tools/install.",
        epilog="What each stage has made is kept in the cache and used again; a build that broke off goes on there. "
        "The first one takes some minutes for amd64, half an hour or more for arm64 on another processor.",
    )
    parser.add_argument("--arch", choices=tuple(ARCHITECTURES), default="arm64", help="amd64: only to test")
    parser.add_argument("--audio", default="headphones", help="as for tools/install (default: %(default)s)")
    parser.add_argument("--appliance", action="store_true", help="a read-only card, as tools/install makes it")
    parser.add_argument("--test", action="store_true", help="boot it under QEMU instead, and play (10 to 60 minutes)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: volcano-ARCH.img.zst, here")
    home = Path(f"~{os.environ.get('SUDO_USER', '')}").expanduser()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "volcano/image"
    parser.add_argument("--cache", type=Path, metavar="DIR", default=cache, help="default: %(default)s")
    voices = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share") / "volcano/sounds"
    parser.add_argument(
        "--sounds", type=Path, metavar="DIR", default=voices, help="voices, built already (default: %(default)s)"
    )
    return parser


def _bring_tools(architecture: Architecture, *, test: bool) -> None:
    """Install the programs that are missing.

    Raises:
        ImageError: this is not root, or they cannot be installed.
    """
    wanted = dict(TOOLS)
    if architecture.name == "arm64":
        wanted |= FOR_ARM64
    if test:
        wanted |= FOR_TESTS[architecture.name]
    missing = sorted({package for program, package in wanted.items() if not shutil.which(program)})
    if os.geteuid() != 0:
        raise ImageError("a root file system can only be made by root: sudo tools/image")
    if missing:
        tell(f"installing {' '.join(missing)}")
        apt = ("apt-get", "-o", "DPkg::Lock::Timeout=300")
        run(*apt, "update", DEBIAN_FRONTEND="noninteractive")
        run(*apt, "install", "-y", "--no-install-recommends", *missing, DEBIAN_FRONTEND="noninteractive")


def build(cache: Cache, architecture: Architecture, sounds: Path, options: tuple[str, ...]) -> Path:
    """The image, from what the cache has; `options` are for tools/install.

    Raises:
        ImageError: a step failed.
    """
    if not (sounds / "effects/manifest.json").is_file():
        raise ImageError(f"{sounds} holds no voices: build them first (volcano sounds build)")
    image_root.prepare_emulation(architecture)
    parts = Parts(
        architecture=architecture,
        debian=image_root.debian(cache, architecture),
        lgpio=image_root.lgpio_package(cache, architecture),
        wheels=image_root.wheels(cache, architecture),
        sounds=sounds,
        options=options,
    )

    def write(part: Path) -> None:
        with cache.scratch() as folder:
            root = folder / "root"
            root.mkdir(mode=0o755)
            image_root.install(parts, root)
            image_disk.write_card(root, part)

    made = [path.name for path in (parts.debian, parts.lgpio, parts.wheels)]
    programs = image_root.checksum(ROOT, *MADE_FROM)
    voices = image_root.checksum(sounds, ".", content=False)
    return cache.make(f"card_{architecture.name}.img", f"{made} {options} {programs} {voices}", write)


def test(cache: Cache, architecture: Architecture, image: Path) -> int:
    """Boot the image and let the test play; 0 if it passed."""
    log = cache.folder / f"console-{architecture.name}.log"
    tell(f"booting {image.name} under QEMU; its whole console: {log}")
    began = time.monotonic()
    with cache.scratch() as folder:
        verdict = image_boot.boot(
            architecture, image, folder, log, lambda line: tell(f"[{time.monotonic() - began:4.0f} s] {line}")
        )
    tell(f"{'passed' if verdict.passed else 'failed'} after {verdict.wall_s:.0f} s")
    return 0 if verdict.passed else 1


if __name__ == "__main__":
    sys.exit(main())
