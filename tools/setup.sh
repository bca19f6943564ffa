# The set-up that tools/run and tools/test share: sourced by them, never run by itself. POSIX sh.
#
# set_up EXTRA... makes .venv/ in the checkout, with the firmware and these extras of pyproject.toml in it. A stamp,
# written last, says what the environment was made from: where it still holds, nothing is done and no network is needed;
# where it is missing, the environment is made anew, so that an interrupted set-up mends itself at the next start.
# shellcheck shell=sh

tool=tools/$(basename -- "$0")
root=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd -P)
venv=$root/.venv
stamp=$venv/set-up.txt
log=$venv/set-up.log

# What is imported is the environment's business alone.
unset PYTHONPATH PYTHONHOME
# Without UTF-8 Python 3.11 cannot start in a checkout below a folder such as "Männer".
[ "$(locale charmap 2>/dev/null)" = UTF-8 ] || export LC_ALL=C.UTF-8
# A person's pip.conf must neither lead out of the environment nor ask questions.
export PIP_USER=0 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1

tell() {
    printf '%s: %s\n' "$tool" "$*" >&2
}

stop() {
    tell "$@"
    exit 1
}

# Run a command of the step named first; its output is shown only if it fails.
step() {
    what=$1
    shift
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 15 -- "$log" >&2
        stop "$what failed; the whole output is in $log"
    fi
}

# Install Debian packages if root may do so, else name the one command to type. Arguments: what for, then packages.
install_packages() {
    purpose=$1
    shift
    if ! command -v apt-get >/dev/null; then
        stop "$purpose: please install what Debian calls $*, then start again"
    elif [ "$(id -u)" -ne 0 ]; then
        stop "$purpose; type: sudo apt-get install -y $*"
    fi
    tell "installing $* ($purpose)"
    mkdir -p -- "$venv"
    step "apt-get update" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 update
    step "apt-get install $*" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
        install -y --no-install-recommends "$@"
}

# Set python to the interpreter to use and version to its X.Y.Z; one outside any environment, since ours may be removed.
find_python() {
    newest=
    for candidate in python3 /usr/bin/python3 python3.13 python3.12 python3.11; do
        # The same one by whatever name and from inside the environment, or the environment would be made anew for it.
        found=$("$candidate" -c 'import sys, os.path
print(os.path.realpath(sys._base_executable or sys.executable), ".".join(map(str, sys.version_info[:3])), sys.version_info >= (3, 11))' \
            2>/dev/null) || continue
        version=${found% *}
        version=${version##* }
        case $found in
            *" True")
                python=${found% * *}
                return
                ;;
        esac
        newest="${newest:-only Python $version was found}"
    done
    stop "Python 3.11 or newer is needed, ${newest:-none was found}; Debian 12 and Raspberry Pi OS 12 bring it as python3"
}

# Whether the environment stands, was made here from this Python and this pyproject.toml, and has the extras asked for.
is_current() {
    [ -f "$stamp" ] && [ -x "$venv/bin/python" ] && [ -x "$venv/bin/volcano" ] || return 1
    made_from=$(sed 1d -- "$stamp")
    present=$(sed -n 1p -- "$stamp")
    [ "$made_from" = "$origin" ] || return 1
    for extra in "$@"; do
        case " $present " in
            *" $extra "*) ;;
            *) return 1 ;;
        esac
    done
}

make_environment() {
    [ -w "$root" ] || stop "$root cannot be written; the environment .venv/ belongs there"
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        install_packages "Python's venv module is missing" "python${version%.*}-venv"
    "$python" -c 'import ensurepip, venv' 2>/dev/null || stop "$python has no venv module even so; try another Python"
    tell "making .venv with Python $version"
    rm -rf -- "$venv" 2>/dev/null || stop "$venv cannot be removed; was it made by another user?"
    mkdir -- "$venv"
    # A Pi's own packages (python3-lgpio for Python 3.13) are no wheels anywhere: there the system's are seen too.
    # shellcheck disable=SC2086
    step "making .venv" "$python" -m venv $system_packages "$venv"
    # Python 3.11 puts an old setuptools in, whose pkg_resources makes pygame start slowly; pip brings a current one.
    step "removing setuptools" "$venv/bin/python" -m pip uninstall -y setuptools
}

# pygame's wheel leaves GLib and ALSA to the system; a bare one has neither.
bring_sound_libraries() {
    [ "$(uname)" = Linux ] || return 0
    set --
    "$venv/bin/python" -c 'import pygame.mixer' >"$log" 2>&1 || set -- libglib2.0-0
    "$venv/bin/python" -c 'import ctypes; ctypes.CDLL("libasound.so.2")' >"$log" 2>&1 || set -- "$@" alsa-utils
    [ $# -eq 0 ] || install_packages "pygame needs them for sound" "$@"
    step "importing pygame" "$venv/bin/python" -c 'import pygame.mixer'
}

set_up() {
    find_python
    system_packages=
    # Only a Pi needs what drives its pins, and RPi.GPIO is compiled there.
    if grep -qs 'Raspberry Pi' /sys/firmware/devicetree/base/model; then
        set -- "$@" pi
        system_packages=--system-site-packages
    fi
    origin="$root
$python $version
$(cksum <"$root/pyproject.toml")"
    is_current "$@" && return

    # Two set-ups at once would spoil each other. The lock goes with the process, whatever becomes of it.
    exec 9<"$root/pyproject.toml"
    if command -v flock >/dev/null && ! flock -n 9; then
        tell "waiting for another set-up of this checkout"
        flock 9
    fi
    if ! is_current "$@"; then
        if [ -f "$stamp" ] && [ "$(sed '1d;$d' -- "$stamp")" = "$root
$python $version" ] && [ -x "$venv/bin/python" ]; then
            # Sound, but for other extras or an older pyproject.toml: what is there stays.
            for extra in $present; do
                case " $* " in
                    *" $extra "*) ;;
                    *) set -- "$@" "$extra" ;;
                esac
            done
            rm -f -- "$stamp" 2>/dev/null || stop "$stamp cannot be written; was .venv made by another user?"
        else
            make_environment
        fi
        case " $* " in
            *" pi "*)
                if ! command -v cc >/dev/null || ! "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'; then
                    install_packages "RPi.GPIO is compiled here" gcc libc6-dev "libpython${version%.*}-dev"
                fi
                ;;
        esac
        tell "installing the firmware with what it needs ($*): a minute or two, once"
        (cd -- "$root" && step "installing" "$venv/bin/python" -m pip install --editable ".[$(echo "$*" | tr ' ' ,)]") ||
            exit 1
        bring_sound_libraries
        printf '%s\n%s\n' "$*" "$origin" >"$stamp.part"
        mv -- "$stamp.part" "$stamp"
    fi
    exec 9<&-
}
