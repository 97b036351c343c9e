"""How a CLI wants the two hooks of the file bridge, as each driver that has them says."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from farhand.drivers.wires.foreign_json import JsonObject


@dataclass(frozen=True)
class BridgeHooks:
    """Where a project's settings are, which events begin and end a turn, and how another turn is asked for."""

    settings: str
    before: str
    after: str
    # In the CLI's own unit.
    timeout: int
    decision: str
    # What stands in the input box on a screen of the CLI; None where a prompt cannot be typed now.
    read_box: Callable[[str], str | None]
    # The transcript's records in which the agent speaks, where the payload does not say it rightly.
    records: str = "-"
    # Whether the hook before a turn also runs for a turn that the hook after one has asked for.
    before_each: bool = False
    matcher: str = ""
    advice: str = ""

    def groups(self, interpreter: str, program: Path, folder: Path) -> dict[str, list[JsonObject]]:
        """What is merged into the settings."""
        before, after = self.commands(interpreter, program, folder)
        return {self.before: [self._group(before)], self.after: [self._group(after)]}

    def commands(self, interpreter: str, program: Path, folder: Path) -> tuple[str, str]:
        """What the CLI's shell runs before a turn, and after it."""
        tells = () if self.before_each else ("tells",)
        begins = ("before", self.before, str(folder))
        ends = ("after", self.after, str(folder), self.decision, self.records, *tells)
        # A program that is gone must not stop the agent: some CLIs take exit code 2 for a refusal.
        return (
            shlex.join([interpreter, "-I", "-S", str(program), *begins]) + " || true",
            shlex.join([interpreter, "-I", "-S", str(program), *ends]) + " || true",
        )

    def _group(self, command: str) -> JsonObject:
        hook: JsonObject = {"type": "command", "command": command, "timeout": self.timeout}
        return {**({"matcher": self.matcher} if self.matcher else {}), "hooks": [hook]}


def box_on(screen: str, event: str, hooks: Iterable[BridgeHooks]) -> str | None:
    """What stands in the input box of the CLI that calls the event before a turn so; None when none can be read.

    Where CLIs share that word, or none was told, what any of them would take for typed text counts."""
    found = (one.read_box(screen) for one in hooks if event in ("", one.before))
    boxes = [box for box in found if box is not None]
    return "".join(boxes) if boxes else None
