"""How a Python program of our own runs in a container: with the image's Python, from this package's files. Pure."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from farhand.model.sandbox import Mount
from farhand.sandbox import module_runner
from farhand.sandbox.plan import USUAL_PATH, is_mounted, same

PACKAGE: Final = str(Path(__file__).parent.parent)
NO_PYTHON: Final = f"The image has no python3, which this agent needs. {module_runner.REPAIR}"
# First where a system has its own: a mounted home may have one for another system, and it may come first on the PATH.
_FIND: Final = f"python=$(PATH={USUAL_PATH}; command -v python3) || python=$(command -v python3)"
_RUN: Final = f'{_FIND} || {{ echo {shlex.quote(NO_PYTHON)} >&2; exit 127; }}; exec "$python" "$@"'


def is_own(argv: Sequence[str]) -> bool:
    """Whether the command is a program of ours, in the Python that the node runs in."""
    return argv[:1] == (sys.executable,)


def is_inside(mounts: Sequence[Mount]) -> bool:
    """Whether this very Python is inside under its own path, with this package, and can run there."""
    needed = (sys.executable, os.path.realpath(sys.executable), PACKAGE)
    return sys.platform == "linux" and all(is_mounted(one, mounts) for one in needed)


def package_mount() -> Mount:
    """This package's own files, and nothing else of what is installed here."""
    return same(PACKAGE, read_only=True)


def inside_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """The same program with the image's Python, which the shell gives way to; it says so where there is none."""
    options, rest = list(argv[1:3]), argv[3:]
    words = [module_runner.__file__, *rest] if options == ["-P", "-m"] else argv[1:]
    return ("sh", "-c", _RUN, "sh", *words)
