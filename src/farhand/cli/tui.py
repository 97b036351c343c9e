"""`farhand tui`: a conversation with an agent in this folder, on the whole terminal."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.model.errors import BadUsage, FarhandError, PortTaken

if TYPE_CHECKING:
    from farhand.model.live_session import SessionMessage
    from farhand.sdk.agent import Agent
    from farhand.sdk.session import Session
    from farhand.tui.desk import Desk
    from farhand.tui.look import Look

# The key that programs must have for the remote control, where one is wanted.
KEY_VARIABLE = "FARHAND_REMOTE_KEY"
MODES = ("default", "auto_edit", "plan", "yolo")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `tui` takes."""
    parser.add_argument("-m", "--model", help="the model; before another vendor's stands that vendor: openai:…")
    parser.add_argument("-r", "--resume", metavar="ID", help="go on with a session: its id, or 'latest'")
    parser.add_argument("--cwd", type=Path, help="the folder to work in (default: this one)")
    parser.add_argument("--approval-mode", choices=MODES, default="default", help="what may be done unasked")
    parser.add_argument("--remote-port", help="let programs on this machine drive the conversation over this port")
    parser.add_argument("--look", choices=("auto", "light", "dark"), default="auto", help="the colours")


def run(arguments: argparse.Namespace) -> int:
    """Talks until the person leaves, then prints what was said."""
    import anyio

    from farhand.cli.remote_control import remote_port
    from farhand.config.settings import take_secrets

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadUsage("farhand tui needs a terminal.", hints=("farhand ask, farhand say and farhand chat need none",))
    port = remote_port(arguments.remote_port, os.environ)
    # Taken out, so that no command of the agent's has it.
    key = take_secrets(os.environ, (KEY_VARIABLE,)).get(KEY_VARIABLE, "")
    return anyio.run(_converse, arguments, port, key)


async def _converse(arguments: argparse.Namespace, port: int | None, key: str) -> int:
    import anyio

    from farhand.cli.remote_control import sdk_action
    from farhand.cli.tui_agent import AgentDesk
    from farhand.remote.sdk_session import SdkSession
    from farhand.sdk.errors import SdkError

    try:
        agent = _agent(arguments)
        session = await agent.resume_session(arguments.resume) if arguments.resume else agent.session()
    except SdkError as error:
        raise FarhandError(str(error)) from None
    async with agent, session, anyio.create_task_group() as tasks:
        live = SdkSession(agent, session, sdk_action, time.time)
        tasks.start_soon(live.run, name="turns")
        code = await show(
            AgentDesk(live), live.set_ready, arguments.look, port, agent.temporary_folder() / "uploads", key
        )
        tasks.cancel_scope.cancel()
    _print_end(live.log.messages, session)
    return code


def _agent(arguments: argparse.Namespace) -> Agent:
    from farhand.sdk.agent import Agent

    return Agent(cwd=arguments.cwd, model=arguments.model, mode=arguments.approval_mode, interactive=True)


async def show(desk: Desk, ready: Callable[[bool], None], look: Look, port: int | None, uploads: Path, key: str) -> int:
    """The app over that desk until the person leaves, its remote control beside it where there is a port for it."""
    from farhand.cli.remote_control import remote_control
    from farhand.tui.app import TerminalApp
    from farhand.tui.look import theme_name
    from farhand.tui.typed_session import TypedSession

    typed, told, problem = TypedSession(desk, may_allow=bool(key)), "", ""
    async with AsyncExitStack() as stack:
        if port is not None:
            try:
                opened = await stack.enter_async_context(remote_control(lambda _: typed, port, uploads, key))
                told = f"remote :{opened}"
            except PortTaken as error:
                problem = f"{error.text}: this conversation has no remote control."
        app = TerminalApp(desk, theme=theme_name(look, os.environ), remote=told, ready=ready, problem=problem)
        await app.run_async()
        ready(False)
    return app.return_code or 0


def _print_end(messages: Sequence[SessionMessage], session: Session) -> None:
    """The conversation, for the terminal's own scrollback, and how to go on with it."""
    from farhand.tui.shown_text import printed

    text = printed(messages)
    if text:
        sys.stdout.write(f"{text}\n\n→ farhand tui --resume {session.id}\n")
