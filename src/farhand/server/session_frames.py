"""Frames of the live wire under the names of session adapters, for clients that open with `"names": "session"`."""

from collections.abc import AsyncIterator, Iterable

from farhand.model.facts import Event, TurnEnded
from farhand.model.history import TurnEntry
from farhand.model.previews import TextPreview
from farhand.model.session_events import NamedSessionEvent, SessionFrame, session_events
from farhand.model.wire import decode_event, encode
from farhand.model.words import Seq
from farhand.server.door import OpenHub

# A turn stands in the history where it began: so many facts were shown beside it at the most.
_BESIDE = 20


async def session_frames(hub: OpenHub, bodies: Iterable[bytes]) -> AsyncIterator[tuple[bytes, Seq]]:
    """The encoded events as one frame, with the number of the last of them."""
    named: list[NamedSessionEvent] = []
    seq = 0
    for body in bodies:
        event = decode_event(body)
        seq = event.seq
        named += session_events(event, await _ended(hub, event))
    if seq:
        yield encode(SessionFrame(seq=seq, session_events=tuple(named))), seq


def session_preview(at: float, preview: TextPreview, seq: Seq) -> bytes:
    """What an agent is saying, as its screen shows it: all of its newest words, replaced by whatever comes next.

    It has the number of the event before it, which is where the client stands."""
    data = {"text": preview.text, "turn": preview.turn, "preview": True}
    named = NamedSessionEvent(name="streaming-text", seq=seq, at=at, worker=preview.worker, data=data)
    return encode(SessionFrame(seq=seq, session_events=(named,)))


async def _ended(hub: OpenHub, event: Event) -> TurnEntry | None:
    """The turn that the event ends, as the history has it."""
    if not isinstance(event.fact, TurnEnded):
        return None
    page = await hub.history(event.worker, event.seq, _BESIDE)
    turns = (one for one in reversed(page.entries) if isinstance(one, TurnEntry))
    return next((one for one in turns if one.view.turn == event.turn), None)
