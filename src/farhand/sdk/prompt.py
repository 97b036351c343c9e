"""What a prompt may be made of: text, images, files, raw parts."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from farhand.sdk.errors import BadPrompt
from farhand.sdk.json_shapes import is_object, is_sequence
from farhand.sdk.protocols import Part

INLINE_LIMIT_BYTES = 20 * 1024 * 1024
_TEXT_LIKE = ("application/json", "application/xml", "application/javascript", "application/toml", "application/yaml")


@dataclass(frozen=True, slots=True)
class Image:
    """An image from a file, or from bytes with their MIME type."""

    source: str | Path | bytes
    mime_type: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A file: text goes in as text under its name, everything else (PDF, audio, video) as data."""

    path: str | Path
    mime_type: str = ""


Prompt: TypeAlias = "str | Image | File | Part | Sequence[str | Image | File | Part]"


def to_parts(prompt: Prompt, cwd: Path) -> list[Part]:
    """A prompt as wire parts. Paths are relative to the agent's folder."""
    pieces = prompt if is_sequence(prompt) else [prompt]
    parts = [part for piece in pieces for part in _parts(piece, cwd)]
    if not parts or all(part.get("text") == "" for part in parts):
        raise BadPrompt("The prompt is empty.")
    return parts


def _parts(piece: object, cwd: Path) -> list[Part]:
    if isinstance(piece, str):
        return [{"text": piece}]
    if is_object(piece):
        return [dict(piece)]
    if isinstance(piece, Image):
        return [_image(piece, cwd)]
    if isinstance(piece, File):
        return [_file(piece, cwd)]
    raise BadPrompt(f"A prompt is made of text, Image, File or wire parts; this has a {type(piece).__name__}.")


def _image(image: Image, cwd: Path) -> Part:
    if isinstance(image.source, bytes):
        if not image.mime_type:
            raise BadPrompt("An Image from bytes needs its mime_type, such as 'image/png'.")
        return _inline(image.source, image.mime_type, "the image")
    path = cwd / image.source
    mime_type = image.mime_type or mimetypes.guess_type(path.name)[0] or ""
    if not mime_type.startswith("image/"):
        raise BadPrompt(f"{path} is no image by its name; give Image(…, mime_type=…), or send it as a File.")
    return _inline(_read(path), mime_type, str(path))


def _file(file: File, cwd: Path) -> Part:
    path = cwd / file.path
    raw = _read(path)
    mime_type = file.mime_type or mimetypes.guess_type(path.name)[0] or ""
    if not mime_type or mime_type.startswith("text/") or mime_type in _TEXT_LIKE:
        try:
            return {"text": f"--- {file.path} ---\n{raw.decode('utf-8')}\n--- end of {file.path} ---"}
        except UnicodeDecodeError:
            mime_type = mime_type or "application/octet-stream"
    return _inline(raw, mime_type, str(path))


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > INLINE_LIMIT_BYTES:
            raise BadPrompt(f"{path} has {path.stat().st_size} bytes; at most {INLINE_LIMIT_BYTES} go into a prompt.")
        return path.read_bytes()
    except OSError as error:
        raise BadPrompt(f"{path} cannot be read: {error.strerror}.") from error


def _inline(raw: bytes, mime_type: str, name: str) -> Part:
    if len(raw) > INLINE_LIMIT_BYTES:
        raise BadPrompt(f"{name} has {len(raw)} bytes; at most {INLINE_LIMIT_BYTES} go into a prompt.")
    return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(raw).decode("ascii")}}
