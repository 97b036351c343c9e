"""What a session is set up with before its first turn: additions, hooks, policies, opening message, recording."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.sdk.protocols import Content, HookSystem, NoHooks
from farhand.sdk.recording import session_path

if TYPE_CHECKING:
    from farhand.sdk.additions import Additions
    from farhand.sdk.policies.guard import Guard
    from farhand.sdk.session import Session


def load_session_additions(session: Session) -> Additions:
    """Skills, subagents and extensions; a subagent has its parent's."""
    from farhand.sdk.additions import Additions, load_additions

    settings = session.agent.load_settings()
    if session.parent is None or session.agent.loads_additions:
        return load_additions(session.agent, settings)
    # A subagent has its parent's tools already; the hooks and rules that hold for them go with it.
    inherited = session.parent.additions
    return Additions(inherited.settings, hooks=inherited.hooks, rules=inherited.rules)


def load_session_hooks(session: Session) -> tuple[HookSystem, Sequence[str]]:
    """The hooks of the agent, its additions and its settings, and warnings about what cannot be used."""
    given = (*session.agent.hooks, *session.additions.hooks)
    if not given and not session.settings.get("hooks"):
        return NoHooks(), ()
    from farhand.sdk.hooks import load_hooks

    hooks = load_hooks(given, session.settings, session.cwd, session.environ)
    return hooks, hooks.warnings


def load_guard(session: Session) -> Guard | None:
    """What the policies decide; None when there are none, so that their engine is not loaded."""
    from farhand.sdk.policy_check import is_guarded

    if not is_guarded(session.agent, session.settings) and not session.additions.rules:
        return None
    from farhand.sdk.policies.guard import Guard

    return Guard(session, session.additions.rules)


def recording_path(session: Session) -> Path:
    """Where a new session is recorded; a subagent's recording lies under its parent's."""
    if session.parent is None:
        return session_path(session.folder, session.id)
    return session.folder / "chats" / session.parent.id / f"{session.id}.jsonl"


def opening(session: Session) -> list[Content]:
    """The first message of the conversation: date, folder, its tree and the project's memory."""
    from farhand.sdk.first_message import directory_tree, session_context

    if not session.agent.loads:
        return []
    wanted = session.settings.get("context.includeDirectoryTree", True) is not False
    tree = directory_tree(session.cwd) if wanted else ""
    now = datetime.now().astimezone()
    return [session_context(session.cwd, session.memory.project_text, now, session.folder, tree)]
