"""Takes one file out of a multipart form and puts it into a folder, under a name that can do no harm."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from farhand.disk.atomic import write_private
from farhand.model.errors import BadInput
from farhand.model.lazy_pattern import lazy_pattern

LARGEST_BYTES = 10 * 1024 * 1024
_BOUNDARY = lazy_pattern(r"multipart/form-data\s*;.*\bboundary=(?:\"([^\"\r\n]{1,70})\"|([^\s;\"]{1,70}))", re.I)
_NAME = lazy_pattern(rb'\bname="([^"\r\n]*)"')
_FILENAME = lazy_pattern(rb'\bfilename="([^"\r\n]*)"')
_HARMLESS = lazy_pattern(r"[^\w.\- ]+")


def read_file(content_type: str, body: bytes) -> tuple[str, bytes]:
    """The name and the content of the field `file`."""
    found = _BOUNDARY.match(content_type)
    if found is None:
        raise BadInput("An upload is multipart/form-data with a field 'file'.")
    delimiter = b"\r\n--" + (found[1] or found[2]).encode("latin-1", "replace")
    for piece in (b"\r\n" + body).split(delimiter)[1:]:
        head, parted, content = piece.partition(b"\r\n\r\n")
        name, filename = _NAME.search(head), _FILENAME.search(head)
        if parted and name and name[1] == b"file" and filename:
            return safe_name(filename[1].decode("utf-8", "replace")), content
    raise BadInput("The form has no file in a field 'file'.")


def safe_name(name: str) -> str:
    """The last part of a name, without what a shell or a folder could take for something else."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return _HARMLESS.sub("_", last).strip(". ")[:100] or "file"


def keep_file(folder: Path, name: str, content: bytes) -> Path:
    """Writes it where nobody else can read it, in a folder of its own, so that its name stays."""
    place = folder / secrets.token_hex(6)
    place.mkdir(parents=True, mode=0o700)
    path = place / name
    write_private(path, content)
    return path
