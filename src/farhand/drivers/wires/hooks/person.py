"""How our hooks get into a person's own settings of a CLI, as each driver that can have them says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from farhand.drivers.wires.foreign_json import JsonObject

HookGroups: TypeAlias = dict[str, list[JsonObject]]


@dataclass(frozen=True)
class HookPrograms:
    """What hooks run: the interpreter, the program that brings answers, the one that reports and asks, if wanted."""

    interpreter: str
    answers: Path
    events: Path | None = None
    ask_seconds: float = 0.0


@dataclass(frozen=True)
class PersonHooks:
    """Where the settings are, for the person and for a project, and what is put there."""

    settings: Callable[[Mapping[str, str]], Path]
    project: str
    # What the CLI would tell the hook about an answer, to try it with; it may leave a transcript in the folder.
    sample: Callable[[Path, str], JsonObject]
    # Groups that are merged into the settings, or a file that is ours as a whole.
    groups: Callable[[HookPrograms], HookGroups] | None = None
    whole_file: Callable[[HookPrograms], str] | None = None
    # Whether hooks that report and ask can be installed, too; whether the programs stand beside the settings.
    has_events: bool = False
    programs_beside: bool = False
    # Words for the program that brings answers.
    words: tuple[str, ...] = ()
    advice: str = ""
