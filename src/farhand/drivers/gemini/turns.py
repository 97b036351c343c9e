"""The Gemini CLI behind the line protocol, a process a turn: a program of its own, so that the node may die.

Run as `python -m farhand.drivers.gemini.turns --session ID --mode M [--model M] [--resume] -- PROGRAM`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from farhand.drivers.gemini.launch import turn_line
from farhand.drivers.gemini.stream import StreamState, exit_sentence, translate_stream
from farhand.drivers.wires.hearing import LINE_LIMIT, Hearing, read_lines, write_line
from farhand.drivers.wires.stopping import end, stop

Line = dict[str, Any]
# A word on the command line may be 128 KB long; a longer message goes through stdin.
LONGEST_WORD = 100_000
GRACE_SECONDS = 5.0
ERRORS_KEPT = 64 * 1024


class Turns:
    """One session of the CLI: a process for each prompt, one after the other."""

    def __init__(self, options: argparse.Namespace, write: Callable[[Line], None]) -> None:
        self._program: str = options.program
        self._mode, self._model = options.mode, options.model
        self._session: str = options.session
        self._resume: bool = options.resume
        self._write = write
        self._running = ""
        self._stopped: set[str] = set()
        self._process: asyncio.subprocess.Process | None = None

    async def play(self, prompt: Line) -> None:
        """One turn, from the prompt to its end."""
        self._running = str(prompt["prompt"])
        state = StreamState(turn=self._running, session=self._session)
        try:
            if self._running not in self._stopped:
                state, why = await self._run(_worded(prompt), state)
            if self._running in self._stopped:
                self._write({"ended": self._running, "how": "interrupted"})
            elif not state.ended:
                self._write({"ended": self._running, "how": "failed", "error": why})
        except OSError as error:
            self._write({"ended": self._running, "how": "failed", "error": f"Gemini CLI cannot be started: {error}"})
        finally:
            self._stopped.discard(self._running)
            self._running, self._process = "", None

    async def _run(self, text: str, state: StreamState) -> tuple[StreamState, str]:
        """Runs the CLI to its end; what its output told, and why it ended if that did not say."""
        words = turn_line(self._program, self._mode, self._model, self._session, resume=self._resume)
        long = len(text.encode()) > LONGEST_WORD
        # Joined by `=`: a message may begin with a dash.
        words = [*words, *([] if long else [f"--prompt={text}"])]
        source = asyncio.subprocess.PIPE if long else asyncio.subprocess.DEVNULL
        pipe = asyncio.subprocess.PIPE
        process = self._process = await asyncio.create_subprocess_exec(
            *words, stdin=source, stdout=pipe, stderr=pipe, limit=LINE_LIMIT
        )
        errors = asyncio.create_task(_last(process.stderr), name="errors")
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.write(text.encode())
                await process.stdin.drain()
            process.stdin.close()
        if process.stdout is not None:
            state = await self._follow(process.stdout, state)
        code = await process.wait()
        return state, exit_sentence(code, await errors)

    async def _follow(self, output: asyncio.StreamReader, state: StreamState) -> StreamState:
        while line := await output.readline():
            if not line.startswith(b"{"):
                continue
            told, state = translate_stream(line, state)
            if any("started" in one for one in told):
                # From now on there is a session to go on with.
                self._resume = True
                self._session = state.session
            for one in told:
                if "ended" not in one or self._running not in self._stopped:
                    self._write(one)
        return state

    async def take(self, said: Line) -> bool:
        """What comes while a turn runs; false for a line that is not known."""
        match said:
            case {"interrupt": str(prompt)}:
                self._stopped.add(prompt)
                if prompt == self._running:
                    stop(self._process, GRACE_SECONDS)
            case {"change": _}:
                self._model = said.get("model") or self._model
                self._mode = said.get("mode") or self._mode
            case {"answer": str(), "choice": str()}:
                pass
            case _:
                return False
        return True

    async def end(self) -> None:
        """Leaves no process behind."""
        await end(self._process)


def _worded(prompt: Line) -> str:
    """The text, and its files as the CLI takes them in: by an `@` and their path."""
    files = prompt.get("files")
    named = [f"@{name}".replace(" ", "\\ ") for name in files if str(name) not in prompt["text"]] if files else []
    return "\n\n".join([prompt["text"], *named]).strip()


async def _last(stream: asyncio.StreamReader | None) -> str:
    """The end of what the CLI says on stderr."""
    kept = b""
    while stream is not None and (piece := await stream.read(65536)):
        kept = (kept + piece)[-ERRORS_KEPT:]
    return kept.decode("utf-8", "replace")


async def main(options: argparse.Namespace) -> int:
    """Plays prompts until the input ends."""
    turns = Turns(options, write_line)
    write_line({"session": options.session})
    try:
        await Hearing(turns.play, turns.take, write_line).run(read_lines(0))
    finally:
        await turns.end()
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The Gemini CLI behind the line protocol, a process a turn.")
    parser.add_argument("--session", required=True)
    parser.add_argument("--mode", default="default")
    parser.add_argument("--model", default="")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("program")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.umask(0o077)
    sys.exit(asyncio.run(main(parser.parse_args())))
