"""JSON-RPC 2.0 over a pair of byte streams, a message a line: requests both ways, notifications in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec

from farhand.sdk.acp.streams import ByteStream
from farhand.sdk.errors import SdkError
from farhand.sdk.json_shapes import is_object

LINE_LIMIT_BYTES = 64 * 1024 * 1024
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603

Params: TypeAlias = dict[str, Any]
OnRequest: TypeAlias = Callable[[str, Params], Awaitable[Any]]
OnNotification: TypeAlias = Callable[[str, Params], Awaitable[None]]


class RpcError(SdkError):
    """The other side answered with an error; or, raised by whoever answers, the error to send."""

    kind = "rpc"

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class PeerGone(SdkError):
    """The other side hung up, or what it sent cannot be read on."""

    kind = "peer_gone"


class Peer:
    """One end of a connection. `serve` reads until the other side is gone; requests are answered side by side.

    A notification is handled to its end before the next message is read: a reply never overtakes what came before it.
    """

    def __init__(
        self,
        stream: ByteStream,
        on_request: OnRequest,
        on_notification: OnNotification,
        *,
        limit: int = LINE_LIMIT_BYTES,
        complains: bool = False,
        noise: Callable[[bytes], None] | None = None,
    ) -> None:
        self._stream = stream
        self._on_request = on_request
        self._on_notification = on_notification
        self._limit = limit
        self._complains = complains
        self._noise = noise
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self._gone: PeerGone | None = None
        self._sending = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def request(self, method: str, params: Params) -> Any:
        """The result. Raises RpcError when the other side says no, PeerGone when it says nothing any more."""
        if self._gone is not None:
            raise self._gone
        number, self._count = self._count, self._count + 1
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await waiting
        finally:
            self._waiting.pop(number, None)

    async def notify(self, method: str, params: Params) -> None:
        """Tells the other side something that has no answer."""
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def send_raw(self, message: Any) -> None:
        """Sends a message as it is."""
        await self._send(message)

    async def serve(self) -> None:
        """Reads until the end of the stream; then everything that still waits learns that nobody is there."""
        why = "The other side hung up."
        try:
            async for line in self._lines():
                await self._take(line)
        except PeerGone as gone:
            why = str(gone)
        except OSError as error:
            why = f"The connection broke: {error}"
        finally:
            self._hang_up(PeerGone(why))
            await self._end_tasks()

    def _hang_up(self, gone: PeerGone) -> None:
        self._gone = gone
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(gone)
                # Whoever waited may have been cancelled just now; nobody needs to hear of it then.
                waiting.exception()

    async def _end_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _lines(self) -> AsyncIterator[bytes]:
        rest = bytearray()
        while piece := await self._stream.receive():
            start = 0
            while (end := piece.find(b"\n", start)) >= 0:
                yield bytes(rest + piece[start:end])
                rest.clear()
                start = end + 1
            rest += piece[start:]
            if len(rest) > self._limit:
                raise PeerGone(f"The other side sent a line of more than {self._limit} bytes.")

    async def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            await self._reject(line, PARSE_ERROR, "This line is no JSON.")
            return
        match message:
            case {"method": str(method), "id": int() | str() as number}:
                task = asyncio.create_task(self._answer(number, method, message.get("params")), name=f"answer {method}")
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case {"method": str(method)}:
                params = message.get("params")
                with suppress(RpcError):
                    await self._on_notification(method, params if is_object(params) else {})
            case {"id": int(number)} if "result" in message or "error" in message:
                self._settle(number, message)
            case {"id": None, "error": _}:
                pass
            case _:
                await self._reject(line, INVALID_REQUEST, "This is no JSON-RPC message.")

    async def _reject(self, line: bytes, code: int, why: str) -> None:
        if self._noise is not None:
            self._noise(line)
        if self._complains:
            await self._send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": why}})

    def _settle(self, number: int, message: dict[str, Any]) -> None:
        waiting = self._waiting.get(number)
        if waiting is None or waiting.done():
            return
        error = message.get("error")
        if error is None:
            waiting.set_result(message.get("result"))
            return
        fields = error if is_object(error) else {"message": str(error)}
        code = fields.get("code")
        said = str(fields.get("message") or "no explanation")
        more = fields.get("data")
        details = more.get("details") if is_object(more) else more
        if isinstance(details, str) and details and details not in said:
            said = f"{said}: {details}"
        waiting.set_exception(RpcError(code if isinstance(code, int) else INTERNAL_ERROR, said, more))

    async def _answer(self, number: int | str, method: str, params: Any) -> None:
        try:
            result = await self._on_request(method, params if is_object(params) else {})
            answer: dict[str, Any] = {"result": result}
        except RpcError as error:
            data = {} if error.data is None else {"data": error.data}
            answer = {"error": {"code": error.code, "message": error.message, **data}}
        except Exception as error:  # noqa: BLE001 - the other side hears of it, and the connection lives on
            answer = {"error": {"code": INTERNAL_ERROR, "message": str(error) or type(error).__name__}}
        with suppress(PeerGone, OSError):
            await self._send({"jsonrpc": "2.0", "id": number, **answer})

    async def _send(self, message: Any) -> None:
        if self._gone is not None:
            raise self._gone
        data = msgspec.json.encode(message) + b"\n"
        async with self._sending:
            try:
                await self._stream.send(data)
            except OSError as error:
                raise PeerGone(f"The other side hung up: {error}") from error
