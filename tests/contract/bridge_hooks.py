"""A project with the file bridge's hooks, run as an agent CLI runs them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from farhand.bridge.hook.rules import INBOX, OUTBOX, READ, BridgeMessage, encode, new_message
from farhand.bridge.place import place_program
from farhand.hooks.install import interpreter
from farhand.manifests import bridge_hooks

SAFETY_SECONDS = 120.0


class HookedProject:
    """The two files, and the two hooks of one CLI."""

    def __init__(self, folder: Path, backend: str) -> None:
        self.folder = folder / ".gemini"
        self.folder.mkdir(exist_ok=True)
        self.inbox, self.outbox = self.folder / INBOX, self.folder / OUTBOX
        self.hooks = bridge_hooks()[backend]
        program = place_program(folder / "programs")
        self.commands = self.hooks.commands(interpreter(), program, self.folder)

    def run(self, command: str, payload: bytes) -> subprocess.CompletedProcess[bytes]:
        """One run, with almost no environment."""
        return subprocess.run(
            ["/bin/sh", "-c", command],
            input=payload,
            capture_output=True,
            check=False,
            timeout=SAFETY_SECONDS,
            env={"PATH": os.environ["PATH"]},
        )

    def before(self, payload: bytes = b"{}") -> dict[str, Any]:
        """The hook before a turn: what it printed, which must be one object and nothing else."""
        return self._answer(self.run(self.commands[0], payload))

    def after(self, said: str = "", payload: bytes = b"") -> dict[str, Any]:
        """The hook after a turn in which the agent said this."""
        given = json.dumps({"prompt_response": said, "last_assistant_message": said}).encode()
        return self._answer(self.run(self.commands[1], payload or given))

    def _answer(self, done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
        assert done.returncode == 0
        answer = json.loads(done.stdout)
        assert isinstance(answer, dict)
        return answer

    def context(self) -> str:
        """What the hook before a turn tells the agent."""
        answer = self.before()
        return str(answer["hookSpecificOutput"]["additionalContext"]) if answer else ""

    def write(self, *texts: str) -> None:
        """A person's messages, as a foreign bot puts them in: read, added to, renamed."""
        found = read(self.inbox)
        made = [
            new_message("msg", "user", text, 1_800_000_000.0, f"{len(found)}-{index}", READ)
            for index, text in enumerate(texts)
        ]
        temporary = self.inbox.with_name(f"{INBOX}.tmp")
        temporary.write_bytes(encode([*found, *made]))
        temporary.rename(self.inbox)

    def said(self) -> list[str]:
        """The texts in the outbox."""
        return [str(one["text"]) for one in read(self.outbox)]


def read(path: Path) -> list[BridgeMessage]:
    """The messages of a file, as a foreign script reads it."""
    if not path.exists():
        return []
    found = json.loads(path.read_text("utf-8"))["messages"]
    assert isinstance(found, list)
    return found
