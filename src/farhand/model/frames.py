"""What travels over a node's door: a line of JSON each way, checked once when it comes in. Pure."""

from typing import Any, Literal

import msgspec

from farhand.model.commands import Accepted
from farhand.model.devices import Device, DevicePairing
from farhand.model.digest import DigestLine
from farhand.model.errors import BadFrame, FarhandError
from farhand.model.history import Found, HistoryPage
from farhand.model.ports import SessionFound
from farhand.model.present import Present
from farhand.model.wire import RemoteError, error_fields
from farhand.model.wire import encode as encode_json

LONGEST = 8 * 1024 * 1024


class DoorRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller wants: `send` a command, `watch` events, `look` at the present, know `status` or `sessions`, read
    the `history` of a worker, `search` in it; `pair` a device, list `devices`, `revoke` one; read the `digest`."""

    id: int = 0
    do: Literal[
        "send", "watch", "look", "status", "sessions", "history", "search", "pair", "devices", "revoke", "digest"
    ]
    command: msgspec.Raw = msgspec.Raw(b"null")
    after: int | None = None
    backend: str = ""
    directory: str = ""
    worker: str = ""
    before: int | None = None
    limit: int = 60
    query: str = ""
    device: str = ""
    read_only: bool = False
    via: str = "local"
    who: str = ""


class DoorReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the node answers to the request with that id. A watch gets many, each with events."""

    id: int = 0
    accepted: Accepted | None = None
    present: Present | None = None
    status: dict[str, Any] | None = None
    sessions: list[SessionFound] | None = None
    history: HistoryPage | None = None
    found: list[Found] | None = None
    pairing: DevicePairing | None = None
    devices: list[Device] | None = None
    digest: tuple[DigestLine, ...] | None = None
    watching: bool = False
    events: list[msgspec.Raw] | None = None
    error: RemoteError | None = None


_requests = msgspec.json.Decoder(DoorRequest)
_replies = msgspec.json.Decoder(DoorReply)


def read_request(line: bytes) -> DoorRequest:
    """The request, or BadFrame with what is wrong with it."""
    try:
        request = _requests.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrame(f"That is no request: {error}") from None
    if not (request.via.isascii() and request.via.replace("-", "").isalnum() and len(request.via) <= 32):
        raise BadFrame("`via` takes 1 to 32 letters, digits and hyphens.")
    if len(request.who) > 200:
        raise BadFrame("`who` takes 200 characters at the most.")
    return request


def read_reply(line: bytes) -> DoorReply:
    """A reply of a node."""
    try:
        return _replies.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrame(f"The node answered what is no reply: {error}") from None


def write(value: DoorRequest | DoorReply) -> bytes:
    """As a line."""
    return encode_json(value) + b"\n"


def events_line(request: int, bodies: list[bytes]) -> bytes:
    """A reply with events that are encoded already."""
    return b'{"id":%d,"events":[%s]}\n' % (request, b",".join(bodies))


def error_line(request: int, error: FarhandError) -> bytes:
    """A reply that says what went wrong."""
    return encode_json({"id": request, "error": error_fields(error)}) + b"\n"
