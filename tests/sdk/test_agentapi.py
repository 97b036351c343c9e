"""Programs that know nothing of us: a client made from agentapi's own document, and whatever our document allows."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema_rs import Draft202012Validator
from tests.sdk.conftest import MakeAgent
from tests.sdk.remote_desk import SAFETY_SECONDS, events, remote_desk

from farhand.cli.remote_control import remote_control
from farhand.model.facts import AskRaised
from farhand.model.live_session import MessageState, Role
from farhand.model.present import raised_ask
from farhand.model.words import Choice
from farhand.remote.openapi import EVENT_DATA, document
from farhand.testing.desk import ScriptedSession
from farhand.testing.http import local_client
from farhand.testing.models.gemini import FakeGemini, says

pytestmark = pytest.mark.anyio
AGENTAPI = Path(__file__).with_name("agentapi.json")
NAME = "agentapi_client_of_the_test"
KEY = "secret"
EXAMPLES = 20


@pytest.fixture
def agentapi(tmp_path: Path) -> Iterator[ModuleType]:
    """The client, generated from agentapi's document and from nothing of ours."""
    from openapi_python_client import generate
    from openapi_python_client.config import Config, ConfigFile, MetaType

    config = Config.from_sources(
        ConfigFile(post_hooks=[]), MetaType.NONE, AGENTAPI, "utf-8", overwrite=True, output_path=tmp_path / NAME
    )
    problems = [one for one in generate(config=config) if "text/event-stream" not in (one.detail or "")]
    assert problems == []
    sys.path.insert(0, str(tmp_path))
    try:
        yield importlib.import_module(NAME)
    finally:
        sys.path.remove(str(tmp_path))
        for name in [name for name in sys.modules if name.split(".")[0] == NAME]:
            del sys.modules[name]


def part(name: str) -> Any:
    return importlib.import_module(f"{NAME}.{name}")


async def test_a_client_of_agentapi_holds_a_whole_conversation(
    agentapi: ModuleType, make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path
) -> None:
    fake.expect(says("Hello", " there."), says("It says forty-two."))
    models, calls = part("models"), "api.default"
    status, say = part(f"{calls}.get_status"), part(f"{calls}.post_message")
    messages, upload = part(f"{calls}.get_messages"), part(f"{calls}.post_upload")
    async with (
        remote_desk(make_agent(), tmp_path / "uploads") as desk,
        agentapi.Client(base_url=f"http://127.0.0.1:{desk.port}", timeout=SAFETY_SECONDS) as client,
    ):

        async def post(content: str, kind: str = "user") -> Any:
            body = models.MessageRequestBody(content=content, type_=models.MessageType(kind))
            return await say.asyncio(client=client, body=body)

        async def until_stable() -> None:
            with anyio.fail_after(SAFETY_SECONDS):
                while (await status.asyncio(client=client)).status != models.AgentStatus.STABLE:  # noqa: ASYNC110
                    await anyio.sleep(0.01)

        found = await status.asyncio(client=client)
        # This agent has no terminal of its own: of agentapi's two words that is the other one.
        assert (found.agent_type, found.transport) == ("farhand", "acp")
        assert (await post("hello")).ok is True
        await until_stable()
        file = part("types").File(payload=io.BytesIO(b"forty-two"), file_name="answer.txt", mime_type="text/plain")
        sent = await upload.asyncio(client=client, body=models.PostUploadBody(file=file))
        assert sent.ok is True
        assert (await post(f"what does @{sent.file_path} say?")).ok is True
        await until_stable()
        said = (await messages.asyncio(client=client)).messages
        assert [(one.role.value, one.content) for one in said] == [
            ("user", "hello"),
            ("agent", "Hello there."),
            ("user", f"what does @{sent.file_path} say?"),
            ("agent", "It says forty-two."),
        ]
        assert [one.id for one in said] == sorted(one.id for one in said)
        assert all(one.time.tzinfo is not None for one in said)
        # What cannot be done comes as the error that the document promises.
        refused = await post("x", "raw")
        assert isinstance(refused, models.ErrorModel)
        assert refused.status == 403
    assert "forty-two" in str(fake.last["contents"][-1])


@asynccontextmanager
async def conversation(folder: Path) -> AsyncIterator[str]:
    """One that has everything in it; its address."""
    session = filled(ScriptedSession())
    async with remote_control(lambda _: session, 0, folder, KEY) as port:
        yield f"http://127.0.0.1:{port}"


S = TypeVar("S", bound=ScriptedSession)


def filled(session: S) -> S:
    """The conversation with everything in it: what was said, what waits, a question."""
    session.set_ready(True)
    session.log.add(Role.USER, "hello")
    session.log.add(Role.MODEL, "Hello.")
    session.log.set_status(running=True)
    session.log.add(Role.USER, "later", MessageState.QUEUED)
    raised = AskRaised(
        ask="a/1", question="Run: make", choices=(Choice(id="allow", label="Allow once"),), detail="make"
    )
    session.log.set_asks((raised_ask(raised, "ann", None, 1, None),))
    return session


class ScreenedSession(ScriptedSession):
    """A conversation whose agent has a terminal of its own."""

    async def watch_screen(self, shown: Callable[[str], None]) -> None:
        shown("a screen")


async def test_every_event_is_what_both_documents_say(agentapi: ModuleType, tmp_path: Path) -> None:
    models = part("models")
    theirs = {
        "message_update": models.MessageUpdateBody,
        "status_change": models.StatusChangeBody,
        "screen_update": models.ScreenUpdateBody,
    }
    session = filled(ScreenedSession())
    session.log.add(Role.NOTICE, "The screen says so.")
    seen: set[str] = set()
    async with (
        remote_control(lambda _: session, 0, tmp_path, "") as port,
        local_client(base_url=f"http://127.0.0.1:{port}", timeout=SAFETY_SECONDS) as client,
        client.stream("GET", "/events") as response,
    ):
        with anyio.fail_after(SAFETY_SECONDS):
            async for name, _, data in events(response):
                ours = {"$ref": f"#/components/schemas/{EVENT_DATA[name]}", "components": document()["components"]}
                Draft202012Validator(ours).validate(data)
                if name in theirs:
                    # Nothing that agentapi's own document requires is missing, or of another kind.
                    read = theirs[name].from_dict(data).to_dict()
                    assert {key: data[key] for key in read if key != "time"} == {
                        key: value for key, value in read.items() if key != "time"
                    }
                if not seen:
                    session.log.remove_waiting(session.log.waiting[0].id)
                seen.add(name)
                if seen == set(EVENT_DATA):
                    break


OPERATIONS = [
    (method, path) for path, methods in document()["paths"].items() for method in methods if path != "/events"
]


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[" ".join(one) for one in OPERATIONS])
async def test_whatever_the_document_allows_is_answered_as_it_says(method: str, path: str, tmp_path: Path) -> None:
    async with conversation(tmp_path) as address:
        await anyio.to_thread.run_sync(partial(_try_out, address, method, path))


def _try_out(address: str, method: str, path: str) -> None:
    schema = schemathesis.openapi.from_dict(document())
    schema.config.update(base_url=address)
    operation = schema[path][method.upper()]

    @given(case=operation.as_strategy())
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    def answers(case: Any) -> None:
        case.call_and_validate(headers={"Authorization": f"Bearer {KEY}"}, timeout=SAFETY_SECONDS)

    answers()
