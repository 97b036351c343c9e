"""A request that two programs could read differently is refused: nobody hides one request in another."""

from __future__ import annotations

import re
from contextlib import suppress

import anyio
import pytest

from farhand.testing.house import House

pytestmark = pytest.mark.anyio
HOST = b"Host: localhost\r\n"
# What a proxy in front would take for a body, and a node that reads otherwise for a request of its own.
HIDDEN = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKS = b"Transfer-Encoding: chunked\r\n"


def length(text: bytes) -> bytes:
    return b"Content-Length: %s\r\n" % text


def head(*lines: bytes, version: bytes = b"1.1") -> bytes:
    return b"POST /notify HTTP/%s\r\n%s\r\n" % (version, b"".join(lines))


AMBIGUOUS = {
    "both lengths": head(HOST, length(b"%d" % (len(HIDDEN) + 5)), CHUNKS) + b"0\r\n\r\n" + HIDDEN,
    "both lengths, the other way round": head(HOST, CHUNKS, length(b"5")) + b"0\r\n\r\n" + HIDDEN,
    "two lengths": head(HOST, length(b"0"), length(b"44")) + HIDDEN,
    "the same length twice": head(HOST, length(b"0"), length(b"0")) + HIDDEN,
    "a list of lengths": head(HOST, length(b"0, 0")) + HIDDEN,
    "a length with a sign": head(HOST, length(b"+0")) + HIDDEN,
    "chunked twice": head(HOST, CHUNKS, CHUNKS) + b"0\r\n\r\n" + HIDDEN,
    "chunked and another coding": head(HOST, b"Transfer-Encoding: chunked, identity\r\n") + b"0\r\n\r\n" + HIDDEN,
    "chunked with a sign of its own": head(HOST, b"Transfer-Encoding: \x0bchunked\r\n") + b"0\r\n\r\n" + HIDDEN,
    "chunked in HTTP/1.0": head(HOST, CHUNKS, version=b"1.0") + b"0\r\n\r\n" + HIDDEN,
    "a folded header": head(HOST, b"X-A: b\r\n", b" c: d\r\n", length(b"0")) + HIDDEN,
    "a folded coding": head(HOST, b"Transfer-Encoding:\r\n chunked\r\n") + b"0\r\n\r\n" + HIDDEN,
    "a line that ends with LF alone": head(HOST, b"X-A: b\n", length(b"0")) + HIDDEN,
    "a head that ends with LF alone": b"GET / HTTP/1.1\nHost: localhost\n\n" + HIDDEN,
    "a CR within a line": head(HOST, b"X-A: b\rContent-Length: 44\r\n", length(b"0")) + HIDDEN,
    "a zero byte": head(HOST, b"X-A: b\0c\r\n", length(b"0")) + HIDDEN,
    "a control character": head(HOST, b"X-A: b\x01c\r\n", length(b"0")) + HIDDEN,
    "a blank before the colon": head(HOST, b"Content-Length : 0\r\n") + HIDDEN,
    "another version": head(HOST, length(b"0"), version=b"2.0") + HIDDEN,
    "no Host": head(length(b"0")) + HIDDEN,
    "two Hosts": head(HOST, HOST, length(b"0")) + HIDDEN,
    "another name behind the Host": head(HOST, b"Host: evil.example\r\n", length(b"0")) + HIDDEN,
    "a Host with a path": head(b"Host: localhost/x\r\n", length(b"0")) + HIDDEN,
    "a Host with a user": head(b"Host: localhost@evil.example\r\n", length(b"0")) + HIDDEN,
    "a Host with a word behind": head(b"Host: [::1]x\r\n", length(b"0")) + HIDDEN,
    "a Host with a tab": head(b"Host: localhost\tx\r\n", length(b"0")) + HIDDEN,
    "a Host with a list": head(b"Host: localhost, evil.example\r\n", length(b"0")) + HIDDEN,
    "a Host with a query": head(b"Host: localhost?x\r\n", length(b"0")) + HIDDEN,
    "a Host with a port of words": head(b"Host: localhost:80x\r\n", length(b"0")) + HIDDEN,
}


async def answers(port: int, *pieces: bytes) -> bytes:
    """Everything that comes back until the node closes the connection."""
    found = b""
    async with await anyio.connect_tcp("127.0.0.1", port) as link:
        for piece in pieces:
            await link.send(piece)
        try:
            while True:
                found += await link.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return found


@pytest.mark.parametrize("shape", AMBIGUOUS)
async def test_what_can_be_read_in_two_ways_is_refused(house: House, shape: str) -> None:
    found = await answers(house.node.port, AMBIGUOUS[shape])
    assert found.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501"))
    assert found.count(b"HTTP/1.1 ") == 1


async def test_it_is_refused_behind_another_request_too(house: House) -> None:
    found = await answers(house.node.port, HIDDEN + AMBIGUOUS["both lengths"])
    assert re.findall(rb"HTTP/1.1 ([0-9]+)", found) == [b"200", b"400"]


async def test_it_is_refused_however_it_is_cut_into_packets(house: House) -> None:
    shape = AMBIGUOUS["both lengths"]
    for place in range(1, shape.index(b"\r\n\r\n") + 4):
        found = await answers(house.node.port, shape[:place], shape[place:])
        assert found.startswith(b"HTTP/1.1 400")
        assert found.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("end", [b"0\r\n\r\n", b"0\r\n\n", b"0\r\nX: y\r\n\r\n", b"0;\r\n\r\n", b"000 \r\n\r\n"])
async def test_nothing_follows_a_body_in_chunks(house: House, end: bytes) -> None:
    # Where such a body ends is what programs differ about most.
    found = await answers(house.node.port, head(HOST, CHUNKS) + end + HIDDEN)
    assert found.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in found


async def test_a_body_that_breaks_off_after_the_answer_ends_the_connection_quietly(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    # Answered before the body was read; then the body makes no sense.
    start = b"POST /api/hub/commands HTTP/1.1\r\n" + HOST + CHUNKS + b"\r\n"
    async with await anyio.connect_tcp("127.0.0.1", house.node.port) as link:
        await link.send(start)
        assert (await link.receive()).startswith(b"HTTP/1.1 403")
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            await link.send(b"not a chunk\r\n\r\n")
            while True:
                await link.receive()
    assert not [record for record in caplog.records if record.exc_info]


async def test_an_ordinary_request_keeps_its_connection(house: House) -> None:
    async with await anyio.connect_tcp("127.0.0.1", house.node.port) as link:
        for name in (b"localhost", b"LOCALHOST:80", b"localhost.", b"127.0.0.1:1", b"[::1]:80", b"team.example_1.com"):
            await link.send(b"GET /healthz HTTP/1.1\r\nHost: %s\r\nX-A: b\tc\r\n\r\n" % name)
            assert (await link.receive()).startswith(b"HTTP/1.1 200")


async def test_no_answer_leads_to_the_name_in_the_host(house: House) -> None:
    found = await answers(house.node.port, b"GET /healthz/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 404")
    assert b"evil.example" not in found
