"""Runs a command that reaches no abstract socket of anybody outside of it: Landlock's scope, since Linux 6.12.

It is run by its path, inside of a sandbox that has this machine's network: standard library only."""

import ctypes
import os
import sys

# The same numbers on every architecture.
CREATE_RULESET = 444
RESTRICT_SELF = 446
ASK_VERSION = 1
# The version of Landlock that knows scopes, and the scope of abstract sockets.
FIRST_VERSION = 6
ABSTRACT_SOCKETS = 1
NO_NEW_PRIVILEGES = 38
NOT_RESTRICTED = 126
NOT_RUN = 127


class RulesetAttributes(ctypes.Structure):
    """What a ruleset is about: no files, no ports, and scopes."""

    _fields_ = (("files", ctypes.c_uint64), ("ports", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


def is_supported() -> bool:
    """Whether this kernel can do it."""
    if sys.platform != "linux":
        return False
    return (
        int(_library().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(ASK_VERSION))) >= FIRST_VERSION
    )


def restrict() -> None:
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
    try:
        restrict()
    except OSError as error:
        sys.stderr.write(f"The sandbox cannot be kept from this machine's sockets: {error.strerror}.\n")
        return NOT_RESTRICTED
    try:
        os.execvp(words[0], words)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"{words[0]}: {error.strerror}\n")
        return NOT_RUN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
