"""tools/install: what it says, and what it does to a card (slow: a Debian root under systemd-nspawn, as root)."""

from __future__ import annotations

import configparser
import hashlib
import os
import re
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest
from pi_root import CONFIG_TXT, ROOT, Card

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

INSTALL = ROOT / "tools/install"
UNIT = ROOT / "systemd/volcano.service"
PAGE = ROOT / "systemd/volcano.service.d/page.conf"
SUITES = os.environ.get("VOLCANO_SUITES", "trixie").split()
"""Raspberry Pi OS is built from the newest; VOLCANO_SUITES="bookworm trixie" proves both."""
HALF_INSTALLED = """\
Package: python3-lgpio
Status: install ok half-configured
Version: 0.2.2
Architecture: all
Maintainer: Nobody <nobody@example.org>
Description: stands for the package of Raspberry Pi OS
"""
"""As dpkg keeps it in its journal until it is done."""
PAGE_DROP_IN = "/etc/systemd/system/volcano.service.d/page.conf"
KEPT = ("/etc/volcano.toml", "/var/lib/volcano")


def install(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [INSTALL, *options], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60
    )


# --- what it says


def test_help_does_nothing_else() -> None:
    done = install("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: sudo tools/install")


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--purge"], 1, "--purge goes with --uninstall"),
        (["--audio", "gramophone"], 1, "must be max98357a, headphones or keep, is 'gramophone'"),
        (["--audio"], 1, "--audio"),
        (["--sounds", "/nowhere"], 1, "'/nowhere' holds no sound packs"),
        (["--wheels", "/nowhere"], 1, "'/nowhere' holds no wheel of the volcano"),
        (["--frobnicate"], 2, "usage: "),
    ],
)
def test_a_wrong_option_is_named(options: list[str], status: int, words: str) -> None:
    done = install(*options)
    assert done.returncode == status
    assert words in done.stderr


def shell(words: str, **more: str) -> str:
    """What the functions of tools/install say, its names being as short as can be."""
    text = INSTALL.read_text(encoding="utf-8")
    names = "\n".join(line for line in text.splitlines() if line.startswith(("begin=", "end=")))
    functions = "".join(re.findall(r"^\w+\(\) \{\n.*?^\}\n", text, re.MULTILINE | re.DOTALL))
    done = subprocess.run(
        ["sh", "-euc", f"{names}\n{functions}\n{words}"], capture_output=True, check=True, env={**os.environ, **more}
    )
    return done.stdout.decode()


OURS = "# volcano: begin (tools/install writes what is between)\n[all]\ndtparam=audio=off\n# volcano: end\n"


@pytest.mark.parametrize(
    ("there", "without"),
    [
        (f"one\n{OURS}two\n", "one\ntwo\n"),
        (f"one\n{OURS}".replace("\n", "\r\n"), "one\r\n"),
        (f"{OURS}two\n{OURS}", "two\n"),
        (f"{OURS}two\n".replace("# volcano: end\n", ""), "[all]\ndtparam=audio=off\ntwo\n"),
        (f"{OURS}two\n".replace("# volcano: end\n", "") + OURS, "[all]\ndtparam=audio=off\ntwo\n"),
        ("# volcano: end\nno end\n", "# volcano: end\nno end\n"),
    ],
)
def test_of_config_txt_nothing_is_taken_away_but_our_block(tmp_path: Path, there: str, without: str) -> None:
    """Editors end its lines as on Windows, and owners delete what they do not know."""
    file = tmp_path / "config.txt"
    file.write_bytes(there.encode())
    assert shell(f"without_block {file}") == without


def test_the_installer_overwrites_no_name_of_the_script_that_it_reads() -> None:
    def assigned(path: Path, indent: str) -> set[str]:
        return set(re.findall(rf"^{indent}(\w+)=", path.read_text(encoding="utf-8"), re.MULTILINE))

    assert assigned(ROOT / "tools/appliance/convert.sh", "") & assigned(INSTALL, r"\s*") == set()


# --- the units


class Keys(configparser.RawConfigParser):
    """A unit file; a key that is given twice has both values, in lines."""

    def __init__(self, path: Path) -> None:
        super().__init__(strict=False, interpolation=None, comment_prefixes=("#",), delimiters=("=",))
        self.optionxform = str  # type: ignore[assignment, method-assign]
        self.read_string(path.read_text(encoding="utf-8"))


NETWORK = {"PrivateNetwork", "RestrictAddressFamilies", "IPAddressAllow", "IPAddressDeny"}


def test_the_page_s_drop_in_serves_it_and_lifts_the_network_keys_and_only_those() -> None:
    unit, page = Keys(UNIT)["Service"], Keys(PAGE)
    assert page.sections() == ["Service"]
    assert set(page["Service"]) <= {"ExecStart", *NETWORK}
    assert page["Service"]["ExecStart"].strip() == f"{unit['ExecStart']} --page --listen 0.0.0.0"
    assert unit["PrivateNetwork"] == "yes"
    assert page["Service"]["PrivateNetwork"] == "no"


def test_the_service_is_never_given_up_and_waits_for_no_network() -> None:
    unit = Keys(UNIT)
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"
    assert (unit["Service"]["Type"], unit["Service"]["Restart"]) == ("notify", "always")
    assert "network" not in unit["Unit"]["After"]
    assert "Requires" not in unit["Unit"]


# --- what it does


def contents(card: Card) -> dict[str, str]:
    """Everything under the folders that it may touch: kind, owner, mode and content by path."""
    found = {}
    for top in ("etc", "opt", "boot", "var/lib/volcano"):
        for path in [card.root / top, *(card.root / top).rglob("*")]:
            if path.is_symlink():
                what = f"-> {path.readlink()}"
            elif path.is_file():
                what = hashlib.sha256(path.read_bytes()).hexdigest()
            elif path.is_dir():
                what = "folder"
            else:
                continue
            status = path.lstat()
            where = f"/{path.relative_to(card.root)}"
            found[where] = f"{status.st_uid}:{status.st_gid} {stat.filemode(status.st_mode)} {what}"
    return found


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """The paths that differ; those of Debian's own account tools' backups and caches left out."""
    accounts = {f"/etc/{name}{tail}" for name in ("passwd", "group", "shadow", "gshadow") for tail in ("", "-")}
    paths = {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}
    return sorted(paths - accounts)


def exposure(said: str) -> float:
    """The overall exposure level in what systemd-analyze says."""
    return float(said.rpartition(".service: ")[2].split()[0])


def accounts(card: Card) -> Sequence[str]:
    return [line.partition(":")[0] for line in card.read("/etc/passwd").splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_a_card_is_installed_upgraded_and_cleared(tmp_path: Path, suite: str) -> None:
    card = Card(tmp_path, suite)
    card.do("true")  # nspawn makes what it needs
    bare = contents(card)

    # Dry, nothing is done.
    said = card.install("--dry-run")
    assert "would: " in said
    assert contents(card) == bare

    # Installed: the user, the firmware, the bus and the sound card, the service.
    said = card.install()
    assert "restart the Pi once" in said
    entry = next(line for line in card.read("/etc/passwd").splitlines() if line.startswith("volcano:"))
    assert entry.endswith("/nologin")
    assert set(card.do("id", "-nG", "volcano").split()) == {"volcano"}, "the groups come from the unit"
    version = card.do("runuser", "-u", "volcano", "--", "/opt/volcano/venv/bin/volcano", "--version")
    assert version.startswith("volcano ")
    config_txt = card.boot_config.read_text(encoding="utf-8")
    assert config_txt.startswith(CONFIG_TXT)
    assert "dtparam=i2c_arm=on,i2c_arm_baudrate=400000" in config_txt
    assert "dtoverlay=max98357a" in config_txt
    assert card.path("/etc/systemd/system/sysinit.target.wants/volcano.service").is_symlink()
    assert card.read("/etc/modules-load.d/volcano.conf").split() == ["i2c-dev", "snd"]
    assert card.read("/etc/systemd/system.conf.d/volcano.conf") == "[Manager]\nRuntimeWatchdogSec=10s\n"
    owned = [path for path in (card.root / "opt").rglob("*") if path.lstat().st_uid or path.lstat().st_mode & 0o022]
    assert [path for path in owned if not path.is_symlink()] == [], "the service must not be able to change itself"
    assert not [path for path in (card.root / "opt").rglob("*.pth") if "/mnt" in path.read_text(encoding="utf-8")]

    if suite != "bookworm":  # udevadm there cannot verify
        assert "Fail: 0" in " ".join(card.do("udevadm", "verify", "/etc/udev/rules.d/90-volcano.rules").split())

    # The unit: no word from systemd-analyze, and the scores.
    assert card.do("systemd-analyze", "verify", "/etc/systemd/system/volcano.service") == ""
    score = ("systemd-analyze", "security", "--offline=true", "/etc/systemd/system/volcano.service")
    alone = exposure(card.do(*score))
    assert alone <= 1.2
    card.install("--page")
    card.do("/opt/volcano/venv/bin/python", "-c", "import firmware.page.server")
    assert card.do("systemd-analyze", "verify", "/etc/systemd/system/volcano.service") == ""
    with_page = exposure(card.do(*score))
    assert alone < with_page <= 2.0
    others = {}
    for name, most in {"volcano-ssh-key": 1.5, "volcano-update": 5.0}.items():
        service = f"/etc/systemd/system/{name}.service"
        assert card.do("systemd-analyze", "verify", service) == ""
        others[name] = exposure(card.do(*score[:-1], service))
        assert others[name] <= most
    print(f"\n{suite}: exposure {alone}, with the page {with_page}; {others}")

    # Again: nothing is changed, nothing is made anew.
    card.install()
    before = contents(card)
    times = {path: card.path(path).lstat().st_mtime_ns for path in before}
    assert "installing" not in card.install()
    after = contents(card)
    assert differing(before, after) == []
    assert [path for path, time in times.items() if card.path(path).lstat().st_mtime_ns != time] == []

    # An upgrade keeps what is the owner's; one that breaks off leaves the old firmware standing.
    old = card.path("/opt/volcano/venv").readlink()
    own = {KEPT[0]: 'language = "en"\n'}
    own |= {f"/var/lib/volcano/{name}": "the owner's\n" for name in ("running.journal", "calibration.json")}
    for path, text in own.items():
        card.write(path, text)
    stamp = card.path(old) / "installed.txt"
    stamp.write_text("of an older version\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="failed: "):
        card.do("env", "PIP_FIND_LINKS=/nowhere", "/mnt/tools/install", "--no-sounds")
    assert card.path("/opt/volcano/venv").readlink() == old
    assert card.do("/opt/volcano/venv/bin/volcano", "--version") == version
    card.install()
    new = card.path("/opt/volcano/venv").readlink()
    assert new != old
    assert [path.name for path in card.path("/opt/volcano/environments").iterdir()] == [new.name]
    assert {path: card.read(path) for path in own} == own

    # Voices made elsewhere.
    card.write("/srv/voices/effects/manifest.json", "{}")
    card.do("/mnt/tools/install", "--sounds", "/srv/voices")
    copied = card.path("/var/lib/volcano/sounds/effects/manifest.json")
    assert copied.read_text(encoding="utf-8") == "{}"
    assert card.do("stat", "-c", "%U", "/var/lib/volcano/sounds/effects/manifest.json").strip() == "volcano"

    # What was chosen stays so until something else is chosen.
    card.install("--audio", "headphones", "--page")
    card.install()
    assert "dtparam=audio=on" in card.boot_config.read_text(encoding="utf-8")[len(CONFIG_TXT) :]
    assert card.path(PAGE_DROP_IN).exists()
    card.install("--no-page")
    assert not card.path(PAGE_DROP_IN).exists()
    assert 'under [sound]: card = "MAX98357A"' in card.install("--audio", "max98357a"), "the owner's file is kept"

    # Cut off among the packages, which apt-get would not mend by itself.
    if "python3-lgpio" in card.read("/var/lib/dpkg/status"):
        card.write("/var/lib/dpkg/updates/0001", HALF_INSTALLED)
        assert "installing python3-lgpio" in card.install()

    # Cut off: what half stands goes away, at once or the next time.
    whole = card.path("/opt/volcano/venv").readlink()
    card.path("/opt/volcano/environments/20200101-000000-1").mkdir()
    (card.path(whole) / "installed.txt").write_text("of an older version\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="failed: "):
        card.do("env", "PIP_FIND_LINKS=/nowhere", "/mnt/tools/install", "--no-sounds")
    assert [path.name for path in card.path("/opt/volcano/environments").iterdir()] == [whole.name]
    card.install()

    # Taken away: all but what is the owner's, then that too.
    said = card.do("/mnt/tools/install", "--uninstall")
    assert card.boot_config.read_text(encoding="utf-8") == CONFIG_TXT
    assert {path: card.read(path) for path in own} == own
    card.do("/mnt/tools/install", "--uninstall", "--purge")
    left = differing(bare, contents(card))
    kept = {"/boot/firmware/config.txt.before-volcano", "/etc/modules-load.d", "/etc/udev/rules.d"}
    assert set(left) <= kept | {"/etc/systemd/system/sysinit.target.wants"}
    assert not card.path("/usr/local/sbin/volcano-update").is_symlink()
    assert not card.path("/usr/local/bin/volcano").is_symlink()
    assert "volcano" not in accounts(card)
