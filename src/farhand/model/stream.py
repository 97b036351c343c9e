"""The live wire `farhand.1`: what a client that holds a connection sends, and the frames that it gets. Pure.

A connection opens with one `Opening` from the client and one `StreamHello` from the node. Then come frames of events,
which are numbered, and frames of `now`, which are not: heartbeats, and what is never written down."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from farhand.model.errors import BadFrame
from farhand.model.facts import Event
from farhand.model.panes import PanePiece
from farhand.model.previews import TextPreview
from farhand.model.words import Seq, Word, WorkerName

PROTOCOL = "farhand.1"
# Who misses more events than this, or more bytes, reads the present and the history instead.
MOST_RESUMED = 2000
MOST_RESUMED_BYTES = 1024 * 1024
# A frame of events ends at this many bytes; a longer event has one of its own.
FRAME_BYTES = 64 * 1024
# Events that come together wait this long for one another.
BATCH_SECONDS = 0.016
HEARTBEAT_SECONDS = 20.0


class ResumePoint(Word):
    """Where a client was: the journal that `StreamHello` named, and the last event that it handled."""

    journal: str
    after: Seq


class Looking(Word):
    """What the person at a client looks at: a worker, and whether the screen is visible at all."""

    worker: WorkerName = ""
    visible: bool = True


class Opening(Word):
    """The first frame of a client."""

    resume: ResumePoint | None = None
    view: Looking | None = None
    # Events as they are written down, or under the names of session adapters.
    names: Literal["facts", "session"] = "facts"


class StreamHello(msgspec.Struct, frozen=True, kw_only=True):
    """The first frame of a node. After `whole` every event that the client missed follows; after `gap` only new ones
    do: it reads the present and the history, and drops events up to the number that those name."""

    hello: Literal[1] = 1
    journal: str
    first: Seq
    seq: Seq
    resume: Literal["whole", "gap"]
    build: str = ""


class EventsFrame(Word):
    """Events in order: what has happened, and is written down."""

    events: tuple[Event, ...]


class DevicePresence(Word):
    """Another device of the team that is there right now, what its person calls it, and the worker on its screen."""

    device: str
    name: str = ""
    worker: WorkerName = ""


class Now(Word):
    """What has no number and is written nowhere: that the node was there at that time, what a terminal wrote, what an
    agent is saying, who else is there."""

    at: float
    pane: PanePiece | None = None
    preview: TextPreview | None = None
    # All other devices that are there, whenever that has changed.
    presence: tuple[DevicePresence, ...] | None = None


class NowFrame(Word):
    """A frame beside the journal; every 20 s there is one."""

    now: Now


class ViewFrame(Word):
    """What a client sends on every change of screen or visibility."""

    view: Looking


class _Number(msgspec.Struct):
    seq: Seq


_numbers = msgspec.json.Decoder(_Number)
_openings = msgspec.json.Decoder(Opening)
_views = msgspec.json.Decoder(ViewFrame)
_encoder = msgspec.json.Encoder()


def read_opening(data: bytes) -> Opening:
    """What a client opened with, or BadFrame with what is wrong with it. Nothing at all is an opening, too."""
    try:
        opening = _openings.decode(data) if data.strip() else Opening()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrame(f"That opens nothing: {error}") from None
    return opening


def read_view(data: bytes) -> Looking:
    """What a client tells that it looks at, or BadFrame with what is wrong with it."""
    try:
        view = _views.decode(data).view
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrame(f"That is no view: {error}") from None
    return view


def read_event_id(text: str) -> ResumePoint | None:
    """The point that a `Last-Event-ID` names, `journal:number`; None for one that names none."""
    journal, _, after = text.rpartition(":")
    if not journal or not (after.isascii() and after.isdigit() and len(after) <= 18):
        return None
    return ResumePoint(journal=journal, after=int(after))


def hello_frame(hello: StreamHello, build: str) -> bytes:
    """The first frame of a node, with the version that it runs."""
    return _encoder.encode(msgspec.structs.replace(hello, build=build))


def now_frame(at: float) -> bytes:
    """A heartbeat."""
    return _encoder.encode(NowFrame(now=Now(at=at)))


def pane_frame(at: float, piece: PanePiece) -> bytes:
    """What a terminal wrote."""
    return _encoder.encode(NowFrame(now=Now(at=at, pane=piece)))


def preview_frame(at: float, preview: TextPreview) -> bytes:
    """What an agent is saying."""
    return _encoder.encode(NowFrame(now=Now(at=at, preview=preview)))


def presence_frame(at: float, presence: tuple[DevicePresence, ...]) -> bytes:
    """Who else is there."""
    return _encoder.encode(NowFrame(now=Now(at=at, presence=presence)))


def event_frames(bodies: Iterable[bytes]) -> Iterator[tuple[bytes, Seq]]:
    """The encoded events as frames, each with the number of its last event."""
    batch: list[bytes] = []
    size = 0
    for body in bodies:
        if batch and size + len(body) > FRAME_BYTES:
            yield _events(batch)
            batch, size = [], 0
        batch.append(body)
        size += len(body)
    if batch:
        yield _events(batch)


def _events(bodies: list[bytes]) -> tuple[bytes, Seq]:
    return b'{"events":[%s]}' % b",".join(bodies), _numbers.decode(bodies[-1]).seq
