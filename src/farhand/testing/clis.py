"""Where the real agent CLIs of the live tests are: what `make setup-tests` put there, or what `make live` tries."""

import os
from pathlib import Path

FOLDER = "FARHAND_CLIS"
COMPILED = "NODE_COMPILE_CACHE"


def programs(root: Path) -> Path:
    """The folder of their programs; FARHAND_CLIS names another installation."""
    return Path(os.environ.get(FOLDER) or root / ".cache" / "npm") / "node_modules" / ".bin"


def quick_start() -> dict[str, str]:
    """What makes a CLI on Node start quicker: no second process, and the code that earlier starts compiled."""
    stored = {COMPILED: os.environ[COMPILED]} if COMPILED in os.environ else {}
    return {"GEMINI_CLI_NO_RELAUNCH": "true", **stored}
