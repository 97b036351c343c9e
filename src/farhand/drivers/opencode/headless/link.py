"""An open link to one session over HTTP: errands in, events out; what was missed is fetched from the session."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import anyio
import msgspec

from farhand.drivers.opencode import asks, launch
from farhand.drivers.opencode.edits import stays_inside
from farhand.drivers.opencode.headless.api import OpenCodeApi, OpenCodeApiError, SessionSnapshot, prompt_of
from farhand.drivers.opencode.headless.command_folders import events_with_folders, with_folder
from farhand.drivers.opencode.headless.server import ServerProcess
from farhand.drivers.opencode.headless.state import (
    OpenCodeCursor,
    OpenCodeExpected,
    OpenCodeLog,
    OpenCodePosition,
    OpenCodeStart,
    OpenCodeState,
    OpenCodeTuning,
    is_idle,
    message_id,
    without_request,
)
from farhand.drivers.opencode.headless.translate import FOUND_IDLE, encode_event, translate, translate_missed
from farhand.drivers.opencode.models import choice_problem, with_window
from farhand.drivers.opencode.schema import OpenCodeModel, OpenCodePermission, OpenCodeSession
from farhand.drivers.wires.asks.build import CHANGED, DENIED, GONE, question_id, step_id
from farhand.model.facts import AskRaised, Limited, Noted, SessionKnown, TurnEnded
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
from farhand.model.present import Ask
from farhand.model.words import HowEnded, Mode, replace

# What does not answer is dead, or is tried again after this time-out.
EXIT_TIMEOUT_SECONDS = 0.5


async def apply_mode(api: OpenCodeApi, session: OpenCodeSession, mode: Mode) -> None:
    """Gives the session the rules of the mode, unless it has them."""
    if not launch.has_rules(session.permission, mode):
        await api.add_rules(session.id, launch.rules(mode))


class PendingCalls(msgspec.Struct, frozen=True):
    """Calls to make after the facts are out: should one fail, the next snapshot finds it pending again."""

    # Requests that need no answer of a person, and those that nobody waits for any more.
    granted: tuple[OpenCodePermission, ...] = ()
    refused: tuple[OpenCodePermission, ...] = ()
    abort: bool = False


class OpenCodeAnswers:
    """Brings persons' answers to the requests of a session, and grants what needs no answer any more."""

    def __init__(self, api: OpenCodeApi, log: OpenCodeLog, position: OpenCodePosition) -> None:
        self._api = api
        self._log = log
        self._position = position

    async def settle(self, ask: Ask) -> Outcome:
        """Brings an answer; one that was brought is not brought twice."""
        name, settled = question_id(ask.id), ask.settled
        request = await self._waiting(name)
        if request is None or settled is None:
            return Taken() if self._log.may_be_answered(name) else NotTaken(why=GONE)
        if ask.digest != asks.digest(request):
            await self._refuse(request)
            return NotTaken(why=CHANGED)
        if isinstance(request, OpenCodePermission):
            return await self._reply(request, asks.reply(request, settled))
        self._log.add_step_answer(settled)
        so_far = self._log.step_answers()
        steps = [so_far.get(step_id(name, step)) for step in range(asks.steps(request))]
        answers = asks.answers(request, steps)
        if answers is None:
            return Taken()
        return await self._send(name, lambda: self._api.answer(name, answers.labels))

    def split(self, heard: list[Heard]) -> tuple[list[Heard], tuple[OpenCodePermission, ...]]:
        """Separates what a person must hear from what was allowed before; a worker that need not ask is allowed all."""
        rest: list[Heard] = []
        granted: list[OpenCodePermission] = []
        for one in heard:
            wanted = self._position.state.permissions.get(one.fact.ask) if isinstance(one.fact, AskRaised) else None
            if wanted is not None and self._is_granted(wanted):
                # Until it is granted, it counts as never seen: the next snapshot would find it again.
                self._position.state = without_request(self._position.state, wanted.id)
                granted.append(wanted)
            else:
                rest.append(one)
        return rest, tuple(granted)

    async def grant(self, granted: tuple[OpenCodePermission, ...]) -> None:
        """What was allowed before goes on at once."""
        for wanted in granted:
            await self._reply(wanted, asks.OpenCodeReply(reply="once"))

    def _is_granted(self, wanted: OpenCodePermission) -> bool:
        if self._position.tuning.mode is Mode.YOLO:
            return True
        if self._position.tuning.mode is Mode.AUTO_EDIT and stays_inside(wanted, self._position.tuning.directory):
            return True
        every = [(wanted.permission, pattern) for pattern in wanted.always]
        return bool(every) and all(one in self._position.state.granted for one in every)

    async def placed(self, found: list[OpenCodePermission]) -> list[OpenCodePermission]:
        """The requests, each with the folder of its command; one that is known is left as it is."""
        folder = self._position.tuning.directory
        known = self._position.state.permissions
        return [known.get(one.id) or await with_folder(self._api, one, folder) for one in found]

    async def _waiting(self, name: str) -> asks.OpenCodeRequest | None:
        """The request of that name, if it waits. The answer that we set out to bring may not have arrived."""
        state = self._position.state
        known = state.permissions.get(name) or state.questions.get(name)
        if known is not None or not self._log.may_be_answered(name):
            return known
        permissions = await self.placed(await self._api.permissions())
        waiting: list[asks.OpenCodeRequest] = [*permissions, *await self._api.questions()]
        return next((one for one in waiting if one.id == name), None)

    async def _refuse(self, request: asks.OpenCodeRequest) -> None:
        if isinstance(request, OpenCodePermission):
            await self._reply(request, asks.OpenCodeReply(reply="reject", message=DENIED))
        else:
            await self._send(request.id, lambda: self._api.answer(request.id, None))

    async def _reply(self, wanted: OpenCodePermission, reply: asks.OpenCodeReply) -> Outcome:
        if reply.lasting:
            lasting = [launch.rule(wanted.permission, pattern, "allow") for pattern in reply.lasting]
            await self._api.add_rules(wanted.sessionID, lasting)
            state = self._position.state
            granted = tuple((wanted.permission, pattern) for pattern in reply.lasting)
            self._position.state = replace(state, granted=(*state.granted, *granted))
        return await self._send(wanted.id, lambda: self._api.reply(wanted.id, reply.reply, reply.message))

    async def _send(self, request: str, send: Callable[[], Awaitable[None]]) -> Outcome:
        before = self._log.may_be_answered(request)
        self._log.add_answer(request)
        self._position.state = without_request(self._position.state, request)
        try:
            await send()
        except OpenCodeApiError as error:
            if not 400 <= error.status < 500:
                # It may still wait: only a refusal says that it does not.
                raise
            return Taken() if before else NotTaken(why=GONE)
        return Taken()


class OpenCodeHttpLink:
    """One worker's session, whichever process serves it."""

    def __init__(
        self,
        api: OpenCodeApi,
        server: ServerProcess,
        log: OpenCodeLog,
        cursor: OpenCodeCursor,
        tuning: OpenCodeTuning,
        deadline_seconds: float,
        first: list[Heard],
    ) -> None:
        self._api = api
        self._server = server
        self._log = log
        # A turn that another process had begun is not continued by this one.
        self._restarted = bool(cursor.life) and cursor.life != server.life
        self._position = OpenCodePosition(replace(cursor, life=server.life), tuning)
        self._answers = OpenCodeAnswers(api, log, self._position)
        self._deadline_seconds = deadline_seconds
        self._first = first
        # What the server tells of its models, once it is asked.
        self._models: Mapping[str, OpenCodeModel] = {}
        # One at a time reads the session or changes what is expected of it.
        self._lock = anyio.Lock()

    @property
    def _state(self) -> OpenCodeState:
        return self._position.state

    # --- facts

    async def facts(self) -> AsyncIterator[Batch]:
        """What the session brings, until its server ends; then how that ended."""
        if self._first:
            yield self._batch(self._first)
        while True:
            try:
                async with self._api.events() as events:
                    async for batch in self._catch_up():
                        yield batch
                    async for batch in self._follow_person():
                        yield batch
                    async for some in events:
                        before = self._position.cursor
                        told = await events_with_folders(self._api, some, self._position.tuning.directory)
                        heard, calls = self._translate_events(told)
                        if heard or self._position.cursor is not before:
                            yield self._batch(heard)
                        await self._make(calls)
                        async for batch in self._follow_person():
                            yield batch
            except OpenCodeApiError:
                pass
            ended = await self._exit()
            if ended:
                yield self._over(ended)
                return

    async def _exit(self) -> str:
        """How the server ended; empty if it still runs."""
        with anyio.move_on_after(EXIT_TIMEOUT_SECONDS):
            return await self._server.wait_exit()
        return ""

    def _over(self, ended: str) -> Batch:
        state = self._state
        failed = TurnEnded(how=HowEnded.FAILED, error=ended)
        over = [Heard(fact=failed, turn=state.turn or None)] if state.running else []
        # The next process reads the session from here on: what was said before the end is reported once.
        self._position.cursor = OpenCodeCursor(
            state=OpenCodeState(session=state.session, after=state.newest, newest=state.newest)
        )
        return self._batch([*over, Heard(fact=Noted(text=ended))])

    def _batch(self, heard: list[Heard]) -> Batch:
        known = self._models.get(self._state.model)
        window = known.limit.context if known else 0
        return Batch(heard=tuple(with_window(one, window) for one in heard), cursor=self._position.encode())

    def _translate_events(self, events: list[bytes]) -> tuple[list[Heard], PendingCalls]:
        heard: list[Heard] = []
        for one in events:
            heard += self._translate(one)
            cursor = self._position.cursor
            other = self._server.other_session(one, cursor.state, cursor.other_session)
            if other is not cursor.other_session:
                self._position.cursor = replace(cursor, other_session=other)
        limited = any(isinstance(one.fact, Limited) for one in heard) and self._state.running
        heard, granted = self._answers.split(heard)
        return heard, PendingCalls(granted=granted, abort=limited)

    def _translate(self, event: bytes) -> list[Heard]:
        heard, self._position.state = translate(event, self._state, time.time(), self._deadline_seconds)
        return heard

    async def _make(self, calls: PendingCalls) -> None:
        """After the facts are out: a call that fails costs none of them."""
        if calls.abort:
            # OpenCode would wait and hold the turn; the core parks its message and knows when to go on.
            await self._api.abort(self._state.session)
        await self._answers.grant(calls.granted)
        for wanted in calls.refused:
            # What an aborted turn had asked for waits for nothing: nobody may let it go on by mistake.
            await self._api.reply(wanted.id, "reject")

    # --- a person who speaks in another session

    async def _follow_person(self) -> AsyncIterator[Batch]:
        if await self._change_session():
            yield self._batch([Heard(fact=SessionKnown(session=self._state.session))])
            async for batch in self._catch_up():
                yield batch

    async def _change_session(self) -> bool:
        """Goes on in the session where a person at the terminal does, once this one is idle."""
        other = self._position.cursor.other_session
        if other is None:
            return False
        async with self._lock:
            if not is_idle(self._state):
                return False
            session = await self._api.session(other.session)
            if session is None or session.parentID:
                # A subagent's: it is no person who speaks there.
                self._position.cursor = replace(self._position.cursor, other_session=None)
                return False
            await apply_mode(self._api, session, self._position.tuning.mode)
            # Written down first: whoever is killed here goes on there.
            self._log.write_start(OpenCodeStart(session=session.id, after=other.before))
            self._position.tuning.agent = session.agent
            state = OpenCodeState(session=session.id, after=other.before, newest=other.before)
            self._position.cursor = OpenCodeCursor(life=self._server.life, state=state)
            return True

    # --- what was missed

    async def _catch_up(self) -> AsyncIterator[Batch]:
        if not self._models:
            self._models = await self._api.models()
        async with self._lock:
            snapshot = await self._api.snapshot(self._state.session, self._state.after)
            snapshot = msgspec.structs.replace(snapshot, permissions=await self._answers.placed(snapshot.permissions))
            heard, calls = self._translate_snapshot(snapshot)
        yield self._batch(heard)
        await self._make(calls)

    def _translate_snapshot(self, found: SessionSnapshot) -> tuple[list[Heard], PendingCalls]:
        """The session as it stands; what was reported before is left out."""
        heard: list[Heard] = []
        if found.busy:
            self._position.state = replace(self._state, children=found.children)
        for message in found.messages:
            missed, self._position.state = translate_missed(message, self._state, time.time(), self._deadline_seconds)
            heard += missed
        if not found.busy:
            idle = FOUND_IDLE if self._restarted else "session.idle"
            heard += self._translate(encode_event(idle, {"sessionID": self._state.session}))
        self._restarted = False
        heard, granted = self._answers.split(heard + self._translate_requests(found))
        state = self._state
        left = () if found.busy else tuple(one for one in found.permissions if one.sessionID == state.session)
        waits = found.busy and state.running and bool(state.limited)
        return heard, PendingCalls(granted=granted, refused=left, abort=waits)

    def _translate_requests(self, found: SessionSnapshot) -> list[Heard]:
        heard: list[Heard] = []
        for request in (*self._state.permissions, *self._state.questions):
            if request not in found.waiting and self._log.may_be_answered(request):
                self._position.state = without_request(self._state, request)
            elif request not in found.waiting:
                over = {"sessionID": self._state.session, "requestID": request}
                heard += self._translate(encode_event("permission.replied", over))
        for wanted in found.permissions if found.busy else ():
            heard += self._translate(encode_event("permission.asked", wanted))
        for asked in found.questions if found.busy else ():
            heard += self._translate(encode_event("question.asked", asked))
        return heard

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Does what the core wants; an errand done twice acts once, so one that was cut off is done again."""
        while True:
            try:
                return await self._do(errand)
            except OpenCodeApiError as error:
                if error.status:
                    return NotTaken(why=error.text)
                if await self._exit():
                    return Unknown(why=error.text) if error.sent else NotTaken(why=error.text)

    async def _do(self, errand: Errand) -> Outcome:
        match errand:
            case Deliver():
                return await self._deliver(errand)
            case Settle(ask=ask):
                async with self._lock:
                    return await self._answers.settle(ask)
            case Stop():
                return await self._stop()
            case Change():
                return await self._change(errand)

    async def _deliver(self, errand: Deliver) -> Outcome:
        async with self._lock:
            name, state = errand.message.id, self._state
            known = next((one for one in self._log.deliveries() if one.message == name), None)
            own_id = known.id if known else message_id(name, time.time(), state.newest)
            expected = OpenCodeExpected(id=own_id, message=name, turn="" if errand.joins else errand.turn)
            if expected != known:
                self._log.add_delivery(expected)
            others = tuple(one for one in state.expected if one.message != name)
            self._position.state = replace(state, expected=(*others, expected))
            if known is not None and await self._api.has_message(state.session, known.id):
                return Taken()
            tuning = self._position.tuning
            body = await prompt_of(own_id, errand.message, tuning)
            tuning.agent = body.agent or tuning.agent
            await self._api.prompt(state.session, body)
            return Taken()

    async def _stop(self) -> Outcome:
        self._position.state = replace(self._state, stopped=self._state.running)
        await self._api.abort(self._state.session)
        return Taken()

    async def _change(self, change: Change) -> Outcome:
        tuning = self._position.tuning
        if change.model is not None or change.effort is not None:
            model, effort = change.model or "", change.effort or ""
            if problem := choice_problem(await self._api.models(), model, effort, tuning.model):
                return NotTaken(why=problem)
            tuning.model, tuning.effort = model or tuning.model, effort or tuning.effort
        if change.mode is not None:
            wanted = Mode(change.mode)
            await self._api.add_rules(self._state.session, launch.rules(wanted))
            tuning.mode = wanted
            self._position.state = replace(self._state, granted=())
        return Taken()
