"""How a link begins: which session is the worker's, what it may do unasked, and where its facts go on."""

from __future__ import annotations

from pathlib import Path

import anyio.to_thread
import msgspec

from farhand.drivers.opencode import modes
from farhand.drivers.opencode.headless.api import Api
from farhand.drivers.opencode.headless.cursor import OpenCodeCursor, OpenCodeTuning
from farhand.drivers.opencode.headless.kept import OpenCodeLog, OpenCodeStart
from farhand.drivers.opencode.headless.link import HttpLink
from farhand.drivers.opencode.headless.rules import obeying
from farhand.drivers.opencode.headless.server import Host
from farhand.drivers.opencode.headless.state import OpenCodeState
from farhand.drivers.opencode.schema import OpenCodeSession
from farhand.model.facts import Noted, SessionKnown
from farhand.model.ports import Heard
from farhand.model.present import Worker
from farhand.model.words import replace

LOST = "The session cannot be taken up again: OpenCode does not know it. A new one begins."


async def open_link(
    api: Api, host: Host, folder: Path, worker: Worker, cursor: str, seconds: float
) -> tuple[HttpLink, str]:
    """The link, and the session that it is about."""
    kept, first = OpenCodeLog(folder), list[Heard]()
    begun = await anyio.to_thread.run_sync(kept.begun)
    session = await api.session(begun.session) if begun else None
    if begun is None or session is None:
        session = await api.session(worker.session) if worker.session else None
        if session is None and (worker.session or begun is not None):
            first = [Heard(fact=Noted(text=LOST))]
        begun = await _begin(api, worker, session)
        session = session or await api.session(begun.session) or OpenCodeSession(id=begun.session)
        kept.begin(begun)
    await obeying(api, session, worker.mode)
    if worker.session != begun.session:
        first = [*first, Heard(fact=SessionKnown(session=begun.session))]
    tuning = OpenCodeTuning(mode=worker.mode, model=worker.model, agent=session.agent)
    spot = _spot(cursor, begun, kept)
    return HttpLink(api, host, kept, spot, tuning, seconds, first), begun.session


async def _begin(api: Api, worker: Worker, known: OpenCodeSession | None) -> OpenCodeStart:
    """A session of the past is the worker's own from its last message on."""
    if known is None:
        return OpenCodeStart(session=(await api.create(worker.name, modes.rules(worker.mode))).id)
    newest = await api.newest(known.id)
    return OpenCodeStart(session=known.id, after=newest)


def _spot(cursor: str, begun: OpenCodeStart, kept: OpenCodeLog) -> OpenCodeCursor:
    try:
        spot = msgspec.json.decode(cursor, type=OpenCodeCursor) if cursor else OpenCodeCursor()
    except msgspec.MsgspecError:
        spot = OpenCodeCursor()
    state = spot.state
    if state.session != begun.session:
        state = OpenCodeState(session=begun.session, after=begun.after, newest=begun.after)
        spot = OpenCodeCursor()
    # What was given after the cursor was written is recognised when it turns up.
    known = {one.id: one for one in (*kept.given(), *state.expected) if one.id > state.after}
    return replace(spot, state=replace(state, expected=tuple(known.values())))
