"""Whether a file that the agent shows may be sent: what it really is, behind every link, decides."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from farhand.drivers.wires.shown import refusal
from farhand.model.facts import Noted, Showed
from farhand.model.ports import Heard
from farhand.model.words import replace

LARGEST_BYTES = 20 * 1024 * 1024


def shown_folders(directory: str, folder: Path) -> tuple[Path, ...]:
    """Where pictures may lie: the worker's folder, the node's, and the place for what is temporary."""
    return Path(directory).resolve(), folder.resolve(), Path("/tmp").resolve()  # noqa: S108


def checked(heard: Heard, folders: Iterable[Path]) -> Heard:
    """The fact, or a note that says why its file is not sent."""
    if not isinstance(heard.fact, Showed):
        return heard
    given = heard.fact.file.path
    path = Path(given).resolve()
    why = refusal(path, folders)
    if not why and not path.is_file():
        why = "there is no such file"
    if not why and path.stat().st_size > LARGEST_BYTES:
        why = "it is larger than 20 MB"
    return replace(heard, fact=Noted(text=f"{given} was not sent: {why}.")) if why else heard
