"""The Gemini CLI behind the line protocol, a process a turn: a program of its own, so that the node may die.

Run as `python -m farhand.drivers.gemini.exec.agent --kept FOLDER --mode M [--session ID] [--model M] -- PROGRAM`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from farhand.drivers.gemini.exec.translate import GeminiStreamState, exit_sentence, translate_stream
from farhand.drivers.gemini.launch import turn_line
from farhand.drivers.gemini.sessions import to_go_on_with
from farhand.drivers.wires.lines.async_agent import LINE_LIMIT, write_line
from farhand.drivers.wires.lines.exec_agent import ExecAgent, Line, last_errors

# A word on the command line may be 128 KB long; a longer message goes through stdin.
LONGEST_WORD = 100_000


class GeminiExecAgent(ExecAgent):
    """One session of the CLI: a process for each prompt, one after the other."""

    def __init__(self, options: argparse.Namespace, write: Callable[[Line], None]) -> None:
        super().__init__(options, write)
        self._session: str = options.session
        # Where the CLI keeps its sessions.
        self._kept = Path(options.kept)

    async def play(self, prompt: Line) -> None:
        """One turn, from the prompt to its end."""
        self._running = str(prompt["prompt"])
        state = GeminiStreamState(turn=self._running, session=self._session)
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

    async def _run(self, text: str, state: GeminiStreamState) -> tuple[GeminiStreamState, str]:
        """Runs the CLI to its end; what its output told, and why it ended if that did not say."""
        session, resume = await asyncio.to_thread(to_go_on_with, self._session, self._kept)
        words = turn_line(self._program, self._mode, self._model, session, resume=resume)
        long = len(text.encode()) > LONGEST_WORD
        # Joined by `=`: a message may begin with a dash.
        words = [*words, *([] if long else [f"--prompt={text}"])]
        source = asyncio.subprocess.PIPE if long else asyncio.subprocess.DEVNULL
        pipe = asyncio.subprocess.PIPE
        process = self._process = await asyncio.create_subprocess_exec(
            *words, stdin=source, stdout=pipe, stderr=pipe, limit=LINE_LIMIT
        )
        errors = asyncio.create_task(last_errors(process.stderr), name="errors")
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.write(text.encode())
                await process.stdin.drain()
            process.stdin.close()
        if process.stdout is not None:
            state = await self._follow(process.stdout, state)
        code = await process.wait()
        return state, exit_sentence(code, await errors)

    async def _follow(self, output: asyncio.StreamReader, state: GeminiStreamState) -> GeminiStreamState:
        while line := await output.readline():
            if not line.startswith(b"{"):
                continue
            told, state = translate_stream(line, state)
            if any("started" in one for one in told):
                self._session = state.session
            self._tell(told)
        return state


def _worded(prompt: Line) -> str:
    """The text, and its files as the CLI takes them in: by an `@` and their path."""
    files = prompt.get("files")
    named = [f"@{name}".replace(" ", "\\ ") for name in files if str(name) not in prompt["text"]] if files else []
    return "\n\n".join([prompt["text"], *named]).strip()


async def main(options: argparse.Namespace) -> int:
    """Plays prompts until the input ends."""
    return await GeminiExecAgent(options, write_line).heard()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The Gemini CLI behind the line protocol, a process a turn.")
    parser.add_argument("--kept", required=True)
    parser.add_argument("--session", default="")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--model", default="")
    parser.add_argument("program")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.umask(0o077)
    sys.exit(asyncio.run(main(parser.parse_args())))
