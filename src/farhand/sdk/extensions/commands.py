"""Fills in the prompts of commands: `{{args}}`, `@{file}`, and `!{shell command}` under the session's policies."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from farhand.sdk.extensions import ExtensionCommand, ExtensionError
from farhand.sdk.protocols import Part, ToolCall
from farhand.sdk.shell import finished
from farhand.sdk.shell_process import Limits

if TYPE_CHECKING:
    from farhand.sdk.session import Session

SHELL_TIMEOUT_SECONDS = 120.0
_PLACE = re.compile(r"\{\{args\}\}|@\{(?P<file>[^{}]+)\}|!\{(?P<shell>(?:[^{}]|\{\{args\}\}|\{[^{}]*\})*)\}", re.DOTALL)


async def expanded(parts: list[Part], session: Session) -> list[Part]:
    """A prompt whose text is a command line, with that command's prompt in its place; every other one as it is."""
    line = parts[0].get("text") if parts else None
    if not isinstance(line, str) or not line.startswith("/") or _name(line) not in session.additions.commands:
        return parts
    return [{"text": await prompt_of(line, session)}, *parts[1:]]


def _name(line: str) -> str:
    return line.strip().removeprefix("/").partition(" ")[0]


async def prompt_of(line: str, session: Session) -> str:
    """The prompt behind a command line."""
    name = _name(line)
    arguments = line.strip().partition(" ")[2]
    command = session.additions.commands.get(name)
    if command is None:
        known = ", ".join(sorted(session.additions.commands)) or "none"
        raise ExtensionError(f"There is no command {name!r}. Known: {known}.")
    return await filled_in(command, arguments.strip(), session)


async def filled_in(command: ExtensionCommand, arguments: str, session: Session) -> str:
    """The prompt of a command. Arguments for which it has no place come after it."""
    pieces: list[str] = []
    end = 0
    for match in _PLACE.finditer(command.prompt):
        pieces.append(command.prompt[end : match.start()])
        if match["file"] is not None:
            pieces.append(await _file(match["file"].strip(), session))
        elif match["shell"] is not None:
            # Inside a shell command the arguments are one word, whatever they hold.
            line = match["shell"].replace("{{args}}", shlex.quote(arguments))
            pieces.append(await _shell(line.strip(), session))
        else:
            pieces.append(arguments)
        end = match.end()
    text = "".join([*pieces, command.prompt[end:]]).strip()
    return text if "{{args}}" in command.prompt or not arguments else f"{text}\n\n{arguments}"


async def _file(path: str, session: Session) -> str:
    text = await session.context.fs.read(path)
    if text is None:
        raise ExtensionError(f"The command wants the file {path}, which is not there.")
    return text


async def _shell(line: str, session: Session) -> str:
    call = ToolCall(f"command-{session.next_number()}", "run_shell_command", {"command": line})
    approval = await session.admit(call)
    if approval.decision != "allow":
        raise ExtensionError(f"The command wants to run {line!r}, which may not run. {approval.reason}".strip())
    limits = Limits(timeout_seconds=SHELL_TIMEOUT_SECONDS)
    ended = await finished(session.context.shell.launch(line, limits=limits, text="", argv=approval.argv))
    failed = f"\n[Shell command '{line}' exited with code {ended.exit_code}]" if ended.exit_code else ""
    return ended.output.strip() + failed
