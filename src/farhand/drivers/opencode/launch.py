"""How OpenCode is started: its command lines, its environment, and what a worker's mode lets it do without asking."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from farhand.drivers.wires import preflight
from farhand.model.errors import DriverError
from farhand.model.present import Worker
from farhand.model.words import Mode

PLAN_AGENT = "plan"
WORK_AGENT = "build"
LOOPBACK = "127.0.0.1"
EVERY_TOOL = "*"
# Configuration in a variable: it stands above every file.
CONTENT = "OPENCODE_CONFIG_CONTENT"
# What a tool may do: one word for all of it, or words by patterns, of which the last that fits decides.
ToolLeave: TypeAlias = str | dict[str, str]


class OpenCodeManifest(msgspec.Struct, frozen=True):
    """The driver's manifest."""

    backend: str
    program: str
    tested: str
    install: str
    passed: frozenset[str]
    passed_prefixes: tuple[str, ...]
    # Names of variants of a model, the least effort first; which of them a model has is its provider's.
    efforts: tuple[str, ...]
    # The CLI's own agents, by which the person's configuration may give leave.
    agents: tuple[str, ...]
    # By mode, then by tool: allow, ask or deny, or these by a pattern.
    modes: dict[str, dict[str, ToolLeave]]
    titles: dict[str, str]
    # What it reads in the folder that it works in.
    folder: dict[str, list[str]]


MANIFEST: Final = msgspec.convert(
    tomllib.loads(files(__package__).joinpath("manifest.toml").read_text("utf-8")), OpenCodeManifest
)

# --- command lines


def program(environment: Mapping[str, str]) -> str:
    """The CLI's path; raises AgentMissing when it is not installed."""
    return preflight.program_path(MANIFEST.program, MANIFEST.install, environment)


def directory_of(worker: Worker) -> str:
    """The worker's folder with symbolic links resolved; raises DriverError when there is none."""
    return str(preflight.workplace(worker))


def resolved_directory(worker: Worker) -> str:
    """The same, whether it is there or not."""
    return str(Path(worker.directory).resolve())


def server_line(program: str) -> list[str]:
    """The server without a terminal; it chooses its port and prints it."""
    return [program, "serve", "--hostname", LOOPBACK, "--port", "0"]


def terminal_line(program: str, port: int, session: str) -> list[str]:
    """The CLI in its terminal, with its server on that port; an empty session begins a new one."""
    return [program, "--hostname", LOOPBACK, "--port", str(port), *_resume(session)]


def turn_arguments(mode: Mode, model: str, session: str, pictures: Sequence[str], effort: str = "") -> list[str]:
    """The CLI's arguments for one turn; it reads the message from its standard input."""
    chosen = ["--model", model] if model else []
    chosen += ["--variant", effort] if effort else []
    agent = ["--agent", PLAN_AGENT] if mode is Mode.PLAN else []
    # It takes every argument after it for a file.
    attached = ["--file", *pictures] if pictures else []
    return ["run", "--format", "json", "--thinking", *chosen, *agent, *_resume(session), *attached]


def _resume(session: str) -> list[str]:
    return ["--session", session] if session else []


# --- environment


def passed_on(own: Mapping[str, str]) -> dict[str, str]:
    """What of the node's variables OpenCode needs to reach its models, and what a person has chosen to give it."""
    chosen = own.get("FARHAND_OPENCODE_PASS", "").replace(",", " ").split()
    return {
        name: value
        for name, value in own.items()
        if name in chosen or name in MANIFEST.passed or name.startswith(MANIFEST.passed_prefixes)
    }


def variables(mode: Mode, own: Mapping[str, str], password: str = "") -> dict[str, str]:
    """What OpenCode itself must find in its environment; the mode stands above the person's own configuration.

    Sessions that the agent starts for its subagents know only this, so that they ask, too. What the person lets a
    single agent do would stand above that: only configuration in a variable is read after it.
    """
    return {
        # Nothing of the agent's own program may change while a worker uses it.
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_PERMISSION": msgspec.json.encode(permissions(mode)).decode(),
        CONTENT: _configuration(mode, own.get(CONTENT, "")),
        **({"OPENCODE_SERVER_PASSWORD": password} if password else {}),
    }


def _configuration(mode: Mode, own: str) -> str:
    """The person's configuration in a variable, if there is one, with the mode's leave for each of the CLI's agents.

    Without snapshots: they let git into every repository below the folder, whose settings may run programs, and a file
    in `.git` says where they are kept."""
    try:
        given = msgspec.json.decode(own or "{}", type=dict[str, object])
        agents = msgspec.convert(given.get("agent", {}), dict[str, dict[str, object]])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise DriverError(f"{CONTENT} cannot be read: {error}") from error
    given = {**given, "snapshot": False}
    if mode is Mode.YOLO:
        return msgspec.json.encode(given).decode()
    held = {name: {**agents.get(name, {}), "permission": permissions(mode)} for name in MANIFEST.agents}
    return msgspec.json.encode({**given, "agent": {**agents, **held}}).decode()


# --- modes


def permissions(mode: Mode) -> dict[str, ToolLeave]:
    """The mode's actions by tool: those of `default`, with its own on top. Whatever is not named asks."""
    return {**MANIFEST.modes["default"], **MANIFEST.modes[mode.value]}


def rules(mode: Mode) -> list[dict[str, str]]:
    """The same as a session's rules, of which the last that fits decides.

    A session can ask, so that it is asked for edits in every mode: the node grants those that stay in the folder.
    """
    leave = permissions(mode)
    if mode is Mode.AUTO_EDIT:
        leave = {**leave, "edit": "ask"}
    return [rule(tool, pattern, action) for tool, one in leave.items() for pattern, action in _patterns(one)]


def _patterns(leave: ToolLeave) -> Iterable[tuple[str, str]]:
    return leave.items() if isinstance(leave, dict) else [("*", leave)]


def rule(tool: str, pattern: str, action: str) -> dict[str, str]:
    """One rule of a session."""
    return {"permission": tool, "pattern": pattern, "action": action}


def has_rules(existing: Sequence[Mapping[str, str]], mode: Mode) -> bool:
    """Whether the mode's rules are the last whole set among these; single ones were allowed since."""
    wanted = rules(mode)
    starts = [number for number, one in enumerate(existing) if one == wanted[0]]
    sets = [number for number, one in enumerate(existing) if one.get("permission") == EVERY_TOOL]
    start = starts[-1] if starts and starts[-1] == sets[-1] else -1
    return start >= 0 and list(existing[start : start + len(wanted)]) == wanted
