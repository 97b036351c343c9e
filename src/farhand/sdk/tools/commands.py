"""The built-in tool that runs shell commands: to their end, or in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from farhand.sdk.context import LiveContext, live
from farhand.sdk.current_call import approved_argv
from farhand.sdk.protocols import SessionContext, ShellResult, ToolResult
from farhand.sdk.shell import finished
from farhand.sdk.shell_process import Limits, RunningCommand
from farhand.sdk.tools.files import path_in
from farhand.sdk.tools.overflow import DEFAULT_LIMIT_CHARACTERS
from farhand.sdk.tools.result import ToolError

SILENCE_SECONDS = 300.0
BACKGROUND_DELAY_MILLISECONDS = 200
LARGEST_DELAY_MILLISECONDS = 60_000
# Programs that would open a pager wait for keys that nobody presses.
_VARIABLES = {"GEMINI_CLI": "1", "PAGER": "cat", "GIT_PAGER": "cat", "TERM": "dumb"}


async def run_shell_command(
    context: SessionContext,
    command: Annotated[str, "The command, as bash takes it."],
    description: Annotated[str | None, "What the command is for, in a few words."] = None,  # noqa: ARG001
    dir_path: Annotated[str | None, "The folder to run it in; the workspace when left out."] = None,
    is_background: Annotated[bool, "Start it and go on at once, for servers and watchers."] = False,
    delay_ms: Annotated[int, "How long to watch a background command before going on."] = BACKGROUND_DELAY_MILLISECONDS,
) -> ToolResult:
    """Runs a command with `bash -c` and tells its output, its exit code, and whatever ended it.

    It has no terminal and no input. A command that says nothing for five minutes is ended, with all it started.
    """
    own = live(context)
    if not command.strip():
        raise ToolError("The command is empty.")
    folder = path_in(context, dir_path or ".")
    if not folder.is_dir():
        raise ToolError(f"{dir_path} is no folder.")
    if is_background:
        return await _in_background(own, command, folder, delay_ms)
    running = own.shell.launch(command, env=_VARIABLES, cwd=folder, limits=_limits(own), text="", argv=approved_argv())
    result = await finished(running)
    return ToolResult(
        content=untrusted(_report(result, running, _silence(own))),
        display=result.output or _ending(result, _silence(own)),
        error=None,
        data=result,
    )


def untrusted(text: str) -> str:
    """Marks what came from outside, so that a model does not take it for instructions."""
    safe = text.replace("</untrusted_context>", "&lt;/untrusted_context&gt;")
    return f"<untrusted_context>\n{safe}\n</untrusted_context>"


def _silence(context: LiveContext) -> float | None:
    seconds = context.settings.get("tools.shell.inactivityTimeout", SILENCE_SECONDS)
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None


def _limits(context: LiveContext) -> Limits:
    characters = int(context.settings.get("tools.truncateToolOutputThreshold", DEFAULT_LIMIT_CHARACTERS))
    return Limits(
        silence_seconds=_silence(context),
        # A little below what the model may see, so that the lines around the output fit in.
        output_bytes=max(1000, characters - 1000) if characters > 0 else 8 * 1024 * 1024,
        spill=_output_file(context),
    )


def _output_file(context: LiveContext) -> Path:
    return context.temporary_folder / f"run_shell_command_{context.next_number()}.txt"


def _report(result: ShellResult, running: RunningCommand, silence_seconds: float | None) -> str:
    said = result.output.lstrip("\n").rstrip()
    lines = [f"Output: {said or '(empty)'}"]
    if ending := _ending(result, silence_seconds):
        lines.append(ending)
    lines.append(f"Process Group PGID: {running.pid}")
    return "\n".join(lines)


def _ending(result: ShellResult, silence_seconds: float | None) -> str:
    if result.timed_out:
        return f"Ended: it said nothing for {silence_seconds:g} seconds."
    if result.exit_code < 0:
        return f"Signal: {-result.exit_code}"
    return f"Exit Code: {result.exit_code}" if result.exit_code else ""


async def _in_background(context: LiveContext, command: str, folder: Path, delay_ms: int) -> ToolResult:
    import anyio

    path = _output_file(context)
    limits = Limits(output_bytes=20_000, spill=path, spill_at_once=True)
    running = context.shell.launch(command, env=_VARIABLES, cwd=folder, limits=limits, text="", argv=approved_argv())
    with anyio.move_on_after(max(0, min(delay_ms, LARGEST_DELAY_MILLISECONDS)) / 1000):
        await running.wait()
    said = running.output.text().rstrip()
    if running.finished:
        text = untrusted(_report(running.result(), running, None))
        return ToolResult(content=text, display=said)
    text = (
        f"Running in the background, PID {running.pid}. What it prints goes to {path}. "
        f"End it with: kill -- -{running.pid}\nOutput so far: {said or '(empty)'}"
    )
    return ToolResult(content=untrusted(text), display=f"Running in the background, PID {running.pid}.")
