#!/bin/sh
# Runs a command with a /tmp in memory, in a mount namespace of its own, where that can be had; otherwise as it is.
# Tests write many thousands of small files: on a disk these are an eighth of all processor time. TESTS_ON_DISK=1 keeps
# the disk, and so does a TMPDIR of one's own; what a failed test leaves can be looked at only there.
set -eu
least_kilobytes=$((12 * 1024 * 1024))

can_be_had() {
    [ -z "${TESTS_ON_DISK:-}${TMPDIR:-}" ] && [ "$(id -u)" = 0 ] && [ -r /proc/meminfo ] || return 1
    [ "$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)" -ge "$least_kilobytes" ] || return 1
    [ "$(stat -f -c %T /tmp)" != tmpfs ] && unshare --mount mount -t tmpfs tmpfs /tmp 2>/dev/null
}

if can_be_had; then
    exec unshare --mount sh -c 'mount -t tmpfs -o mode=1777 tmpfs /tmp && exec "$@"' sh "$@"
fi
exec "$@"
