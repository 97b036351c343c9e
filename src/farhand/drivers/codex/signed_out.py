"""Whether nobody has signed in to Codex, asked of Codex itself: its screen asks for it whenever it likes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from subprocess import DEVNULL

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from farhand.drivers.codex.launch import app_server_line, may_ask_to_sign_in
from farhand.drivers.wires.foreign_json import parse

# Longer than a start takes on a machine that is busy; only who does not seem to be signed in waits for it at all.
PATIENCE_SECONDS = 60.0
LONGEST_LINE = 1_000_000
ACCOUNT = "account"
HELLO = {"clientInfo": {"name": "farhand", "title": "Farhand", "version": "1"}}
REQUESTS = (
    {"id": "hello", "method": "initialize", "params": HELLO},
    {"method": "initialized"},
    {"id": ACCOUNT, "method": "account/read", "params": {"refreshToken": False}},
)


async def is_signed_out(program: str, directory: str, environment: Mapping[str, str]) -> bool:
    """Whether Codex's model needs a sign-in, and nobody has signed in: by the same two facts its terminal decides
    whether to ask. It is asked only where no key of its own provider is seen. One that does not answer is taken at its
    screen."""
    if not may_ask_to_sign_in(environment):
        return False
    command = app_server_line(program, directory)
    try:
        process = await anyio.open_process(command, env=dict(environment), cwd=directory, stderr=DEVNULL)
    except OSError:
        return False
    try:
        with anyio.move_on_after(PATIENCE_SECONDS):
            return await _says_so(process)
        return False
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.aclose()


async def _says_so(process: Process) -> bool:
    if process.stdin is None or process.stdout is None:
        return False
    output = BufferedByteReceiveStream(process.stdout)
    try:
        await process.stdin.send("".join(f"{json.dumps(one)}\n" for one in REQUESTS).encode())
        while True:
            record = parse(await output.receive_until(b"\n", LONGEST_LINE))
            if record is not None and "method" not in record and record.text("id") == ACCOUNT:
                told = record.fields("result")
                return told.flag("requiresOpenaiAuth") and told.any("account") is None
    except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound):
        return False
