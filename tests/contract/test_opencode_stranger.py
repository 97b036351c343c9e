"""A port that OpenCode's server has left is anybody's: whoever listens there is not taken for it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.abc
import msgspec
import pytest

from farhand.drivers.opencode.headless.server import OpenCodeServer, ServerRecord, is_healthy
from farhand.drivers.wires.listener import is_trusted_listener
from farhand.model.errors import AgentMissing
from farhand.model.present import Worker
from farhand.model.words import Mode
from farhand.sandbox.holders import LocalHolders

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")]
# Another user, who finds everything healthy and says whether a password came.
STRANGER = """
import encodings.idna, http.server, os
os.setgroups([]); os.setgid(65534); os.setuid(65534)
class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("asked", bool(self.headers.get("Authorization")), flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Healthy)
print(server.server_port, flush=True)
server.serve_forever()
"""


@asynccontextmanager
async def stranger() -> AsyncIterator[tuple[int, anyio.abc.Process]]:
    async with await anyio.open_process([sys.executable, "-I", "-S", "-c", STRANGER]) as process:
        try:
            assert process.stdout is not None
            yield int(await process.stdout.receive()), process
        finally:
            # It may have ended by now.
            with suppress(ProcessLookupError):
                process.kill()


async def test_a_stranger_at_its_port_gets_neither_password_nor_words(tmp_path: Path) -> None:
    async with stranger() as (port, process):
        record = ServerRecord(life=1, password="secret", url=f"http://127.0.0.1:{port}")
        (tmp_path / "server.json").write_bytes(msgspec.json.encode(record))
        home = tmp_path / "home"
        home.mkdir()
        server = OpenCodeServer(LocalHolders(tmp_path / "holders"), tmp_path, {"HOME": str(home), "PATH": "/none"})
        worker = Worker(name="ann", backend="opencode", mode=Mode.DEFAULT, directory=str(tmp_path), since=1)
        # Another one is started, which this machine does not have.
        with pytest.raises(AgentMissing):
            await server.acquire(worker)
        assert not await is_healthy(record.address)
        process.terminate()
        assert process.stdout is not None
        with pytest.raises(anyio.EndOfStream):
            await process.stdout.receive()


async def test_who_is_believed_at_a_port() -> None:
    async with stranger() as (port, _):
        assert not is_trusted_listener(port)
        assert is_trusted_listener(port, {65534})
    with socket.create_server(("127.0.0.1", 0)) as own:
        number = own.getsockname()[1]
        assert is_trusted_listener(number)
    assert not is_trusted_listener(number)
