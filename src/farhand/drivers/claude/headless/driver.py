"""Runs Claude Code without a terminal: JSON lines both ways, in a holder, so that the node may die."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread

from farhand.drivers.claude import launch
from farhand.drivers.claude.asks import ClaudeQuestion, decision, digest, question_of, raised, steps
from farhand.drivers.claude.headless.translate import ClaudeStreamState, translate_stream
from farhand.drivers.claude.launch import ClaudePaths
from farhand.drivers.claude.sessions import find_sessions, resume_command
from farhand.drivers.wires.asks.answers import PartAnswer, PartAnswers
from farhand.drivers.wires.context import USUAL
from farhand.drivers.wires.cursor import read_cursor
from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.holder.link import HeldLink
from farhand.drivers.wires.holder.process import HeldProcess, Program, forget, open_wire, sentence
from farhand.drivers.wires.preflight import workplace
from farhand.drivers.wires.text.prompt import worded
from farhand.drivers.wires.tmux.delivered import DeliveredLog, ExpectedMessage
from farhand.model.facts import Noted, SessionKnown, TurnEnded
from farhand.model.ports import (
    Batch,
    Change,
    Deliver,
    Errand,
    Heard,
    Holders,
    Link,
    Outcome,
    SessionFound,
    Settle,
    Stop,
    Taken,
)
from farhand.model.present import Worker
from farhand.model.words import HowEnded, Mode, Word, replace


class ClaudeOpenAsk(Word):
    """A question that waits, as it came."""

    question: ClaudeQuestion


class ClaudeStreamCursor(Word):
    """Where a headless link stands."""

    wire: str = ""
    session: str = ""
    state: ClaudeStreamState = ClaudeStreamState()
    asks: dict[str, ClaudeOpenAsk] = {}


class ClaudeHeadlessLink(HeldLink):
    """One worker's Claude Code over its own JSON lines. Every line in has a key, so that it is fed once."""

    _spot: ClaudeStreamCursor

    def __init__(
        self,
        wire: HeldProcess,
        spot: ClaudeStreamCursor,
        deadline_seconds: float,
        first: list[Heard],
        handed: DeliveredLog,
        picks: PartAnswers,
    ) -> None:
        super().__init__(wire, deadline_seconds, picks)
        self._spot = spot
        self._first = first
        self._handed = handed

    async def facts(self) -> AsyncIterator[Batch]:
        """What the agent says; at its end how it ended, with the place of its next life."""
        if self._first:
            yield self._batch(self._first)
        async for lines, wire in self._wire.lines():
            heard: list[Heard] = []
            for line in lines:
                heard += self._line(line)
            self._spot = replace(self._spot, wire=wire)
            yield self._batch(heard)
        ended = Noted(text=sentence(await self._wire.exit()))
        self._spot = replace(self._spot, wire=self._wire.next_life, asks={})
        over = [Heard(fact=TurnEnded(how=HowEnded.FAILED, error=ended.text))] if self._spot.state.running else []
        self._spot = replace(self._spot, state=replace(self._spot.state, running=False))
        yield self._batch([*over, Heard(fact=ended)])

    def _digest(self, question: ClaudeQuestion) -> str:
        return digest(question)

    def _steps(self, question: ClaudeQuestion) -> int:
        return steps(question)

    def _line(self, line: bytes) -> list[Heard]:
        heard, state = translate_stream(line, self._spot.state, time.time())
        self._spot = replace(self._spot, state=state)
        record = parse(line)
        if record is not None and record.text("type") == "control_request":
            heard += self._asked(record)
        if record is not None and record.text("type") == "control_cancel_request":
            self._forget(record.text("request_id"))
        if any(isinstance(one.fact, TurnEnded) for one in heard):
            self._spot = replace(self._spot, asks={})
        return heard

    def _asked(self, record: Fields) -> list[Heard]:
        request, name = record.fields("request"), record.text("request_id")
        if request.text("subtype") != "can_use_tool" or not name:
            return []
        question = question_of(request, "input")
        self._spot = replace(self._spot, asks={**self._spot.asks, name: ClaudeOpenAsk(question=question)})
        seconds = self._deadline_seconds
        return [Heard(fact=raised(name, question, seconds, step)) for step in range(steps(question))]

    def _forget(self, name: str) -> None:
        self._spot = replace(self._spot, asks={key: one for key, one in self._spot.asks.items() if key != name})

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the agent's input, once however often it is asked."""
        match errand:
            case Deliver():
                return await self._deliver(errand)
            case Settle(ask=ask):
                return await self._settle(ask)
            case Stop(turn=turn, number=number):
                return await self._control(f"stop-{number}-{turn}", {"subtype": "interrupt"})
            case Change(model=model, mode=mode):
                return await self._change(model, mode)

    async def _deliver(self, errand: Deliver) -> Outcome:
        text, state = worded(errand.message), self._spot.state
        one = ExpectedMessage(message=errand.message.id, text=text, turn="" if errand.joins else errand.turn)
        if one not in self._handed.all():
            self._handed.add(one)
            others = (other for other in state.expected if other.message != one.message)
            self._spot = replace(self._spot, state=replace(state, expected=(*others, one)))
        message = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}
        return await self._feed(errand.message.id, message)

    async def _respond(self, name: str, waiting: ClaudeOpenAsk, picked: tuple[PartAnswer, ...]) -> Outcome:
        answer = {"subtype": "success", "request_id": name, "response": decision(waiting.question, picked)}
        self._forget(name)
        return await self._feed(f"answer-{name}", {"type": "control_response", "response": answer})

    async def _change(self, model: str | None, mode: str | None) -> Outcome:
        if mode is not None:
            words = {"default": "default", "auto_edit": "acceptEdits", "plan": "plan", "yolo": "bypassPermissions"}
            request = {"subtype": "set_permission_mode", "mode": words[Mode(mode).value]}
            await self._control(f"mode-{uuid.uuid4()}", request)
        return (
            await self._control(f"model-{uuid.uuid4()}", {"subtype": "set_model", "model": model}) if model else Taken()
        )

    async def _control(self, key: str, request: dict[str, Any]) -> Outcome:
        return await self._feed(key, {"type": "control_request", "request_id": key, "request": request})


class HeadlessClaudeDriver:
    """The second mode: no screen, every message and answer by its id."""

    backend: str = launch.MANIFEST["backend"]
    wire = "headless"
    # What its workers' backend was called when it was one of its own.
    formerly = ("claude-headless",)
    can = replace(USUAL, steer=True, models=True, modes=("default", "plan"), ids=True)

    def __init__(
        self,
        holders: Holders,
        environment: Mapping[str, str],
        folder: Path,
        ask_seconds: float = 3600.0,
        program: str = "claude",
    ) -> None:
        self._folder = folder
        self._holders = holders
        self._environment = dict(environment)
        self._ask_seconds = ask_seconds
        self._program = program
        self._places = ClaudePaths.of(environment)

    @asynccontextmanager
    async def open(self, worker: Worker, cursor: str) -> AsyncIterator[Link]:
        """Starts the worker's Claude Code, or finds it alive and goes on after the cursor."""
        spot = read_cursor(cursor, ClaudeStreamCursor)
        session = spot.session or worker.session or str(uuid.uuid5(uuid.NAMESPACE_OID, f"{worker.name}/{worker.since}"))
        spot = replace(spot, session=session, state=replace(spot.state, session=session))
        if not cursor:
            spot = replace(spot, state=replace(spot.state, expected=self._handed(worker).all()))
        first = [] if worker.session == session else [Heard(fact=SessionKnown(session=session))]
        program = self._run(worker, session)
        async with open_wire(self._holders, _name(worker), program, spot.wire) as wire:
            picks = PartAnswers(self._folder / _name(worker) / "picks")
            yield ClaudeHeadlessLink(wire, spot, self._ask_seconds, first, self._handed(worker), picks)

    def _run(self, worker: Worker, session: str) -> Program:
        directory = str(workplace(worker))
        program = launch.found(self._program, self._environment)
        resume = launch.has_conversation(self._places.transcript(directory, session))
        words = launch.headless_line(program, worker.mode, worker.model, session, resume=resume)
        variables = launch.variables(worker.mode, root=os.geteuid() == 0)
        return Program(argv=tuple(words), directory=worker.directory, environment={**self._environment, **variables})

    def _handed(self, worker: Worker) -> DeliveredLog:
        return DeliveredLog(self._folder / _name(worker) / "handed")

    async def sessions(self, directory: str) -> list[SessionFound]:
        """The conversations that Claude Code has in that folder, or in every one."""
        return await anyio.to_thread.run_sync(find_sessions, self._places, directory)

    def resume_command(self, worker: Worker) -> str:
        """How to go on at the desk."""
        return resume_command(worker, self._environment)

    async def end(self, worker: Worker) -> None:
        """Ends the agent and removes what it left."""
        await forget(self._holders, _name(worker))
        folder = self._folder / _name(worker)
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


def _name(worker: Worker) -> str:
    return f"{worker.name}-{worker.since}"
