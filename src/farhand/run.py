"""Runs a node until a signal or its conversation ends it, then lets its channels finish."""

import asyncio
import faulthandler
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import anyio

from farhand.app import Channels, node
from farhand.config import logs, parents, run_as
from farhand.config.process import keep_pauses_short
from farhand.config.settings import Settings
from farhand.core.hub import LocalHub
from farhand.model import compat
from farhand.model.channel_ports import Drains
from farhand.model.commands import Hire
from farhand.model.errors import FarhandError, NameTaken
from farhand.model.logger import get_logger
from farhand.model.ports import Driver
from farhand.model.words import Mode, Sender, replace
from farhand.node import Node
from farhand.store import folder

log = get_logger("node")


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
    if user is not None:
        path = settings.environment.get("PATH", "")
        for finding in run_as.findings(user, settings.secret_paths, [settings.working_directory], path):
            log.warning("agents run as another user", user=user.name, finding=finding)
    if settings.no_yolo and settings.hire_mode is not settings.usual_mode:
        log.warning("workers ask before they act", why=settings.no_yolo)
    return text


async def run_until_signal(settings: Settings, drivers: Mapping[str, Driver], channels: Channels) -> None:
    """Runs the node until SIGTERM, SIGINT or SIGHUP; then what is under way is finished, within a limit."""
    warn(settings)
    # Before the door opens: whoever sees a node may stop it.
    with stop_signal(settings) as signalled:
        async with node(settings, drivers, channels) as running:
            await hire_first(running)
            keep_pauses_short()
            await signalled.wait()
            await drain(running)


async def run_with_conversation(settings: Settings, drivers: Mapping[str, Driver], channels: Channels) -> None:
    """Runs the node with a conversation in this terminal; leaving it, a signal or a closed terminal stops the node."""
    with stop_signal(settings) as signalled:
        async with node(settings, drivers, channels) as running:
            await hire_first(running)
            keep_pauses_short()
            await converse(running, signalled, warn(settings))
            await drain(running)


async def hire_first(running: Node) -> None:
    """Whoever is on the team without anybody's word: the team of an earlier bridge, or the demo worker."""
    if running.settings.earlier.workers:
        await hire_earlier(running)
    if running.settings.demo:
        await hire_demo(running.hub)


async def hire_earlier(running: Node) -> None:
    """Takes the team of another bridge over, each worker as it was, and tells the manager once."""
    settings, told = running.settings, []
    for one in settings.earlier.workers:
        mode = None if one.mode is Mode.YOLO and settings.no_yolo else one.mode
        hire = Hire(
            id=f"earlier:{one.name}",
            worker=one.name,
            backend=one.backend,
            directory=one.directory,
            mode=mode,
            focus=one.name == settings.earlier.focus,
        )
        try:
            await running.hub.send(hire, Sender(via="node"))
            told.append(replace(one, mode=running.hub.present.workers[one.name].mode).line)
        except FarhandError as error:
            log.warning("earlier worker not taken over", worker=one.name, why=error.text)
            told.append(f"not {one.name}: {error.text}")
    await running.tell_manager("Taken over from the bridge before:\n" + "\n".join(f"- {line}" for line in told))


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


async def converse(running: Node, signalled: anyio.Event, warning: str = "") -> None:
    """A conversation with the team in this terminal, until the person leaves or a signal comes."""
    from farhand.cli.app_link import greet_phone, greeting, open_in_browser
    from farhand.cli.conversation import TerminalConversation
    from farhand.cli.terminal import open_terminal
    from farhand.cli.typed_lines import TypedLines
    from farhand.cli.while_away import ChatPlace

    environment = running.settings.environment
    with open_terminal(environment, TypedLines(running.settings.folder)) as terminal:
        terminal.tell(f"Node '{running.settings.node}' is ready on port {running.port}.", "green")
        greeted = greeting(running)
        for line in greeted.lines:
            terminal.tell(line, "cyan")
        if greeted.link:
            greet_phone(running, lambda line: terminal.tell(line, "cyan"))
        if running.settings.opens_app and greeted.link:
            open_in_browser(greeted.link, running.settings.folder, environment)
        if warning:
            terminal.tell(warning, "yellow")
        running.listeners.append(lambda text: terminal.tell(text, "yellow"))

        async def status() -> dict[str, Any]:
            return running.status()

        talk = TerminalConversation(
            running.hub,
            terminal,
            who=environment.get("USER", ""),
            leaving="stops the node",
            place=ChatPlace(running.settings.folder),
            status=status,
        )
        async with anyio.create_task_group() as tasks:

            async def leave() -> None:
                await signalled.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(leave, name="signals")
            await talk.run()
            tasks.cancel_scope.cancel()
        has_team, by_signal = bool(running.hub.present.workers), signalled.is_set()
        terminal.tell(farewell(running.settings, has_team=has_team, by_signal=by_signal), "dim")


def farewell(settings: Settings, *, has_team: bool, by_signal: bool) -> str:
    """The last line at a terminal. Whoever sends a signal may end the agents, too, as `farhand stop` does."""
    agents = ""
    if has_team and settings.ends_workers:
        agents = " Its agents end, too."
    elif has_team and not by_signal:
        agents = " Its agents live on; the next run finds them."
    return f"Node '{settings.node}' stops.{agents}"


@contextmanager
def stop_signal(settings: Settings) -> Iterator[anyio.Event]:
    """Set at the first signal that wants the node to stop, also while it starts; from then on its time is limited.

    A signal that was to be ignored (nohup) stays ignored."""
    wanted = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    heeded = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]
    signalled, limit, loop = anyio.Event(), stop_limit(settings), asyncio.get_running_loop()

    def stop(number: signal.Signals) -> None:
        if not signalled.is_set():
            log.info("node stops", signal=number.name)
            limit.start()
            signalled.set()

    for number in heeded:
        loop.add_signal_handler(number, stop, number)
    try:
        yield signalled
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)
        if settings.ends_workers:
            # Its agents end after it, and have their own limits. Else the interpreter's end is under the limit, too.
            limit.cancel()


def stop_limit(settings: Settings) -> threading.Timer:
    """A thread that ends the process when its stop takes too long: what blocks the event loop does not block it.

    Nothing is lost by it. A node may be killed at any moment, and the next start goes on from what is on the disk."""

    def give_up() -> None:
        path = settings.folder / compat.LOG_FILE
        with suppress(OSError), open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "w") as file:  # noqa: PTH123
            file.write(f"The node did not stop within {settings.stop_seconds:g} s. What its threads are doing:\n")
            file.flush()
            faulthandler.dump_traceback(file)
        os._exit(1)

    limit = threading.Timer(settings.stop_seconds, give_up)
    limit.daemon = True
    return limit
