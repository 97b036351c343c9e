"""What a session is set up with before its first turn: additions, hooks, policies, opening message, recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.sdk.authority import authorities_of, warnings_of
from farhand.sdk.errors import RecordingTaken
from farhand.sdk.events import Event, Notice
from farhand.sdk.protocols import Content, HookSystem, Memory, NoHooks
from farhand.sdk.recording import is_recorded, session_path

if TYPE_CHECKING:
    from farhand.sdk.additions import Additions
    from farhand.sdk.session import Session


def load_session_additions(session: Session) -> Additions:
    """Skills, subagents and extensions; a subagent has its parent's."""
    from farhand.sdk.additions import Additions, load_additions

    settings = session.agent.load_settings()
    if session.parent is None or not session.is_borrowed:
        return load_additions(session.agent, settings)
    # It has its parent's tools already, and its parent's hooks and rules hold for them.
    return Additions(session.parent.additions.settings)


def furnish(session: Session) -> list[Event]:
    """Gives a session its memory, model, prompt, hooks and rules; returns what the person should know of them."""
    from farhand.sdk.first_message import system_prompt
    from farhand.sdk.memory import load_memory

    agent, settings, additions = session.agent, session.settings, session.additions
    memory = load_memory(agent.cwd, agent.home, settings) if agent.loads else Memory()
    texts = (additions.memory, memory.project_text)
    session.memory = replace(memory, project_text="\n\n".join(text for text in texts if text))
    chosen = session.chosen_model
    session.model, session.model_name = (
        agent.open_model(settings) if chosen is None else agent.open_other(chosen, settings)
    )
    own = agent.system_prompt
    session.system_prompt = system_prompt(session.environ, agent.cwd, agent.environ, agent.home) if own is None else own
    session.hooks, hook_warnings = load_session_hooks(session)
    session.authorities = authorities_of(session)
    warnings = {
        "hooks": hook_warnings,
        "policies": warnings_of(session.authorities, session),
        "resume": session.losses,
        "settings": settings.warnings,
        "extensions": additions.complaints,
    }
    return [Notice(message, source) for source, messages in warnings.items() for message in messages]


def load_session_hooks(session: Session) -> tuple[HookSystem, Sequence[str]]:
    """The hooks of the agent, its additions, its settings and its parent, and warnings about what cannot be used."""
    above = session.parent.hooks if session.parent is not None else NoHooks()
    given = (*session.agent.hooks, *session.additions.hooks)
    if session.is_borrowed or (not given and not session.settings.get("hooks")):
        return above, ()
    from farhand.sdk.hooks import load_hooks

    hooks = load_hooks(given, session.settings, session.cwd, session.environ)
    return hooks.under(above), hooks.warnings


async def fire_start(session: Session, source: str) -> tuple[str, list[Event]]:
    """What SessionStart hooks add to the first prompt, and what they say to the person."""
    if not session.hooks.listens("SessionStart", source):
        return "", []
    outcome = await session.hooks.fire("SessionStart", {"source": source}, session.context)
    notices: list[Event] = [Notice(outcome.system_message, "SessionStart")] if outcome.system_message else []
    return outcome.additional_context or "", notices


def recording_path(session: Session) -> Path:
    """Where a new session is recorded; a subagent's recording lies under its parent's."""
    if session.parent is None:
        if is_recorded(session.folder, session.id):
            raise RecordingTaken(
                f"A session {session.id!r} is recorded already; agent.resume_session(…) goes on with it."
            )
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
