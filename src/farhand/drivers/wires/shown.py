"""Files that an agent shows by a tag in its words, `[[image:/path|caption]]` or `[[file:/path]]`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from mimetypes import guess_type
from pathlib import PurePath

from farhand.model.words import Attachment

OPENING = "[["
_TAG = re.compile(r"(?<!\\)\[\[(image|file):([^\]|\n]+)(?:\|([^\]\n]*))?\]\]")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)

PICTURES = frozenset(".jpg .jpeg .png .gif .webp .bmp".split())
DOCUMENTS = frozenset(
    (
        ".md .txt .rst .pdf .json .csv .yaml .yml .toml .ini .cfg .xml .log .sql .patch .diff .py .js .ts .jsx .tsx "
        ".go .rs .java .kt .swift .rb .php .c .cpp .h .hpp .sh .html .css .scss"
    ).split()
)
SECRET_NAMES = frozenset(
    ".npmrc .pypirc .netrc .git-credentials id_rsa id_ed25519 id_dsa credentials kubeconfig".split()
)


def split_shown(text: str, start: int = 0) -> tuple[str, tuple[Attachment, ...]]:
    """The text from `start` on without its tags, and the files that they show. Code keeps its tags."""
    code = [match.span() for match in _CODE.finditer(text)]
    tags = [tag for tag in _TAG.finditer(text) if tag.start() >= start and not _within(tag.start(), code)]
    kept, position = [], start
    for tag in tags:
        kept.append(text[position : tag.start()])
        position = tag.end()
    return "".join([*kept, text[position:]]), tuple(map(_attachment, tags))


def _within(position: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


def _attachment(tag: re.Match[str]) -> Attachment:
    path = tag.group(2).strip()
    kind = guess_type(path)[0] or ("image/png" if tag.group(1) == "image" else "application/octet-stream")
    return Attachment(path=path, name=PurePath(path).name, media_type=kind, caption=(tag.group(3) or "").strip())


def refusal(path: PurePath, folders: Iterable[PurePath]) -> str:
    """Why a file (by its real path) must not leave this machine; '' when it may."""
    name, ending = path.name.lower(), path.suffix.lower()
    if name in SECRET_NAMES or name.startswith(".env"):
        return "its name says that it holds secrets"
    if ending in PICTURES:
        if any(path.is_relative_to(folder) for folder in folders):
            return ""
        return "a picture must lie in the worker's folder, the node's folder or /tmp"
    return "" if ending in DOCUMENTS else f"files that end in '{ending}' are not sent"
