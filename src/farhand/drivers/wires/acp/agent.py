"""An ACP agent behind the line protocol, a program of its own: it owns the connection, so that the node may die.

Run as `python -m farhand.drivers.wires.acp.agent [--mode M] [--read-only] [--model M] [--resume ID] -- COMMAND…` where
the worker is.
"""

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress

from farhand.drivers.wires.acp.translate import AcpToolCalls, ask_line, blocks_of, lines_of
from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.lines.agent import AgentPrompt
from farhand.drivers.wires.lines.async_agent import AsyncAgent, read_lines, write_line
from farhand.sdk.acp.client import AcpClient, AcpSession
from farhand.sdk.acp.rpc import PeerGone, RpcError
from farhand.sdk.acp.streams import ProcessStream, spawn
from farhand.sdk.acp.words import AcpMode, AcpPermission, AcpTurnEnded
from farhand.sdk.errors import SdkError

CANCEL_AGAIN_SECONDS = 1.0
# The last word of a mode's id, where that mode reads and changes nothing, or nothing unasked.
READ_ONLY = ("plan", "read-only", "readonly", "read_only")


class AcpRelay:
    """One session of the agent: lines in, lines out."""

    def __init__(self, write: Callable[[JsonObject], None]) -> None:
        self._write = write
        self._session: AcpSession | None = None
        self._images = False
        self._running = ""
        self._seen = False
        self._count = 0
        self._calls = AcpToolCalls()
        self._stopped: set[str] = set()
        self._stopping: asyncio.Task[None] | None = None
        self._asked: dict[str, asyncio.Future[str]] = {}
        # What the person wrote beside an answer: the protocol has no field for it.
        self._words: list[str] = []

    def open(self, client: AcpClient, session: AcpSession) -> None:
        """The session that prompts go to."""
        self._session, self._images = session, client.hello.images
        self._write({"session": session.id})

    async def play(self, prompt: AgentPrompt) -> None:
        """One turn, from the prompt to its end. Raises PeerGone when the agent died of it."""
        self._running, self._calls, self._seen = prompt.id, AcpToolCalls(), False
        self._words.clear()
        try:
            if self._running in self._stopped:
                self._write_line({"ended": self._running, "how": "interrupted"})
            else:
                await self._send_prompt(prompt)
        except PeerGone:
            raise
        except (SdkError, OSError) as error:
            self._write_line({"ended": self._running, "how": "failed", "error": str(error)})
        finally:
            self._stopped.discard(self._running)
            self._running = ""
            if self._stopping is not None:
                self._stopping.cancel()
                self._stopping = None

    async def _send_prompt(self, prompt: AgentPrompt) -> None:
        """Prompts until the turn is over: what was written beside an answer is told when the agent hears again."""
        if self._session is None:
            raise SdkError("The agent has no session.")
        words: AgentPrompt | None = prompt
        while words is not None:
            content, words = blocks_of(words, images=self._images), None
            async with aclosing(self._session.prompt(content)) as events:
                async for event in events:
                    if isinstance(event, AcpTurnEnded):
                        words = self._words_left(event)
                    for line in lines_of(self._running, event, self._calls):
                        # Where words are left, the turn goes on, and the answer to them is a paragraph of its own.
                        goes_on = words is not None and "ended" in line
                        self._write_line({"text": self._running, "piece": "\n\n"} if goes_on else line)

    def _words_left(self, ended: AcpTurnEnded) -> AgentPrompt | None:
        """What the agent is told before the turn ends, unless it was stopped or failed."""
        words = "\n".join(self._words)
        self._words.clear()
        if not words or ended.stop_reason != "end_turn" or self._running in self._stopped:
            return None
        return AgentPrompt(self._running, f"The manager wrote beside the answer to what you asked: {words}")

    def _write_line(self, line: JsonObject) -> None:
        """Writes a line; the first one about a turn proves that the agent has read the prompt."""
        if not self._seen:
            self._seen = True
            self._write({"started": self._running})
        self._write(line)

    async def _stop(self) -> None:
        """Cancels the turn until it ends: an agent that has not begun it yet passes over a cancel."""
        while self._session is not None:
            with suppress(PeerGone):
                await self._session.cancel()
            await asyncio.sleep(CANCEL_AGAIN_SECONDS)

    async def decide(self, permission: AcpPermission) -> str:
        """Puts a request for permission to the person and waits, however long it takes."""
        self._count += 1
        ask = f"{self._running}/{self._count}"
        # Some agents report a call for the first time when they ask.
        for line in self._calls.lines(self._running, permission.call):
            self._write_line(line)
        answer = self._asked[ask] = asyncio.get_running_loop().create_future()
        self._write_line(ask_line(self._running, ask, permission))
        try:
            return await answer or "reject_once"
        finally:
            self._asked.pop(ask, None)

    async def take(self, fields: JsonObject) -> bool:
        """A line that comes while a turn runs; false for one that is not known."""
        match fields:
            case {"answer": str(ask), "choice": str(choice)}:
                waiting = self._asked.get(ask)
                if waiting is not None and not waiting.done():
                    note = fields.get("note")
                    self._words += [note.strip()] if isinstance(note, str) and note.strip() else []
                    waiting.set_result(choice)
            case {"interrupt": str(prompt)}:
                self._stopped.add(prompt)
                if prompt == self._running and (self._stopping is None or self._stopping.done()):
                    self._stopping = asyncio.create_task(self._stop(), name="stop")
            case {"change": _}:
                await self._change(fields)
            case _:
                return False
        return True

    async def _change(self, fields: JsonObject) -> None:
        try:
            if self._session is not None and isinstance(mode := fields.get("mode"), str):
                await self._session.set_mode(mode)
            if self._session is not None and isinstance(model := fields.get("model"), str):
                await self._session.set_model(model)
        except RpcError as refused:
            self._write({"problem": self._running, "text": f"The agent refused the change: {refused}"})


async def open_session(client: AcpClient, options: argparse.Namespace) -> AcpSession:
    """The session of the past, or a new one; in the mode and with the model that were asked for."""
    cwd = os.getcwd()  # noqa: PTH109
    session: AcpSession | None = None
    if options.resume:
        try:
            session = await client.load_session(options.resume, cwd)
        except (RpcError, SdkError) as lost:
            if isinstance(lost, PeerGone):
                raise
            write_line({"problem": "", "text": f"The session cannot be taken up again ({lost}). A new one begins."})
    session = session or await client.new_session(cwd)
    mode = options.mode or (offered_read_only(session.info.modes) if options.read_only else "")
    if mode:
        await session.set_mode(mode)
    if options.model:
        await session.set_model(options.model)
    return session


def offered_read_only(modes: Sequence[AcpMode]) -> str:
    """The mode of the agent's own that only reads; empty where it offers none, and only its questions hold it."""
    last_words = {re.split(r"[#/:]", mode.id)[-1].lower(): mode.id for mode in modes}
    return next((last_words[name] for name in READ_ONLY if name in last_words), "")


async def main(options: argparse.Namespace) -> int:
    """Starts the agent and relays until the input ends or the agent is gone."""
    relay = AcpRelay(write_line)
    try:
        # In one group with the relay: the holder's signals reach both.
        agent = spawn(options.command, own_group=False)
        async with agent as stream, AcpClient(stream, decides=relay.decide) as client:
            return await _relay(relay, client, stream, options)
    except OSError as error:
        write_line({"problem": "", "text": f"The agent cannot be started: {error}"})
        return 127


async def _relay(relay: AcpRelay, client: AcpClient, stream: ProcessStream, options: argparse.Namespace) -> int:
    try:
        await client.initialize()
        relay.open(client, await open_session(client, options))
        reading = asyncio.create_task(AsyncAgent(relay.play, relay.take, write_line).run(read_lines(0)))
        gone = asyncio.create_task(client.wait_closed())
        done, _ = await asyncio.wait([reading, gone], return_when=asyncio.FIRST_COMPLETED)
        ended_well = reading in done and reading.exception() is None
        for task in (reading, gone):
            task.cancel()
        await asyncio.wait([reading, gone])
        if ended_well:
            return 0
        said = stream.errors.strip()[-500:]
    except SdkError as error:
        said = f"{error} {stream.errors.strip()[-500:]}".strip()
    write_line({"problem": "", "text": f"The agent is gone. {said}".strip()})
    return 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An ACP agent behind the line protocol.")
    parser.add_argument("--mode", default="")
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--model", default="")
    parser.add_argument("--resume", default="")
    parser.add_argument("command", nargs="+")
    try:
        sys.exit(asyncio.run(main(parser.parse_args())))
    except KeyboardInterrupt:
        sys.exit(130)
