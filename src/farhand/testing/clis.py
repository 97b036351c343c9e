"""Where the real agent CLIs of the live tests are: what `make setup-tests` put there, or what `make live` tries."""

import os
from pathlib import Path

FOLDER = "FARHAND_CLIS"


def programs(root: Path) -> Path:
    """The folder of their programs; FARHAND_CLIS names another installation."""
    return Path(os.environ.get(FOLDER) or root / ".cache" / "npm") / "node_modules" / ".bin"
