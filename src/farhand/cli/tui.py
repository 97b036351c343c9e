"""`farhand tui`: a conversation on the whole terminal, with an agent in this folder or with a node's team."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from farhand.cli.node_flag import NODE_KEY_VARIABLE, add_node
from farhand.model.errors import BadUsage, PortTaken

if TYPE_CHECKING:
    from farhand.cli.tui_agent import AgentDesk
    from farhand.model.live_session import SessionMessage
    from farhand.model.ports import Hub
    from farhand.tui.app import TerminalApp
    from farhand.tui.desk import Desk
    from farhand.tui.look import Look

# The key that programs must have for the remote control, where one is wanted.
KEY_VARIABLE = "FARHAND_REMOTE_KEY"
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
# What `--resume` without an id is, and the command that it stands for.
PICK, SESSIONS = "", "/sessions"
MODES = ("default", "auto_edit", "plan", "yolo")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `tui` takes."""
    parser.add_argument("-m", "--model", help="the model; before another vendor's stands that vendor: openai:…")
    resume = "go on with a session: its id, 'latest', or none to choose from a list"
    parser.add_argument("-r", "--resume", nargs="?", const=PICK, metavar="ID", help=resume)
    parser.add_argument("--cwd", type=Path, help="the folder to work in (default: this one)")
    parser.add_argument("--approval-mode", choices=MODES, default="default", help="what may be done unasked")
    parser.add_argument("--team", action="store_true", help="talk to the team of a node on this machine")
    add_node(parser)
    parser.add_argument("--url", help="talk to the team of a node elsewhere, with the key in FARHAND_NODE_KEY")
    parser.add_argument("--remote-port", help="let programs on this machine drive the conversation over this port")
    parser.add_argument("--look", choices=("auto", "light", "dark"), default="auto", help="the colours")


def run(arguments: argparse.Namespace) -> int:
    """Talks until the person leaves, then prints what was said."""
    import gc

    # Until the screen is there: to load is to make no garbage, and looking for some is a good part of it.
    gc.disable()
    try:
        return _talk(arguments)
    finally:
        gc.enable()


def _talk(arguments: argparse.Namespace) -> int:
    import anyio

    from farhand.cli.remote_control import remote_port
    from farhand.config.taken_secrets import take_secrets

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadUsage("farhand tui needs a terminal.", hints=("farhand ask, farhand say and farhand chat need none",))
    port = remote_port(arguments.remote_port, os.environ)
    # Taken out, so that no command of the agent's has it.
    secrets = take_secrets(os.environ, (KEY_VARIABLE, NODE_KEY_VARIABLE))
    key = secrets.get(KEY_VARIABLE, "")
    if arguments.team or arguments.node or arguments.url:
        if arguments.resume:
            raise BadUsage("--resume with an id is for this folder's own agent.", hints=("farhand adopt",))
        quiet_logs()
        return anyio.run(_converse_with_team, arguments, port, key, secrets.get(NODE_KEY_VARIABLE, ""))
    return anyio.run(_converse, arguments, port, key)


def quiet_logs() -> None:
    """Nothing but the app writes to the terminal: a log line would stand in the middle of the conversation."""
    import logging

    from farhand.model.logger import structlog

    logging.getLogger().addHandler(logging.NullHandler())
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


async def _converse_with_team(arguments: argparse.Namespace, port: int | None, key: str, node_key: str) -> int:
    from farhand.cli.far_hub import open_any_hub

    again = f"farhand tui --url {arguments.url}" if arguments.url else "farhand tui --team"
    async with open_any_hub(arguments, node_key) as hub:
        return await show_team(hub, arguments.look, port, key, again, _first(arguments))


async def show_team(hub: Hub, look: Look, port: int | None, key: str, again: str, first: str = "") -> int:
    """The workers of a hub on the whole terminal; `again` goes on with it."""
    import tempfile

    import anyio

    from farhand.cli.options import me
    from farhand.cli.tui_team import TeamDesk

    desk = TeamDesk(hub, me("tui"))
    await desk.open()
    with tempfile.TemporaryDirectory(prefix="farhand-tui-") as folder:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.run, name="team")
            code = await show(desk, desk.set_ready, look, port, Path(folder), key, first)
            tasks.cancel_scope.cancel()
    _print_end(desk.session.log.messages, again)
    return code


async def _converse(arguments: argparse.Namespace, port: int | None, key: str) -> int:
    import anyio

    from farhand.cli.tui_opening import OpeningDesk

    desk, uploads = OpeningDesk("farhand", partial(_open_agent, arguments)), Path()
    if port is not None or arguments.resume or arguments.model or arguments.cwd:
        # What may be wrong with these is told before the screen is taken; without them one sees it sooner.
        uploads = (await desk.open()).uploads
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.run, name="agent")
        code = await show(desk, desk.set_ready, arguments.look, port, uploads, key, _first(arguments))
        tasks.cancel_scope.cancel()
    if desk.problem is not None:
        raise desk.problem
    _print_end(desk.session.log.messages, f"farhand tui --resume {desk.session.log.status.session_id}")
    return code


def _first(arguments: argparse.Namespace) -> str:
    return SESSIONS if arguments.resume == PICK else ""


async def _open_agent(arguments: argparse.Namespace) -> AgentDesk:
    """The agent of this folder, with a new conversation or the one to go on with."""
    import anyio.to_thread

    # In a thread: it takes a while, and whoever types meanwhile is heard.
    open_desk = await anyio.to_thread.run_sync(_load_agent)
    return await open_desk(arguments)


def _load_agent() -> Callable[[argparse.Namespace], Awaitable[AgentDesk]]:
    """Loads what the first answer needs. Nothing that writes to a log is loaded before."""
    quiet_logs()
    from farhand.cli.tui_agent import open_desk
    from farhand.tui.markdown_rows import MarkdownRows

    del MarkdownRows
    return open_desk


async def show(
    desk: Desk, ready: Callable[[bool], None], look: Look, port: int | None, uploads: Path, key: str, first: str = ""
) -> int:
    """The app over that desk until the person leaves, its remote control beside it where there is a port for it.

    What is asked for first is obeyed as if it had been typed."""
    from farhand.cli.remote_control import remote_control
    from farhand.tui.app import TerminalApp
    from farhand.tui.look import theme_name
    from farhand.tui.short_collections import short_collections
    from farhand.tui.typed_session import TypedSession

    typed, told, problem = TypedSession(desk, may_allow=bool(key)), "", ""
    async with AsyncExitStack() as stack:
        if port is not None:
            try:
                opened = await stack.enter_async_context(remote_control(lambda _: typed, port, uploads, key))
                told = f"remote :{opened}"
            except PortTaken as error:
                problem = f"{error.text}: this conversation has no remote control."
        tell = stack.enter_context(short_collections(ready))
        theme = theme_name(look, os.environ)
        app = TerminalApp(desk, theme=theme, remote=told, ready=tell, problem=problem, first=first)
        with _left_by_signals(app):
            await app.run_async()
        ready(False)
    return app.return_code or 0


@contextmanager
def _left_by_signals(app: TerminalApp) -> Generator[None]:
    """A signal that would end the process ends the app: the terminal is given back, and what ran is stopped."""
    loop = asyncio.get_running_loop()
    for number in ENDING_SIGNALS:
        loop.add_signal_handler(number, partial(app.exit, return_code=128 + number))
    try:
        yield
    finally:
        for number in ENDING_SIGNALS:
            loop.remove_signal_handler(number)


def _print_end(messages: Sequence[SessionMessage], again: str) -> None:
    """The conversation, for the terminal's own scrollback, and how to go on with it."""
    from farhand.tui.shown_text import printed

    text = printed(messages)
    if text:
        # A terminal that was closed reads nothing more.
        with suppress(OSError):
            sys.stdout.write(f"{text}\n\n→ {again}\n")
            sys.stdout.flush()
