"""Hooks of ours in a person's own Claude Code settings: where those are, and what is merged into them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from farhand.drivers.claude.launch import ClaudePaths, answer_groups, installed_groups
from farhand.drivers.wires.foreign_json import JsonObject


def settings_file(environment: Mapping[str, str]) -> Path:
    """The settings that every session of this person reads."""
    return ClaudePaths.of(environment).config / "settings.json"


def groups(interpreter: str, answers: Path, events: Path | None, ask_seconds: float) -> dict[str, list[JsonObject]]:
    """The Stop hook that posts answers and, with a program for events, those that report and ask."""
    wanted = installed_groups(interpreter, events, ask_seconds) if events else {}
    return {**wanted, "Stop": [*wanted.get("Stop", []), *answer_groups(interpreter, answers)["Stop"]]}


def sample_transcript(prompt: str, answer: str) -> str:
    """A transcript with one exchange in it, to try the hook with."""
    import json

    asked = {"type": "user", "message": {"role": "user", "content": prompt}, "uuid": answer}
    said = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": answer}]}}
    return f"{json.dumps(asked)}\n{json.dumps(said)}\n"
