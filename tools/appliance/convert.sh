# The card read-only, and writable again: what tools/install sources for --appliance, --no-appliance and --uninstall.
# shellcheck shell=sh
# shellcheck disable=SC2154 # home, state, root, boot, dry are tools/install's
room=$home/appliance
image=/var/lib/volcano-state.img
word=init=$home/bin/init
# Debian's raspi-firmware makes cmdline.txt anew with each kernel and appends this file, one line (its kernel hook).
kernel_words=/etc/default/raspi-extra-cmdline
kernel_hook=/etc/kernel/postinst.d/z50-raspi-firmware

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

# Whether a kernel that is installed has it: the one that runs, or those of a card that is being made.
has_overlay() {
    if grep -qw overlay /proc/filesystems; then return 0; fi
    for each in /lib/modules/*; do
        if modprobe -nq -S "${each##*/}" overlay; then return 0; fi
    done
    return 1
}

# Our words at the end of a kernel's command line. Where it says rw (Debian's does), the kernel would write to the root
# before we can forbid it; the last of rw and ro counts.
add_words() {
    case " $(cat -- "$(cmdline)") " in
        *" rw "*) words="$word ro" ;;
        *) words=$word ;;
    esac
    # Only now, when all that it needs is on the card.
    act sync
    if grep -qsF -- "$kernel_words" "$kernel_hook" && ! grep -qswF -- "$word" "$kernel_words"; then
        already=$(cat -- "$kernel_words" 2>/dev/null || true)
        printf '%s' "${already:+$already }$words" | put "$kernel_words" 644
    fi
    act edit "1s#\$# $words#" "$(cmdline)"
}

remove_words() {
    for each in "$(cmdline)" "$kernel_words"; do
        if grep -qswF -- "$word" "$each"; then act edit "1s# \{0,1\}$word\( ro\)\{0,1\}##" "$each"; fi
    done
    if [ -f "$kernel_words" ] && [ -z "$(cat -- "$kernel_words")" ]; then remove "$kernel_words"; fi
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
    has_overlay || stop "--appliance: this kernel has no overlay file system"
    for each in init state-file writable; do
        put "$home/bin/$each" 755 <"$root/tools/appliance/$each"
    done
    act ln -sfn -- "$home/bin/writable" /usr/local/sbin/volcano-writable
    act mkdir -p -- "$room/card" "$room/ram" "$room/state"
    if [ ! -d "$state/sounds" ]; then act install -d -o volcano -g volcano -m 755 "$state/sounds"; fi
    if ! mountpoint -q "$room/state"; then step "$home/bin/state-file" make; fi
    if ! appliance_is_set; then
        add_words
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
        remove_words
        tell "the card is writable again"
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
