"""How Codex is started: its command lines, its policies, the variables it needs. Decides in functions."""

from __future__ import annotations

import hashlib
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from farhand.disk.plain_files import read_plain
from farhand.drivers.wires.environment import USUAL_VARIABLES
from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.hooks.command import hook_command
from farhand.drivers.wires.hooks.timeout import hook_timeout
from farhand.drivers.wires.manifest import read_manifest
from farhand.drivers.wires.preflight import program_path
from farhand.drivers.wires.preflight import workplace as real_folder
from farhand.model.ports import Change
from farhand.model.present import Worker
from farhand.model.words import Mode

MANIFEST: Final = read_manifest("farhand.drivers.codex")
MODES: Final = tuple(MANIFEST["modes"])
EFFORTS: Final = tuple[str, ...](MANIFEST["efforts"])
# Codex's setting for it.
EFFORT: Final = "model_reasoning_effort"
PASSED_PREFIXES = ("OPENAI_", "CODEX_", "AZURE_", "AWS_", "OLLAMA_", "GIT_AUTHOR_", "GIT_COMMITTER_")
LARGEST_SETTINGS = 16 * 1024 * 1024
# Where Codex says that settings of the command line stand.
SESSION_FLAGS: Final = "/<session-flags>/config.toml"
SANDBOXES: Final[dict[str, JsonObject]] = {
    "read-only": {"type": "readOnly", "networkAccess": False},
    "workspace-write": {
        "type": "workspaceWrite",
        "writableRoots": [],
        "networkAccess": False,
        "excludeTmpdirEnvVar": False,
        "excludeSlashTmp": False,
    },
    "danger-full-access": {"type": "dangerFullAccess"},
}


def home(environment: Mapping[str, str]) -> Path:
    """Where Codex keeps its things, as CODEX_HOME or HOME say."""
    given = environment.get("CODEX_HOME")
    return Path(given) if given else Path(environment.get("HOME", "/")) / ".codex"


def agent_variables(own: Mapping[str, str]) -> dict[str, str]:
    """What of the node's variables Codex needs to reach its model: its own, and those that its settings name."""
    named = USUAL_VARIABLES | set(_named(_settings(home(own) / "config.toml")))
    return {name: value for name, value in own.items() if name in named or name.startswith(PASSED_PREFIXES)}


def _settings(path: Path) -> JsonObject:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}


def _named(settings: Mapping[str, object]) -> Iterable[str]:
    providers = settings.get("model_providers")
    for provider in providers.values() if isinstance(providers, dict) else ():
        fields = provider if isinstance(provider, dict) else {}
        headers = fields.get("env_http_headers")
        yield from [fields["env_key"]] if isinstance(fields.get("env_key"), str) else []
        yield from [name for name in headers.values() if isinstance(name, str)] if isinstance(headers, dict) else []


def found(program: str, environment: Mapping[str, str]) -> str:
    """Where the program is; raises AgentMissing with what to do."""
    return program_path(program, MANIFEST["install"], environment)


def workplace(worker: Worker) -> str:
    """The worker's folder, resolved; raises DriverError when there is none."""
    return str(real_folder(worker))


def overrides(directory: str) -> list[str]:
    """Settings of this process alone: quiet, and at home in its folder. The person's own file stays as it is."""
    trusted = f'projects={{{_quoted(directory)}={{trust_level="trusted"}}}}'
    return [word for setting in [*MANIFEST["quiet"], trusted] for word in ("-c", setting)]


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def policy(mode: Mode, *, interactive: bool = False) -> tuple[str, str]:
    """What a mode is to Codex: when it asks, and its sandbox."""
    chosen = MANIFEST["interactive"].get(mode.value) if interactive else None
    chosen = chosen or MANIFEST["modes"][mode.value]
    return chosen["approval"], chosen["sandbox"]


def app_server_line(program: str, directory: str) -> list[str]:
    """The two-way headless CLI: JSON-RPC over its pipes."""
    return [program, "app-server", *overrides(directory)]


def thread_params(worker: Worker, directory: str) -> JsonObject:
    """How a thread begins, or goes on."""
    approval, sandbox = policy(worker.mode)
    model = {"model": worker.model} if worker.model else {}
    effort = {"config": {EFFORT: worker.effort}} if worker.effort else {}
    return {"cwd": directory, "approvalPolicy": approval, "sandbox": sandbox, **model, **effort}


def settings_params(change: Change) -> JsonObject:
    """What changes in a thread that is open."""
    changed: JsonObject = {"model": change.model} if change.model else {}
    if change.effort:
        changed |= {"effort": change.effort}
    if change.mode is not None:
        approval, sandbox = policy(Mode(change.mode))
        changed |= {"approvalPolicy": approval, "sandboxPolicy": SANDBOXES[sandbox]}
    return changed


def turn_line(
    program: str,
    directory: str,
    mode: Mode,
    model: str,
    session: str,
    pictures: Iterable[str] = (),
    effort: str = "",
) -> list[str]:
    """One turn of the headless CLI, its prompt on stdin. Nobody can be asked: its sandbox is all that holds it."""
    _, sandbox = policy(mode, interactive=True)
    free = mode is Mode.YOLO
    limits = ["approval_policy=never", f"sandbox_mode={_quoted(sandbox)}"]
    held = ["--dangerously-bypass-approvals-and-sandbox"] if free else [w for one in limits for w in ("-c", one)]
    chosen = ["-m", model] if model else []
    chosen += ["-c", f"{EFFORT}={_quoted(effort)}"] if effort else []
    shown = [word for picture in pictures for word in ("-i", picture)]
    known = ["resume"] if session else []
    options = ["--json", "--skip-git-repo-check", *overrides(directory), *held, *chosen, *shown]
    # The dash says that the prompt comes on stdin; `--` keeps a picture's path from taking it for another.
    return [program, "exec", *known, *options, "--", *([session] if session else []), "-"]


def terminal_line(
    program: str, worker: Worker, directory: str, hooks: Iterable[CodexHook], *, resume: str
) -> list[str]:
    """The interactive CLI, without the shared server that would outlive it, and with hooks of this session alone."""
    approval, sandbox = policy(worker.mode, interactive=True)
    chosen = [f"approval_policy={_quoted(approval)}", f"sandbox_mode={_quoted(sandbox)}"]
    chosen += [f"model={_quoted(worker.model)}"] if worker.model else []
    settings = [word for setting in [*chosen, *hook_settings(hooks)] for word in ("-c", setting)]
    known = ["resume", resume] if resume else []
    return [program, "--no-daemon", *overrides(directory), *settings, *known]


class CodexHook(msgspec.Struct, frozen=True):
    """A program that Codex runs at one of its events."""

    event: str
    command: str
    timeout: int

    @property
    def name(self) -> str:
        """The event, as Codex writes it in its own files."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", self.event).lower()

    @property
    def digest(self) -> str:
        """What Codex keeps of a hook that a person has trusted: exactly this command, at this event."""
        handler = {"async": False, "command": self.command, "timeout": self.timeout, "type": "command"}
        exact = msgspec.json.encode({"event_name": self.name, "hooks": [handler]}, order="deterministic")
        return f"sha256:{hashlib.sha256(exact).hexdigest()}"


def session_hooks(interpreter: str, program: Path, ask_seconds: float) -> list[CodexHook]:
    """Our hooks for one session."""
    found = []
    for event, mode in MANIFEST["hooks"].items():
        command = hook_command(interpreter, program, mode, event)
        timeout = hook_timeout(ask_seconds, asks=mode == "ask")
        found.append(CodexHook(event, command, timeout))
    return found


def has_hooks(directory: str, environment: Mapping[str, str]) -> bool:
    """Whether a person or a project has hooks of their own: those that are new are asked about after the start."""
    folders = [home(environment), *(folder / ".codex" for folder in (Path(directory), *Path(directory).parents))]
    return any((folder / "hooks.json").exists() or b"hooks" in _content(folder / "config.toml") for folder in folders)


def may_ask_to_sign_in(environment: Mapping[str, str]) -> bool:
    """Whether nobody seems to have signed in to its own provider: it asks that in the place of a box shown before."""
    own = _settings(home(environment) / "config.toml").get("model_provider", "openai") == "openai"
    return own and not (home(environment) / "auth.json").exists()


def _content(file: Path) -> bytes:
    try:
        return read_plain(file, LARGEST_SETTINGS)
    except OSError:
        return b""


def hook_settings(hooks: Iterable[CodexHook]) -> list[str]:
    """The hooks as settings of this process, each trusted by its own digest: no file of the person's is written."""
    every = list(hooks)
    groups = [
        f'hooks.{one.event}=[{{hooks=[{{type="command",command={_quoted(one.command)},timeout={one.timeout}}}]}}]'
        for one in every
    ]
    trusted = [f"{_quoted(f'{SESSION_FLAGS}:{one.name}:0:0')}={{trusted_hash={_quoted(one.digest)}}}" for one in every]
    return [*groups, f"hooks.state={{{','.join(trusted)}}}"]


def resume_command(worker: Worker, environment: Mapping[str, str]) -> str:
    """What a person types to go on with the worker's session at the desk."""
    where = environment.get("CODEX_HOME", "")
    home_words = f"CODEX_HOME={shlex.quote(where)} " if where else ""
    words = f"{home_words}{MANIFEST['program']} resume {shlex.quote(worker.session)}"
    return f"cd {shlex.quote(worker.directory)} && {words}"
