"""How Claude Code is started: its command line, its settings, its variables. Decides in functions, writes in two."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from farhand.disk.atomic import write_private
from farhand.disk.plain_files import open_plain, read_plain
from farhand.drivers.claude.tmux.status import status_line
from farhand.drivers.wires.environment import USUAL_VARIABLES
from farhand.drivers.wires.foreign_json import JsonObject, parse
from farhand.drivers.wires.hooks.command import hook_command
from farhand.drivers.wires.hooks.timeout import hook_timeout
from farhand.drivers.wires.manifest import read_manifest
from farhand.drivers.wires.preflight import program_path
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.sandbox import PRIVATE
from farhand.model.variables import is_yes
from farhand.model.words import Mode

MANIFEST: Final = read_manifest("farhand.drivers.claude")
EFFORTS: Final = tuple[str, ...](MANIFEST["efforts"])
POST_TIMEOUT_SECONDS = 5
# A conversation begins sooner than that.
MOST_SEARCHED = 64 * 1024 * 1024
LARGEST_SETTINGS = 16 * 1024 * 1024
SETTINGS, LOCAL_SETTINGS = "settings.json", "settings.local.json"
# What Claude Code told its status line last.
COST = "status.json"
# It waits up to 5 s for the transcript.
ANSWER_TIMEOUT_SECONDS = 20
# The word by which a node that runs as root says that its agents may act without asking.
ROOT_YOLO: Final = "FARHAND_ROOT_YOLO"
PASSED_PREFIXES = (
    "ANTHROPIC_",
    "CLAUDE_",
    "AWS_",
    "GOOGLE_",
    "CLOUD_ML_",
    "VERTEX_",
    "DISABLE_",
    "MCP_",
    "GIT_AUTHOR_",
)
# What other sessions on this machine send is heard as a colleague's word, by reviewers, too: a worker is written to
# through its node alone.
CLOSED_TO_SESSIONS: Final = {"crossSessionInbound": "refuse"}
# It makes a branch and a checkout unasked, in `plan`, too, and then works in a folder that nobody was shown.
NO_WORKTREE: Final = {"permissions": {"deny": ["EnterWorktree"]}}
# Prompts that a file of the project schedules, or the agent itself, would be heard as the person's.
NO_SCHEDULE: Final = {"CLAUDE_CODE_DISABLE_CRON": "1"}
# No request for permission says in which folder a command would run: it is the worker's, also after a `cd`.
ALWAYS_IN_FOLDER: Final = {"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"}
# Its moving spinner takes as much of a processor as the rest of a turn that waits, and seldom has a spectator.
CALM: Final = "prefersReducedMotion"
_NOT_PLAIN = lazy_pattern(r"[^A-Za-z0-9]")


class ClaudePaths(msgspec.Struct, frozen=True):
    """Where Claude Code keeps its things, and where a worker's things are kept for it."""

    config: Path
    account: Path

    @staticmethod
    def of(environment: Mapping[str, str]) -> ClaudePaths:
        """As CLAUDE_CONFIG_DIR or HOME say."""
        home = Path(environment.get("HOME", "/"))
        given = environment.get("CLAUDE_CONFIG_DIR")
        return (
            ClaudePaths(Path(given), Path(given) / ".claude.json")
            if given
            else ClaudePaths(home / ".claude", home / ".claude.json")
        )

    def transcript(self, directory: str, session: str) -> Path:
        """Where the session of that directory is written."""
        return self.config / "projects" / _NOT_PLAIN.sub("-", directory) / f"{_NOT_PLAIN.sub('-', session)}.jsonl"

    def status(self, pid: int) -> Path:
        """Where a running Claude Code says whether it is idle, busy or waiting."""
        return self.config / "sessions" / f"{pid}.json"


class HookAddress(msgspec.Struct, frozen=True):
    """Where a session's own hooks may post to, and the word that lets them in."""

    address: str
    key: str


def hook_groups(
    interpreter: str, program: Path, ask_seconds: float, endpoint: HookAddress | None = None
) -> dict[str, list[JsonObject]]:
    """Our hooks, as Claude Code's settings want them; without an address to post to, all of them run the program."""
    hooks: dict[str, str] = MANIFEST["hooks"]
    return {
        event: [
            {
                "hooks": [
                    _post(endpoint)
                    if endpoint and mode == "post"
                    else _run(interpreter, program, event, mode, ask_seconds)
                ]
            }
        ]
        for event, mode in hooks.items()
    }


def installed_groups(interpreter: str, program: Path, ask_seconds: float) -> dict[str, list[JsonObject]]:
    """The same hooks for a person's own settings: they leave sessions alone that bring theirs."""
    hooks: dict[str, str] = MANIFEST["hooks"]
    return {
        event: [{"hooks": [_run(interpreter, program, event, mode, ask_seconds, "installed")]}]
        for event, mode in hooks.items()
    }


def answer_groups(interpreter: str, program: Path) -> dict[str, list[JsonObject]]:
    """The Stop hook that posts answers of sessions which carry a bridge's variables."""
    command = hook_command(interpreter, program)
    return {"Stop": [{"hooks": [{"type": "command", "command": command, "timeout": ANSWER_TIMEOUT_SECONDS}]}]}


def _post(endpoint: HookAddress) -> JsonObject:
    headers = {"X-Farhand-Key": endpoint.key}
    return {"type": "http", "url": endpoint.address, "timeout": POST_TIMEOUT_SECONDS, "headers": headers}


def _run(interpreter: str, program: Path, event: str, mode: str, ask_seconds: float, *more: str) -> JsonObject:
    asks = mode == "ask"
    command = hook_command(interpreter, program, "ask" if asks else "report", event, *more)
    timeout = hook_timeout(ask_seconds, asks=asks)
    background = {"async": True} if mode == "background" and not more else {}
    return {"type": "command", "command": command, "timeout": timeout, **background}


def cost_file(folder: Path) -> Path:
    """Where that is left in a worker's folder; an older session leaves it beside its settings."""
    private = folder / PRIVATE
    return (private if private.is_dir() else folder) / COST


def session_settings(groups: Mapping[str, object], cost: Path | None = None, *, calm: bool = True) -> JsonObject:
    """The settings of one worker's session, beside the person's own, which stay untouched."""
    settings = {"skipDangerousModePermissionPrompt": True, **CLOSED_TO_SESSIONS, **NO_WORKTREE, "hooks": dict(groups)}
    added = {**({CALM: True} if calm else {}), **({"statusLine": status_line(cost)} if cost else {})}
    return {**settings, **added}


def has_own(name: str, places: ClaudePaths, directory: Path) -> bool:
    """Whether the person has set this themselves, a status line for one: ours would take its place."""
    own = directory / ".claude"
    return any(_sets(name, file) for file in (places.config / SETTINGS, own / SETTINGS, own / LOCAL_SETTINGS))


def _sets(name: str, file: Path) -> bool:
    try:
        settings = parse(read_plain(file, LARGEST_SETTINGS))
        return settings is not None and name in settings
    except OSError:
        return False


def command_line(
    program: str, mode: Mode, model: str, settings: Path, session: str, *, resume: bool, effort: str = ""
) -> list[str]:
    """The interactive CLI, with its session's id chosen by us."""
    known = ["--resume", session] if resume else ["--session-id", session]
    arguments: list[str] = MANIFEST["modes"][mode.value]["arguments"]
    return [program, *arguments, *_chosen(model, effort), "--settings", str(settings), *known]


def headless_line(program: str, mode: Mode, model: str, session: str, *, resume: bool, effort: str = "") -> list[str]:
    """The headless CLI: JSON lines both ways, and every permission asked over them."""
    talk = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    more = ["--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool", "stdio"]
    known = ["--resume", session] if resume else ["--session-id", session]
    arguments: list[str] = MANIFEST["modes"][mode.value]["arguments"]
    quiet = [] if mode is Mode.DEFAULT else arguments
    closed = ["--settings", msgspec.json.encode({**CLOSED_TO_SESSIONS, **NO_WORKTREE}).decode()]
    return [program, *talk, *more, *quiet, *_chosen(model, effort), *closed, *known]


def _chosen(model: str, effort: str) -> list[str]:
    return [*(["--model", model] if model else []), *(["--effort", effort] if effort else [])]


def found(program: str, environment: Mapping[str, str]) -> str:
    """Where Claude Code is; raises AgentMissing with what to do about it."""
    return program_path(program, MANIFEST["install"], environment)


def agent_variables(own: Mapping[str, str]) -> dict[str, str]:
    """What of the node's variables Claude Code needs to reach its model."""
    wanted = {*USUAL_VARIABLES, ROOT_YOLO}
    return {name: value for name, value in own.items() if name in wanted or name.startswith(PASSED_PREFIXES)}


def variables(mode: Mode, own: Mapping[str, str], *, root: bool) -> dict[str, str]:
    """What Claude Code itself must find in its environment, which depends on the node's own variables."""
    # Root may only skip permissions where the machine is said to be a sandbox, in exactly this word; and nobody but
    # the node's owner may say so.
    allowed = root and mode is Mode.YOLO and is_yes(own.get(ROOT_YOLO, ""))
    return {**NO_SCHEDULE, "IS_SANDBOX": "1"} if allowed else dict(NO_SCHEDULE)


def write_settings(path: Path, settings: Mapping[str, object]) -> None:
    """Writes a worker's settings for its owner alone, whole or not at all."""
    write_private(path, msgspec.json.format(msgspec.json.encode(settings), indent=2))


def session_key(path: Path) -> str:
    """The word that a session's hooks are known by: chosen once, so that it outlives the node."""
    with suppress(FileNotFoundError):
        # Empty where an earlier version was killed over it.
        if known := path.read_text("ascii"):
            return known
    key = secrets.token_urlsafe(32)
    write_private(path, key, sync=True)
    return key


def prepare_account(places: ClaudePaths, environment: Mapping[str, str], directory: Path) -> None:
    """In a fresh HOME with a key of its own, skips the welcome, which would call home; an account that exists stays."""
    if places.account.exists() or not environment.get("ANTHROPIC_API_KEY"):
        return
    known = {"approved": [environment["ANTHROPIC_API_KEY"][-20:]], "rejected": []}
    trusted = {str(directory.resolve()): {"hasTrustDialogAccepted": True}}
    account = {"hasCompletedOnboarding": True, "customApiKeyResponses": known, "projects": trusted}
    write_private(places.account, msgspec.json.encode(account))


def has_conversation(transcript: Path) -> bool:
    """Whether there is something to resume: a session in which nobody spoke leaves none."""
    try:
        with os.fdopen(open_plain(transcript), "rb") as file:
            while file.tell() < MOST_SEARCHED and (line := file.readline(MOST_SEARCHED)):
                if b'"type":"user"' in line or b'"type": "user"' in line:
                    return True
    except OSError:
        return False
    return False


def resumes(transcript: Path) -> bool:
    """Whether the session goes on with `--resume`. A transcript without a conversation is set aside, for with one there
    the CLI takes the session's id for used: it was killed before its first words were on the disk."""
    if has_conversation(transcript):
        return True
    with suppress(FileNotFoundError):
        transcript.rename(transcript.with_name(f"{transcript.name}.unused"))
    return False
