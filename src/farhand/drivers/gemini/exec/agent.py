"""The Gemini CLI behind the line protocol, a process a turn: a program of its own, so that the node may die.

Run as `python -m farhand.drivers.gemini.exec.agent --folder FOLDER --mode M [--session ID] [--model M] -- PROGRAM`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from farhand.drivers.gemini.exec.state import GeminiStreamState
from farhand.drivers.gemini.exec.translate import exit_sentence, translate_stream
from farhand.drivers.gemini.launch import turn_line
from farhand.drivers.gemini.sessions import session_to_start
from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.lines.agent import AgentPrompt
from farhand.drivers.wires.lines.async_agent import write_line
from farhand.drivers.wires.lines.exec_agent import ExecAgent, ExecTurn

# A word on the command line may be 128 KB long; a longer message goes through stdin.
LONGEST_WORD = 100_000


class GeminiExecCli:
    """One session of the Gemini CLI."""

    title = "Gemini CLI"

    def __init__(self, program: str, session: str, folder: Path) -> None:
        self._program = program
        # Where the CLI keeps its sessions.
        self._folder = folder
        self._session = session
        self._state = GeminiStreamState()

    async def play(self, turn: ExecTurn) -> str:
        """Runs the turn; why it ended, in case that the output did not say."""
        self._state = GeminiStreamState(turn=turn.prompt.id, session=self._session)
        # Not in a thread: this program has nothing else to do meanwhile, and the way there takes longer.
        session, resume = session_to_start(self._session, self._folder)
        words, text = turn_line(self._program, turn.mode, turn.model, session, resume=resume), _input(turn.prompt)
        data = text.encode()
        if len(data) > LONGEST_WORD:
            return exit_sentence(*await turn.run(words, data, self._translate))
        # Joined by `=`: a message may begin with a dash.
        return exit_sentence(*await turn.run([*words, f"--prompt={text}"], None, self._translate))

    def _translate(self, line: bytes) -> list[JsonObject]:
        lines, self._state = translate_stream(line, self._state)
        if any("started" in one for one in lines):
            self._session = self._state.session
        return lines


def _input(prompt: AgentPrompt) -> str:
    """The text, and its files as the CLI takes them in: by an `@` and their path."""
    named = [f"@{name}".replace(" ", "\\ ") for name in prompt.files if name not in prompt.text]
    return "\n\n".join([prompt.text, *named]).strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The Gemini CLI behind the line protocol, a process a turn.")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--session", default="")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--model", default="")
    parser.add_argument("program")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.umask(0o077)
    cli = GeminiExecCli(options.program, options.session, Path(options.folder))
    sys.exit(asyncio.run(ExecAgent(cli, options.mode, options.model, write_line).run()))
