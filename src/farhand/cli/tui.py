"""`farhand tui`: a conversation on the whole terminal, with an agent in this folder or with a node's team."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.cli.node_flag import add_node
from farhand.model.errors import BadUsage, FarhandError, PortTaken

if TYPE_CHECKING:
    from farhand.model.live_session import SessionMessage
    from farhand.model.ports import Hub
    from farhand.sdk.agent import Agent
    from farhand.tui.desk import Desk
    from farhand.tui.look import Look

# The key that programs must have for the remote control, where one is wanted.
KEY_VARIABLE = "FARHAND_REMOTE_KEY"
NODE_KEY_VARIABLE = "FARHAND_NODE_KEY"
MODES = ("default", "auto_edit", "plan", "yolo")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `tui` takes."""
    parser.add_argument("-m", "--model", help="the model; before another vendor's stands that vendor: openai:…")
    parser.add_argument("-r", "--resume", metavar="ID", help="go on with a session: its id, or 'latest'")
    parser.add_argument("--cwd", type=Path, help="the folder to work in (default: this one)")
    parser.add_argument("--approval-mode", choices=MODES, default="default", help="what may be done unasked")
    parser.add_argument("--team", action="store_true", help="talk to the team of a node on this machine")
    add_node(parser)
    parser.add_argument("--url", help="talk to the team of a node elsewhere, with the key in FARHAND_NODE_KEY")
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
    _quiet_logs()
    # Taken out, so that no command of the agent's has it.
    secrets = take_secrets(os.environ, (KEY_VARIABLE, NODE_KEY_VARIABLE))
    key = secrets.get(KEY_VARIABLE, "")
    if arguments.url:
        return anyio.run(_converse_far, arguments, port, key, secrets.get(NODE_KEY_VARIABLE, ""))
    return anyio.run(_converse_with_team if arguments.team or arguments.node else _converse, arguments, port, key)


def _quiet_logs() -> None:
    """Nothing but the app writes to the terminal: a log line would stand in the middle of the conversation."""
    import logging

    import structlog

    logging.getLogger().addHandler(logging.NullHandler())
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


async def _converse_with_team(arguments: argparse.Namespace, port: int | None, key: str) -> int:
    from farhand.cli.options import open_hub

    async with open_hub(arguments) as hub:
        return await _show_team(hub, arguments.look, port, key)


async def _converse_far(arguments: argparse.Namespace, port: int | None, key: str, node_key: str) -> int:
    from farhand.client.http import HttpHub

    if not node_key:
        raise BadUsage(f"{NODE_KEY_VARIABLE} must have the key of that node, or of a device.")
    async with HttpHub(arguments.url, node_key) as hub:
        return await _show_team(hub, arguments.look, port, key)


async def _show_team(hub: Hub, look: Look, port: int | None, key: str) -> int:
    import tempfile

    import anyio

    from farhand.cli.options import me
    from farhand.cli.tui_team import TeamDesk

    desk = TeamDesk(hub, me("tui"))
    await desk.open()
    with tempfile.TemporaryDirectory(prefix="farhand-tui-") as folder:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.run, name="team")
            code = await show(desk, desk.set_ready, look, port, Path(folder), key)
            tasks.cancel_scope.cancel()
    _print_end(desk.session.log.messages, "farhand tui --team")
    return code


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
    _print_end(live.log.messages, f"farhand tui --resume {session.id}")
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


def _print_end(messages: Sequence[SessionMessage], again: str) -> None:
    """The conversation, for the terminal's own scrollback, and how to go on with it."""
    from farhand.tui.shown_text import printed

    text = printed(messages)
    if text:
        sys.stdout.write(f"{text}\n\n→ {again}\n")
