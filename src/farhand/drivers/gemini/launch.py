"""How the Gemini CLI is started: its command lines, its variables, and a home that leaves the person's own alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from farhand.disk.atomic import write_private
from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.hooks.command import hook_command
from farhand.drivers.wires.manifest import read_manifest
from farhand.drivers.wires.preflight import program_path
from farhand.model.errors import DriverError
from farhand.model.words import Mode
from farhand.sdk.projects import project_folder

MANIFEST: Final = read_manifest("farhand.drivers.gemini")
SETTINGS = "settings.json"
# Hooks by their events, as the CLI's settings want them.
GeminiHookGroups: TypeAlias = Mapping[str, Sequence[object]]


class GeminiPaths(msgspec.Struct, frozen=True):
    """Where the CLI keeps its things: the person's own home, and the one that a node's workers see."""

    home: Path
    view: Path

    @staticmethod
    def of(environment: Mapping[str, str], folder: Path) -> GeminiPaths:
        """The person's home as GEMINI_CLI_HOME or HOME say; the view of it in the node's folder."""
        return GeminiPaths(Path(environment.get("GEMINI_CLI_HOME") or environment.get("HOME", "/")), folder)

    @property
    def kept(self) -> Path:
        """The person's own `.gemini`."""
        return self.home / ".gemini"


def agent_variables(own: Mapping[str, str]) -> dict[str, str]:
    """What of the node's variables the CLI needs to reach its model."""
    prefixes, names = tuple(MANIFEST["prefixes"]), MANIFEST["variables"]
    return {name: value for name, value in own.items() if name in names or name.startswith(prefixes)}


def found(environment: Mapping[str, str]) -> str:
    """Where the CLI is; raises AgentMissing with what to do about it."""
    return program_path(MANIFEST["program"], MANIFEST["install"], environment)


def variables(places: GeminiPaths) -> dict[str, str]:
    """What the CLI itself must find in its environment."""
    return {"GEMINI_CLI_HOME": str(places.view), "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def terminal_line(program: str, mode: Mode, model: str, session: str, *, resume: bool) -> list[str]:
    """The CLI in its terminal, with its session's id chosen by us."""
    chosen = ["--model", model] if model else []
    return [program, "--approval-mode", argument(mode), *chosen, *known(session, resume=resume)]


def turn_line(program: str, mode: str, model: str, session: str, *, resume: bool) -> list[str]:
    """The CLI for one turn; its message is added behind."""
    chosen = ["--model", model] if model else []
    return [program, "-o", "stream-json", "--approval-mode", mode, *chosen, *known(session, resume=resume)]


def argument(mode: Mode) -> str:
    """A mode as the command line calls it."""
    return str(MANIFEST["modes"][mode.value]["argument"])


def known(session: str, *, resume: bool) -> list[str]:
    """Which session it is to be: one that there is, or a new one by that id."""
    return ["--resume" if resume else "--session-id", session]


def hook_groups(interpreter: str, program: Path) -> dict[str, list[JsonObject]]:
    """Our hooks, as the CLI's settings want them."""
    return {event: [{"hooks": [_hook(interpreter, program, event)]}] for event in MANIFEST["hooks"]}


def _hook(interpreter: str, program: Path, event: str) -> JsonObject:
    command = hook_command(interpreter, program, "report", event)
    return {"type": "command", "name": "farhand", "command": command, "timeout": MANIFEST["hook_milliseconds"]}


def prepare(
    places: GeminiPaths,
    directory: Path,
    environment: Mapping[str, str],
    hooks: GeminiHookGroups,
    excluded: Sequence[str] = (),
) -> None:
    """Makes the home that workers see: the person's own, thing by thing, but for the settings, which are a copy.

    The CLI takes settings from nowhere else that an ordinary person may write to and that is not theirs.
    """
    # The CLI would write its list of projects anew, and what was a link would then be a file.
    project_folder(directory, places.home)
    target = places.view / ".gemini"
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    for entry in places.kept.iterdir():
        if entry.name != SETTINGS:
            _link(target / entry.name, entry)
    if (places.home / ".env").exists():
        _link(places.view / ".env", places.home / ".env")
    settings = session_settings(_person(places.kept / SETTINGS), environment, hooks, excluded)
    write_private(target / SETTINGS, msgspec.json.format(msgspec.json.encode(settings), indent=2))


def session_settings(
    own: Mapping[str, object], environment: Mapping[str, str], hooks: GeminiHookGroups, excluded: Sequence[str] = ()
) -> JsonObject:
    """The person's settings with ours over them, our hooks beside theirs, and the way in that their variables name."""
    settings = _without_tools(_over(_over(_signed_in(environment), own), MANIFEST["settings"]), excluded)
    theirs = settings.get("hooks")
    present = theirs if isinstance(theirs, dict) else {}
    merged = {event: [*_listed(present.get(event)), *groups] for event, groups in hooks.items()}
    return {**settings, "hooks": {**present, **merged}} if hooks else settings


def _without_tools(settings: JsonObject, excluded: Sequence[str]) -> JsonObject:
    """The settings with these tools taken away, beside those that the person took away."""
    if not excluded:
        return settings
    theirs = settings.get("tools")
    tools = theirs if isinstance(theirs, dict) else {}
    return {**settings, "tools": {**tools, "exclude": [*_listed(tools.get("exclude")), *excluded]}}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _signed_in(environment: Mapping[str, str]) -> JsonObject:
    """What the CLI would ask in a dialog: with which account."""
    if environment.get("GEMINI_API_KEY"):
        way = "gemini-api-key"
    elif environment.get("GOOGLE_GENAI_USE_VERTEXAI") == "true" or environment.get("GOOGLE_API_KEY"):
        way = "vertex-ai"
    else:
        return {}
    return {"security": {"auth": {"selectedType": way}}}


def _over(low: Mapping[str, object], high: Mapping[str, object]) -> JsonObject:
    both = {**low, **high}
    for name, value in high.items():
        below = low.get(name)
        if isinstance(value, dict) and isinstance(below, dict):
            both[name] = _over(below, value)
    return both


def _person(path: Path) -> JsonObject:
    # Not at every start of a node: it loads much, and only an agent that is started needs it.
    from farhand.sdk.settings import SettingsError, parse_settings

    try:
        return parse_settings(path.read_text("utf-8"), path)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, SettingsError) as error:
        raise DriverError(f"Gemini CLI's settings cannot be read: {error}") from error


def _link(link: Path, target: Path) -> None:
    """A link to the person's own, unless the CLI has made something of its own there."""
    if link.is_symlink() and link.readlink() != target:
        link.unlink()
    if not link.exists() and not link.is_symlink():
        link.symlink_to(target)
