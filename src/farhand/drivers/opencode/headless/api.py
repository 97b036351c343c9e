"""Client of OpenCode's HTTP API, as far as a worker needs it: one for one folder of one server."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
import msgspec

from farhand.drivers.opencode import launch
from farhand.drivers.opencode.headless.state import OpenCodeTuning, part_id
from farhand.drivers.opencode.schema import (
    MessageInfo,
    OpenCodeMessage,
    OpenCodeModel,
    OpenCodePart,
    OpenCodePermission,
    OpenCodeQuestions,
    OpenCodeSession,
    OpenCodeStatus,
    read,
    read_list,
)
from farhand.drivers.wires.text.prompt import prompt_text
from farhand.model.errors import DriverError
from farhand.model.present import Message
from farhand.model.words import Attachment, Mode, Word

if TYPE_CHECKING:
    import httpx2

USER = "opencode"
TIMEOUT_SECONDS = 30.0
# A heartbeat comes every ten seconds.
EVENT_TIMEOUT_SECONDS = 45.0
NOT_FOUND = 404
EVENT_DATA = b"data:"
LARGEST_IMAGE = 10 * 1024 * 1024


class OpenCodeAddress(Word):
    """Where a server listens, and its password."""

    url: str
    password: str


class OpenCodeApiError(DriverError):
    """A call failed; the text says why. `sent` tells whether the request may have arrived."""

    def __init__(self, text: str, *, status: int = 0, sent: bool = True) -> None:
        super().__init__(text)
        self.status = status
        self.sent = sent


class PromptModel(msgspec.Struct, frozen=True):
    """The model that is to answer."""

    providerID: str  # noqa: N815
    modelID: str  # noqa: N815


class PromptBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message as OpenCode takes it."""

    messageID: str  # noqa: N815
    parts: list[dict[str, str]]
    model: PromptModel | None = None
    agent: str = ""
    # How hard the model thinks, as its provider calls it.
    variant: str = ""


class SessionSnapshot(msgspec.Struct, frozen=True):
    """A session as it stands."""

    messages: list[OpenCodeMessage]
    permissions: list[OpenCodePermission]
    questions: list[OpenCodeQuestions]
    busy: bool
    # Only of a session that is busy.
    children: tuple[str, ...] = ()

    @property
    def waiting(self) -> set[str]:
        """The requests that wait for an answer."""
        return {one.id for one in self.permissions} | {one.id for one in self.questions}


class OpenCodeApi:
    """One folder of one server."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def is_healthy(self) -> bool:
        """Whether it answers at all."""
        try:
            await self._call("GET", "/global/health")
        except OpenCodeApiError:
            return False
        return True

    async def create(self, title: str, rules: list[dict[str, str]]) -> OpenCodeSession:
        """A new session with these rules."""
        made = read(await self._call("POST", "/session", {"title": title, "permission": rules}), OpenCodeSession)
        if made is None:
            raise OpenCodeApiError("OpenCode's answer about a new session makes no sense.")
        return made

    async def session(self, session: str) -> OpenCodeSession | None:
        """The session; None if there is none."""
        try:
            return read(await self._call("GET", f"/session/{session}"), OpenCodeSession)
        except OpenCodeApiError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    async def children(self, session: str) -> list[OpenCodeSession]:
        """The sessions of subagents that it started."""
        return read_list(await self._call("GET", f"/session/{session}/children"), OpenCodeSession)

    async def add_rules(self, session: str, rules: list[dict[str, str]]) -> None:
        """Rules on top of those that the session has."""
        await self._call("PATCH", f"/session/{session}", {"permission": rules})

    async def messages(self, session: str, after: str, page: int = 50) -> list[OpenCodeMessage]:
        """The messages after that one, oldest first, read from the newest backwards."""
        found: list[OpenCodeMessage] = []
        before = ""
        while True:
            query: dict[str, str | int] = {"limit": page, **({"before": before} if before else {})}
            answer = await self._request("GET", f"/session/{session}/message", query=query)
            some = _with_ids(answer.content)
            found = [*(one for name, one in some if name > after), *found]
            before = answer.headers.get("x-next-cursor", "")
            if not before or not some or some[0][0] <= after:
                return found

    async def call_input(self, session: str, message: str, call: str) -> dict[str, object] | None:
        """What a tool call was given; None while nobody knows yet."""
        found = read(await self._call("GET", f"/session/{session}/message/{message}"), OpenCodeMessage)
        parts = [read(raw, OpenCodePart) for raw in found.parts] if found is not None else []
        made = next((part for part in parts if part is not None and part.callID == call), None)
        return made.state.input if made is not None and made.state.status in ("running", "completed", "error") else None

    async def newest(self, session: str) -> str:
        """The id of the last message; empty if there is none."""
        answer = await self._request("GET", f"/session/{session}/message", query={"limit": 1})
        return max((name for name, _ in _with_ids(answer.content)), default="")

    async def has_message(self, session: str, message: str) -> bool:
        """Whether the session has that message."""
        try:
            await self._call("GET", f"/session/{session}/message/{message}")
        except OpenCodeApiError as error:
            if error.status == NOT_FOUND:
                return False
            raise
        return True

    async def prompt(self, session: str, body: PromptBody) -> None:
        """Delivers a message to the session; returns when it is accepted."""
        await self._call("POST", f"/session/{session}/prompt_async", body)

    async def abort(self, session: str) -> None:
        """Stops what the session does."""
        await self._call("POST", f"/session/{session}/abort")

    async def statuses(self) -> dict[str, OpenCodeStatus]:
        """What the sessions of this folder do, those that do something."""
        try:
            return msgspec.json.decode(await self._call("GET", "/session/status"), type=dict[str, OpenCodeStatus])
        except msgspec.MsgspecError:
            return {}

    async def snapshot(self, session: str, after: str) -> SessionSnapshot:
        """The session with its messages after that one, and what waits for an answer."""
        # First: what waits in a session that is idle later on waits for nothing.
        permissions, questions = await self.permissions(), await self.questions()
        messages = await self.messages(session, after)
        status = (await self.statuses()).get(session)
        if status is not None and status.type != "idle":
            children = tuple(one.id for one in await self.children(session))
            return SessionSnapshot(messages, permissions, questions, busy=True, children=children)
        # It may have come to its end in between.
        return SessionSnapshot(await self.messages(session, after), permissions, questions, busy=False)

    async def permissions(self) -> list[OpenCodePermission]:
        """Permission requests that wait."""
        return read_list(await self._call("GET", "/permission"), OpenCodePermission)

    async def questions(self) -> list[OpenCodeQuestions]:
        """Questions that wait."""
        return read_list(await self._call("GET", "/question"), OpenCodeQuestions)

    async def reply(self, request: str, reply: str, message: str = "") -> None:
        """Answers a permission request."""
        body = {"reply": reply, **({"message": message} if message else {})}
        await self._call("POST", f"/permission/{request}/reply", body)

    async def answer(self, request: str, labels: tuple[tuple[str, ...], ...] | None) -> None:
        """Answers a question, or refuses to for None."""
        if labels is None:
            await self._call("POST", f"/question/{request}/reject")
        else:
            await self._call("POST", f"/question/{request}/reply", {"answers": labels})

    async def models(self) -> dict[str, OpenCodeModel]:
        """The models that can be chosen, by `provider/model`."""
        try:
            answer = msgspec.json.decode(await self._call("GET", "/config/providers"), type=_Providers)
        except msgspec.MsgspecError:
            return {}
        every = {f"{one.id}/{name}": about for one in answer.providers for name, about in one.models.items()}
        return {name: read(every[name], OpenCodeModel) or OpenCodeModel() for name in sorted(every)}

    async def show(self, session: str) -> None:
        """Brings the session to the screen of a terminal."""
        await self._call("POST", "/tui/select-session", {"sessionID": session})

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[list[bytes]]]:
        """The stream of events, open from now on; it ends with the server, or after a time-out without any."""
        import httpx2

        timeout = httpx2.Timeout(TIMEOUT_SECONDS, read=EVENT_TIMEOUT_SECONDS)
        try:
            async with self._client.stream("GET", "/event", timeout=timeout) as answer:
                if answer.status_code != 200:
                    raise OpenCodeApiError(
                        f"OpenCode's event stream answered {answer.status_code}.", status=answer.status_code
                    )
                yield _events(answer.aiter_bytes())
        except httpx2.TransportError as error:
            raise OpenCodeApiError(f"OpenCode's event stream broke off ({type(error).__name__}).") from error

    async def _call(self, method: str, path: str, body: object = None) -> bytes:
        return bytes((await self._request(method, path, body)).content)

    async def _request(
        self, method: str, path: str, body: object = None, query: Mapping[str, str | int] | None = None
    ) -> httpx2.Response:
        import httpx2

        content = None if body is None else msgspec.json.encode(body)
        try:
            answer = await self._client.request(method, path, content=content, params=dict(query or {}))
        except httpx2.TransportError as error:
            sent = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
            raise OpenCodeApiError(f"OpenCode does not answer ({type(error).__name__}).", sent=sent) from error
        if answer.status_code >= 400:
            raise OpenCodeApiError(
                f"OpenCode refused ({answer.status_code}): {answer.text[:300]}", status=answer.status_code
            )
        return answer


class _Provider(msgspec.Struct):
    id: str
    models: dict[str, msgspec.Raw] = {}


class _Providers(msgspec.Struct):
    providers: list[_Provider] = []


def _with_ids(content: bytes) -> list[tuple[str, OpenCodeMessage]]:
    """Messages with their ids, those that can be read."""
    some = [(read(one.info, MessageInfo), one) for one in read_list(content, OpenCodeMessage)]
    return [(info.id, one) for info, one in some if info is not None]


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    """Events that came together."""
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        some = [line[len(EVENT_DATA) :] for line in lines if line.startswith(EVENT_DATA)]
        if some:
            yield some


@asynccontextmanager
async def open_api(address: OpenCodeAddress, directory: str) -> AsyncIterator[OpenCodeApi]:
    """A client for that folder."""
    import httpx2

    async with httpx2.AsyncClient(
        base_url=address.url,
        auth=(USER, address.password),
        params={"directory": directory},
        timeout=TIMEOUT_SECONDS,
        headers={"content-type": "application/json"},
        trust_env=False,
        # Plain HTTP on the loopback: no certificates need to be read.
        verify=False,
    ) as client:
        yield OpenCodeApi(client)


# --- prompts


async def prompt_of(message_id: str, message: Message, tuning: OpenCodeTuning) -> PromptBody:
    """The message under that id; every part has the same id however often it is delivered."""
    pictures = [one for one in message.attachments if one.media_type.startswith("image/")]
    encoded = [await anyio.to_thread.run_sync(_picture, one) for one in pictures]
    parts = [{"type": "text", "text": prompt_text(message)}, *(part for part in encoded if part)]
    provider, slash, model = tuning.model.partition("/")
    return PromptBody(
        messageID=message_id,
        parts=[{"id": part_id(message_id, number), **part} for number, part in enumerate(parts)],
        model=PromptModel(provider, model) if slash else None,
        agent=_agent(tuning),
        variant=tuning.effort,
    )


def _agent(tuning: OpenCodeTuning) -> str:
    """The agent of OpenCode that is to answer; empty for the one that worked last."""
    if tuning.mode is Mode.PLAN:
        return launch.PLAN_AGENT
    return launch.WORK_AGENT if tuning.agent == launch.PLAN_AGENT else ""


def _picture(attachment: Attachment) -> dict[str, str] | None:
    """A picture as a part of a message; None for one that cannot be sent so: its path is in the text."""
    path = Path(attachment.path)
    try:
        if path.stat().st_size > LARGEST_IMAGE:
            return None
        content = base64.b64encode(path.read_bytes()).decode()
    except OSError:
        return None
    mime = attachment.media_type
    return {
        "type": "file",
        "mime": mime,
        "filename": attachment.name or path.name,
        "url": f"data:{mime};base64,{content}",
    }
