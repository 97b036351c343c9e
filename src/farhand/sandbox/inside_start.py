"""Runs a command inside of bubblewrap with less than that leaves it: no namespaces of its own, no abstract sockets.

A process that makes a user namespace has every capability in it: as root's it could mount the machine's control groups.
A filter of system calls forbids that. Abstract sockets of others are kept away by Landlock's scope, since Linux 6.12.
It is run by its path: standard library only."""

import ctypes
import errno
import os
import struct
import sys

# The same numbers on every architecture.
CREATE_RULESET = 444
RESTRICT_SELF = 446
ASK_VERSION = 1
# The version of Landlock that knows scopes, and the scope of abstract sockets.
FIRST_VERSION = 6
ABSTRACT_SOCKETS = 1
NO_NEW_PRIVILEGES = 38
SET_FILTER, FILTER = 22, 2
# Of each architecture: the kernel's number for it, and those of clone, unshare and setns.
MACHINES = {"x86_64": (0xC000003E, 56, 272, 308), "aarch64": (0xC00000B7, 220, 97, 268)}
CLONE3 = 435
NEW_USER_NAMESPACE = 0x10000000
# Calls of x86's other ABI have this bit.
OTHER_ABI = 0x40000000
# Instructions of a filter: load a word, compare, return; and where the words of a call are.
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
SHARES_SOCKETS = "--keep-abstract-sockets"
NOT_RESTRICTED = 126
NOT_RUN = 127


class RulesetAttributes(ctypes.Structure):
    """What a ruleset is about: no files, no ports, and scopes."""

    _fields_ = (("files", ctypes.c_uint64), ("ports", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class FilterProgram(ctypes.Structure):
    """A filter as the kernel takes it."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def knows_scopes() -> bool:
    """Whether this kernel can keep a process from abstract sockets."""
    if sys.platform != "linux":
        return False
    return (
        int(_library().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(ASK_VERSION))) >= FIRST_VERSION
    )


def namespace_filter(machine: str) -> bytes:
    """The filter that refuses new user namespaces and entering others; empty for a machine that nobody knows."""
    if machine not in MACHINES:
        return b""
    kind, clone, unshare, setns = MACHINES[machine]
    steps = [
        (LOAD, 0, 0, MACHINE),
        (EQUAL, 0, 9, kind),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 7, 0, OTHER_ABI),
        (EQUAL, 6, 0, setns),
        # Its flags lie in memory, where a filter cannot look: whoever is told that there is no such call uses clone.
        (EQUAL, 6, 0, CLONE3),
        (EQUAL, 1, 0, clone),
        (EQUAL, 0, 2, unshare),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (ANY_BIT, 1, 0, NEW_USER_NAMESPACE),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
        (RETURN, 0, 0, REFUSE | errno.ENOSYS),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def forbid_namespaces() -> None:
    """Keeps this process, and all that it starts, from user namespaces; raises OSError when it cannot."""
    code = namespace_filter(os.uname().machine)
    if code:
        held = ctypes.create_string_buffer(code, len(code))
        program = FilterProgram(len(code) // 8, ctypes.cast(held, ctypes.c_void_p))
        _checked(_library().prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(_library().prctl(SET_FILTER, FILTER, ctypes.byref(program), 0, 0))


def scope_sockets() -> None:
    """Keeps this process, and all that it starts, from abstract sockets of others; raises OSError when it cannot."""
    library, wanted = _library(), RulesetAttributes(scoped=ABSTRACT_SOCKETS)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    ruleset = _checked(library.syscall(CREATE_RULESET, ctypes.byref(wanted), size, ctypes.c_uint32(0)))
    try:
        _checked(library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(library.syscall(RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)))
    finally:
        os.close(ruleset)


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def main(words: list[str]) -> int:
    """Becomes the command, or says why not."""
    shares_sockets = words[:1] == [SHARES_SOCKETS]
    words = words[1:] if shares_sockets else words
    try:
        if not shares_sockets:
            scope_sockets()
        forbid_namespaces()
    except OSError as error:
        sys.stderr.write(f"The sandbox cannot be kept from this machine's sockets and kernel: {error.strerror}.\n")
        return NOT_RESTRICTED
    try:
        os.execvp(words[0], words)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"{words[0]}: {error.strerror}\n")
        return NOT_RUN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
