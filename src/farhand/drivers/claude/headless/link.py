"""A link to Claude Code without a terminal: its own JSON lines both ways, over a held process."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator
from functools import partial

import anyio

from farhand.drivers.claude.asks import ClaudeQuestion, decision, digest, question_of, steps, to_ask
from farhand.drivers.claude.headless.state import ClaudeOpenAsk, ClaudeStreamCursor
from farhand.drivers.claude.headless.translate import translate_stream
from farhand.drivers.wires.asks.answers import PartAnswer, PartAnswers
from farhand.drivers.wires.asks.build import GONE, question_id
from farhand.drivers.wires.asks.settle import AskSettler
from farhand.drivers.wires.cursor import write_cursor
from farhand.drivers.wires.foreign_json import Fields, JsonObject, parse
from farhand.drivers.wires.holder.process import HeldProcess
from farhand.drivers.wires.text.prompt import prompt_text
from farhand.drivers.wires.tmux.delivered_log import DeliveredLog, ExpectedMessage
from farhand.model.facts import TurnEnded
from farhand.model.ports import Batch, Change, Deliver, Errand, Heard, NotTaken, Outcome, Settle, Stop, Taken, Unknown
from farhand.model.present import Ask
from farhand.model.words import Mode, replace

# It asks the API whether there is such a model, for up to 15 seconds.
REPLY_SECONDS = 30.0
MODES = {
    Mode.DEFAULT: "default",
    Mode.AUTO_EDIT: "acceptEdits",
    Mode.PLAN: "plan",
    Mode.YOLO: "bypassPermissions",
}


class ClaudeHeadlessLink:
    """One worker's Claude Code. Every line in has a key, by which the holder deduplicates it."""

    def __init__(
        self,
        process: HeldProcess,
        cursor: ClaudeStreamCursor,
        deadline_seconds: float,
        first: list[Heard],
        delivered: DeliveredLog,
        answers: PartAnswers,
    ) -> None:
        self._process = process
        self._cursor = cursor
        self._deadline_seconds = deadline_seconds
        self._first = first
        self._delivered = delivered
        self._settler: AskSettler[ClaudeQuestion] = AskSettler(answers, digest, steps)
        # Whoever waits for the answer to a request is woken by what is read, and by the agent's end.
        self._changed = anyio.Event()
        self._over = False

    @property
    def ended_on_purpose(self) -> bool:
        """Whether its agent was ended with its node, and what comes is what it left."""
        return self._process.ended_on_purpose

    # --- facts

    async def facts(self) -> AsyncIterator[Batch]:
        """The agent's output as facts; at its end how it ended, with the cursor of its next life."""
        if self._first:
            yield self._batch(self._first)
        async for lines, position in self._process.lines():
            heard: list[Heard] = []
            for line in lines:
                heard += self._read(line)
            self._cursor = replace(self._cursor, wire=position)
            self._notify()
            yield self._batch(heard)
        self._over = True
        self._notify()
        ended = await self._process.last_facts(in_turn=self._cursor.state.running)
        state = replace(self._cursor.state, running=False)
        self._cursor = replace(self._cursor, wire=self._process.next_life, asks={}, state=state)
        yield self._batch(ended)

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=write_cursor(self._cursor))

    def _read(self, line: bytes) -> list[Heard]:
        heard, state = translate_stream(line, self._cursor.state, time.time())
        self._cursor = replace(self._cursor, state=state)
        record = parse(line)
        if record is not None and record.text("type") == "control_request":
            heard += self._asked(record)
        if record is not None and record.text("type") == "control_cancel_request":
            self._drop_ask(record.text("request_id"))
        if any(isinstance(one.fact, TurnEnded) for one in heard):
            self._cursor = replace(self._cursor, asks={})
        return heard

    def _asked(self, record: Fields) -> list[Heard]:
        request, name = record.fields("request"), record.text("request_id")
        if request.text("subtype") != "can_use_tool" or not name:
            return []
        question = question_of(request, "input")
        self._cursor = replace(self._cursor, asks={**self._cursor.asks, name: ClaudeOpenAsk(question=question)})
        seconds = self._deadline_seconds
        return [Heard(fact=to_ask(name, question, seconds, step)) for step in range(steps(question))]

    def _drop_ask(self, name: str) -> None:
        self._cursor = replace(self._cursor, asks={key: one for key, one in self._cursor.asks.items() if key != name})

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the agent's input, deduplicated by its key."""
        match errand:
            case Deliver():
                return await self._deliver(errand)
            case Settle(ask=ask):
                return await self._settle(ask)
            case Stop(turn=turn, number=number):
                return await self._control(f"stop-{number}-{turn}", {"subtype": "interrupt"})
            case Change():
                return await self._change(errand)

    async def _deliver(self, errand: Deliver) -> Outcome:
        text, state = prompt_text(errand.message), self._cursor.state
        one = ExpectedMessage(message=errand.message.id, text=text, turn="" if errand.joins else errand.turn)
        if one not in self._delivered.all():
            self._delivered.add(one)
            others = (other for other in state.expected if other.message != one.message)
            self._cursor = replace(self._cursor, state=replace(state, expected=(*others, one)))
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        return await self._process.feed_json(errand.message.id, {"type": "user", "message": message})

    async def _settle(self, ask: Ask) -> Outcome:
        name = question_id(ask.id)
        waiting = self._cursor.asks.get(name)
        if waiting is None:
            # The turn may have ended before anybody confirmed an answer that the agent had.
            return Taken() if await self._process.was_fed(_answer_key(name)) else NotTaken(why=GONE)
        return await self._settler.settle(ask, waiting.question, partial(self._respond, name, waiting.question))

    async def _respond(self, name: str, question: ClaudeQuestion, answers: tuple[PartAnswer, ...]) -> Outcome:
        response = {"subtype": "success", "request_id": name, "response": decision(question, answers)}
        self._drop_ask(name)
        return await self._process.feed_json(_answer_key(name), {"type": "control_response", "response": response})

    async def _change(self, change: Change) -> Outcome:
        requests: list[JsonObject] = []
        if change.model:
            requests.append({"subtype": "set_model", "model": change.model})
        if change.effort:
            requests.append({"subtype": "apply_flag_settings", "settings": {"effortLevel": change.effort}})
        # Last: what is refused leaves the mode as the team shows it.
        if change.mode is not None:
            requests.append({"subtype": "set_permission_mode", "mode": MODES[Mode(change.mode)]})
        for request in requests:
            outcome = await self._control_and_wait(f"change-{uuid.uuid4()}", request)
            if not isinstance(outcome, Taken):
                return outcome
        return Taken()

    async def _control_and_wait(self, key: str, request: JsonObject) -> Outcome:
        """Sends a request and waits for the answer to it."""
        outcome = await self._control(key, request)
        if not isinstance(outcome, Taken):
            return outcome
        with anyio.move_on_after(REPLY_SECONDS):
            while key not in self._cursor.state.answered and not self._over:
                await self._changed.wait()
        problem = self._cursor.state.answered.get(key)
        if problem is None:
            return Unknown(why="Claude Code did not say whether it made the change.")
        return NotTaken(why=f"Claude Code says: {problem}") if problem else Taken()

    async def _control(self, key: str, request: JsonObject) -> Outcome:
        line = {"type": "control_request", "request_id": key, "request": request}
        return await self._process.feed_json(key, line)


def _answer_key(name: str) -> str:
    return f"answer-{name}"
