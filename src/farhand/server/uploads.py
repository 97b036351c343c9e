"""Files from devices, in pieces that can be sent again: kept in the node's folder until they are whole."""

import hashlib
import threading
import time
from collections.abc import Callable
from pathlib import Path, PurePath

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.disk.atomic import append, write_private
from farhand.model.body_limits import read_bounded
from farhand.model.errors import BadInput, TooLarge, UnknownUpload, UnknownWorker, UploadConflict
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.ports import Hub
from farhand.model.uploads import (
    CHUNK_BYTES,
    LARGEST_BYTES,
    LONGEST_NAME,
    NewUpload,
    UploadState,
    image_type,
    is_upload_id,
)
from farhand.model.visible import is_hidden
from farhand.model.wire import encode
from farhand.model.words import Attachment
from farhand.server.callers import Caller, Callers
from farhand.server.http import number
from farhand.server.json_bodies import read_json

# Puts a file into the worker's inbox, under a name that the caller chose, and says where.
PlaceFile = Callable[[str, str, bytes], Path]
KEPT_SECONDS = 24 * 3600.0
MOST_OF_ONE_DEVICE = 20
LONGEST_REQUEST = 8192
_MEDIA_TYPE = lazy_pattern(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,60}")


class StoredUpload(msgspec.Struct, frozen=True):
    """What is known of an upload: what was announced, and the attachment once it is whole."""

    told: NewUpload
    attachment: Attachment | None = None


_stored = msgspec.json.Decoder(StoredUpload)


class Uploads:
    """The uploads of all devices, each by its device and its id: two files on the disk."""

    def __init__(self, folder: Path, place: PlaceFile, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._place = place
        self._now = now
        # Requests are threads: a piece that comes twice at once must find what the first one wrote.
        self._one_at_a_time = threading.Lock()

    def begin(self, device: str, told: NewUpload) -> UploadState:
        """Begins an upload, or says how far the same one came."""
        _check(told)
        with self._one_at_a_time:
            return self._begin(device, told)

    def _begin(self, device: str, told: NewUpload) -> UploadState:
        self._forget_old()
        about = self._about(device, told.id)
        if about.exists():
            found = self._read(device, told.id)
            if found.told != told:
                raise UploadConflict("That id was used for another file before.", upload=told.id)
            return self._state(device, found)
        if sum(map(_is_begun, self._folder.glob(f"{_hidden(device)}-*.json"))) >= MOST_OF_ONE_DEVICE:
            raise UploadConflict(f"{MOST_OF_ONE_DEVICE} uploads of this device are kept already; send one whole first.")
        write_private(about, encode(StoredUpload(told=told)))
        return self._state(device, StoredUpload(told=told))

    def look(self, device: str, upload: str) -> UploadState:
        """How far it came."""
        return self._state(device, self._read(device, upload))

    def add(self, device: str, upload: str, offset: int, data: bytes) -> UploadState:
        """Adds a piece where the last one ended; a piece that is there already is not added twice."""
        with self._one_at_a_time:
            return self._add(device, upload, offset, data)

    def _add(self, device: str, upload: str, offset: int, data: bytes) -> UploadState:
        found = self._read(device, upload)
        state = self._state(device, found)
        if offset != state.offset:
            text = f"The upload stands at {state.offset}, not at {offset}."
            raise UploadConflict(text, upload=upload, offset=state.offset)
        if offset + len(data) > found.told.size:
            raise BadInput("That is more than was announced.", upload=upload, size=found.told.size)
        part = self._part(device, upload)
        if data:
            append(part, data)
        if offset + len(data) < found.told.size:
            return self._state(device, found)
        return self._state(device, self._finish(device, found))

    def _finish(self, device: str, found: StoredUpload) -> StoredUpload:
        """Places the whole file in the worker's inbox; a picture must be one by its bytes."""
        if found.attachment is not None:
            return found
        told, part = found.told, self._part(device, found.told.id)
        content = part.read_bytes() if part.exists() else b""
        kind = image_type(content)
        if told.media_type.startswith("image/") and not kind:
            part.unlink(missing_ok=True)
            self._about(device, told.id).unlink(missing_ok=True)
            raise BadInput(f"{told.name} is no picture: PNG, JPEG, GIF, WebP and BMP are.", upload=told.id)
        name = f"{_hidden(f'{device}:{told.id}')}{_suffix(told.name)}"
        path = self._place(told.worker, name, content)
        attachment = Attachment(path=str(path), name=shown_name(told.name), media_type=kind or told.media_type)
        done = StoredUpload(told=told, attachment=attachment)
        write_private(self._about(device, told.id), encode(done))
        part.unlink(missing_ok=True)
        return done

    def _state(self, device: str, found: StoredUpload) -> UploadState:
        part = self._part(device, found.told.id)
        have = part.stat().st_size if part.exists() else 0
        offset = found.told.size if found.attachment else have
        return UploadState(id=found.told.id, offset=offset, size=found.told.size, attachment=found.attachment)

    def _read(self, device: str, upload: str) -> StoredUpload:
        if not is_upload_id(upload):
            raise UnknownUpload(upload)
        try:
            return _stored.decode(self._about(device, upload).read_bytes())
        except (OSError, msgspec.MsgspecError):
            raise UnknownUpload(upload) from None

    def _about(self, device: str, upload: str) -> Path:
        return self._folder / f"{_hidden(device)}-{upload}.json"

    def _part(self, device: str, upload: str) -> Path:
        return self._folder / f"{_hidden(device)}-{upload}.part"

    def _forget_old(self) -> None:
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path.stat().st_mtime < self._now() - KEPT_SECONDS:
                path.unlink(missing_ok=True)


def _is_begun(about: Path) -> bool:
    """Whether that one is not whole yet; those that are stay known for a while, and take no room."""
    try:
        return _stored.decode(about.read_bytes()).attachment is None
    except (OSError, msgspec.MsgspecError):
        return True


def _check(told: NewUpload) -> None:
    if not is_upload_id(told.id):
        raise BadInput("An upload's id is 8 to 64 letters, digits, hyphens and underscores.")
    if not 0 < told.size <= LARGEST_BYTES:
        raise TooLarge("A file", LARGEST_BYTES) if told.size > 0 else BadInput("A file has at least one byte.")
    if told.media_type and not _MEDIA_TYPE.fullmatch(told.media_type):
        raise BadInput("A media type is like image/png.")


def shown_name(name: str) -> str:
    """The name of a file as a person sees it: no path, nothing hidden, and never nothing."""
    last = PurePath(name.replace("\\", "/")).name
    return " ".join("".join(one for one in last if not is_hidden(one)).split())[:LONGEST_NAME] or "file"


def _hidden(text: str) -> str:
    """A part of a file's name that says nothing, and that no path can hide in."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _suffix(name: str) -> str:
    suffix = PurePath(name).suffix.lower()
    return suffix if suffix.isascii() and suffix[1:].isalnum() and len(suffix) <= 10 else ".bin"


def upload_routes(hub: Hub, callers: Callers, uploads: Uploads) -> list[BaseRoute]:
    """`/api/uploads`: begin one, ask how far it came, send the next piece."""

    async def begin(request: Request) -> Response:
        await callers.check(request, writes=True)
        sent = await read_bounded(request.stream(), LONGEST_REQUEST)
        told = read_json(sent, NewUpload, "That begins no upload")
        team = (await hub.look()).workers
        if told.worker not in team:
            raise UnknownWorker(told.worker, known=team)
        caller = await callers.check(request, writes=True)
        return await _answer(uploads.begin, _device(caller), told)

    async def look(request: Request) -> Response:
        caller = await callers.check(request)
        return await _answer(uploads.look, _device(caller), request.path_params["upload"])

    async def add(request: Request) -> Response:
        await callers.check(request, writes=True)
        offset = number(request.query_params.get("offset"), "offset")
        data = await read_bounded(request.stream(), CHUNK_BYTES, "A piece of a file")
        caller = await callers.check(request, writes=True)
        return await _answer(uploads.add, _device(caller), request.path_params["upload"], offset or 0, data)

    return [
        Route("/api/uploads", begin, methods=["POST"]),
        Route("/api/uploads/{upload}", look, methods=["GET"]),
        Route("/api/uploads/{upload}", add, methods=["PUT"]),
    ]


async def _answer(work: Callable[..., UploadState], *given: object) -> Response:
    state = await anyio.to_thread.run_sync(work, *given)
    return Response(encode({"upload": state}), media_type="application/json", headers={"Cache-Control": "no-store"})


def _device(caller: Caller) -> str:
    return caller.device.id if caller.device else "key"
