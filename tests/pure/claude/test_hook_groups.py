"""Which hooks of Claude Code go over the node's port, where anybody can answer while the node is down."""

from __future__ import annotations

import json
from pathlib import Path

from farhand.drivers.claude.launch import HookAddress, hook_groups

# Claude Code takes nothing from the answer to these but what is displayed.
WITHOUT_AN_ANSWER = {"SessionEnd", "MessageDisplay", "StopFailure"}


def kinds(door: HookAddress | None) -> dict[str, str]:
    """How each event is told."""
    groups = hook_groups("python", Path("/node/hook.py"), 60.0, door)
    return {event: json.dumps(group).split('"type": "')[1].split('"')[0] for event, group in groups.items()}


def test_only_what_takes_no_answer_is_posted() -> None:
    posted = {event for event, kind in kinds(HookAddress("http://127.0.0.1:1", "key")).items() if kind == "http"}
    assert posted == WITHOUT_AN_ANSWER


def test_without_a_port_nothing_is_posted() -> None:
    assert set(kinds(None).values()) == {"command"}
