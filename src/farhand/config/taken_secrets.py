"""Takes secrets out of the environment, so that no child of this process has them. Loads little."""

import os
from collections.abc import Iterable, MutableMapping

from farhand.config.erase import erase
from farhand.config.secret_files import secret_in_file


def take_secrets(environ: MutableMapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Takes these variables out of the environment; out of the one that the kernel shows of this process, too. One that
    is not set may stand in a file."""
    found = {name: environ.pop(name, "").strip() for name in names}
    if environ is os.environ:
        erase(found)
    found = {name: value or secret_in_file(name, environ) for name, value in found.items()}
    return {name: value for name, value in found.items() if value}
