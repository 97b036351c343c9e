"""A link to Codex without a terminal: JSON-RPC both ways with its app-server, over a held process."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from functools import partial

import anyio
import anyio.to_thread

from farhand.drivers.codex import launch
from farhand.drivers.codex.asks import (
    CHANGE,
    METHODS,
    CodexQuestion,
    decision,
    digest,
    steps,
    to_ask,
)
from farhand.drivers.codex.headless.state import CodexFileChange, CodexHeadlessCursor, CodexOpenAsk, CodexServerState
from farhand.drivers.codex.headless.translate import OPEN, TURN, translate
from farhand.drivers.wires.asks.answers import PartAnswer, PartAnswers
from farhand.drivers.wires.asks.build import DENY, GONE, question_id
from farhand.drivers.wires.asks.settle import AskSettler
from farhand.drivers.wires.cursor import write_cursor
from farhand.drivers.wires.foreign_json import Fields, JsonObject, parse
from farhand.drivers.wires.holder.process import HeldProcess
from farhand.drivers.wires.text.prompt import prompt_text
from farhand.model import ports
from farhand.model.errors import AgentGone
from farhand.model.facts import Noted, TurnEnded
from farhand.model.ports import (
    Batch,
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
from farhand.model.present import Ask, Message
from farhand.model.words import replace

REPLY_SECONDS = 30.0
NO_SUCH_METHOD = -32601
HELLO, ACCOUNT = "hello", "account"
AGAIN = f"{OPEN}-again"


def input_of(message: Message) -> list[JsonObject]:
    """A message as `turn/start` takes it: its text, and its pictures as pictures."""
    pictures = [one.path for one in message.attachments if one.media_type.startswith("image/")]
    words: JsonObject = {"type": "text", "text": prompt_text(message), "text_elements": []}
    shown: list[JsonObject] = [{"type": "localImage", "path": path} for path in pictures]
    return [words, *shown]


class CodexHeadlessLink:
    """One worker's app-server. Every line in has a key, by which the holder deduplicates it."""

    def __init__(
        self,
        process: HeldProcess,
        cursor: CodexHeadlessCursor,
        thread: JsonObject,
        deadline_seconds: float,
        answers: PartAnswers,
    ) -> None:
        self._process = process
        self._cursor = cursor
        self._deadline_seconds = deadline_seconds
        self._settler: AskSettler[CodexQuestion] = AskSettler(answers, digest, steps)
        self._thread = thread
        self._changed = anyio.Event()
        self._over = False

    async def initialize(self) -> None:
        """Initializes the connection and opens the thread; the holder drops both when they were sent before."""
        about = {"name": "farhand", "title": "Farhand", "version": "1"}
        capabilities = {"experimentalApi": True, "requestAttestation": False}
        await self._request(HELLO, "initialize", {"clientInfo": about, "capabilities": capabilities})
        await self._process.feed_json("initialized", {"method": "initialized"})
        await self._request(ACCOUNT, "account/read", {"refreshToken": False})
        await self._open(OPEN, self._thread)

    async def is_signed_out(self) -> bool:
        """Whether Codex says of itself that nobody has signed in and its model needs that: without a network it would
        look as if that were all that it lacks. One that was heard before is not asked again."""
        if not self._process.is_unread:
            return False
        with anyio.move_on_after(REPLY_SECONDS):
            async with aclosing(self._process.lines()) as batches:
                async for lines, _ in batches:
                    for record in filter(None, map(parse, lines)):
                        if "method" not in record and record.text("id") == ACCOUNT:
                            told = record.fields("result")
                            return told.flag("requiresOpenaiAuth") and told.any("account") is None
        return False

    async def _open(self, request: str, thread: Mapping[str, object]) -> None:
        await self._request(request, "thread/resume" if "threadId" in thread else "thread/start", thread)

    @property
    def ended_on_purpose(self) -> bool:
        """Whether its agent was ended with its node, and what comes is what it left."""
        return self._process.ended_on_purpose

    # --- facts

    async def facts(self) -> AsyncIterator[Batch]:
        """The agent's output as facts; at its end how it ended, with the cursor of its next life."""
        async for lines, position in self._process.lines():
            heard: list[Heard] = []
            for line in lines:
                heard += await self._read(line)
            self._cursor = replace(self._cursor, wire=position)
            self._notify()
            yield self._batch(heard)
        self._over = True
        ended = await self._process.last_facts()
        state = CodexServerState(session=self._cursor.state.session, total=self._cursor.state.total)
        self._cursor = CodexHeadlessCursor(wire=self._process.next_life, state=state)
        self._notify()
        yield self._batch(ended)

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=write_cursor(self._cursor))

    async def _read(self, line: bytes) -> list[Heard]:
        heard, state = translate(line, self._cursor.state, time.time())
        self._cursor = replace(self._cursor, state=state)
        record = parse(line) or Fields({})
        if "method" in record and "id" in record:
            return heard + await self._asked(record)
        if "method" not in record and record.text("id") in (OPEN, AGAIN) and "error" in record:
            return heard + await self._not_opened(record)
        if record.text("method") == "serverRequest/resolved":
            self._drop_request(record.fields("params").any("requestId"))
        if any(isinstance(one.fact, TurnEnded) for one in heard):
            self._cursor = replace(self._cursor, asks={})
        return heard

    async def _not_opened(self, record: Fields) -> list[Heard]:
        why = record.fields("error").text("message")
        if record.text("id") == AGAIN or "threadId" not in self._thread:
            raise AgentGone(f"Codex could not begin a conversation: {why}")
        lost = self._thread["threadId"]
        await self._open(AGAIN, {name: value for name, value in self._thread.items() if name != "threadId"})
        return [Heard(fact=Noted(text=f"The session {lost} cannot be taken up again ({why}). A new one begins."))]

    async def _asked(self, record: Fields) -> list[Heard]:
        method, params, request = record.text("method"), record.fields("params"), record.any("id")
        if method not in METHODS or not isinstance(request, int | str):
            problem = {"code": NO_SUCH_METHOD, "message": f"Nobody here answers {method}."}
            await self._process.feed_json(f"refuse {request}", {"id": request, "error": problem})
            return []
        state = self._cursor.state
        change = (
            state.changes.get(params.text("itemId"), CodexFileChange(title="", detail="")) if method == CHANGE else None
        )
        question = CodexQuestion(method=method, params=params.plain)
        if change:
            question = replace(question, title=change.title, detail=change.detail, paths=change.paths)
        turn = params.text("turnId")
        ask = f"{turn or state.session}:{request}"
        self._cursor = replace(
            self._cursor, asks={**self._cursor.asks, ask: CodexOpenAsk(request=request, question=question)}
        )
        ours = state.turns.get(turn) or state.turns.get(state.running)
        every = [to_ask(ask, question, self._deadline_seconds, step) for step in range(steps(question))]
        return [Heard(fact=one, turn=ours) for one in every]

    def _drop_request(self, request: object) -> None:
        others = {ask: one for ask, one in self._cursor.asks.items() if one.request != request}
        self._cursor = replace(self._cursor, asks=others)

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the agent's input, deduplicated by its key, and waits for the agent's reply to it."""
        await self._wait_until(lambda: bool(self._reply_to(OPEN) == "" or self._reply_to(AGAIN) is not None))
        match errand:
            case Deliver(joins=True):
                return await self._join(errand)
            case Deliver():
                return await self._begin(errand)
            case Settle(ask=ask):
                return await self._settle(ask)
            case Stop(turn=turn, number=number):
                return await self._stop(turn, number)
            case ports.Change():
                params = {"threadId": self._cursor.state.session, **launch.settings_params(errand)}
                return await self._request_and_wait(f"change {uuid.uuid4()}", "thread/settings/update", params)

    async def _begin(self, errand: Deliver) -> Outcome:
        message = errand.message
        params = {"threadId": self._cursor.state.session, "clientUserMessageId": message.id, "input": input_of(message)}
        return await self._request_and_wait(TURN + errand.turn, "turn/start", params)

    async def _join(self, errand: Deliver) -> Outcome:
        running = self._cursor.state.running
        if not running:
            return NotTaken(why="No turn runs that it could join.")
        message = errand.message
        params = {
            "threadId": self._cursor.state.session,
            "clientUserMessageId": message.id,
            "expectedTurnId": running,
            "input": input_of(message),
        }
        return await self._request_and_wait(f"join {message.id} {running}", "turn/steer", params)

    async def _stop(self, turn: str, number: int) -> Outcome:
        # Codex refuses to stop a turn that it has taken and not begun.
        await self._wait_until(lambda: turn in self._cursor.state.begun)
        theirs = next((name for name, ours in self._cursor.state.turns.items() if ours == turn), "")
        if not theirs or theirs != self._cursor.state.running:
            return NotTaken(why="That turn does not run.")
        params = {"threadId": self._cursor.state.session, "turnId": theirs}
        return await self._request(f"stop {number} {turn}", "turn/interrupt", params)

    async def _settle(self, ask: Ask) -> Outcome:
        name = question_id(ask.id)
        waiting = self._cursor.asks.get(name)
        if waiting is None:
            # The turn may have ended before anybody confirmed an answer that the agent had.
            return Taken() if await self._process.was_fed(_answer_key(name)) else NotTaken(why=GONE)
        return await self._settler.settle(ask, waiting.question, partial(self._respond, name, waiting))

    async def _respond(self, name: str, waiting: CodexOpenAsk, answers: tuple[PartAnswer, ...]) -> Outcome:
        others = {ask: one for ask, one in self._cursor.asks.items() if ask != name}
        self._cursor = replace(self._cursor, asks=others)
        note, running = answers[-1].note, self._cursor.state.running
        if note and answers[-1].choice == DENY and running:
            # A refusal has no field for a note: it is queued in the turn, where the model reads it next.
            words = [{"type": "text", "text": note, "text_elements": []}]
            params = {"threadId": self._cursor.state.session, "expectedTurnId": running, "input": words}
            await self._request_and_wait(f"note {name}", "turn/steer", params)
        reply = {"id": waiting.request, "result": decision(waiting.question, answers)}
        return await self._process.feed_json(_answer_key(name), reply)

    # --- requests and their answers

    async def _request_and_wait(self, request: str, method: str, params: Mapping[str, object]) -> Outcome:
        """Sends a request and waits for the reply, or for the time-out."""
        outcome = await self._request(request, method, params)
        if not isinstance(outcome, Taken):
            return outcome
        await self._wait_until(lambda: self._reply_to(request) is not None)
        problem = self._reply_to(request)
        if problem:
            return NotTaken(why=f"Codex refused it: {problem}")
        if problem is None and self._over:
            return Unknown(why="The agent is gone and did not say whether it took it.")
        return Taken()

    def _reply_to(self, request: str) -> str | None:
        return self._cursor.state.answered.get(request)

    async def _wait_until(self, done: Callable[[], bool]) -> None:
        with anyio.move_on_after(REPLY_SECONDS):
            while not done() and not self._over:
                await self._changed.wait()

    async def _request(self, request: str, method: str, params: Mapping[str, object]) -> Outcome:
        return await self._process.feed_json(request, {"id": request, "method": method, "params": params})


def _answer_key(name: str) -> str:
    return f"answer {name}"
