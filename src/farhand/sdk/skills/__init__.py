"""Skills: folders with instructions, files and tools that the model takes up when it needs them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["SkillDir", "skill_dir"]


@dataclass(frozen=True, slots=True)
class SkillDir:
    """A folder that is a skill, or holds skills in its sub-folders."""

    path: Path


def skill_dir(path: str | Path) -> SkillDir:
    """Names a folder of skills: `Agent(skills=[skill_dir("./my-skill")])`. It is read when a session begins."""
    return SkillDir(Path(path).expanduser())
