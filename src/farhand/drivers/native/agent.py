"""The native agent, a program of its own: a session of the SDK behind the line protocol.

Run as `python -m farhand.drivers.native.agent [--model M] [--mode M] [--resume SESSION] [--agent A]` where it works.
Beside the protocol's words it takes `{"change": "", "model": …, "mode": …}`; its first line is `{"session": id}`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from mimetypes import guess_type

import msgspec

from farhand.drivers.native.own_agent import hired_agent
from farhand.drivers.wires.asks.actions import action_of
from farhand.drivers.wires.foreign_json import Fields, JsonObject
from farhand.drivers.wires.lines.agent import AgentPrompt
from farhand.drivers.wires.lines.async_agent import AsyncAgent, read_lines, write_line
from farhand.model.action import ActionKind, headline
from farhand.model.phrases import offered
from farhand.sdk import events
from farhand.sdk.agent import Agent
from farhand.sdk.errors import SdkError, SessionNotFound
from farhand.sdk.policies.rules import MODES, Mode
from farhand.sdk.prompt import File, Image
from farhand.sdk.protocols import Question, Reply, ToolCall
from farhand.sdk.session import Session

TITLE_CHARACTERS = 200


class NativeAgent:
    """One session that takes prompts one after the other, and interrupts and answers while it works."""

    def __init__(self, agent: Agent, session: Session, write: Callable[[JsonObject], None]) -> None:
        self._agent = agent
        self._session = session
        self._write = write
        self._stopped: set[str] = set()
        self._running = ""
        self._asked: dict[str, str] = {}
        self._count = 0

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Works until the input has ended and every prompt is done."""
        await AsyncAgent(self._turn, self._take, self._write).run(lines)

    async def _take(self, fields: JsonObject) -> bool:
        """A line that comes while a turn runs; false for one that is not known."""
        match fields:
            case {"answer": str(ask), "choice": str(choice)}:
                self._answer(ask, choice, str(fields.get("note", "")))
            case {"interrupt": str(prompt)}:
                self._stopped.add(prompt)
                if prompt == self._running:
                    await self._session.interrupt()
            case {"change": _}:
                self._change(fields)
            case _:
                return False
        return True

    def _answer(self, ask: str, choice: str, note: str) -> None:
        question = self._asked.pop(ask, None)
        if question is not None:
            chosen = (choice,) if choice else ()
            self._session.answer(question, Reply(bool(choice or note), choice, note or choice, chosen))

    def _change(self, fields: JsonObject) -> None:
        if isinstance(mode := fields.get("mode"), str):
            self._agent.mode = known_mode(mode)
        if isinstance(model := fields.get("model"), str):
            self._session.use_model(model)

    async def _turn(self, prompt: AgentPrompt) -> None:
        self._running = prompt.id
        self._write({"started": self._running})
        if self._running in self._stopped:
            self._write({"ended": self._running, "how": "interrupted"})
            return
        error = ""
        how = "failed"
        try:
            async for event in self._session.run(_pieces(prompt), commands=True):
                self._write_event(event)
                if isinstance(event, events.Error) and event.fatal:
                    error = event.message
                elif isinstance(event, events.Finish):
                    how, error = _ending(event, error)
        except SdkError as refused:
            error = str(refused)
        self._write({"ended": self._running, "how": how, **({"error": error} if error else {})})
        self._stopped.discard(self._running)
        self._running = ""

    def _write_event(self, event: events.Event) -> None:
        turn = self._running
        match event:
            case events.Text(text=text):
                self._write({"text": turn, "piece": text})
            case events.Thought(text=text, subject=subject):
                self._write({"thought": turn, "piece": f"{subject}: {text}" if subject else text})
            case events.ToolRequest(call_id=call, name=name, arguments=arguments):
                title = _title(name, arguments)
                self._write({"tool": turn, "call": call, "name": name, "title": title, "status": "started"})
            case events.ToolResponse(call_id=call, error=error, display=display):
                status = "failed" if error else "done"
                self._write({"tool": turn, "call": call, "status": status, "output": error or display})
            case events.Ask(question=question):
                self._ask(question)
            case events.Usage(input_tokens=read, output_tokens=written):
                self._write({"usage": turn, "input": read, "output": written})
            case events.Notice(message=message) | events.Error(message=message, fatal=False):
                self._write({"problem": turn, "text": message})
            case _:
                pass

    def _ask(self, question: Question) -> None:
        """Puts a question to the person. Its id is made from the prompt's, which never comes again."""
        self._count += 1
        ask = f"{self._running}/{self._count}"
        self._asked[ask] = question.id
        permission = question.kind == "permission"
        choices = [msgspec.to_builtins(offered(one, permission=permission)) for one in question.choices]
        asked: JsonObject = {"question": question.text, "about": "permission" if permission else "choice"}
        if question.call is not None:
            asked |= asked_for(question.call, question.reason)
            if question.subagent:
                asked["question"] = f"{question.subagent}: {asked['question']}"
        self._write({"ask": self._running, "ask_id": ask, "choices": choices, **asked})


def asked_for(call: ToolCall, reason: str = "") -> JsonObject:
    """What a call would do, the whole of its arguments, and why: what a rule or hook says comes first."""
    given = Fields(dict(call.arguments))
    action = action_of(call.name, given)
    plain = action.kind is ActionKind.RUN and set(given.plain) <= {"command", "description"}
    whole = action.target if plain else json.dumps(call.arguments, ensure_ascii=False, indent=2)
    why = reason or given.text("description")
    where = given.text("dir_path") if action.kind is ActionKind.RUN else ""
    asked: JsonObject = {"question": headline(action), "detail": whole, "action": msgspec.to_builtins(action)}
    return {**asked, "where": where, "why": why}


def known_mode(mode: str) -> Mode:
    """A mode of the SDK; one that it does not know asks, as the default one does."""
    return next((known for known in MODES if known == mode), "default")


def _pieces(prompt: AgentPrompt) -> list[str | Image | File]:
    pieces: list[str | Image | File] = [prompt.text] if prompt.text else []
    for path in prompt.files:
        is_image = (guess_type(path)[0] or "").startswith("image/")
        pieces.append(Image(path) if is_image else File(path))
    return pieces


def _title(name: str, arguments: JsonObject) -> str:
    first = next((str(value) for value in arguments.values() if isinstance(value, str) and value), "")
    title = f"{name}: {' '.join(first.split())}" if first else name
    return title if len(title) <= TITLE_CHARACTERS else title[: TITLE_CHARACTERS - 1] + "…"


def _ending(finish: events.Finish, error: str) -> tuple[str, str]:
    if finish.reason == "stop":
        return "completed", ""
    if finish.reason == "interrupted":
        return "interrupted", ""
    return "failed", error or finish.detail or finish.reason


async def main(options: argparse.Namespace) -> None:
    """Opens the session, new or resumed, and talks until the input ends."""
    try:
        agent = hired_agent(options.agent, options.model, known_mode(options.mode))
    except SdkError as wrong:
        write_line({"problem": "", "text": str(wrong)})
        raise SystemExit(1) from None
    async with agent:
        try:
            session = await agent.resume_session(options.resume) if options.resume else agent.session()
        except SessionNotFound as lost:
            write_line({"problem": "", "text": f"{lost} A new session begins."})
            session = agent.session()
        write_line({"session": session.id})
        async with session:
            await NativeAgent(agent, session, write_line).run(read_lines(0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The native agent behind the line protocol.")
    parser.add_argument("--model", default="")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--resume", default="")
    parser.add_argument("--agent", default="")
    try:
        asyncio.run(main(parser.parse_args()))
    except KeyboardInterrupt:
        sys.exit(130)
