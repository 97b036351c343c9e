"""Answers that workers' hooks left in their folders while the node was away: read whole, named, and passed on once."""

from pathlib import Path

import msgspec

from farhand.model.words import Word

ANSWERS = "answers"
LARGEST_BYTES = 4_000_000
# A bare text as young as this still has its forwarder.
YOUNG_SECONDS = 10.0


class SpooledAnswer(Word):
    """An answer as a hook left it, and where."""

    path: Path
    name: str
    text: str
    html: bool


class _Body(msgspec.Struct):
    text: str
    escape: bool = False


def read_spooled_answers(folder: Path, now: float) -> list[SpooledAnswer]:
    """What lies in a worker's folder, oldest first; what is no answer is passed over."""
    try:
        paths = sorted((folder / ANSWERS).iterdir(), key=lambda path: path.stat().st_mtime_ns)
    except OSError:
        return []
    return [answer for path in paths if (answer := _read(path, now)) is not None]


def _read(path: Path, now: float) -> SpooledAnswer | None:
    """A file that is ready to be posted, or the bare text of a hook whose forwarder did not come to it."""
    if path.suffix not in {".json", ".md"} or path.is_symlink() or not path.is_file():
        return None
    try:
        if path.suffix == ".md" and now - path.stat().st_mtime < YOUNG_SECONDS:
            return None
        content = path.read_bytes()[: LARGEST_BYTES + 1]
        body = _Body(content.decode("utf-8", "replace"), escape=True)
        if path.suffix == ".json":
            body = msgspec.json.decode(content, type=_Body)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if not body.text.strip() or len(content) > LARGEST_BYTES:
        return None
    return SpooledAnswer(path=path, name=path.stem, text=body.text, html=not body.escape)
