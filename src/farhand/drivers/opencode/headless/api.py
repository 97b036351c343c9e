"""OpenCode's HTTP API, as far as a worker needs it: one client for one folder of one server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from farhand.drivers.opencode.schema import (
    DATA,
    Info,
    OpenCodeMessage,
    OpenCodePermission,
    OpenCodeQuestions,
    OpenCodeSession,
    OpenCodeStatus,
    read,
    read_list,
)
from farhand.model.errors import DriverError
from farhand.model.words import Word

if TYPE_CHECKING:
    import httpx2

USER = "opencode"
ANSWER_SECONDS = 30.0
# A heartbeat comes every ten seconds.
SILENCE_SECONDS = 45.0
NOT_FOUND = 404


class Address(Word):
    """Where a server listens, and the word that opens it."""

    url: str
    password: str


class ApiError(DriverError):
    """OpenCode did not do it; the text says why. `sent` tells whether it may have heard of it."""

    def __init__(self, text: str, *, status: int = 0, sent: bool = True) -> None:
        super().__init__(text)
        self.status = status
        self.sent = sent


class Api:
    """One folder of one server."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def healthy(self) -> bool:
        """Whether it answers at all."""
        try:
            await self._call("GET", "/global/health")
        except ApiError:
            return False
        return True

    async def create(self, title: str, rules: list[dict[str, str]]) -> OpenCodeSession:
        """A new session with these rules."""
        made = read(await self._call("POST", "/session", {"title": title, "permission": rules}), OpenCodeSession)
        if made is None:
            raise ApiError("OpenCode's answer about a new session makes no sense.")
        return made

    async def session(self, session: str) -> OpenCodeSession | None:
        """The session; None if there is none."""
        try:
            return read(await self._call("GET", f"/session/{session}"), OpenCodeSession)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    async def children(self, session: str) -> list[OpenCodeSession]:
        """The sessions of helpers that it started."""
        return read_list(await self._call("GET", f"/session/{session}/children"), OpenCodeSession)

    async def add_rules(self, session: str, rules: list[dict[str, str]]) -> None:
        """Rules on top of those that the session has."""
        await self._call("PATCH", f"/session/{session}", {"permission": rules})

    async def messages(self, session: str, after: str, page: int = 50) -> list[OpenCodeMessage]:
        """The messages after that one, oldest first, read from the newest backwards."""
        found: list[OpenCodeMessage] = []
        before = ""
        while True:
            query: dict[str, Any] = {"limit": page, **({"before": before} if before else {})}
            answer = await self._request("GET", f"/session/{session}/message", query=query)
            some = _identified(answer.content)
            found = [*(one for name, one in some if name > after), *found]
            before = answer.headers.get("x-next-cursor", "")
            if not before or not some or some[0][0] <= after:
                return found

    async def newest(self, session: str) -> str:
        """The id of the last message; empty if there is none."""
        answer = await self._request("GET", f"/session/{session}/message", query={"limit": 1})
        return max((name for name, _ in _identified(answer.content)), default="")

    async def has_message(self, session: str, message: str) -> bool:
        """Whether the session has that message."""
        try:
            await self._call("GET", f"/session/{session}/message/{message}")
        except ApiError as error:
            if error.status == NOT_FOUND:
                return False
            raise
        return True

    async def prompt(self, session: str, body: Mapping[str, Any]) -> None:
        """Gives the session a message; returns when it is taken."""
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

    async def permissions(self) -> list[OpenCodePermission]:
        """Requests for leave that wait."""
        return read_list(await self._call("GET", "/permission"), OpenCodePermission)

    async def questions(self) -> list[OpenCodeQuestions]:
        """Questions that wait."""
        return read_list(await self._call("GET", "/question"), OpenCodeQuestions)

    async def reply(self, request: str, reply: str, message: str = "") -> None:
        """Leave, or none."""
        body = {"reply": reply, **({"message": message} if message else {})}
        await self._call("POST", f"/permission/{request}/reply", body)

    async def answer(self, request: str, labels: tuple[tuple[str, ...], ...] | None) -> None:
        """The answers to a question, or none."""
        if labels is None:
            await self._call("POST", f"/question/{request}/reject")
        else:
            await self._call("POST", f"/question/{request}/reply", {"answers": labels})

    async def models(self) -> list[str]:
        """The models that can be chosen, as `provider/model`."""
        try:
            answer = msgspec.json.decode(await self._call("GET", "/config/providers"), type=_Providers)
        except msgspec.MsgspecError:
            return []
        return sorted(f"{one.id}/{model}" for one in answer.providers for model in one.models)

    async def show(self, session: str) -> None:
        """Brings the session to the screen of a terminal."""
        await self._call("POST", "/tui/select-session", {"sessionID": session})

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[list[bytes]]]:
        """The stream of events, open from now on; it ends with the server, or when that falls silent."""
        import httpx2

        timeout = httpx2.Timeout(ANSWER_SECONDS, read=SILENCE_SECONDS)
        try:
            async with self._client.stream("GET", "/event", timeout=timeout) as answer:
                if answer.status_code != 200:
                    raise ApiError(f"OpenCode's event stream answered {answer.status_code}.", status=answer.status_code)
                yield _events(answer.aiter_bytes())
        except httpx2.TransportError as error:
            raise ApiError(f"OpenCode's event stream broke off ({type(error).__name__}).") from error

    async def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        return bytes((await self._request(method, path, body)).content)

    async def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None
    ) -> httpx2.Response:
        import httpx2

        content = None if body is None else msgspec.json.encode(body)
        try:
            answer = await self._client.request(method, path, content=content, params=dict(query or {}))
        except httpx2.TransportError as error:
            sent = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
            raise ApiError(f"OpenCode does not answer ({type(error).__name__}).", sent=sent) from error
        if answer.status_code >= 400:
            raise ApiError(f"OpenCode refused ({answer.status_code}): {answer.text[:300]}", status=answer.status_code)
        return answer


class _Provider(msgspec.Struct):
    id: str
    models: dict[str, msgspec.Raw] = {}


class _Providers(msgspec.Struct):
    providers: list[_Provider] = []


def _identified(content: bytes) -> list[tuple[str, OpenCodeMessage]]:
    """Messages with their ids, those that can be read."""
    some = [(read(one.info, Info), one) for one in read_list(content, OpenCodeMessage)]
    return [(info.id, one) for info, one in some if info is not None]


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    """Events that came together."""
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        some = [line[len(DATA) :] for line in lines if line.startswith(DATA)]
        if some:
            yield some


@asynccontextmanager
async def opened(address: Address, directory: str) -> AsyncIterator[Api]:
    """A client for that folder."""
    import httpx2

    async with httpx2.AsyncClient(
        base_url=address.url,
        auth=(USER, address.password),
        params={"directory": directory},
        timeout=ANSWER_SECONDS,
        headers={"content-type": "application/json"},
        trust_env=False,
        # Plain HTTP on the loopback: no certificates need to be read.
        verify=False,
    ) as client:
        yield Api(client)
