"""A call to OpenCode that fails costs a moment: what was translated before it is told, and what was due is done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from farhand.drivers.opencode.headless.api import OpenCodeAddress, open_api
from farhand.drivers.opencode.headless.link import OpenCodeHttpLink
from farhand.drivers.opencode.headless.state import (
    OpenCodeCursor,
    OpenCodeExpected,
    OpenCodeLog,
    OpenCodeState,
    OpenCodeTuning,
    OtherSession,
)
from farhand.model.facts import AskRaised, Fact, Limited, Said, TurnEnded
from farhand.model.words import HowEnded, Mode
from farhand.testing.models.server import served

pytestmark = pytest.mark.anyio
SESSION = "ses_1"
PROMPT = {"info": {"id": "msg_1", "role": "user", "sessionID": SESSION}, "parts": []}
TEXT = {"type": "text", "id": "prt_1", "messageID": "msg_2", "sessionID": SESSION, "text": "THE ANSWER"}
REPLY = {"id": "msg_2", "role": "assistant", "sessionID": SESSION, "parentID": "msg_1"}
WANTED = {"id": "per_1", "sessionID": SESSION, "permission": "bash", "patterns": ["touch a"], "always": ["touch *"]}
BUSY = {SESSION: {"type": "busy"}}


def answered(*, whole: bool = True) -> dict[str, Any]:
    """The agent's reply as the session keeps it."""
    over = {"time": {"created": 1, "completed": 2}} if whole else {"time": {"created": 1}}
    return {"info": {**REPLY, **over}, "parts": [{**TEXT, "time": {"start": 1, "end": 2}}]}


class Shaky:
    """The part of OpenCode's API that a look needs; each call named in `fails` fails once."""

    def __init__(self, *fails: str) -> None:
        self.fails = set(fails)
        self.done: list[str] = []
        self.messages: list[dict[str, Any]] = [PROMPT, answered()]
        self.statuses: dict[str, Any] = {}
        self.permissions: list[dict[str, Any]] = []
        # What the stream brings, each time that it is opened, until it has been brought.
        self.events: list[dict[str, Any]] = []
        self.address = OpenCodeAddress(url="", password="p")
        self._news = anyio.Event()
        methods = ["GET", "POST"]
        self._app = Starlette(
            routes=[Route("/event", self._event), Route("/{path:path}", self._answer, methods=methods)]
        )

    # What a server process is.
    life = "1"

    def other_session(self, _event: bytes, _state: OpenCodeState, _known: OtherSession | None) -> OtherSession | None:
        return None

    async def wait_exit(self) -> str:
        await anyio.sleep_forever()
        return ""

    async def does(self, wanted: str) -> None:
        """Waits until a call has been done."""
        while wanted not in self.done:
            await self._news.wait()

    @asynccontextmanager
    async def opened(self, folder: Path, mode: Mode = Mode.DEFAULT) -> AsyncIterator[OpenCodeHttpLink]:
        """A link to the session, which was given one message."""
        state = OpenCodeState(session=SESSION, expected=(OpenCodeExpected(id="msg_1", message="m", turn="t1"),))
        async with served(self._app) as url:
            self.address = OpenCodeAddress(url=url, password="p")
            async with open_api(self.address, "/") as api:
                cursor, tuning = OpenCodeCursor(life=self.life, state=state), OpenCodeTuning(mode=mode, model="")
                yield OpenCodeHttpLink(api, self, OpenCodeLog(folder), cursor, tuning, 60, [])

    async def _event(self, _request: Request) -> Response:
        async def stream() -> AsyncIterator[bytes]:
            yield b'data: {"type":"server.connected","properties":{}}\n\n'
            while self.events:
                yield b"data: " + msgspec.json.encode(self.events.pop(0)) + b"\n\n"
            await anyio.sleep_forever()

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def _answer(self, request: Request) -> Response:
        call = f"{request.method} /{request.path_params['path']}"
        if call in self.fails:
            self.fails.remove(call)
            return JSONResponse({}, 503)
        self.done.append(call)
        self._news.set()
        self._news = anyio.Event()
        path = call.removeprefix("GET ")
        answers = {
            f"/session/{SESSION}/message": self.messages,
            "/session/status": self.statuses,
            "/permission": self.permissions,
        }
        return JSONResponse(answers.get(path, []))


async def told(link: OpenCodeHttpLink, facts: list[Fact]) -> None:
    """Everything that the link tells."""
    async with aclosing(link.facts()) as batches:  # type: ignore[type-var]
        async for batch in batches:
            facts += [heard.fact for heard in batch.heard]


async def until_done(shaky: Shaky, link: OpenCodeHttpLink, wanted: str) -> list[Fact]:
    """What the link tells until that call has been done."""
    facts: list[Fact] = []
    with anyio.fail_after(240):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(told, link, facts)
            await shaky.does(wanted)
            tasks.cancel_scope.cancel()
    assert not shaky.fails
    return facts


async def until_told(link: OpenCodeHttpLink, kind: type[Fact]) -> list[Fact]:
    """What the link tells until a fact of that kind."""
    facts: list[Fact] = []
    with anyio.fail_after(240):
        async with aclosing(link.facts()) as batches:  # type: ignore[type-var]
            async for batch in batches:
                facts += [heard.fact for heard in batch.heard]
                if any(isinstance(one, kind) for one in facts):
                    return facts
    return facts


@pytest.mark.parametrize("failed", [f"/session/{SESSION}/message", "/session/status", "/permission", "/question"])
async def test_an_answer_outlives_any_call_that_fails_while_the_session_is_looked_at(
    short_folder: Path, failed: str
) -> None:
    shaky = Shaky(f"GET {failed}")
    async with shaky.opened(short_folder) as link:
        facts = await until_told(link, TurnEnded)
    assert not shaky.fails
    assert [one.text for one in facts if isinstance(one, Said)] == ["THE ANSWER"]
    assert isinstance(facts[-1], TurnEnded)
    assert facts[-1].how is HowEnded.COMPLETED


async def test_what_an_aborted_turn_had_asked_for_is_refused_though_the_first_refusal_fails(short_folder: Path) -> None:
    shaky = Shaky("POST /permission/per_1/reply")
    shaky.permissions = [WANTED]
    async with shaky.opened(short_folder) as link:
        facts = await until_done(shaky, link, "POST /permission/per_1/reply")
    assert [type(one) for one in facts if isinstance(one, Said | TurnEnded | AskRaised)] == [Said, TurnEnded]


async def test_what_needs_no_leave_goes_on_though_the_first_word_of_it_fails(short_folder: Path) -> None:
    shaky = Shaky("POST /permission/per_1/reply")
    shaky.messages = [PROMPT, answered(whole=False)]
    shaky.statuses = BUSY
    shaky.permissions = [WANTED]
    async with shaky.opened(short_folder, Mode.YOLO) as link:
        facts = await until_done(shaky, link, "POST /permission/per_1/reply")
    assert [type(one) for one in facts if isinstance(one, Said | TurnEnded | AskRaised)] == [Said]


async def test_a_limit_is_told_and_the_turn_given_up_though_the_first_abort_fails(short_folder: Path) -> None:
    shaky = Shaky(f"POST /session/{SESSION}/abort")
    shaky.messages = [PROMPT, answered(whole=False)]
    shaky.statuses = BUSY
    retry = {"type": "retry", "attempt": 1, "message": "Usage limit reached", "next": 4_000_000_000_000}
    shaky.events = [{"type": "session.status", "properties": {"sessionID": SESSION, "status": retry}}]
    async with shaky.opened(short_folder) as link:
        facts = await until_done(shaky, link, f"POST /session/{SESSION}/abort")
    assert [type(one) for one in facts if isinstance(one, Said | Limited)] == [Said, Limited]
