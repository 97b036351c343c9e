"""Offers skills to the model: a list in its instructions, `activate_skill`, and the tools of what was activated."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from farhand.sdk import wire
from farhand.sdk.context import live
from farhand.sdk.first_message import directory_tree
from farhand.sdk.protocols import Content, SessionContext, Tool, ToolCall, ToolResult
from farhand.sdk.skills.read import Skill

MOST_FILES = 200


class Skills:
    """The skills of one session, and which of them are active."""

    def __init__(self, skills: Mapping[str, Skill]) -> None:
        self._skills = dict(skills)
        self._tools: dict[str, Tool] = {}
        self._looked_back = False

    async def tools(self, context: SessionContext) -> Sequence[Tool]:
        """`activate_skill`, and the tools of the active skills."""
        for name in self._activated_before(context):
            self.activate(self._skills[name], context)
        return [ActivateSkill(self._skills, self), *self._tools.values()] if self._skills else []

    async def instructions(self, context: SessionContext) -> str:  # noqa: ARG002
        """Which skills there are. Their own instructions come when they are activated."""
        if not self._skills:
            return ""
        listed = [
            f"<skill><name>{escape(skill.name)}</name><description>{escape(skill.description)}</description></skill>"
            for skill in self._skills.values()
        ]
        opening = (
            "# Skills\n\nThese skills hold instructions and files for particular tasks. When a task is one of theirs, "
            "call activate_skill first and follow what it says."
        )
        return "\n".join([opening, "<available_skills>", *listed, "</available_skills>"])

    async def close(self) -> None:
        """Nothing is held open."""

    def _activated_before(self, context: SessionContext) -> list[str]:
        """The skills that the transcript of a resumed session shows as active; told once."""
        if self._looked_back:
            return []
        self._looked_back = True
        return [name for name in dict.fromkeys(_taken_up(context.session.restored)) if name in self._skills]

    def activate(self, skill: Skill, context: SessionContext) -> list[str]:
        """Opens a skill's folder for reading and takes up its tools; returns what was wrong with those."""
        live(context).workspace.open_for_reading(skill.folder)
        complaints: list[str] = []
        for tool in _tools_of(skill, complaints):
            self._tools[tool.name] = tool
        return complaints


class ActivateSkill:
    """The tool by which the model takes up a skill."""

    name = "activate_skill"
    description = "Takes up a skill: gives its instructions and the list of its files, which can then be read."
    kind = "other"

    def __init__(self, skills: Mapping[str, Skill], owner: Skills) -> None:
        self._skills = skills
        self._owner = owner
        names = {"type": "string", "enum": sorted(skills), "description": "The skill's name."}
        self.parameters: dict[str, Any] = {"type": "object", "properties": {"name": names}, "required": ["name"]}

    async def run(self, arguments: dict[str, Any], context: SessionContext) -> ToolResult:
        """The skill's instructions and files."""
        skill = self._skills.get(str(arguments.get("name")))
        if skill is None:
            known = ", ".join(sorted(self._skills))
            return ToolResult(error=f"There is no skill {arguments.get('name')!r}. Known: {known}.")
        complaints = self._owner.activate(skill, context)
        more = "".join(f"\n  <problem>{escape(complaint)}</problem>" for complaint in complaints)
        content = (
            f'<activated_skill name="{escape(skill.name)}">\n'
            f"  <instructions>\n    {skill.body}\n  </instructions>\n\n"
            f"  <available_resources>\n    {directory_tree(skill.folder, MOST_FILES)}\n  </available_resources>{more}\n"
            "</activated_skill>"
        )
        return ToolResult(content=content, display=f"The skill {skill.name} is active.")


def _taken_up(contents: Sequence[Content]) -> Iterator[str]:
    """The names in calls of `activate_skill` that were answered, and not with an error.

    An answer is for a call of the message before it. Where two calls of a message share an id, nobody can say whose
    answer it is: then it is nobody's.
    """
    asked: list[ToolCall] = []
    for content in contents:
        asked = wire.calls_of(content) or asked
        for response in wire.responses_of(content):
            meant = [call for call in asked if call.id == str(response.get("id"))]
            worked = "error" not in (response.get("response") or {})
            if worked and len(meant) == 1 and meant[0].name == ActivateSkill.name:
                yield str(meant[0].arguments.get("name"))


def _tools_of(skill: Skill, complaints: list[str]) -> Iterator[Tool]:
    """The tools in a skill's folder `tools`: whatever `@tool` made in its Python files."""
    for file in sorted((skill.folder / "tools").glob("*.py")):
        try:
            module = _module(skill, file)
        except Exception as error:  # noqa: BLE001 - a skill's tools are foreign code
            complaints.append(f"{file.name} has no usable tools: {type(error).__name__}: {error}")
            continue
        values: list[Any] = [*module.__dict__.values()]
        yield from (each for each in values if isinstance(each, Tool) and not isinstance(each, type))


def _module(skill: Skill, file: Path) -> Any:
    name = f"farhand_skill_{abs(hash(skill.folder)):x}_{file.stem}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module
