"""Hooks as a person writes them by hand: each posts what it is given to the node, and keeps what it was answered."""

from __future__ import annotations

import re
import shlex
from pathlib import Path


def endpoint(port: int, backend: str, event: str) -> str:
    """Where the hook of an event is posted."""
    return f"http://127.0.0.1:{port}/api/hooks/{backend}/{kebab(event)}"


def kebab(event: str) -> str:
    """`BeforeTool` as an address has it, `before-tool`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", event).lower()


def posts(port: int, backend: str, event: str, answers: Path) -> str:
    """A shell command for a hook: the answer is added to a file, a line each, behind its event."""
    post = ["curl", "-s", "-m", "5", "-X", "POST", "-H", "Content-Type: application/json", "-d", "@-"]
    words = shlex.join([*post, endpoint(port, backend, event)])
    return f'printf "%s %s\\n" {event} "$({words})" >> {shlex.quote(str(answers))}'


def answered(answers: Path) -> list[tuple[str, str]]:
    """Every event that was posted, with its answer."""
    lines = answers.read_text().splitlines() if answers.exists() else []
    return [(event, answer) for event, _, answer in (line.partition(" ") for line in lines)]
