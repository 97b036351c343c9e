"""Reads settings.json in its four tiers, with comments and variables, into one frozen value."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from farhand.sdk.dotenv import EXCLUDED_FROM_PROJECTS, find_dotenv, with_dotenv
from farhand.sdk.errors import SdkError
from farhand.sdk.json_shapes import is_list, is_mapping, is_object
from farhand.sdk.trust import Trust, folder_trust

_COMMENT_OR_STRING = re.compile(r'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{([^}]+?)(?::-([^}]*))?\})")

# How lists of two tiers meet; everything else is replaced by the higher tier.
_CONCATENATED = ("context.includeDirectories", "hooks.*")
_UNITED = (
    "advanced.excludedEnvVars",
    "extensions.disabled",
    "hooksConfig.disabled",
    "policyPaths",
    "adminPolicyPaths",
    "context.fileFiltering.customIgnoreFilePaths",
    "skills.disabled",
    "tools.exclude",
)
# An MCP server of a higher tier replaces the one of the same name whole: half of each would be neither.
_WHOLE = ("mcpServers.*",)


PROJECT = "project"
NOTHING_LOADED = Trust(True, "nothing was loaded")


class SettingsError(SdkError):
    """A settings file that cannot be used. It names the file, the line and what is wrong there."""

    kind = "settings"

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} cannot be used: {why}")
        self.path = path
        self.why = why


@dataclass(frozen=True, slots=True)
class Tier:
    """One settings file: which tier it is, where it lies and what it says."""

    name: str
    path: Path
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Everything that was configured for one folder, with where it came from."""

    raw: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tiers: tuple[Tier, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    trust: Trust = NOTHING_LOADED
    warnings: tuple[str, ...] = ()

    @property
    def trusted(self) -> bool:
        """Whether the folder's own settings, hooks, memory and `.env` count."""
        return self.trust.trusted

    def get(self, path: str, default: Any = None) -> Any:
        """The value at a dotted path such as `model.name`, or the default."""
        return _at(self.raw, path, default)

    def lower_limit(self, path: str, limit: int) -> int:
        """A limit, or the lower one of the settings."""
        configured = self.get(path, -1)
        return min(limit, configured) if isinstance(configured, int) and configured > 0 else limit

    def granted(self, path: str, default: Any = None) -> Any:
        """The same for what gives permission. A project can never permit itself anything: its own file is left out."""
        if not self.tiers:
            return self.get(path, default)
        return _at(_merged([tier.values for tier in self.tiers if tier.name != PROJECT]), path, default)

    def is_project_server(self, name: str) -> bool:
        """Whether an MCP server is the project's: one that it defines anew is no longer what the person trusted."""
        return bool(_server(self.get("mcpServers"), name) != _server(self.granted("mcpServers"), name))

    def demanded(self, path: str) -> tuple[Any, ...]:
        """What each file says of something that takes permission away: no file can take another's word back."""
        # What extensions take away is in the merged values alone.
        said = [_at(values, path) for values in (*(tier.values for tier in self.tiers), self.raw)]
        return tuple(one for place, one in enumerate(said) if one is not None and one not in said[:place])


def home_of(environ: Mapping[str, str]) -> Path:
    """The folder that holds `.gemini`: GEMINI_CLI_HOME, or the person's home."""
    named = environ.get("GEMINI_CLI_HOME") or environ.get("HOME")
    return Path(named) if named else Path.home()


def load_settings(
    cwd: Path | str,
    home: Path | str | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    trust: bool | None = None,
) -> AgentSettings:
    """Reads what counts for a folder. `trust` answers the question of trust instead of `trustedFolders.json`."""
    environ = os.environ if environ is None else environ
    cwd = Path(cwd).absolute()
    home = home_of(environ) if home is None else Path(home)
    defaults, user, system = (_tier(name, path) for name, path in _outer_paths(home, environ))
    outer = _merged([tier.values for tier in (defaults, user, system)])
    verdict = _verdict(cwd, home, environ, outer, trust)
    project = _project_tier(cwd, home, trusted=verdict.trusted)
    dotenv = find_dotenv(cwd, home, trusted=verdict.trusted)
    excluded = _at(outer, "advanced.excludedEnvVars") or EXCLUDED_FROM_PROJECTS
    environment = with_dotenv(environ, dotenv, excluded=excluded)
    tiers = tuple(
        Tier(tier.name, tier.path, expand(tier.values, environment))
        for tier in (defaults, user, project, system)
        if tier.values
    )
    return AgentSettings(
        raw=_merged([tier.values for tier in tiers]),
        tiers=tiers,
        environ=environment,
        trust=verdict,
        warnings=tuple(_warnings(cwd, home, verdict)),
    )


def _outer_paths(home: Path, environ: Mapping[str, str]) -> list[tuple[str, Path]]:
    system_folder = Path("/Library/Application Support/GeminiCli" if sys.platform == "darwin" else "/etc/gemini-cli")
    system = Path(environ.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or system_folder / "settings.json")
    defaults = environ.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH") or system.parent / "system-defaults.json"
    return [
        ("system-defaults", Path(defaults)),
        ("user", home / ".gemini" / "settings.json"),
        ("system", system),
    ]


def _project_tier(cwd: Path, home: Path, *, trusted: bool) -> Tier:
    path = cwd / ".gemini" / "settings.json"
    # At home the two files are one, and it is the user's.
    if not trusted or os.path.realpath(cwd) == os.path.realpath(home):
        return Tier(PROJECT, path, {})
    return _tier(PROJECT, path)


def _verdict(cwd: Path, home: Path, environ: Mapping[str, str], outer: Mapping[str, Any], trust: bool | None) -> Trust:
    if trust is not None:
        return Trust(trust, "the caller said so")
    enabled = _at(outer, "security.folderTrust.enabled") is not False
    return folder_trust(cwd, home, environ, enabled=enabled)


def _warnings(cwd: Path, home: Path, verdict: Trust) -> list[str]:
    found = [verdict.complaint] if verdict.complaint else []
    skipped = [name for name in (".gemini/settings.json", "GEMINI.md", ".env") if (cwd / name).exists()]
    if not verdict.trusted and skipped and os.path.realpath(cwd) != os.path.realpath(home):
        found.append(f"{cwd} is not trusted ({verdict.why}): {', '.join(skipped)} there were not read.")
    return found


def _tier(name: str, path: Path) -> Tier:
    try:
        text = path.read_text("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return Tier(name, path, {})
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(path, str(error)) from error
    return Tier(name, path, parse_settings(text, path))


def parse_settings(text: str, path: Path) -> dict[str, Any]:
    """JSON with `//` and `/* */` comments. An empty file says nothing; anything but an object is refused."""
    plain = _COMMENT_OR_STRING.sub(_blank_comment, text)
    if not plain.strip():
        return {}
    try:
        content: Any = json.loads(plain)
    except ValueError as error:
        raise SettingsError(path, str(error)) from error
    if not is_object(content):
        raise SettingsError(path, f"it should hold a JSON object, and holds {type(content).__name__}")
    return content


def _blank_comment(match: re.Match[str]) -> str:
    found = match[0]
    # Newlines stay, so that an error names the right line.
    return found if found.startswith('"') else re.sub(r"[^\r\n]", " ", found)


def expand(value: Any, environ: Mapping[str, str]) -> Any:
    """Fills `$NAME`, `${NAME}` and `${NAME:-default}` in every string; an unknown name without a default stays."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _variable(found, environ), value)
    if is_list(value):
        return [expand(item, environ) for item in value]
    if is_object(value):
        return {key: expand(item, environ) for key, item in value.items()}
    return value


def _variable(found: re.Match[str], environ: Mapping[str, str]) -> str:
    name = found[1] or found[2]
    if name in environ:
        return environ[name]
    return found[3] if found[3] is not None else found[0]


def _merged(layers: list[Mapping[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for layer in layers:
        result = _merge(result, layer, ())
    return result


def _merge(low: Mapping[str, Any], high: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    result = dict(low)
    for key, value in high.items():
        here = (*path, key)
        old = result.get(key)
        if is_mapping(old) and is_mapping(value) and not _listed(here, _WHOLE):
            result[key] = _merge(old, value, here)
        elif is_list(old) and is_list(value):
            result[key] = _meet(here)(old, value)
        else:
            result[key] = value
    return result


def _meet(path: tuple[str, ...]) -> Callable[[list[Any], list[Any]], list[Any]]:
    if _listed(path, _CONCATENATED):
        return lambda old, new: [*old, *new]
    if _listed(path, _UNITED):
        return lambda old, new: [*old, *(item for item in new if item not in old)]
    return lambda _old, new: new


def _listed(path: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    return ".".join(path) in patterns or ".".join((*path[:-1], "*")) in patterns


def _server(servers: Any, name: str) -> Any:
    return servers.get(name) if is_mapping(servers) else None


def _at(values: Mapping[str, Any], path: str, default: Any = None) -> Any:
    value: Any = values
    for key in path.split("."):
        if not is_mapping(value) or key not in value:
            return default
        value = value[key]
    return value
