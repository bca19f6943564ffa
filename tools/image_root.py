"""The root file system of the image: Debian with a kernel, lgpio, and the firmware installed by tools/install.

Each stage is a file in the cache, named after everything it was made from; what is there already is not made again.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
SUITE = "trixie"
PYTHON = "3.13"
"""Of the suite."""
LGPIO = "lgpio==0.2.2.0"
"""PyPI has its source, but no wheel for Python 3.13, and Debian has no package: it is compiled for the image."""

COMPONENTS = "main,contrib,non-free,non-free-firmware"
"""raspi-firmware, without which no Pi starts, is in non-free-firmware."""
PACKAGES = (
    *("systemd", "systemd-sysv", "udev", "kmod", "initramfs-tools", "zstd", "e2fsprogs"),
    *("python3", "python3-venv", "alsa-utils", "libglib2.0-0t64", "i2c-tools"),
)
COMPILER = ("python3-dev", "python3-setuptools", "swig")
DIET = (
    '--aptopt=Acquire::Languages "none"',
    *(f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("man", "locale", "i18n")),
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",
)
FSTAB = """\
LABEL=RASPIROOT / ext4 defaults,noatime 0 1
LABEL=RASPIFIRM /boot/firmware vfat defaults,noatime,nofail 0 2
"""
INITRAMFS = r"COMPRESS=zstd\nCOMPRESSLEVEL=3\n"
"""In the words of printf. Better compression costs minutes where the processor is emulated."""
BINFMT = Path("/proc/sys/fs/binfmt_misc")
ROOT_BY_LABEL = "root=LABEL=RASPIROOT"
"""So the same root is found on a card, on USB and in QEMU."""
FOR_ALL_PIS = 'ROOTPART="LABEL=RASPIROOT"\nCMA=0\n'
"""For /etc/default/raspi-firmware, from which cmdline.txt is made at each new kernel: cma= keeps a Pi 4 from starting
(raspi-firmware's kernel hook), and without it the kernel takes the same 64 MiB."""
MENDED_FIRST = "ro"
"""For /etc/default/raspi-extra-cmdline, which is appended there: raspi-firmware says rw, and the last of both counts.
systemd mends a root that is read-only yet; the initramfs, made before there was an fstab, has nothing to mend with."""
HEADER_BUS = ("/soc", "i2c@7e804000")
"""The bus on pins 3 and 5 in the device trees of the Pi 3, 4 and Zero 2 W: folder and node."""
BUS_HZ = 400_000
"""The MPR121's highest (data sheet, features); the kernel's device trees say 100 kHz."""
BLOCK = ("# volcano: begin", "# volcano: end")
"""What tools/install adds to config.txt."""
WHEELS = "/srv/wheels"
SOUNDS = "/srv/sounds"


class ImageError(Exception):
    """A step failed; the text names it and says what to check."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """One processor family under its Debian name."""

    name: str
    machine: str
    """As the kernel and wheels call it."""
    packages: tuple[str, ...]
    """What is installed for this one alone."""
    cross_compiler: tuple[str, ...]


ARCHITECTURES = {
    "amd64": Architecture("amd64", "x86_64", ("linux-image-amd64",), ("gcc-x86-64-linux-gnu", "libc6-dev-amd64-cross")),
    "arm64": Architecture(
        *("arm64", "aarch64", ("linux-image-arm64", "raspi-firmware")),
        ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"),
    ),
}


@dataclass(frozen=True, slots=True)
class Cache:
    """Finished stages. Outside the checkout; can be deleted at any time."""

    folder: Path
    tell: Callable[[str], None]
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each stage that was made took."""

    def make(self, name: str, origin: str, build: Callable[[Path], None]) -> Path:
        """The file of stage `name` made from `origin`; `build` writes it where it is told, and it is kept if whole."""
        stem, _, suffix = name.partition(".")
        made = self.folder / f"{stem}-{hashlib.sha256(origin.encode()).hexdigest()[:10]}.{suffix}"
        if made.exists():
            self.tell(f"{name}: as made before")
            return made
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"part-{os.getpid()}-{made.name}"
        began = time.monotonic()
        try:
            build(part)
            for old in self.folder.glob(f"{stem}-*.{suffix}"):
                old.unlink()
            part.rename(made)
        finally:
            part.unlink(missing_ok=True)
        self.seconds[name] = time.monotonic() - began
        self.tell(f"{name}: made in {self.seconds[name]:.0f} s")
        return made

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder for what is unpacked meanwhile."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="part-") as folder:
            yield Path(folder)


def run(*command: str | Path, **more: str) -> str:
    """Run to the end; what it said.

    Whoever interrupts it waits until the program has ended: mmdebstrap has this machine's /dev, /proc and /sys mounted
    in what it makes, and takes them out again if it is asked to stop, not if it is killed.

    Raises:
        ImageError: it failed; the text has its last lines.
    """
    words = [str(word) for word in command]
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, **more},
    ) as program:
        try:
            said = program.communicate()[0]
        except BaseException:
            program.terminate()
            program.communicate()
            raise
    if program.returncode:
        raise ImageError(f"{words[0]} failed ({program.returncode}): {' '.join(words[1:])}\n{said[-3000:]}")
    return said


def prepare_emulation(architecture: Architecture) -> None:
    """Let this machine's kernel run the other's programs through qemu-user.

    Raises:
        ImageError: it cannot be arranged.
    """
    if architecture.machine == platform.machine() or (BINFMT / f"qemu-{architecture.machine}").exists():
        return
    if not (BINFMT / "register").exists():
        run("mount", "-t", "binfmt_misc", "binfmt_misc", BINFMT)
    if not (BINFMT / f"qemu-{architecture.machine}").exists():
        rule = Path(f"/usr/lib/binfmt.d/qemu-{architecture.machine}.conf")
        try:
            (BINFMT / "register").write_bytes(rule.read_bytes().strip())
        except OSError as error:
            raise ImageError(f"{rule} cannot be registered: {error}: is qemu-user-static installed?") from error


def _debootstrap(architectures: str, packages: tuple[str, ...], *more: str) -> None:
    """Run mmdebstrap; what is made stands last in `more`."""
    run(
        *("nice", "-n", "19", "mmdebstrap", "--mode=root", f"--architectures={architectures}", "--variant=minbase"),
        *(f"--components={COMPONENTS}", *DIET, f"--include={','.join(packages)}", *more[:-1], SUITE, more[-1]),
    )


def lgpio_package(cache: Cache, architecture: Architecture) -> Path:
    """python3-lgpio as a package, as Raspberry Pi OS has it and Debian has not.

    It is compiled by this machine's own compiler or a cross compiler, which is forty times faster than an emulated one.
    """
    native = next((each for each in ARCHITECTURES.values() if each.machine == platform.machine()), architecture)
    if native is architecture:
        architectures = architecture.name
        packages: tuple[str, ...] = (*COMPILER, "gcc", "libc6-dev")
    else:
        architectures = f"{native.name},{architecture.name}"
        packages = (*COMPILER, *architecture.cross_compiler, f"libpython3-dev:{architecture.name}")
    triplet = f"{architecture.machine}-linux-gnu"
    suffix = f".cpython-{PYTHON.replace('.', '')}-{triplet}.so"
    setting = f"PYPI=1 CC={triplet}-gcc SETUPTOOLS_EXT_SUFFIX={suffix}"
    compiling = f"tar -x -f lgpio-*.tar.gz && cd lgpio-*/ && {setting} python3 setup.py build --build-lib /srv/built"

    def build(part: Path) -> None:
        with cache.scratch() as folder:
            pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=lgpio")
            run(*pip, "--dest", folder, LGPIO)
            (source,) = folder.glob("lgpio-*.tar.gz")
            module = folder / "package/usr/lib/python3/dist-packages"
            module.mkdir(parents=True)
            _debootstrap(
                *(architectures, packages, f"--customize-hook=copy-in {source} /srv"),
                f"""--customize-hook=chroot "$1" sh -c 'cd /srv && {compiling}'""",
                *(f"--customize-hook=sync-out /srv/built {module}", "--format=null", "/dev/null"),
            )
            control = folder / "package/DEBIAN/control"
            control.parent.mkdir()
            control.write_text(
                f"Package: python3-lgpio\nVersion: {LGPIO.partition('==')[2]}\nArchitecture: {architecture.name}\n"
                f"Depends: python3 (>= {PYTHON}), libc6\nMaintainer: Nobody <nobody@example.org>\n"
                "Description: GPIO lines through the kernel's gpiochips, compiled for the volcano's image\n",
                encoding="ascii",
            )
            run("dpkg-deb", "--root-owner-group", "--build", folder / "package", part)

    return cache.make(f"lgpio_{architecture.name}.deb", f"{LGPIO} {packages} {SUITE} {compiling}", build)


def debian(cache: Cache, architecture: Architecture) -> Path:
    """Debian with its kernel as a tar file."""
    packages = (*PACKAGES, *architecture.packages)

    def build(part: Path) -> None:
        _debootstrap(
            *(architecture.name, packages),
            '--essential-hook=mkdir -p "$1/boot/firmware" "$1/etc/initramfs-tools/conf.d"',
            f"""--essential-hook=printf '{INITRAMFS}' >"$1/etc/initramfs-tools/conf.d/volcano\"""",
            *("--format=tar", str(part)),
        )

    return cache.make(f"debian_{architecture.name}.tar", f"{SUITE} {packages} {DIET} {INITRAMFS}", build)


def checksum(root: Path, *names: str, content: bool = True) -> str:
    """Of every file below these; without `content`, of their names, sizes and times."""
    seen = hashlib.sha256()
    for top in (root / name for name in names):
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                status = path.stat()
                seen.update(f"{path.relative_to(root)} {status.st_size} {status.st_mode}".encode())
                seen.update(path.read_bytes() if content else str(status.st_mtime_ns).encode())
    return seen.hexdigest()[:16]


def wheels(cache: Cache, architecture: Architecture) -> Path:
    """What the firmware needs from a package index, as a folder of wheels in a tar file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    platforms = [f"manylinux{tag}_{architecture.machine}" for tag in ("_2_34", "_2_28", "_2_17", "2014")]

    def build(part: Path) -> None:
        with cache.scratch() as folder:
            run(
                *(sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder),
                *("--python-version", PYTHON, "--only-binary=:all:"),
                *(word for name in platforms for word in ("--platform", name)),
                *wanted,
            )
            run("tar", "-c", "-f", part, "-C", folder, ".")

    return cache.make(f"wheels_{architecture.name}.tar", f"{wanted} {platforms} {PYTHON}", build)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a root is put together from."""

    architecture: Architecture
    debian: Path
    lgpio: Path
    wheels: Path
    sounds: Path
    """The folder of the voices."""
    options: tuple[str, ...]
    """For tools/install."""


def install(parts: Parts, root: Path) -> None:
    """Unpack Debian into `root` and let tools/install install the firmware there, as on a Pi; no network is needed."""
    run("tar", "-x", "-f", parts.debian, "-C", root, "--numeric-owner", "--exclude=./dev/*")
    shutil.copy(parts.lgpio, root / "srv/lgpio.deb")
    found = root.with_name("wheels")
    found.mkdir()
    run("tar", "-x", "-f", parts.wheels, "-C", found)
    if parts.architecture.name == "arm64":
        _for_pis(root)
    else:
        _for_qemu(root)
    places = {ROOT: "/mnt", found: WHEELS, parts.sounds: SOUNDS}
    before = set((root / "srv").iterdir())
    inside = (
        *("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", f"--directory={root}"),
        *(f"--bind-ro={outside}:{place}" for outside, place in places.items()),
        *("--setenv=PIP_NO_INDEX=1", f"--setenv=PIP_FIND_LINKS={WHEELS}", "--pipe", "--as-pid2"),
    )
    run(*inside, "dpkg", "--install", "/srv/lgpio.deb")
    run(*inside, "/mnt/tools/install", "--sounds", SOUNDS, *parts.options)
    (root / "srv/lgpio.deb").unlink()
    for left in set((root / "srv").iterdir()) - before:
        left.rmdir()
    (root / "etc/hostname").write_text("volcano\n", encoding="ascii")
    (root / "etc/fstab").write_text(FSTAB, encoding="ascii")
    (root / "etc/machine-id").write_bytes(b"")  # each card makes its own
    if parts.architecture.name == "arm64":
        _keep_config_txt(root)


def name_header_bus(tree: Path) -> None:
    """Let the header's bus be /dev/i2c-1, whichever comes first, and as fast as it may be.

    Raspberry Pi OS does so by dtparam= in config.txt, for which Debian's device trees have no parameters.
    """
    folder, node = HEADER_BUS
    if node in run("fdtget", "-l", tree, folder).split():
        run("fdtput", "-t", "s", tree, "/aliases", "i2c1", f"{folder}/{node}")
        run("fdtput", "-t", "u", tree, f"{folder}/{node}", "clock-frequency", str(BUS_HZ))


def for_all_pis(words: str) -> str:
    """cmdline.txt as raspi-firmware would write it after `FOR_ALL_PIS` and `MENDED_FIRST`."""
    kept = [word for word in words.split() if not word.startswith(("root=", "cma="))]
    return " ".join((ROOT_BY_LABEL, *kept, MENDED_FIRST)) + "\n"


def _for_qemu(root: Path) -> None:
    """Fill boot/firmware where no raspi-firmware does: kernel and initramfs, and what tools/install looks for."""
    firmware = root / "boot/firmware"
    for each in (*(root / "boot").glob("vmlinuz-*"), *(root / "boot").glob("initrd.img-*")):
        shutil.copy(each, firmware)
    (firmware / "config.txt").touch()
    (firmware / "cmdline.txt").write_text(for_all_pis("rw rootwait"), encoding="ascii")


def _for_pis(root: Path) -> None:
    """Let what raspi-firmware has put into boot/firmware hold for each Pi, and for what it will put there."""
    firmware = root / "boot/firmware"
    defaults = root / "etc/default/raspi-firmware"
    defaults.write_text(f"{defaults.read_text(encoding='ascii')}\n{FOR_ALL_PIS}", encoding="ascii")
    (root / "etc/default/raspi-extra-cmdline").write_text(f"{MENDED_FIRST}\n", encoding="ascii")
    words = firmware / "cmdline.txt"
    words.write_text(for_all_pis(words.read_text(encoding="ascii")), encoding="ascii")
    # Those of the kernel's package, too: raspi-firmware copies them anew with each initramfs.
    for folder in (firmware, *(root / "usr/lib").glob("linux-image-*/broadcom")):
        for tree in folder.glob("bcm*.dtb"):
            name_header_bus(tree)


def _keep_config_txt(root: Path) -> None:
    """raspi-firmware writes config.txt anew with each kernel and appends a file: tools/install's block goes there."""
    written = (root / "boot/firmware/config.txt").read_text(encoding="utf-8")
    if BLOCK[0] in written:
        block = written[written.index(BLOCK[0]) : written.index(BLOCK[1]) + len(BLOCK[1])]
        (root / "etc/default/raspi-firmware-custom").write_text(block + "\n", encoding="utf-8")
