"""HTTP on asyncio alone: every way in which a server may frame its answer, keep its connection, or break its word."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sdk.conftest import MakeAgent

from farhand.sdk import ModelError, OpenAiModel, RetryPolicy, StreamCut
from farhand.sdk.models import http
from farhand.sdk.models.connection import DirectClient, HttpFailed

pytestmark = pytest.mark.anyio
SAFETY_SECONDS = 60.0
OK = b"HTTP/1.1 200 OK\r\n"


class Server:
    """A server that answers request after request with the bytes it was given, and notes what it was asked."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections = 0
        self.port = 0
        # After which answers it hangs up, and at which requests, without an answer.
        self.hangs_up_after: set[int] = set()
        self.hangs_up_at: set[int] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/chat/completions?alt=sse"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.answers:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                self.requests.append(head + await reader.readexactly(int(length.split(b":")[1])))
                if len(self.requests) in self.hangs_up_at:
                    break
                writer.write(self.answers.pop(0))
                await writer.drain()
                if len(self.requests) in self.hangs_up_after:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                writer.close()
                await writer.wait_closed()


@asynccontextmanager
async def served(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    context: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    ended: list[asyncio.Event] = []

    async def watched(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended.append(asyncio.Event())
        mine = ended[-1]
        try:
            await serve(reader, writer)
        finally:
            writer.transport.abort()
            mine.set()

    server = await asyncio.start_server(watched, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for each in ended:
            await asyncio.wait_for(each.wait(), SAFETY_SECONDS)
        # So that the transports hear of it.
        await asyncio.sleep(0)


@asynccontextmanager
async def asked(server: Server) -> AsyncIterator[DirectClient]:
    client = DirectClient(SAFETY_SECONDS, ssl.create_default_context)
    async with served(server.serve) as server.port:
        try:
            yield client
        finally:
            await client.close()


async def body_of(client: DirectClient, url: str, content: bytes = b"{}") -> bytes:
    answer = await client.post(url, content, {"x-key": "k"})
    try:
        return await answer.aread()
    finally:
        await answer.aclose()


def chunked(body: bytes, sizes: list[int]) -> bytes:
    made = b""
    for size in sizes:
        piece, body = body[:size], body[size:]
        made += f"{len(piece):X};note=1\r\n".encode() + piece + b"\r\n" if piece else b""
    made += f"{len(body):x}\r\n".encode() + body + b"\r\n" if body else b""
    return OK + b"Transfer-Encoding: Chunked\r\n\r\n" + made + b"0\r\ntrailer: x\r\n\r\n"


@settings(max_examples=30, deadline=None)
@given(body=st.binary(max_size=2000), sizes=st.lists(st.integers(1, 300), max_size=8))
def test_a_body_comes_whole_however_it_is_cut(body: bytes, sizes: list[int]) -> None:
    async def scene() -> None:
        server = Server(chunked(body, sizes), OK + f"content-length: {len(body)}\r\n\r\n".encode() + body)
        async with asked(server) as client:
            assert await body_of(client, server.url) == body
            assert await body_of(client, server.url) == body
            assert server.connections == 1

    asyncio.run(scene())


async def test_what_is_sent() -> None:
    server = Server(OK + b"content-length: 2\r\n\r\nhi")
    async with asked(server) as client:
        assert await body_of(client, server.url, b'{"a": 1}') == b"hi"
    head, _, content = server.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/chat/completions?alt=sse HTTP/1.1"
    assert {f"host: 127.0.0.1:{server.port}", "content-length: 8", "accept-encoding: identity", "x-key: k"} <= {*lines}
    assert content == b'{"a": 1}'


async def test_a_body_without_a_length_ends_with_its_connection() -> None:
    server = Server(OK + b"\r\nall of it", OK + b"content-length: 1\r\n\r\n2")
    server.hangs_up_after = {1}
    async with asked(server) as client:
        assert await body_of(client, server.url) == b"all of it"
        assert await body_of(client, server.url) == b"2"
    assert server.connections == 2


async def heard_of_the_end(client: DirectClient) -> None:
    """Until the loop knows that the server hung up."""
    for connection in [each for idle in client.idle.values() for each in idle]:
        while connection.is_fit:
            await connection.reader.read(0)
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    "first",
    [
        OK + b"connection: close\r\ncontent-length: 1\r\n\r\n1",
        # Hung up without a word of it, or with one that nobody asked for.
        OK + b"content-length: 1\r\n\r\n1",
        OK + b"content-length: 1\r\n\r\n1HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n",
    ],
)
async def test_a_connection_that_the_server_gave_up_is_not_used_again(first: bytes) -> None:
    server = Server(first, OK + b"content-length: 1\r\n\r\n2")
    server.hangs_up_after = {1}
    async with asked(server) as client:
        assert await body_of(client, server.url) == b"1"
        await asyncio.wait_for(heard_of_the_end(client), SAFETY_SECONDS)
        assert await body_of(client, server.url) == b"2"


async def test_a_request_that_met_the_end_of_a_kept_connection_is_sent_again_at_once() -> None:
    server = Server(OK + b"content-length: 1\r\n\r\n1", OK + b"content-length: 1\r\n\r\n2")
    server.hangs_up_at = {2}
    async with asked(server) as client:
        assert await body_of(client, server.url) == b"1"
        assert await body_of(client, server.url) == b"2"
    assert (server.connections, len(server.requests)) == (2, 3)


async def test_a_request_on_a_new_connection_is_sent_once() -> None:
    server = Server(OK + b"content-length: 1\r\n\r\n1")
    server.hangs_up_at = {1}
    async with asked(server) as client:
        with pytest.raises(HttpFailed, match="without an answer"):
            await body_of(client, server.url)
    assert len(server.requests) == 1


async def test_an_answer_that_is_left_early_costs_its_connection_alone() -> None:
    server = Server(OK + b"content-length: 100\r\n\r\nsome", OK + b"content-length: 1\r\n\r\n2")
    async with asked(server) as client:
        answer = await client.post(server.url, b"{}", {})
        async for piece in answer.aiter_bytes():
            assert piece == b"some"
            break
        await answer.aclose()
        server.answers.append(OK + b"content-length: 1\r\n\r\n3")
        assert await body_of(client, server.url) == b"2"
    assert server.connections == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"", "hung up without an answer"),
        (b"220 mail.example ESMTP\r\n\r\n", "no HTTP"),
        (b"HTTP/2 200\r\n\r\n", "no HTTP"),
        (OK + b"content-length: 9\r\n\r\nshort", "in the middle of its answer"),
        (OK + b"content-length: 1_0\r\n\r\nshort", "a length that is none"),
        (OK + b"no header\r\n\r\n", "a header that is none"),
        (OK + b"transfer-encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n", "without a size"),
        (OK + b"transfer-encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n", "of another size"),
        (OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhel", "in the middle of its answer"),
        (OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", "hung up without an answer"),
        (OK + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "was not asked for"),
        (OK + b"content-encoding: br\r\ncontent-length: 0\r\n\r\n", "was not asked for"),
        (OK + b"x: " + b"y" * 600_000 + b"\r\n\r\n", "limit"),
    ],
)
async def test_what_is_no_answer_is_told(answer: bytes, sentence: str) -> None:
    server = Server(answer)
    server.hangs_up_after = {1}
    async with asked(server) as client:
        with pytest.raises(HttpFailed, match=sentence):
            await body_of(client, server.url)


async def test_a_server_that_refuses_a_body_unread_is_heard() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge")
        await writer.drain()
        # The rest is read, or a reset would overtake the answer.
        await reader.read(-1)

    client = DirectClient(SAFETY_SECONDS, ssl.create_default_context)
    async with served(refuse) as port:
        answer = await client.post(f"http://127.0.0.1:{port}/", b"x" * 5_000_000, {})
        assert (answer.status_code, await answer.aread()) == (413, b"large")
        await answer.aclose()
        await client.close()


@pytest.mark.parametrize(
    ("key", "sentence"), [("secret\nx: y", "a line break"), ("sécret", "no ASCII"), ("se\0cret", "a line break")]
)
async def test_a_key_that_cannot_be_sent_is_told_at_once_and_not_shown(key: str, sentence: str) -> None:
    model = OpenAiModel(key, base_url="http://127.0.0.1:9/v1", retry_policy=RetryPolicy(attempts=3))
    with pytest.raises(ModelError, match=sentence) as caught:
        await model.generate({"model": "m", "contents": []})
    assert "cret" not in str(caught.value)
    assert not caught.value.retryable


async def test_an_answer_that_is_cut_can_be_repeated() -> None:
    server = Server(OK + b"content-length: 900\r\n\r\n{")
    server.hangs_up_after = {1}
    async with served(server.serve) as port:
        model = OpenAiModel("k", base_url=f"http://127.0.0.1:{port}/v1", retry_policy=RetryPolicy(attempts=1))
        with pytest.raises(StreamCut):
            await model.generate({"model": "m", "contents": []})
        await model.close()


async def test_a_session_keeps_its_connection_while_it_is_entered(make_agent: MakeAgent) -> None:
    said = b'{"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]}'
    event = b"data: " + said + b"\n\n"
    server = Server(*[OK + f"content-length: {len(event)}\r\n\r\n".encode() + event] * 4)
    async with served(server.serve) as port:
        agent = make_agent(environ={"GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}"})
        async with agent.session() as session:
            for _ in range(3):
                assert (await session.send("hello")).text == "Hi."
        assert server.connections == 1
        await agent.session().send("hello")
    assert server.connections == 2


async def test_through_a_proxy_where_the_environment_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    said = b'{"choices": [{"message": {"content": "Through."}, "finish_reason": "stop"}]}'
    proxy = Server(OK + f"content-length: {len(said)}\r\n\r\n".encode() + said)
    async with served(proxy.serve) as port:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        model = OpenAiModel("k", base_url="http://model.invalid/v1", retry_policy=RetryPolicy(attempts=1))
        answer = await model.generate({"model": "m", "contents": []})
        await model.close()
    assert answer["candidates"][0]["content"]["parts"] == [{"text": "Through."}]
    assert proxy.requests[0].startswith(b"POST http://model.invalid/v1/chat/completions HTTP/1.1")


# TLS, with a certificate that this test makes.

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    made = tmp_path / "both.pem"
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run([*words.split(), "-keyout", made, "-out", tmp_path / "cert.pem"], check=True, capture_output=True)
    made.write_bytes(made.read_bytes() + (tmp_path / "cert.pem").read_bytes())
    return made


@needs_openssl
@pytest.mark.parametrize("known", [True, False])
async def test_a_server_proves_who_it_is(certificate: Path, monkeypatch: pytest.MonkeyPatch, known: bool) -> None:
    monkeypatch.setattr(http, "_contexts", {})
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate) if known else os.devnull)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    said = b'{"choices": [{"message": {"content": "Safe."}, "finish_reason": "stop"}]}'
    server = Server(OK + f"content-length: {len(said)}\r\n\r\n".encode() + said)
    async with served(server.serve, context) as port:
        model = OpenAiModel("k", base_url=f"https://localhost:{port}/v1", retry_policy=RetryPolicy(attempts=1))
        try:
            if known:
                answer = await model.generate({"model": "m", "contents": []})
                assert answer["candidates"][0]["content"]["parts"] == [{"text": "Safe."}]
            else:
                with pytest.raises(ModelError, match="CERTIFICATE_VERIFY_FAILED"):
                    await model.generate({"model": "m", "contents": []})
                assert server.requests == []
        finally:
            await model.close()
