"""`codex exec` called once for a message, in the session that the worker had before. Pure."""

from __future__ import annotations

import math

import msgspec

from farhand.drivers.wires.oneshot.spec import OneshotCli, OneshotOutput, as_argument, last_line, parsed


class _Item(msgspec.Struct):
    type: str = ""
    text: str = ""


class _CodexFailure(msgspec.Struct):
    message: str = ""


class _CodexLine(msgspec.Struct):
    type: str = ""
    thread_id: str = ""
    item: _Item | None = None
    error: _CodexFailure | None = None
    message: str = ""


def words(message: str, directory: str, session: str) -> list[str]:
    """The command line; without `--skip-git-repo-check` it would not work outside a repository."""
    resumed = ["resume", session] if session else []
    return ["exec", "--json", "--yolo", "--skip-git-repo-check", "-C", directory, *resumed, as_argument(message)]


def read(output: str, errors: str) -> OneshotOutput:
    """All that the agent said, the thread's id, and why the turn failed, if it did."""
    lines = [line for raw in output.splitlines() if (line := parsed(raw, _CodexLine)) is not None]
    items = [line.item for line in lines if line.type == "item.completed" and line.item]
    said = [item.text for item in items if item.type == "agent_message" and item.text]
    thread = next((line.thread_id for line in lines if line.type == "thread.started"), "")
    failed = [line.error.message for line in lines if line.type == "turn.failed" and line.error]
    return OneshotOutput("\n\n".join(said), thread, failed[-1] if failed else last_line(errors))


ADAPTER = OneshotCli(
    source="codex",
    title="Codex",
    words=words,
    read=read,
    session_file="codex_session_id",
    lost="no rollout found",
    # It may work as long as it needs.
    limit_seconds=math.inf,
)
