"""Our Stop hook in a person's own Codex: where its hooks are, and what is merged into them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from farhand.drivers.codex.launch import home
from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.hooks.command import hook_command
from farhand.drivers.wires.hooks.person import HookGroups, HookPrograms, PersonHooks

TIMEOUT_SECONDS = 20
WORDS = ("words",)


def settings_file(environment: Mapping[str, str]) -> Path:
    """The hooks that every session of this person has."""
    return home(environment) / "hooks.json"


def groups(programs: HookPrograms) -> HookGroups:
    """The hook at the end of a turn; Codex itself tells it what was said."""
    command = hook_command(programs.interpreter, programs.answers, *WORDS)
    return {"Stop": [{"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}]}]}


def sample(folder: Path, answer: str) -> JsonObject:
    """What Codex would tell the hook."""
    told = {"session_id": "test", "turn_id": answer, "last_assistant_message": answer}
    return {"hook_event_name": "Stop", "transcript_path": str(folder / "rollout.jsonl"), **told}


HOOKS = PersonHooks(
    settings=settings_file,
    project=".codex/hooks.json",
    sample=sample,
    groups=groups,
    words=WORDS,
    advice="Codex asks at its next start whether this hook is trusted: trust it, or it does not run.",
)
