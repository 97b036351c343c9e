"""`codex exec` behind the line protocol, a process a turn: a program of its own, so that the node may die.

Run as `python -m farhand.drivers.codex.exec.agent [--session ID] --mode M [--model M] [--effort E] -- PROGRAM` where
the worker is.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from mimetypes import guess_type

from farhand.drivers.codex.exec.state import CodexExecState
from farhand.drivers.codex.exec.translate import translate_event
from farhand.drivers.codex.launch import turn_line
from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.lines.agent import AgentPrompt
from farhand.drivers.wires.lines.async_agent import write_line
from farhand.drivers.wires.lines.exec_agent import ExecAgent, ExecTurn
from farhand.model.words import Mode, replace

LOST = "no rollout found"


class CodexExecCli:
    """One session of Codex."""

    title = "Codex"

    def __init__(self, program: str, session: str) -> None:
        self._program = program
        # What a thread of the past has used is not known.
        self._state = CodexExecState(session=session, total=None) if session else CodexExecState()

    async def play(self, turn: ExecTurn) -> str:
        """Runs the turn, in a new session when the old one is gone; why it ended, if the output did not say."""
        self._state = replace(self._state, turn=turn.prompt.id, ended=False, spoke=False, tools=(), problem="")
        why = await self._run(turn)
        if LOST not in why or not self._state.session or self._state.ended or turn.stopped:
            return why
        gone = f"The session {self._state.session} cannot be taken up again. A new one begins."
        turn.write({"problem": turn.prompt.id, "text": gone})
        self._state = replace(self._state, session="", total=CodexExecState().total, problem="")
        return await self._run(turn)

    async def _run(self, turn: ExecTurn) -> str:
        text, pictures = _input(turn.prompt)
        where, session = os.getcwd(), self._state.session  # noqa: PTH109
        words = turn_line(self._program, where, Mode(turn.mode), turn.model, session, pictures, turn.effort)
        code, errors = await turn.run(words, text.encode("utf-8", "replace"), self._translate)
        last = errors.strip().splitlines()[-1:]
        return self._state.problem or f"Codex ended with code {code}" + (f": {last[0]}" if last else ".")

    def _translate(self, line: bytes) -> list[JsonObject]:
        lines, self._state = translate_event(line, self._state)
        return lines


def _input(prompt: AgentPrompt) -> tuple[str, Sequence[str]]:
    """The text with the paths of its files, and those of them that are pictures."""
    unnamed = [name for name in prompt.files if name not in prompt.text]
    pictures = [name for name in prompt.files if (guess_type(name)[0] or "").startswith("image/")]
    return "\n\n".join([prompt.text, *unnamed]).strip(), pictures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="`codex exec` behind the line protocol, a process a turn.")
    parser.add_argument("--session", default="")
    parser.add_argument("--mode", default=Mode.DEFAULT.value)
    parser.add_argument("--model", default="")
    parser.add_argument("--effort", default="")
    parser.add_argument("program")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    cli = CodexExecCli(options.program, options.session)
    sys.exit(asyncio.run(ExecAgent(cli, options.mode, options.model, write_line, options.effort).run()))
