"""An isolated environment for the real Gemini CLI: a fresh home that nobody may touch, and a fake model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event

import anyio

from farhand.testing.cli_env import CliEnv
from farhand.testing.clis import quick_start
from farhand.testing.contracts.worker import WireShows
from farhand.testing.models.gemini import FakeGemini, calls, held, says, thinks

MODEL = "gemini-2.5-flash"
SAFETY_SECONDS = 240.0


class GeminiEnv(CliEnv):
    """An isolated environment for the Gemini CLI."""

    package = "gemini"

    def __init__(self, folder: Path, server: tuple[str, ...], model: FakeGemini, programs: Path) -> None:
        self.model = model
        variables = {
            **model.environ(),
            # The usual model would ask another one which of them to take.
            "GEMINI_MODEL": MODEL,
            **quick_start(),
            "COLORTERM": "truecolor",
        }
        super().__init__(folder, folder / "home", server, programs, variables)
        self.settings = self.home / ".gemini" / "settings.json"
        self.settings.parent.mkdir()
        self.settings.write_text('// the person\'s own\n{"privacy": {"usageStatisticsEnabled": false}}\n')

    def agents(self, name: str = "") -> list[int]:
        """The CLI's processes that have this place for a home."""
        found = []
        home, program = f"HOME={self.home}".encode(), (name or "bin/gemini").encode()
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                ours = entry.name.isdecimal() and home in (entry / "environ").read_bytes().split(b"\0")
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if ours and words[0].endswith(b"node") and any(word.endswith(program) for word in words[:4]):
                    found.append(int(entry.name))
        return found

    async def asked(self, marker: str, times: int = 1) -> None:
        """Returns when the model has been asked about this so often."""
        with anyio.fail_after(SAFETY_SECONDS):
            while sum(marker in str(one.body) for one in self.model.requests) < times:  # noqa: ASYNC110
                await anyio.sleep(0.02)


class GeminiWorkers:
    """The CLI, scripted by its fake model."""

    def __init__(self, cli_env: GeminiEnv, backend: str, wire: str) -> None:
        self._cli_env = cli_env
        self.backend = f"{backend}/{wire}"
        self.directory = str(cli_env.project)

    def answers(self, marker: str, text: str) -> None:
        """One answer."""
        self._cli_env.model.expect(says(text), prompt=marker)

    def holds(self, marker: str, first: str, rest: str) -> Callable[[], None]:
        """One answer in two parts."""
        gate = Event()
        self._cli_env.model.expect(held(gate, first, rest, before=1), prompt=marker)
        return gate.set

    def asks(self, marker: str, text: str) -> Callable[[], bool]:
        """A shell command that leaves a file."""
        arguments = {"command": f"touch {marker}.txt", "description": "Leave a file"}
        self._cli_env.model.expect(calls("run_shell_command", arguments), says(text), prompt=marker)
        return (self._cli_env.project / f"{marker}.txt").exists

    @property
    def shows(self) -> WireShows:
        """Over ACP a tool is named by its kind, and what it read is not told."""
        acp = self.backend.endswith("/headless")
        return WireShows(reads_with="read" if acp else "read_file", output=not acp)

    def works(self, marker: str, thought: str, file: str, first: str, rest: str) -> Callable[[], None]:
        """A thought and a tool, then one answer in two parts."""
        gate = Event()
        looks = thinks(thought, calls("read_file", {"file_path": file}))
        self._cli_env.model.expect(looks, held(gate, first, rest, before=1), prompt=marker)
        return gate.set

    async def began(self, marker: str) -> None:
        """The model was asked."""
        await self._cli_env.asked(marker)

    async def kill_agent(self) -> None:
        """With -9."""
        import os
        import signal

        for pid in await anyio.to_thread.run_sync(self._cli_env.agents):
            os.kill(pid, signal.SIGKILL)
