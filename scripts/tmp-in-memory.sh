#!/bin/sh
# Runs a command with a /tmp in memory, in a mount namespace of its own, where that can be had; otherwise as it is.
# Tests write many thousands of small files: on a disk these are an eighth of all processor time. TESTS_ON_DISK=1 keeps
# the disk, and so does a TMPDIR of one's own; what a failed test leaves can be looked at only there.
set -eu
least_kilobytes=$((12 * 1024 * 1024))

# What the machine has, or the control group that this runs in, if that has less.
has_memory() {
    [ "$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)" -ge "$least_kilobytes" ] || return 1
    for limit in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
        [ -r "$limit" ] && bytes=$(cat "$limit") && [ "$bytes" != max ] || continue
        # A number as long as that is no limit.
        [ ${#bytes} -gt 17 ] || [ $((bytes / 1024)) -ge "$least_kilobytes" ] || return 1
    done
}

# A checkout, or a folder for what is counted, that lies in /tmp would be hidden.
hides_nothing() {
    case "$(pwd -P)/ ${FARHAND_PROCESSOR_TIME:-}/" in /tmp/* | *" /tmp/"*) return 1 ;; esac
}

can_be_had() {
    [ -z "${TESTS_ON_DISK:-}${TMPDIR:-}" ] && [ "$(id -u)" = 0 ] && [ -r /proc/meminfo ] && has_memory && hides_nothing || return 1
    [ "$(stat -f -c %T /tmp)" != tmpfs ] && unshare --mount mount -t tmpfs tmpfs /tmp 2>/dev/null
}

if can_be_had; then
    exec unshare --mount sh -c 'mount -t tmpfs -o mode=1777 tmpfs /tmp && exec "$@"' sh "$@"
fi
exec "$@"
