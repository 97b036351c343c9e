"""Runs a node until a signal or its conversation ends it, then lets its channels finish."""

import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress

import anyio
import structlog

from farhand.app import Channels, node
from farhand.config import logs, parents, run_as
from farhand.config.settings import Settings
from farhand.core.hub import LocalHub
from farhand.model import compat
from farhand.model.channel_ports import Drains
from farhand.model.commands import Hire
from farhand.model.errors import NameTaken
from farhand.model.ports import Driver
from farhand.model.words import Sender
from farhand.node import Node
from farhand.store import folder

log = structlog.get_logger("node")


def set_up_logs(settings: Settings, *, show: bool) -> None:
    """Logs into the node's folder and, unless a conversation is shown there, to standard error."""
    folder.make(settings.folder)
    file = logs.LogFile(settings.folder / compat.LOG_FILE)
    logs.set_up(
        file, secrets=list(settings.secrets.values()), verbose=settings.verbose, quiet=settings.quiet, show=show
    )


def warn(settings: Settings) -> str:
    """Says in the log what the person who started the node should know; the same as a text, empty when there is
    nothing."""
    text = parents.warning(parents.carriers(settings.secrets.values()))
    if text:
        log.warning("secret in a parent's environment", text=text)
    user = settings.agent_user
    for finding in run_as.findings(user, settings.secret_paths, [settings.working_directory]) if user else ():
        log.warning("agents run as another user", user=user.name if user else "", finding=finding)
    if settings.no_yolo and settings.hire_mode is not settings.usual_mode:
        log.warning("workers ask before they act", why=settings.no_yolo)
    return text


async def run_until_signal(settings: Settings, drivers: Mapping[str, Driver], channels: Channels) -> None:
    """Runs the node until SIGTERM, SIGINT or SIGHUP; then what is under way is finished, within a limit."""
    warn(settings)
    # Before the door opens: whoever sees a node may stop it.
    with stop_signals() as signals:
        async with node(settings, drivers, channels) as running:
            if settings.demo:
                await hire_demo(running.hub)
            await first_of(signals)
            await drain(running)


async def run_with_conversation(settings: Settings, drivers: Mapping[str, Driver], channels: Channels) -> None:
    """Runs the node with a conversation in this terminal; leaving it, a signal or a closed terminal stops the node."""
    with stop_signals() as signals:
        async with node(settings, drivers, channels) as running:
            if settings.demo:
                await hire_demo(running.hub)
            await converse(running, signals, warn(settings))
            await drain(running)


async def hire_demo(hub: LocalHub) -> None:
    """Puts the demo worker on a team that has none, for whoever tries farhand the first time."""
    if not hub.present.workers:
        with suppress(NameTaken):
            await hub.send(Hire(id=f"demo-{hub.present.seq}", worker="demo", backend="demo"), Sender(via="node"))


async def drain(running: Node) -> None:
    """Gives channels a moment to send what waits; what does not get out is sent after the next start."""
    with anyio.move_on_after(running.settings.drain_seconds):
        for channel in running.channels:
            if isinstance(channel, Drains):
                await channel.drain()


async def converse(running: Node, signals: AsyncIterator[signal.Signals], warning: str = "") -> None:
    """A conversation with the team in this terminal, until the person leaves or a signal comes."""
    from farhand.cli.app_link import greeting, open_in_browser
    from farhand.cli.conversation import TerminalConversation
    from farhand.cli.terminal import open_terminal
    from farhand.cli.while_away import ChatPlace

    environment = running.settings.environment
    with open_terminal(environment) as terminal:
        terminal.tell(f"Node '{running.settings.node}' is ready on port {running.port}.", "green")
        greeted = greeting(running)
        for line in greeted.lines:
            terminal.tell(line, "cyan")
        if running.settings.opens_app and greeted.link:
            open_in_browser(greeted.link, running.settings.folder, environment)
        if warning:
            terminal.tell(warning, "yellow")
        running.listeners.append(lambda text: terminal.tell(text, "yellow"))
        talk = TerminalConversation(
            running.hub,
            terminal,
            who=environment.get("USER", ""),
            leaving="stops the node",
            place=ChatPlace(running.settings.folder),
        )
        async with anyio.create_task_group() as tasks:

            async def leave() -> None:
                await first_of(signals)
                tasks.cancel_scope.cancel()

            tasks.start_soon(leave, name="signals")
            await talk.run()
            tasks.cancel_scope.cancel()
        agents = (
            "Its agents end, too" if running.settings.ends_workers else "Its agents live on; the next run finds them"
        )
        terminal.tell(f"Node '{running.settings.node}' stops. {agents}.", "dim")


@contextmanager
def stop_signals() -> Iterator[AsyncIterator[signal.Signals]]:
    """The signals that want the node to stop. One that was to be ignored (nohup) stays ignored."""
    wanted = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    heeded = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]
    with anyio.open_signal_receiver(*heeded) as signals:
        yield signals


async def first_of(signals: AsyncIterator[signal.Signals]) -> None:
    """Returns at the first signal."""
    number = await anext(signals)
    log.info("node stops", signal=signal.Signals(number).name)
