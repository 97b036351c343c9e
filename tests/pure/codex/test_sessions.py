"""What Codex's own files tell of a conversation: its folder, and how its last turn was run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from farhand.disk.head_tail import HeadAndTail
from farhand.drivers.codex.sessions import session_of
from farhand.model.words import Mode

RECORDED = (Path(__file__).parent / "recordings" / "rollout-tools.jsonl").read_bytes().splitlines()


def turn(approval: str, sandbox: str, *, plans: bool = False, model: str = "gpt-5") -> bytes:
    """How a turn was run, as Codex writes it before the turn."""
    context = {
        "approval_policy": approval,
        "sandbox_policy": {"type": sandbox},
        "collaboration_mode": {"mode": "plan" if plans else "default"},
        "model": model,
    }
    return json.dumps({"type": "turn_context", "payload": context}).encode()


@pytest.mark.parametrize(
    ("last", "mode"),
    [
        (turn("never", "danger-full-access"), Mode.YOLO),
        (turn("on-request", "danger-full-access"), Mode.DEFAULT),
        (turn("on-request", "workspace-write"), Mode.AUTO_EDIT),
        (turn("untrusted", "workspace-write"), Mode.DEFAULT),
        (turn("on-request", "read-only"), Mode.DEFAULT),
        (turn("never", "danger-full-access", plans=True), Mode.PLAN),
        (turn("", ""), ""),
    ],
)
def test_mode_and_model_are_those_of_the_last_turn(last: bytes, mode: str) -> None:
    lines = (*RECORDED, turn("never", "danger-full-access", model="older"), last)
    found = session_of(HeadAndTail(lines, lines))
    assert found is not None
    assert (found.mode, found.model, found.directory) == (mode, "gpt-5", "/home/dev/project")
