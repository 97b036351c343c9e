"""An open link to one session over HTTP: errands in, events out; what was missed is read from the session."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import anyio

from farhand.drivers.opencode import modes
from farhand.drivers.opencode.headless.answers import Answering
from farhand.drivers.opencode.headless.api import Api, ApiError
from farhand.drivers.opencode.headless.cursor import OpenCodeCursor, OpenCodePosition, OpenCodeTuning
from farhand.drivers.opencode.headless.ids import message_id
from farhand.drivers.opencode.headless.kept import OpenCodeLog, OpenCodeStart
from farhand.drivers.opencode.headless.prompt import prompt_of
from farhand.drivers.opencode.headless.rules import obeying
from farhand.drivers.opencode.headless.server import Host
from farhand.drivers.opencode.headless.session_view import Due, SessionSeen, look
from farhand.drivers.opencode.headless.state import OpenCodeExpected, OpenCodeState, whole_from, without_request
from farhand.drivers.opencode.headless.translate import AT_REST, event, told_as_events, translate
from farhand.drivers.opencode.schema import Info, OpenCodeMessage, Part, read
from farhand.drivers.opencode.tmux.desk import is_free, spoken_elsewhere
from farhand.model.facts import Limited, Noted, SessionKnown, TurnEnded
from farhand.model.ports import (
    Batch,
    Change,
    Deliver,
    Errand,
    Heard,
    NotTaken,
    Outcome,
    Settle,
    Stop,
    Taken,
    Unknown,
)
from farhand.model.present import Message as Said
from farhand.model.words import HowEnded, Mode, replace

# What does not answer is dead, or is asked again after so long.
DEATH_PATIENCE_SECONDS = 0.5


class HttpLink:
    """One worker's session."""

    def __init__(
        self,
        api: Api,
        host: Host,
        kept: OpenCodeLog,
        spot: OpenCodeCursor,
        tuning: OpenCodeTuning,
        seconds: float,
        first: list[Heard],
    ) -> None:
        self._api = api
        self._host = host
        self._kept = kept
        # In another life than the cursor's, what was begun is not gone on with.
        self._reborn = bool(spot.life) and spot.life != host.life
        self._place = OpenCodePosition(replace(spot, life=host.life), tuning)
        self._answering = Answering(api, kept, self._place)
        self._seconds = seconds
        self._first = first
        self._looking = anyio.Lock()

    @property
    def _state(self) -> OpenCodeState:
        return self._place.state

    # --- facts

    async def facts(self) -> AsyncIterator[Batch]:
        """What the session brings, until its server ends; then how that ended."""
        if self._first:
            yield self._batch(self._first)
        while True:
            try:
                async with self._api.events() as events:
                    async for batch in self._looked():
                        yield batch
                    async for batch in self._moves():
                        yield batch
                    async for some in events:
                        before = self._place.spot
                        heard, due = self._take(some)
                        if heard or self._place.spot is not before:
                            yield self._batch(heard)
                        await self._act(due)
                        async for batch in self._moves():
                            yield batch
            except ApiError:
                pass
            gone = await self._gone()
            if gone:
                yield self._over(gone)
                return

    async def _gone(self) -> str:
        with anyio.move_on_after(DEATH_PATIENCE_SECONDS):
            return await self._host.gone()
        return ""

    def _over(self, gone: str) -> Batch:
        ended = Noted(text=gone)
        failed = TurnEnded(how=HowEnded.FAILED, error=gone)
        over = [Heard(fact=failed, turn=self._state.turn or None)] if self._state.running else []
        # The next life reads the session from here on: what was said before its end is told once.
        state = self._state
        self._place.spot = OpenCodeCursor(
            state=OpenCodeState(session=state.session, after=state.newest, newest=state.newest)
        )
        return self._batch([*over, Heard(fact=ended)])

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=self._place.cursor())

    def _take(self, events: list[bytes]) -> tuple[list[Heard], Due]:
        heard: list[Heard] = []
        for one in events:
            heard += self._translated(one)
            self._notice(one)
        limited = any(isinstance(one.fact, Limited) for one in heard) and self._state.running
        heard, granted = self._answering.part(heard)
        return heard, Due(granted=granted, abort=limited)

    async def _act(self, due: Due) -> None:
        """After the facts were told: a call that fails costs none of them."""
        if due.abort:
            # OpenCode would wait and hold the turn; the core parks its message and knows when to go on.
            await self._api.abort(self._state.session)
        await self._answering.let_go_on(due.granted)
        for wanted in due.refused:
            # What an aborted turn had asked for waits for nothing: nobody may let it go on by mistake.
            await self._api.reply(wanted.id, "reject")

    def _translated(self, came: bytes) -> list[Heard]:
        told, state = translate(came, self._state, time.time(), self._seconds)
        if state is not self._state:
            self._place.become(state)
        return told

    # --- at the desk

    def _notice(self, came: bytes) -> None:
        spot = self._place.spot
        elsewhere = spoken_elsewhere(came, spot.state, spot.elsewhere) if self._host.desk else None
        if elsewhere is not spot.elsewhere:
            self._place.spot = replace(spot, elsewhere=elsewhere)

    async def _moves(self) -> AsyncIterator[Batch]:
        if await self._moved():
            yield self._batch([Heard(fact=SessionKnown(session=self._state.session))])
            async for batch in self._looked():
                yield batch

    async def _moved(self) -> bool:
        """Goes on in the session where a person at the desk does, once this one is at rest."""
        there = self._place.spot.elsewhere
        if there is None:
            return False
        async with self._looking:
            if not is_free(self._state):
                return False
            session = await self._api.session(there.session)
            if session is None or session.parentID:
                # A helper's: it is no person who speaks there.
                self._place.spot = replace(self._place.spot, elsewhere=None)
                return False
            await obeying(self._api, session, self._place.tuning.mode)
            # Written down first: whoever is killed here goes on there.
            self._kept.begin(OpenCodeStart(session=session.id, after=there.before))
            self._place.tuning.agent = session.agent
            begun = OpenCodeState(session=session.id, after=there.before, newest=there.before)
            self._place.spot = OpenCodeCursor(life=self._host.life, state=begun)
            return True

    # --- what was missed

    async def _looked(self) -> AsyncIterator[Batch]:
        async with self._looking:
            seen = await look(self._api, self._state.session, self._state.after)
            heard, due = self._tell(seen)
        yield self._batch(heard)
        await self._act(due)

    def _tell(self, seen: SessionSeen) -> tuple[list[Heard], Due]:
        """The session as it stands, told as events: what was told before is recognised and left out."""
        heard: list[Heard] = []
        if seen.busy:
            self._place.change(children=seen.children)
        for message in seen.messages:
            heard += self._missed(message)
        if not seen.busy:
            heard += self._translated(event(AT_REST if self._reborn else "session.idle", self._named()))
        self._reborn = False
        heard, granted = self._answering.part(heard + self._requests(seen))
        state = self._state
        left = () if seen.busy else tuple(one for one in seen.permissions if one.sessionID == state.session)
        held = seen.busy and state.running and bool(state.limited)
        return heard, Due(granted=granted, refused=left, abort=held)

    def _named(self) -> dict[str, str]:
        return {"sessionID": self._state.session}

    def _missed(self, message: OpenCodeMessage) -> list[Heard]:
        heard: list[Heard] = []
        info = read(message.info, Info)
        if info is None:
            return []
        joins = any(one.id == info.id and not one.turn for one in self._state.expected)
        if info.role == "user" and self._state.running and info.id not in self._state.prompts and not joins:
            heard += self._translated(event(AT_REST, self._named()))
        for told in told_as_events(message):
            heard += self._translated(told)
        for part in (read(raw, Part) for raw in message.parts):
            if part is not None and part.id in self._state.parts:
                self._place.become(whole_from(self._state, part.id, part.type))
        return heard

    def _requests(self, seen: SessionSeen) -> list[Heard]:
        heard: list[Heard] = []
        for request in (*self._state.permissions, *self._state.questions):
            if request not in seen.waiting and self._kept.answered(request):
                self._place.become(without_request(self._state, request))
            elif request not in seen.waiting:
                over = {**self._named(), "requestID": request}
                heard += self._translated(event("permission.replied", over))
        for wanted in seen.permissions if seen.busy else ():
            heard += self._translated(event("permission.asked", wanted))
        for asked in seen.questions if seen.busy else ():
            heard += self._translated(event("question.asked", asked))
        return heard

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Does what the core wants; an errand done twice acts once, so one that was cut off is done again."""
        while True:
            try:
                return await self._do(errand)
            except ApiError as error:
                if error.status:
                    return NotTaken(why=error.text)
                if await self._gone():
                    return Unknown(why=error.text) if error.sent else NotTaken(why=error.text)

    async def _do(self, errand: Errand) -> Outcome:
        match errand:
            case Deliver():
                return await self._deliver(errand)
            case Settle(ask=ask):
                async with self._looking:
                    return await self._answering.settle(ask)
            case Stop():
                return await self._stop()
            case Change(model=model, mode=mode):
                return await self._change(model, mode)

    async def _deliver(self, errand: Deliver) -> Outcome:
        async with self._looking:
            turn = "" if errand.joins else errand.turn
            name = errand.message.id
            known = next((one for one in self._kept.given() if one.message == name), None)
            given = OpenCodeExpected(id=known.id if known else self._fresh_id(name), message=name, turn=turn)
            if given != known:
                self._kept.give(given)
            others = tuple(one for one in self._state.expected if one.message != name)
            self._place.change(expected=(*others, given))
            session = self._state.session
            if known is not None and await self._api.has_message(session, known.id):
                return Taken()
            await self._prompt(session, given.id, errand.message)
            return Taken()

    async def _prompt(self, session: str, message: str, said: Said) -> None:
        tuning = self._place.tuning
        body = await prompt_of(message, said, tuning)
        tuning.agent = body.get("agent", tuning.agent)
        await self._api.prompt(session, body)

    def _fresh_id(self, name: str) -> str:
        return message_id(name, time.time(), self._state.newest)

    async def _stop(self) -> Outcome:
        self._place.change(stopped=self._state.running)
        await self._api.abort(self._state.session)
        return Taken()

    async def _change(self, model: str | None, mode: str | None) -> Outcome:
        if model is not None:
            known = await self._api.models()
            if model not in known:
                some = ", ".join(known[:20]) or "none"
                return NotTaken(why=f"OpenCode has no model '{model}'. Known: {some}.")
            self._place.tuning.model = model
        if mode is not None:
            wanted = Mode(mode)
            await self._api.add_rules(self._state.session, modes.rules(wanted))
            self._place.tuning.mode = wanted
            self._place.change(granted=())
        return Taken()
