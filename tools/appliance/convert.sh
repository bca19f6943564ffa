# The card read-only, and writable again: what tools/install sources for --appliance, --no-appliance and --uninstall.
# shellcheck shell=sh
# shellcheck disable=SC2154 # home, state, root, boot, dry are tools/install's
room=$home/appliance
image=/var/lib/volcano-state.img
word=init=$home/bin/init

cmdline() {
    printf %s "${boot%/*}/cmdline.txt"
}

# Whether the Pi starts with a read-only card, from the next start on or already.
appliance_is_set() {
    [ -n "$boot" ] && grep -qswF -- "$word" "$(cmdline)"
}

refuse_a_read_only_card() {
    if [ -d "$room/card/usr" ]; then
        stop "the card is read-only: sudo volcano-writable restarts the Pi with one that can be written; then again"
    fi
}

# Change a file with sed, whole or not at all, its other bytes as they were. Arguments: the script of sed, the file.
edit() {
    sed "$1" "$2" >"$2.volcano-new"
    sync "$2.volcano-new"
    mv -f -- "$2.volcano-new" "$2"
    sync
}

make_appliance() {
    if [ -z "$boot" ] || [ ! -f "$(cmdline)" ]; then
        stop "--appliance: there is no cmdline.txt beside config.txt, and only Raspberry Pi OS starts by one"
    fi
    case " $(cat -- "$(cmdline)") " in
        *" $word "*) ;;
        *" init="*) stop "--appliance: $(cmdline) has another init=: is this card's first start over? sudo reboot, then again" ;;
        *overlayroot=* | *" boot=overlay "*)
            stop "--appliance: the system's own overlay is on; switch it off: sudo raspi-config nonint disable_overlayfs"
            ;;
    esac
    if ! grep -qw overlay /proc/filesystems && ! modprobe -nq overlay; then
        stop "--appliance: this kernel has no overlay file system"
    fi
    for each in init state-file writable; do
        put "$home/bin/$each" 755 <"$root/tools/appliance/$each"
    done
    act ln -sfn -- "$home/bin/writable" /usr/local/sbin/volcano-writable
    act mkdir -p -- "$room/card" "$room/ram" "$room/state"
    if [ ! -d "$state/sounds" ]; then act install -d -o volcano -g volcano -m 755 "$state/sounds"; fi
    if ! mountpoint -q "$room/state"; then step "$home/bin/state-file" make; fi
    if ! appliance_is_set; then
        # Only now, when all that it needs is on the card.
        act sync
        act edit "1s#\$# $word#" "$(cmdline)"
        tell "from the next start on (sudo reboot) the card is read-only; to change things then: sudo volcano-writable"
    fi
}

# The state goes back to the root file system, the card becomes writable, all that make_appliance made goes away.
end_appliance() {
    if appliance_is_set || [ -f "$image" ]; then
        was_active=
        if systemd_runs && systemctl --quiet is-active volcano.service; then was_active=yes; fi
        [ -z "$was_active" ] || act systemctl stop volcano.service
        act move_out
        if appliance_is_set; then
            act edit "1s# *$word##" "$(cmdline)"
            tell "the card is writable again"
        fi
        # From here on the Pi starts without them.
        [ -z "$was_active" ] || act systemctl start volcano.service
    fi
    remove "$home/bin/init" "$home/bin/state-file" "$home/bin/writable" /usr/local/sbin/volcano-writable "$room" "$image"
}

# Until the Pi starts without the file it starts with it, so what is half moved out is moved out again.
move_out() {
    if mountpoint -q "$state"; then umount -R -- "$state"; fi
    if ! mountpoint -q "$room/state" && ! "$home/bin/state-file" mount "$room/state"; then
        tell "the state file cannot be read: games and settings are those of the day when the card became read-only"
        return
    fi
    if mountpoint -q "$room/state/volcano/sounds"; then umount -- "$room/state/volcano/sounds"; fi
    if [ -d "$room/state/volcano" ]; then
        find "$state" -mindepth 1 -maxdepth 1 ! -name sounds -exec rm -rf -- {} +
        find "$room/state/volcano" -mindepth 1 -maxdepth 1 ! -name sounds -exec cp -a -t "$state" -- {} +
        sync
        # Should the Pi start with the file once more, the state moves in again.
        mv -T -- "$room/state/volcano" "$room/state/moved-out"
        sync
    fi
    umount -- "$room/state"
}
