"""`codex exec` behind the line protocol, a process a turn: a program of its own, so that the node may die.

Run as `python -m farhand.drivers.codex.exec.agent [--session ID] --mode M [--model M] -- PROGRAM` where the worker is.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from mimetypes import guess_type

from farhand.drivers.codex.exec.translate import CodexExecState, translate_event
from farhand.drivers.codex.launch import turn_line
from farhand.drivers.wires.lines.async_agent import LINE_LIMIT, write_line
from farhand.drivers.wires.lines.exec_agent import ExecAgent, Line, last_errors
from farhand.model.words import Mode, replace

LOST = "no rollout found"


class CodexExecAgent(ExecAgent):
    """One session of Codex: a process for each prompt, one after the other."""

    def __init__(self, options: argparse.Namespace, write: Callable[[Line], None]) -> None:
        super().__init__(options, write)
        # What a thread of the past has used is not known.
        self._state = CodexExecState(session=options.session, total=None) if options.session else CodexExecState()

    async def play(self, prompt: Line) -> None:
        """One turn, from the prompt to its end."""
        turn = self._running = str(prompt["prompt"])
        self._state = replace(self._state, turn=turn, ended=False, spoke=False, tools=(), problem="")
        try:
            why = "" if turn in self._stopped else await self._run(prompt)
            if LOST in why and self._state.session and not self._state.ended:
                gone = f"The session {self._state.session} cannot be taken up again. A new one begins."
                self._write({"problem": turn, "text": gone})
                self._state = replace(self._state, session="", total=CodexExecState().total, problem="")
                why = await self._run(prompt)
            if turn in self._stopped:
                self._write({"ended": turn, "how": "interrupted"})
            elif not self._state.ended:
                self._write({"ended": turn, "how": "failed", "error": why})
        except OSError as error:
            self._write({"ended": turn, "how": "failed", "error": f"Codex cannot be started: {error}"})
        finally:
            self._stopped.discard(turn)
            self._state, self._running, self._process = replace(self._state, turn=""), "", None

    async def _run(self, prompt: Line) -> str:
        """Runs the CLI to its end; why it ended, in case that its output did not say."""
        text, pictures = _worded(prompt)
        words = turn_line(self._program, os.getcwd(), Mode(self._mode), self._model, self._state.session, pictures)  # noqa: PTH109
        pipe = asyncio.subprocess.PIPE
        process = self._process = await asyncio.create_subprocess_exec(
            *words, stdin=pipe, stdout=pipe, stderr=pipe, limit=LINE_LIMIT
        )
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise OSError("it has no pipes")
        errors = asyncio.create_task(last_errors(process.stderr), name="errors")
        with suppress(OSError):
            process.stdin.write(text.encode("utf-8", "replace"))
            await process.stdin.drain()
        process.stdin.close()
        await self._follow(process.stdout)
        code = await process.wait()
        last = (await errors).strip().splitlines()[-1:]
        return self._state.problem or f"Codex ended with code {code}" + (f": {last[0]}" if last else ".")

    async def _follow(self, output: asyncio.StreamReader) -> None:
        while line := await output.readline():
            if not line.startswith(b"{"):
                continue
            told, self._state = translate_event(line, self._state)
            self._tell(told)


def _worded(prompt: Line) -> tuple[str, Sequence[str]]:
    """The text with the paths of its files, and those of them that are pictures."""
    given = prompt.get("files")
    files = [str(name) for name in given] if isinstance(given, list) else []
    untold = [name for name in files if name not in prompt["text"]]
    pictures = [name for name in files if (guess_type(name)[0] or "").startswith("image/")]
    return "\n\n".join([prompt["text"], *untold]).strip(), pictures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="`codex exec` behind the line protocol, a process a turn.")
    parser.add_argument("--session", default="")
    parser.add_argument("--mode", default=Mode.DEFAULT.value)
    parser.add_argument("--model", default="")
    parser.add_argument("program")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(asyncio.run(CodexExecAgent(parser.parse_args(), write_line).heard()))
