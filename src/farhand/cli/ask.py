"""`farhand ask`: one prompt to an agent in this folder, its answer as it comes, as text, JSON or a stream of JSON."""

from __future__ import annotations

import argparse
import json
import os
import stat
import sys
import time
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from farhand.model.visible import for_terminal

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.events import Event
    from farhand.sdk.run import Run
    from farhand.sdk.session import Session

_MODES = ("default", "auto_edit", "plan", "yolo")
_EXIT_CODES = {"bad_prompt": 2, "session_not_found": 2, "settings": 3, "no_key": 3}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("prompt", nargs="*", help="what to ask; piped input is added to it")
    parser.add_argument(
        "-m", "--model", help="the model; before another vendor's stands that vendor: openai:…, anthropic:…"
    )
    parser.add_argument("-o", "--output-format", choices=("text", "json", "stream-json"), default="text")
    parser.add_argument("--cwd", type=Path, help="the folder to work in (default: this one)")
    parser.add_argument("--instructions", help="added to the system instruction")
    parser.add_argument("--file", action="append", default=[], metavar="PATH", help="a file or image to send along")
    parser.add_argument("-r", "--resume", metavar="ID", help="go on with a session: its id, or 'latest'")
    parser.add_argument(
        "--approval-mode",
        choices=_MODES,
        default="default",
        help="default: what only looks; auto_edit: edits too; plan: looks and plans; yolo: everything",
    )
    parser.add_argument("--max-turns", type=int, default=100, help="how many model calls at most")
    parser.add_argument("--no-record", action="store_true", help="do not keep the session")


def run(arguments: argparse.Namespace) -> int:
    """Asks, prints, and says with its exit code how it went."""
    import asyncio

    prompt = " ".join(arguments.prompt) + _piped(sys.stdin)
    if not prompt.strip():
        _complain("What should be asked?", "farhand ask 'what does this project do?'")
        return 2
    try:
        return asyncio.run(_ask(arguments, prompt))
    except KeyboardInterrupt:
        return 130


def _piped(stdin: TextIO | None) -> str:
    """What was piped in, or redirected from a file; a terminal is not waited for."""
    if stdin is None:
        return ""
    try:
        mode = os.fstat(stdin.fileno()).st_mode
    except (OSError, ValueError):
        return ""
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode)):
        return ""
    text = stdin.read()
    return f"\n\n{text}" if text.strip() else ""


async def _ask(arguments: argparse.Namespace, prompt: str) -> int:
    from farhand.sdk.errors import SdkError

    try:
        agent = _agent(arguments)
        session = await agent.resume_session(arguments.resume) if arguments.resume else agent.session()
    except SdkError as error:
        _complain(str(error))
        return _EXIT_CODES.get(error.kind, 1)
    async with agent, session:
        try:
            return await _print(
                arguments.output_format, prompt, session, session.send_stream(_prompt(arguments, prompt))
            )
        except SdkError as error:
            _complain(str(error))
            return _EXIT_CODES.get(error.kind, 1)


def _agent(arguments: argparse.Namespace) -> Agent:
    from farhand.sdk.agent import Agent

    return Agent(
        cwd=arguments.cwd,
        model=arguments.model,
        instructions=arguments.instructions,
        mode=arguments.approval_mode,
        max_turns=arguments.max_turns,
        records=not arguments.no_record,
    )


def _prompt(arguments: argparse.Namespace, prompt: str) -> list[Any]:
    from mimetypes import guess_type

    from farhand.sdk.prompt import File, Image

    here = Path.cwd()
    pieces: list[Any] = [prompt]
    for name in arguments.file:
        is_image = (guess_type(name)[0] or "").startswith("image/")
        pieces.append(Image(here / name) if is_image else File(here / name))
    return pieces


async def _print(form: str, prompt: str, session: Session, events: Run[None]) -> int:
    """Prints the events in the wanted form and turns the last of them into an exit code."""
    from farhand.sdk.events import Error, Finish

    printers: dict[str, type[_Printer]] = {"text": _Text, "json": _Json, "stream-json": _StreamJson}
    printer = printers[form](prompt, session)
    failed: Error | None = None
    reason = "error"
    async with aclosing(events):
        async for event in events:
            printer.show(event)
            if isinstance(event, Error) and event.fatal:
                failed = event
            elif isinstance(event, Finish):
                reason = event.reason
    if failed is not None:
        return _EXIT_CODES.get(failed.kind, 1)
    return {"stop": 0, "interrupted": 130}.get(reason, 1)


def _complain(text: str, hint: str = "", kind: str = "error") -> None:
    sys.stderr.write(for_terminal(f"{kind}: {text}\n" + (f"→ {hint}\n" if hint else "")))


class _Printer(Protocol):
    def __init__(self, prompt: str, session: Session) -> None: ...
    def show(self, event: Event) -> None: ...


class _Text:
    """The answer as it comes on stdout; what went wrong on stderr."""

    def __init__(self, prompt: str, session: Session) -> None:
        del prompt, session
        self._said = ""

    def show(self, event: Event) -> None:
        from farhand.sdk.events import Error, Finish, Notice, Text, ToolRequest

        if isinstance(event, Text):
            self._say(event.text)
        elif isinstance(event, ToolRequest):
            self._end_line()
        elif isinstance(event, Error | Notice):
            self._end_line()
            _complain(event.message, kind="error" if isinstance(event, Error) else "note")
        elif isinstance(event, Finish):
            self._end_line()
            if event.detail and event.reason not in ("stop", "error"):
                _complain(event.detail, kind="note")

    def _say(self, text: str) -> None:
        self._said = text or self._said
        # A terminal obeys what is written to it; a file and a pipe get every byte.
        sys.stdout.write(for_terminal(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()

    def _end_line(self) -> None:
        if self._said and not self._said.endswith("\n"):
            self._say("\n")


class _Json:
    """One JSON object at the end, with the CLI's own keys."""

    def __init__(self, prompt: str, session: Session) -> None:
        del prompt
        self._session = session
        self._counted = _Counted()
        self._error: dict[str, Any] | None = None

    def show(self, event: Event) -> None:
        from farhand.sdk.events import Error, Finish

        self._counted.add(event)
        if isinstance(event, Error) and event.fatal:
            self._error = {"type": event.kind, "message": event.message}
        elif isinstance(event, Finish):
            answer: dict[str, Any] = {"session_id": self._session.id, "response": event.text}
            if self._error is not None:
                answer["error"] = self._error
            whole = {**answer, "stats": self._counted.stats()}
            sys.stdout.write(json.dumps(whole, ensure_ascii=False, indent=2) + "\n")


class _StreamJson:
    """A JSON object a line, as the CLI whose settings we share writes them."""

    def __init__(self, prompt: str, session: Session) -> None:
        self._prompt = prompt
        self._session = session
        self._counted = _Counted()
        self._failed: str | None = None
        self._begun = False

    def show(self, event: Event) -> None:
        from farhand.sdk import events

        self._counted.add(event)
        if not self._begun:
            self._begin()
        match event:
            case events.Text(text=text):
                self._line({"type": "message", "role": "assistant", "content": text, "delta": True})
            case events.ToolRequest(call_id=call_id, name=name, arguments=arguments):
                self._line({"type": "tool_use", "tool_name": name, "tool_id": call_id, "parameters": arguments})
            case events.ToolResponse():
                self._line(_tool_result(event))
            case events.Error(message=message, fatal=fatal):
                self._failed = message if fatal else self._failed
                self._line({"type": "error", "severity": "error" if fatal else "warning", "message": message})
            case events.Notice(message=message):
                self._line({"type": "error", "severity": "warning", "message": message})
            case events.Finish(reason=reason, detail=detail):
                self._end(reason, detail)
            case _:
                pass

    def _begin(self) -> None:
        self._begun = True
        self._line({"type": "init", "session_id": self._session.id, "model": self._session.model_name})
        self._line({"type": "message", "role": "user", "content": self._prompt})

    def _end(self, reason: str, detail: str) -> None:
        line: dict[str, Any] = {"type": "result", "status": "success" if reason == "stop" else "error"}
        if reason != "stop":
            line["error"] = {"type": reason, "message": self._failed or detail}
        self._line({**line, "stats": self._counted.stats()})

    def _line(self, line: dict[str, Any]) -> None:
        from farhand.sdk.recording import timestamp

        stamped = {"type": line.pop("type"), "timestamp": timestamp(), **line}
        sys.stdout.write(json.dumps(stamped, ensure_ascii=False) + "\n")
        sys.stdout.flush()


def _tool_result(event: Any) -> dict[str, Any]:
    line = {"type": "tool_result", "tool_id": event.call_id, "status": "error" if event.error else "success"}
    if event.error:
        return {**line, "error": {"type": "tool", "message": event.error}}
    return {**line, "output": event.display}


class _Counted:
    """Tokens, tool calls and time of a turn."""

    def __init__(self) -> None:
        from farhand.sdk.events import Usage

        self._usage = Usage()
        self._calls = 0
        self._began = time.monotonic()

    def add(self, event: Event) -> None:
        from farhand.sdk.events import ToolRequest, Usage

        if isinstance(event, Usage):
            self._usage = self._usage.plus(event)
        elif isinstance(event, ToolRequest):
            self._calls += 1

    def stats(self) -> dict[str, Any]:
        return {
            "total_tokens": self._usage.total_tokens,
            "input_tokens": self._usage.input_tokens,
            "output_tokens": self._usage.output_tokens,
            "cached": self._usage.cached_tokens,
            "duration_ms": round((time.monotonic() - self._began) * 1000),
            "tool_calls": self._calls,
        }
