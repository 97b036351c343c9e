"""The folders of conversations at the desk, really made: nobody is hired into one that is not there."""

from pathlib import Path

from farhand.model.ports import SessionFound
from farhand.model.words import replace


def in_made_folders(root: Path, *found: SessionFound) -> list[SessionFound]:
    """The conversations, each in its folder below the root."""
    for one in found:
        (root / one.directory).mkdir(parents=True, exist_ok=True)
    return [replace(one, directory=str(root / one.directory)) for one in found]
