"""tools/image: where the partitions lie, what the kernel is told, and that what was made is used again.

The image itself is built and booted by `tools/image --test`, which takes too long for a test run (docs/image.md).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest
from pi_root import ROOT, wait_for

from firmware.config import load_configuration

sys.path.insert(0, str(ROOT / "tools"))
import image_boot
import image_disk
from image_root import ARCHITECTURES, ROOT_BY_LABEL, Cache, ImageError, checksum, for_all_pis

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# --- the card


def test_the_boot_partition_begins_at_one_mebibyte_and_the_root_follows_it() -> None:
    table = image_disk.layout(800 << 20).table().splitlines()
    assert table == [
        "label: dos",
        "start=2048, size=524288, type=c, bootable",
        "start=526336, type=83",
    ]


@pytest.mark.parametrize("content_mib", [1, 700, 800, 1200, 1600, 2500])
def test_a_card_is_a_power_of_two_and_has_room_for_its_content_and_an_upgrade(content_mib: int) -> None:
    planned = image_disk.layout(content_mib << 20)
    assert planned.size_mib.bit_count() == 1
    assert planned.root_at_mib + planned.root_mib == planned.size_mib
    assert planned.root_mib >= content_mib * 1.1 + image_disk.SPARE_MIB


def test_a_card_is_no_larger_than_it_must_be() -> None:
    assert image_disk.layout(1100 << 20).size_mib == 2048
    assert image_disk.layout(1200 << 20).size_mib == 4096


def test_the_root_is_found_by_its_label_and_no_word_keeps_a_pi_4_from_starting() -> None:
    written = "console=tty0 root=/dev/mmcblk0p2 rw fsck.repair=yes net.ifnames=0 cma=64M rootwait \n"
    kept = "console=tty0 rw fsck.repair=yes net.ifnames=0 rootwait"
    assert for_all_pis(written) == f"root=LABEL=RASPIROOT {kept} ro\n", "with rw alone nobody would mend the root"
    assert image_disk.ROOT_LABEL in ROOT_BY_LABEL


DEBIAN = "console=tty0 root=LABEL=RASPIROOT rw fsck.repair=yes net.ifnames=0  rootwait \n"
"""cmdline.txt as the kernel hook of raspi-firmware 1.20240424 makes it."""
RASPBERRY_PI_OS = (
    "console=serial0,115200 console=tty1 root=PARTUUID=fb33757d-02 rootfstype=ext4 fsck.repair=yes rootwait"
)
INIT = "init=/opt/volcano/bin/init"


class Boot:
    """cmdline.txt, what raspi-firmware's kernel hook appends to it, and the hook, as convert.sh sees them."""

    def __init__(self, folder: Path, words: str) -> None:
        self.line, self.extra, self.hook = folder / "cmdline.txt", folder / "raspi-extra-cmdline", folder / "hook"
        self.line.write_text(words, encoding="ascii")

    def convert(self, function: str) -> None:
        """Run a function of convert.sh, what it takes from tools/install being as short as can be."""
        script = f"""set -eu; home=/opt/volcano; dry=
            act() {{ "$@"; }}; put() {{ printf '%s\\n' "$(cat)" >"$1"; }}; remove() {{ rm -f -- "$@"; }}
            . {ROOT}/tools/appliance/convert.sh
            boot={self.line.parent}/config.txt; kernel_words={self.extra}; kernel_hook={self.hook}
        """
        subprocess.run(["sh", "-c", script + function], check=True)


def test_no_name_of_tools_install_means_something_else_in_what_it_reads() -> None:
    """A shell has one room for all names: `extra` was a file here, and there the extras of pip."""
    names = [
        set(re.findall(r"^ *(\w+)=", (ROOT / "tools" / path).read_text(encoding="utf-8"), re.MULTILINE))
        for path in ("install", "appliance/convert.sh")
    ]
    assert {"kernel_words", "kernel_hook"} < names[1]
    assert names[0] & names[1] == set()


def test_the_words_are_put_where_the_kernel_hook_looks() -> None:
    convert = (ROOT / "tools/appliance/convert.sh").read_text(encoding="utf-8")
    assert "\nkernel_words=/etc/default/raspi-extra-cmdline\n" in convert
    assert "\nkernel_hook=/etc/kernel/postinst.d/z50-raspi-firmware\n" in convert


@pytest.mark.parametrize("already", ["", "dwc_otg.fiq_enable=0\n"])
def test_the_words_of_a_read_only_card_outlive_the_next_kernel(tmp_path: Path, already: str) -> None:
    """Debian's raspi-firmware makes cmdline.txt anew then, and says rw in it: the last of rw and ro counts."""
    boot = Boot(tmp_path, DEBIAN)
    boot.hook.write_text(f'cmdline_custom="{boot.extra}"\n', encoding="ascii")
    if already:
        boot.extra.write_text(already, encoding="ascii")
    for _ in range(2):
        boot.convert("appliance_is_set || add_words")
        assert boot.line.read_text(encoding="ascii").split() == [*DEBIAN.split(), INIT, "ro"]
        assert boot.extra.read_text(encoding="ascii").split("\n")[0].split() == [*already.split(), INIT, "ro"]
    boot.convert("remove_words")
    assert boot.line.read_text(encoding="ascii") == DEBIAN
    assert (boot.extra.read_text(encoding="ascii") if boot.extra.exists() else "") == already


def test_where_nobody_makes_cmdline_txt_anew_it_alone_is_changed(tmp_path: Path) -> None:
    boot = Boot(tmp_path, RASPBERRY_PI_OS)
    boot.convert("add_words")
    assert boot.line.read_text(encoding="ascii") == f"{RASPBERRY_PI_OS} {INIT}", (
        "no ro: the kernel takes it for granted"
    )
    assert not boot.extra.exists()
    boot.convert("remove_words")
    assert boot.line.read_text(encoding="ascii") == RASPBERRY_PI_OS


def test_words_that_only_the_next_kernel_would_bring_are_taken_away_too(tmp_path: Path) -> None:
    """Else that kernel would look for an init that is gone."""
    boot = Boot(tmp_path, DEBIAN)
    boot.extra.write_text(f"{INIT} ro\n", encoding="ascii")
    boot.convert("remove_words")
    assert not boot.extra.exists()


# --- the stages


def writing(text: str) -> Callable[[Path], None]:
    """A stage that writes this."""

    def build(part: Path) -> None:
        part.write_text(text, encoding="ascii")

    return build


def test_a_stage_is_made_once_and_again_only_from_something_else(tmp_path: Path) -> None:
    said: list[str] = []
    cache = Cache(tmp_path / "cache", said.append)
    first = cache.make("debian-arm64.tar", "old", writing("1"))
    assert cache.make("debian-arm64.tar", "old", writing("2")) == first
    assert first.read_text() == "1"
    second = cache.make("debian-arm64.tar", "new", writing("3"))
    assert (second.read_text(), first.exists()) == ("3", False)
    assert [line.split(":")[1].split()[0] for line in said] == ["made", "as", "made"]


def test_a_stage_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    cache = Cache(tmp_path, lambda _: None)
    whole = cache.make("card-arm64.img", "old", writing("whole"))

    def break_off(part: Path) -> None:
        part.write_text("half")
        raise ImageError("no space left")

    with pytest.raises(ImageError):
        cache.make("card-arm64.img", "new", break_off)
    assert [path.name for path in tmp_path.iterdir()] == [whole.name]


def test_a_program_that_is_interrupted_may_still_put_things_away(tmp_path: Path) -> None:
    """mmdebstrap unmounts this machine's folders then; killed, it would leave them in what somebody removes later."""
    away, ready = tmp_path / "away", tmp_path / "ready"
    program = f"trap 'echo >{away}; exit 1' TERM; echo >{ready}; while :; do sleep 0.02; done"
    lines = f"import os, signal, sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); from image_root import run\n"
    lines += f"signal.signal(signal.SIGTERM, lambda *_: sys.exit(1)); run('sh', '-c', {program!r})"
    tool = subprocess.Popen([sys.executable, "-c", lines])
    wait_for(ready.exists, "the program does not start")
    tool.terminate()
    assert tool.wait(20) == 1
    assert away.exists()


def test_an_architecture_s_stages_leave_the_other_s_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path, lambda _: None)
    made = [cache.make(f"debian-{name}.tar", "x", writing("")) for name in ARCHITECTURES]
    assert all(path.exists() for path in made)


def test_an_image_is_made_anew_when_a_file_it_holds_has_changed(tmp_path: Path) -> None:
    (tmp_path / "firmware").mkdir()
    path = tmp_path / "firmware/unit.py"
    path.write_text("a")
    before = checksum(tmp_path, "firmware")
    path.write_text("b")
    assert checksum(tmp_path, "firmware") != before


# --- the boot


def test_the_kernel_is_told_the_card_s_own_words_a_sound_card_and_the_test() -> None:
    own = f"console=tty0 {ROOT_BY_LABEL} rw rootwait init=/opt/volcano/bin/init ro\n"
    words = image_boot.command_line(own, "ttyAMA0", 2).split()
    assert words[:5] == [ROOT_BY_LABEL, "rw", "rootwait", "init=/opt/volcano/bin/init", "ro"]
    assert [word for word in words if word.startswith("console=")] == ["console=ttyAMA0"]
    assert "systemd.setenv=VOLCANO_START=2" in words
    card = load_configuration(ROOT / "tests/guest/volcano.toml").card
    assert f"snd_aloop.id={card}" in words
    mounted = next(word for word in words if word.startswith("systemd.mount-extra=")).split(":")[1]
    assert f"systemd.run={mounted}/guest/run" in words
    assert (ROOT / "tests/guest/run").stat().st_mode & 0o111


def test_only_the_state_may_have_been_written() -> None:
    card = {"start": 0, "length": 1 << 31, "depth": 1}
    piece = {"start": 300 << 20, "length": 64 << 10, "depth": 0}
    assert image_boot.written([card], 300 << 20, 64 << 20) == (0, [])
    assert image_boot.written([card, piece], 300 << 20, 64 << 20) == (64 << 10, [])
    assert image_boot.written([card, piece], 301 << 20, 63 << 20) == (0, [(300 << 20, 64 << 10)])
    assert image_boot.written([card, piece], 236 << 20, 64 << 20) == (0, [(300 << 20, 64 << 10)])


def test_the_guest_plays_at_full_volume() -> None:
    """Softer clips would not be heard as they were decoded."""
    settings = tomllib.loads((ROOT / "tests/guest/volcano.toml").read_text(encoding="utf-8"))
    assert settings["volume"] == 5


def test_only_the_guest_s_own_lines_are_told_and_all_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "console.log"
    console = ["[    0.000000] Linux\n", "\n", "image-test: time ready 27.2\r\n", "image-test: passed\n"]
    assert list(image_boot.told(iter(console), log)) == ["time ready 27.2", "passed"]
    assert log.read_bytes().decode() == "".join(console)


# --- what it says


def image(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "tools/image", *options], capture_output=True, text=True, check=False, timeout=60)


def test_help_does_nothing_else() -> None:
    done = image("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: sudo tools/image")


def test_a_wrong_architecture_is_named() -> None:
    done = image("--arch", "riscv64")
    assert done.returncode == 2
    assert "riscv64" in done.stderr
