"""Runs Codex without a terminal: JSON-RPC both ways with its app-server, in a holder, so that the node may die."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from farhand.drivers.codex import launch
from farhand.drivers.codex.asks import (
    CHANGE,
    METHODS,
    CodexQuestion,
    decision,
    digest,
    raised,
    steps,
)
from farhand.drivers.codex.headless.translate import OPEN, TURN, CodexFileChange, CodexServerState, translate
from farhand.drivers.codex.sessions import CodexSessions
from farhand.drivers.wires.asks.answers import PartAnswer, PartAnswers
from farhand.drivers.wires.asks.build import DENY
from farhand.drivers.wires.context import USUAL, DriverContext
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.holder.link import HeldLink
from farhand.drivers.wires.holder.process import HeldProcess, Program, forget, open_wire, sentence
from farhand.drivers.wires.text.prompt import worded
from farhand.model import ports
from farhand.model.errors import AgentGone
from farhand.model.facts import Noted, TurnEnded
from farhand.model.ports import (
    Batch,
    Deliver,
    Errand,
    Heard,
    Link,
    NotTaken,
    Outcome,
    Settle,
    Stop,
    Taken,
    Unknown,
)
from farhand.model.present import Message, Worker
from farhand.model.words import HowEnded, Word, replace

REPLY_SECONDS = 30.0
NO_SUCH_METHOD = -32601
HELLO = "hello"
AGAIN = f"{OPEN}-again"


class CodexOpenAsk(Word):
    """A question that waits, as it came, and the request that its answer is for."""

    request: int | str
    question: CodexQuestion


class CodexHeadlessCursor(Word):
    """Where a link stands."""

    wire: str = ""
    state: CodexServerState = CodexServerState()
    asks: dict[str, CodexOpenAsk] = {}


def input_of(message: Message) -> list[dict[str, Any]]:
    """A message as Codex takes it: its words, and its pictures as pictures."""
    pictures = [one.path for one in message.attachments if one.media_type.startswith("image/")]
    words = {"type": "text", "text": worded(message), "text_elements": []}
    return [words, *({"type": "localImage", "path": path} for path in pictures)]


class CodexHeadlessLink(HeldLink):
    """One worker's app-server. Every line in has a key, so that it is fed once."""

    _spot: CodexHeadlessCursor

    def __init__(
        self,
        wire: HeldProcess,
        spot: CodexHeadlessCursor,
        thread: dict[str, Any],
        deadline_seconds: float,
        picks: PartAnswers,
    ) -> None:
        super().__init__(wire, deadline_seconds, picks)
        self._spot = spot
        self._thread = thread
        self._news = anyio.Event()
        self._over = False

    async def greet(self) -> None:
        """Introduces us and opens the thread; done again, it does nothing more."""
        about = {"name": "farhand", "title": "Farhand", "version": "1"}
        capabilities = {"experimentalApi": True, "requestAttestation": False}
        await self._request(HELLO, "initialize", {"clientInfo": about, "capabilities": capabilities})
        await self._feed("initialized", {"method": "initialized"})
        await self._open(OPEN, self._thread)

    async def _open(self, request: str, thread: dict[str, Any]) -> None:
        await self._request(request, "thread/resume" if "threadId" in thread else "thread/start", thread)

    # --- facts

    async def facts(self) -> AsyncIterator[Batch]:
        """What the agent says; at its end how it ended, with the place of its next life."""
        async for lines, wire in self._wire.lines():
            heard: list[Heard] = []
            for line in lines:
                heard += await self._line(line)
            self._spot = replace(self._spot, wire=wire)
            self._ring()
            yield self._batch(heard)
        self._over = True
        ended = Noted(text=sentence(await self._wire.exit()))
        kept = CodexServerState(session=self._spot.state.session, total=self._spot.state.total)
        self._spot = CodexHeadlessCursor(wire=self._wire.next_life, state=kept)
        self._ring()
        yield self._batch([Heard(fact=TurnEnded(how=HowEnded.FAILED, error=ended.text)), Heard(fact=ended)])

    def _ring(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()

    def _digest(self, question: CodexQuestion) -> str:
        return digest(question)

    def _steps(self, question: CodexQuestion) -> int:
        return steps(question)

    async def _line(self, line: bytes) -> list[Heard]:
        heard, state = translate(line, self._spot.state, time.time())
        self._spot = replace(self._spot, state=state)
        record = parse(line) or Fields({})
        if "method" in record and "id" in record:
            return heard + await self._asked(record)
        if "method" not in record and record.text("id") in (OPEN, AGAIN) and "error" in record:
            return heard + await self._not_opened(record)
        if record.text("method") == "serverRequest/resolved":
            self._resolved(record.fields("params").any("requestId"))
        if any(isinstance(one.fact, TurnEnded) for one in heard):
            self._spot = replace(self._spot, asks={})
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
            await self._feed(f"refuse {request}", {"id": request, "error": problem})
            return []
        state = self._spot.state
        change = (
            state.changes.get(params.text("itemId"), CodexFileChange(title="", detail="")) if method == CHANGE else None
        )
        shown = {"title": change.title, "detail": change.detail} if change else {}
        question = CodexQuestion(method=method, params=params.plain, **shown)
        turn = params.text("turnId")
        ask = f"{turn or state.session}:{request}"
        self._spot = replace(
            self._spot, asks={**self._spot.asks, ask: CodexOpenAsk(request=request, question=question)}
        )
        ours = state.turns.get(turn) or state.turns.get(state.running)
        every = [raised(ask, question, self._deadline_seconds, step) for step in range(steps(question))]
        return [Heard(fact=one, turn=ours) for one in every]

    def _resolved(self, request: Any) -> None:
        kept = {ask: one for ask, one in self._spot.asks.items() if one.request != request}
        self._spot = replace(self._spot, asks=kept)

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the agent's input, once however often it is asked, and waits for the agent's word on it."""
        await self._until(lambda: bool(self._answer(OPEN) == "" or self._answer(AGAIN) is not None))
        match errand:
            case Deliver(joins=True):
                return await self._join(errand)
            case Deliver():
                return await self._begin(errand)
            case Settle(ask=ask):
                return await self._settle(ask)
            case Stop(turn=turn, number=number):
                return await self._stop(turn, number)
            case ports.Change(model=model, mode=mode):
                params = {"threadId": self._spot.state.session, **launch.settings_params(model, mode)}
                return await self._done(f"change {uuid.uuid4()}", "thread/settings/update", params)

    async def _begin(self, errand: Deliver) -> Outcome:
        message = errand.message
        params = {"threadId": self._spot.state.session, "clientUserMessageId": message.id, "input": input_of(message)}
        return await self._done(TURN + errand.turn, "turn/start", params)

    async def _join(self, errand: Deliver) -> Outcome:
        running = self._spot.state.running
        if not running:
            return NotTaken(why="No turn runs that it could join.")
        message = errand.message
        params = {
            "threadId": self._spot.state.session,
            "clientUserMessageId": message.id,
            "expectedTurnId": running,
            "input": input_of(message),
        }
        return await self._done(f"join {message.id} {running}", "turn/steer", params)

    async def _stop(self, turn: str, number: int) -> Outcome:
        # Codex refuses to stop a turn that it has taken and not begun.
        await self._until(lambda: turn in self._spot.state.begun)
        theirs = next((name for name, ours in self._spot.state.turns.items() if ours == turn), "")
        if not theirs or theirs != self._spot.state.running:
            return NotTaken(why="That turn does not run.")
        params = {"threadId": self._spot.state.session, "turnId": theirs}
        return await self._request(f"stop {number} {turn}", "turn/interrupt", params)

    async def _respond(self, name: str, waiting: CodexOpenAsk, picked: tuple[PartAnswer, ...]) -> Outcome:
        kept = {ask: one for ask, one in self._spot.asks.items() if ask != name}
        self._spot = replace(self._spot, asks=kept)
        note, running = picked[-1].note, self._spot.state.running
        if note and picked[-1].choice == DENY and running:
            # A refusal has no words of its own here: they wait in the turn until the model hears of it.
            words = [{"type": "text", "text": note, "text_elements": []}]
            params = {"threadId": self._spot.state.session, "expectedTurnId": running, "input": words}
            await self._done(f"note {name}", "turn/steer", params)
        reply = {"id": waiting.request, "result": decision(waiting.question, picked)}
        return await self._feed(f"answer {name}", reply)

    # --- requests and their answers

    async def _done(self, request: str, method: str, params: dict[str, Any]) -> Outcome:
        """The outcome of a request, as Codex answers it."""
        outcome = await self._request(request, method, params)
        if not isinstance(outcome, Taken):
            return outcome
        await self._until(lambda: self._answer(request) is not None)
        problem = self._answer(request)
        if problem:
            return NotTaken(why=f"Codex refused it: {problem}")
        if problem is None and self._over:
            return Unknown(why="The agent is gone and did not say whether it took it.")
        return Taken()

    def _answer(self, request: str) -> str | None:
        return self._spot.state.answered.get(request)

    async def _until(self, done: Callable[[], bool]) -> None:
        with anyio.move_on_after(REPLY_SECONDS):
            while not done() and not self._over:
                await self._news.wait()

    async def _request(self, request: str, method: str, params: dict[str, Any]) -> Outcome:
        return await self._feed(request, {"id": request, "method": method, "params": params})


class HeadlessCodexDriver(CodexSessions):
    """The usual one: no screen, every message and answer by its id."""

    backend: str = launch.MANIFEST["backend"]
    wire = "headless"
    can = replace(USUAL, steer=True, models=True, modes=launch.MODES, ids=True)

    def __init__(self, context: DriverContext, program: str = launch.MANIFEST["program"]) -> None:
        super().__init__(context)
        self._program = program

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Starts the worker's app-server, or finds it alive and goes on after the cursor. A new life resumes."""
        spot, directory = read_cursor(cursor, CodexHeadlessCursor), launch.workplace(worker)
        session = worker.session or spot.state.session
        thread = launch.thread_params(worker, directory)
        if session:
            thread |= {"threadId": session, "excludeTurns": True}
        argv = launch.app_server_line(launch.found(self._program, self.environment), directory)
        program = Program(argv=tuple(argv), directory=worker.directory, environment=self.environment)
        async with open_wire(self._context.holders, _name(worker), program, spot.wire) as wire:
            picks = PartAnswers(self._folder(worker) / "picks")
            link = CodexHeadlessLink(wire, spot, thread, self._context.ask_seconds, picks)
            await link.greet()
            yield link

    def _folder(self, worker: Worker) -> Path:
        return self._context.folder / worker.backend / _name(worker)

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left; its session stays where Codex keeps its sessions."""
        await forget(self._context.holders, _name(worker))
        folder = self._folder(worker)
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


def _name(worker: Worker) -> str:
    return f"{worker.name}-{worker.since}"
