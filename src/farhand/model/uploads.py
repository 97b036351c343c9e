"""Files on their way from a device to a worker: how far they came, and what they are by their bytes. Pure."""

from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.words import Attachment, Word, WorkerName

LARGEST_BYTES = 20 * 1024 * 1024
# What is sent at once: it must arrive within the time that a request's body has.
CHUNK_BYTES = 1024 * 1024
_ID = lazy_pattern(r"[A-Za-z0-9_-]{8,64}")
LONGEST_NAME = 120


class NewUpload(Word):
    """What a device is about to send. The id is the sender's: begun twice, it is the same upload."""

    id: str
    worker: WorkerName
    name: str
    size: int
    media_type: str = ""


class UploadState(Word):
    """How far an upload came: send on from `offset`, at most `chunk` bytes at once. When all is there, the attachment
    for a `Say` to that worker."""

    id: str
    offset: int
    size: int
    chunk: int = CHUNK_BYTES
    attachment: Attachment | None = None


def is_upload_id(text: str) -> bool:
    """Whether it can be the id of an upload: no part of a path can hide in it."""
    return bool(_ID.fullmatch(text))


def image_type(data: bytes) -> str:
    """The kind of picture that the bytes begin as; empty for anything else, whatever its name says."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/bmp" if data.startswith(b"BM") and len(data) > 26 else ""
