"""Finds skills on disk, in the CLI's folders and order. One that cannot be used costs that one, and is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.sdk.frontmatter import BadHead, read_head

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.settings import AgentSettings

FILE = "SKILL.md"
_UNUSABLE = re.compile(r'[:\\/<>*?"|]')


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill: what it is for, what it says, and where its files are."""

    name: str
    description: str
    body: str
    folder: Path


def find_skills(
    agent: Agent, settings: AgentSettings, extensions: Iterable[Path], own: Iterable[Path], complaints: list[str]
) -> dict[str, Skill]:
    """The skills of a session by name. Where two have one name, the later folder wins."""
    if settings.get("skills.enabled") is False:
        return {}
    disabled = {str(name).lower() for name in settings.get("skills.disabled") or ()}
    found: dict[str, Skill] = {}
    for root in [*extensions, *_folders(agent, settings), *own]:
        for skill in read_skills(root, complaints):
            if skill.name.lower() not in disabled:
                found[skill.name] = skill
    return found


def _folders(agent: Agent, settings: AgentSettings) -> list[Path]:
    if not agent.loads:
        return []
    folders = [agent.home / ".gemini" / "skills", agent.home / ".agents" / "skills"]
    if settings.trusted:
        folders += [agent.cwd / ".gemini" / "skills", agent.cwd / ".agents" / "skills"]
    return folders


def read_skills(root: Path, complaints: list[str]) -> Iterator[Skill]:
    """The skill that a folder is, and those that its sub-folders are."""
    for file in [root / FILE, *sorted(root.glob(f"*/{FILE}"))]:
        if not file.is_file():
            continue
        try:
            yield _skill(file)
        except (OSError, UnicodeDecodeError, BadHead) as error:
            complaints.append(f"{file} is no skill: {error}")


def _skill(file: Path) -> Skill:
    head, body = read_head(file.read_text("utf-8"))
    name, description = head.get("name"), head.get("description")
    if not isinstance(name, str) or not name.strip() or not isinstance(description, str) or not description.strip():
        raise BadHead("its head needs a name and a description.")
    return Skill(_UNUSABLE.sub("-", name.strip()), description.strip(), body, file.parent.resolve())
