"""Answers that workers' hooks left in their folders while the node was away: read whole, named, and passed on once.

An agent in a sandbox writes into that folder, too: no link is followed, and no more is read than an answer has."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path, PurePath

import msgspec

from farhand.disk.plain_files import read_plain
from farhand.model.words import Word

ANSWERS = "answers"
LARGEST_BYTES = 4_000_000
# A bare text as young as this still has its forwarder.
YOUNG_SECONDS = 10.0
# More come with the next look.
MOST_AT_ONCE = 50
MOST_BYTES_AT_ONCE = 8_000_000
MOST_NAMES = 2000


class SpooledAnswer(Word):
    """An answer as a hook left it, and in which file."""

    file: str
    name: str
    text: str
    html: bool


class _Body(msgspec.Struct):
    text: str
    escape: bool = False


def read_spooled_answers(folder: Path, now: float) -> list[SpooledAnswer]:
    """What lies in a worker's folder, oldest first; what is no answer is passed over."""
    try:
        with _answers_in(folder) as opened:
            return list(islice(_up_to(opened, _oldest_first(opened), now), MOST_AT_ONCE))
    except OSError:
        return []


def _up_to(opened: int, names: Iterable[str], now: float) -> Iterator[SpooledAnswer]:
    """The answers in those files, until so much was read; what is no answer counts as well."""
    left = MOST_BYTES_AT_ONCE
    for name in names:
        left -= _size(opened, name)
        if left < 0:
            return
        if (answer := _read(opened, name, now)) is not None:
            yield answer


def _size(opened: int, name: str) -> int:
    """What reading it costs: what is too long is not read."""
    try:
        size = os.stat(name, dir_fd=opened, follow_symlinks=False).st_size
    except OSError:
        return 0
    return size if size <= LARGEST_BYTES else 0


def remove_spooled_answer(folder: Path, answer: SpooledAnswer) -> None:
    """Removes what was passed on."""
    with suppress(OSError), _answers_in(folder) as opened:
        os.unlink(answer.file, dir_fd=opened)


@contextmanager
def _answers_in(folder: Path) -> Iterator[int]:
    """The folder of the answers, opened as what it is: a link to another one raises OSError."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    above = os.open(folder, flags)
    try:
        opened = os.open(ANSWERS, flags, dir_fd=above)
    finally:
        os.close(above)
    try:
        yield opened
    finally:
        os.close(opened)


def _oldest_first(opened: int) -> list[str]:
    with os.scandir(opened) as entries:
        dated = [
            (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name)
            for entry in islice(entries, MOST_NAMES)
            if entry.name.endswith((".json", ".md")) and entry.is_file(follow_symlinks=False)
        ]
    return [name for _, name in sorted(dated)]


def _read(opened: int, file: str, now: float) -> SpooledAnswer | None:
    """A file that is ready to be posted, or the bare text of a hook whose forwarder did not come to it."""
    bare = file.endswith(".md")
    try:
        if bare and now - os.stat(file, dir_fd=opened, follow_symlinks=False).st_mtime < YOUNG_SECONDS:
            return None
        content = read_plain(file, LARGEST_BYTES, folder=opened, links=False)
        body = _Body(content.decode("utf-8", "replace"), escape=True)
        if not bare:
            body = msgspec.json.decode(content, type=_Body)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if not body.text.strip():
        return None
    return SpooledAnswer(file=file, name=PurePath(file).stem, text=body.text, html=not body.escape)
