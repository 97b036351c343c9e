"""Hooks of ours in a person's own Claude Code settings: where those are, and what is merged into them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from farhand.drivers.claude.launch import ClaudePaths, answer_groups, installed_groups
from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.hooks.person import HookGroups, HookPrograms, PersonHooks


def settings_file(environment: Mapping[str, str]) -> Path:
    """The settings that every session of this person reads."""
    return ClaudePaths.of(environment).config / "settings.json"


def groups(programs: HookPrograms) -> HookGroups:
    """The Stop hook that posts answers and, with a program for events, those that report and ask."""
    events = programs.events
    wanted = installed_groups(programs.interpreter, events, programs.ask_seconds) if events else {}
    answers = answer_groups(programs.interpreter, programs.answers)
    return {**wanted, "Stop": [*wanted.get("Stop", []), *answers["Stop"]]}


def sample(folder: Path, answer: str) -> JsonObject:
    """A transcript with one exchange in it, and what names it."""
    transcript = folder / "transcript.jsonl"
    asked = {"type": "user", "message": {"role": "user", "content": "farhand hook test"}, "uuid": answer}
    said = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": answer}]}}
    transcript.write_text(f"{json.dumps(asked)}\n{json.dumps(said)}\n", "utf-8")
    return {"hook_event_name": "Stop", "transcript_path": str(transcript)}


HOOKS = PersonHooks(
    settings=settings_file,
    project=".claude/settings.local.json",
    sample=sample,
    groups=groups,
    has_events=True,
    programs_beside=True,
)
