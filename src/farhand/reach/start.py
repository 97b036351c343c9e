"""Becomes the tunnel's program after it has written down which process it is, so that no kill leaves one unknown.

Run as `python -m farhand.reach.start PIDFILE PROGRAM ARGUMENT…`; its output is already where it belongs.
"""

import os
import sys
from pathlib import Path

from farhand.disk.atomic import write_private
from farhand.disk.processes import identity


def main() -> None:
    """Writes the pid file and goes on as the program."""
    file, *command = sys.argv[1:]
    write_private(Path(file), identity(os.getpid()))
    try:
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main()
