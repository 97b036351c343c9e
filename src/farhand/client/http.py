"""The hub of a node elsewhere, over HTTP with the node's key."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import httpx2

from farhand.model import frames
from farhand.model.commands import Accepted, Command
from farhand.model.errors import BadInput, NodeUnreachable
from farhand.model.facts import Event
from farhand.model.frames import DoorReply
from farhand.model.history import Found, HistoryPage
from farhand.model.ports import SessionFound
from farhand.model.present import Present
from farhand.model.wire import decode_event, encode, raise_remote
from farhand.model.words import Sender, Seq

# How the line begins that ends a watch; an event begins with its number.
_ERROR = '{"error":'


class HttpHub:
    """Speaks to the node at that address."""

    def __init__(self, address: str, key: str) -> None:
        self._address = address.rstrip("/")
        self._client = httpx2.AsyncClient(
            base_url=self._address,
            headers={"Authorization": f"Bearer {key}"},
            timeout=30,
            trust_env=False,
            # To read the world's certificates takes 20 ms, and plain HTTP shows none.
            verify=self._address.lower().startswith("https:"),
        )

    async def __aenter__(self) -> "HttpHub":
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._client.aclose()

    async def send(self, command: Command, sender: Sender) -> Accepted:
        """As `Hub.send`."""
        reply = await self._ask(
            "POST", "/api/hub/commands", content=encode(command), headers={"X-Farhand-Via": sender.via}
        )
        if reply.accepted is None:
            raise NodeUnreachable(f"{self._address} did not say whether it took the command.")
        return reply.accepted

    async def look(self) -> Present:
        """As `Hub.look`."""
        return (await self._ask("GET", "/api/hub/present")).present or Present()

    async def status(self) -> dict[str, Any]:
        """What the node says of itself."""
        return (await self._ask("GET", "/api/hub/status")).status or {}

    async def sessions(self, backend: str = "", directory: str = "") -> list[SessionFound]:
        """As `Hub.sessions`."""
        query = {"backend": backend, "directory": directory}
        return (await self._ask("GET", "/api/hub/sessions", params=query)).sessions or []

    async def history(self, worker: str, before: Seq | None = None, limit: int = 60) -> HistoryPage:
        """As `Hub.history`."""
        query = {"worker": worker, "limit": str(limit)} | ({} if before is None else {"before": str(before)})
        return (await self._ask("GET", "/api/hub/history", params=query)).history or HistoryPage()

    async def search(self, query: str, worker: str = "", limit: int = 50) -> list[Found]:
        """As `Hub.search`."""
        asked = {"query": query, "worker": worker, "limit": str(limit)}
        return (await self._ask("GET", "/api/hub/search", params=asked)).found or []

    async def upload(self, worker: str, name: str, content: bytes) -> str:
        """Puts a file where that worker of the node looks; its path there."""
        path = f"/workers/{quote(worker, safe='')}/upload"
        try:
            response = await self._client.post(path, files={"file": (name, content)})
            told = response.json()
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None
        except ValueError:
            raise NodeUnreachable(f"{self._address} did not say where the file is.") from None
        if response.status_code != 200 or not isinstance(told, dict) or not isinstance(told.get("filePath"), str):
            why = told.get("detail") if isinstance(told, dict) else ""
            raise BadInput(f"{name} was not taken: {why or response.status_code}")
        return str(told["filePath"])

    async def watch(self, after: Seq | None = None) -> AsyncIterator[Event]:
        """As `Hub.watch`."""
        query = {} if after is None else {"after": str(after)}
        try:
            async with self._client.stream("GET", "/api/hub/events", params=query, timeout=None) as response:
                if response.status_code != 200:
                    _checked(frames.read_reply(await response.aread()))
                async for line in response.aiter_lines():
                    if line.startswith(_ERROR):
                        _checked(frames.read_reply(line.encode()))
                    elif line:
                        yield decode_event(line.encode())
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None

    def _unreachable(self, error: httpx2.HTTPError) -> NodeUnreachable:
        hint = "is the node running there, and is the address right?"
        return NodeUnreachable(f"{self._address} does not answer: {error}", hints=(hint,))

    async def _ask(self, method: str, path: str, **options: Any) -> DoorReply:
        try:
            response = await self._client.request(method, path, **options)
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None
        return _checked(frames.read_reply(response.content))


def _checked(reply: DoorReply) -> DoorReply:
    if reply.error is not None:
        raise raise_remote(reply.error)
    return reply
