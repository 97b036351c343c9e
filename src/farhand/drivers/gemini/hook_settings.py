"""Our hook at the end of a turn in a person's own Gemini CLI settings, which may have comments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.hooks.command import hook_command
from farhand.drivers.wires.hooks.person import HookGroups, HookPrograms, PersonHooks

TIMEOUT_MILLISECONDS = 20_000
# The records of its transcript in which it speaks.
WORDS = ("gemini",)


def settings_file(environment: Mapping[str, str]) -> Path:
    """The settings that every session of this person reads."""
    return Path(environment.get("GEMINI_CLI_HOME") or environment.get("HOME", "/")) / ".gemini" / "settings.json"


def groups(programs: HookPrograms) -> HookGroups:
    """The hook after a turn. The answer is in the transcript: what the CLI tells the hook of it is doubled."""
    command = hook_command(programs.interpreter, programs.answers, *WORDS)
    hook: JsonObject = {"name": "farhand", "type": "command", "command": command, "timeout": TIMEOUT_MILLISECONDS}
    return {"AfterAgent": [{"matcher": "*", "hooks": [hook]}]}


def sample(folder: Path, answer: str) -> JsonObject:
    """What Gemini CLI would tell the hook, and its transcript."""
    transcript = folder / "session.jsonl"
    asked = {"id": answer, "type": "user", "content": [{"text": "farhand hook test"}]}
    said = {"id": "2", "type": "gemini", "content": answer}
    transcript.write_text(f"{json.dumps(asked)}\n{json.dumps(said)}\n", "utf-8")
    return {"hook_event_name": "AfterAgent", "transcript_path": str(transcript)}


HOOKS = PersonHooks(
    settings=settings_file,
    project=".gemini/settings.json",
    sample=sample,
    groups=groups,
    words=WORDS,
    advice="Gemini CLI runs it in trusted folders, from its next start on.",
)
