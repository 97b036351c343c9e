"""The channel of files and pipes: keeps every worker's plain files, reads its pipe, and welcomes who is hired."""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
from starlette.routing import BaseRoute

from farhand.channels.files.answer_pace import AnswerPace
from farhand.channels.files.pipe_messages import PipeMessages
from farhand.channels.files.pipes import PipeEnds, Pipes
from farhand.channels.files.repeats import LastAnswers
from farhand.channels.files.routes import WorkerRoutes
from farhand.channels.files.sender_pipes import SenderPipes
from farhand.channels.files.sessions import SessionFiles
from farhand.channels.files.spooled_answers import read_spooled_answers, remove_spooled_answer
from farhand.channels.files.worker_files import WorkerFiles, read
from farhand.disk.atomic import write_private
from farhand.model import facts
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.commands import Focus, Respond, Say
from farhand.model.compat import LAST_ACTIVE_FILE, node_of_prefix
from farhand.model.errors import EventsGone, NodeError, Refused, StoreError
from farhand.model.facts import Event
from farhand.model.logger import get_logger
from farhand.model.provenance import FRAME
from farhand.model.sandbox import PIPES_FOLDER
from farhand.model.welcome import welcome
from farhand.model.words import Sender, Seq
from farhand.model.worker_keys import VIA_WORKERS

log = get_logger("files")
NAME = "files"
STORE_PAUSE_SECONDS = 1.0
# How often answers are looked for that a forwarder could not bring to a busy node.
LEFT_SECONDS = 15.0


def build(context: ChannelContext) -> list[Channel]:
    """The one channel of files: every node has it."""
    return [FilesChannel(context)]


class FilesChannel:
    """Follows the journal like any other channel; its surface is the disk."""

    name = NAME

    def __init__(self, context: ChannelContext) -> None:
        self._context = context
        self._hub = context.hub
        self._outbox = context.outbox
        self._clock = context.clock
        self._queued = anyio.Event()
        node = node_of_prefix(context.tmux_prefix)
        self.worker_files = WorkerFiles(context.sessions, context.temporary, node, context.agent_group)
        self.sessions = SessionFiles(self.worker_files, context.peers)
        self._pipes = Pipes(PipeMessages(context), context.clock)
        self._sender_pipes = SenderPipes(context.folder / PIPES_FOLDER, context.sender_pipes, self._pipes)
        self._answers = LastAnswers()
        self._pace = AnswerPace(context.clock)
        self._routes = WorkerRoutes(context, self.sessions, self._answers, self._pace)

    def local_routes(self) -> Sequence[BaseRoute]:
        """Routes for callers on this machine."""
        return self._routes.routes()

    def inbox(self, worker: str) -> Path:
        """The folder for what the manager sends that worker."""
        return self.worker_files.make_inbox(worker)

    async def manager_chat_changed(self) -> None:
        """The manager's chat is known now: every worker's folder says so."""
        for name in (await self._hub.look()).workers:
            self.sessions.write_chat(name)

    async def run(self) -> None:
        """Serves until it is cancelled."""
        cursor = await self._outbox.cursor(NAME)
        present = await self._hub.look()
        after = int(cursor) if cursor.isdigit() else present.seq
        async with anyio.create_task_group() as tasks:
            await self._set_up(tasks)
            tasks.start_soon(self._expire, name="files pending")
            tasks.start_soon(self._look_for_left, name="files answers")
            while True:
                try:
                    await self._hub_events(after, tasks)
                    break
                except EventsGone as gone:
                    # It was switched off for longer than the journal reaches back, or fell that far behind.
                    log.warning("events of this channel are no longer kept", channel=NAME, **gone.details)
                    after = int(gone.details["first"]) - 1

    async def _hub_events(self, after: Seq, tasks: anyio.abc.TaskGroup) -> None:
        async for event in self._hub.watch(after=after):
            await self._followed(event, tasks)

    async def _followed(self, event: Event, tasks: anyio.abc.TaskGroup) -> None:
        """Follows one event; a store that cannot write is retried, a file that cannot be written is reported."""
        self._answers.follow(event)
        while True:
            try:
                await self._follow(event, tasks)
                return
            except StoreError as error:
                log.error("event waits", seq=event.seq, why=error.text)
                await self._clock.sleep(STORE_PAUSE_SECONDS)
            except (NodeError, OSError) as error:
                await self._report(str(error))
                return

    async def _set_up(self, tasks: anyio.abc.TaskGroup) -> None:
        try:
            self.worker_files.make()
        except (NodeError, OSError) as error:
            await self._report(str(error))
            return
        present = await self._hub.look()
        for name in present.workers:
            await self._begin(name, tasks)
        await self._update_sender_pipes(tasks)
        last = read(self._context.folder / LAST_ACTIVE_FILE)
        if not present.focus and last in present.workers:
            with suppress(StoreError):
                await self._hub.send(Focus(id=f"restored:{uuid.uuid4().hex}", worker=last), Sender(via=NAME))

    async def _begin(self, name: str, tasks: anyio.abc.TaskGroup) -> None:
        worker = (await self._hub.look()).workers.get(name)
        if worker is None:
            return
        try:
            self.sessions.begin(worker)
            self._pipes.start(self.worker_files.make_pipe(name), PipeEnds(worker=name), tasks)
            await self._pass_on(name)
        except (NodeError, OSError) as error:
            await self._report(f"{name} has no pipe and no folder: {error}")

    async def _update_sender_pipes(self, tasks: anyio.abc.TaskGroup) -> None:
        try:
            await self._sender_pipes.update((await self._hub.look()).workers, tasks)
        except (NodeError, OSError) as error:
            await self._report(f"Workers in sandboxes cannot write to the others: {error}")

    async def _pass_on(self, worker: str) -> None:
        """Passes on what the worker's hook left here while the node was away; a repeat of a post is deduplicated. What
        would be too many in a minute comes with a later look."""
        folder = self.worker_files.session(worker)
        if self._pace.is_full(worker):
            return
        for answer in await anyio.to_thread.run_sync(read_spooled_answers, folder, self._clock.now()):
            if not self._pace.take(worker):
                return
            command = Respond(id=f"{worker}:{answer.name}", worker=worker, text=answer.text, html=answer.html)
            try:
                await self._hub.send(command, Sender(via=VIA_WORKERS, who=worker))
            except Refused as error:
                log.warning("left answer refused", worker=worker, why=error.text)
            except StoreError as error:
                log.error("left answer waits", worker=worker, why=error.text)
                return
            remove_spooled_answer(folder, answer)

    async def _look_for_left(self) -> None:
        """Polls for answers whose forwarder ended before the node took them, for nothing else would bring them."""
        while True:
            await self._clock.sleep(LEFT_SECONDS)
            for name in (await self._hub.look()).workers:
                try:
                    await self._pass_on(name)
                except (NodeError, OSError) as error:
                    log.warning("left answers not read", worker=name, why=str(error))

    async def _report(self, problem: str) -> None:
        log.error("files not kept", problem=problem)
        with suppress(StoreError):
            await self._context.peers.notify(f"⚠ {problem}")

    async def _follow(self, event: Event, tasks: anyio.abc.TaskGroup) -> None:
        match event.fact:
            case facts.Hired(by=by):
                await self._begin(event.worker, tasks)
                await self._update_sender_pipes(tasks)
                if by.via != "node":
                    await self._welcome(event)
                await self._outbox.put(NAME, (), str(event.seq))
            case facts.Ended():
                self._pipes.stop(self.worker_files.pipe(event.worker))
                present = await self._hub.look()
                await self._update_sender_pipes(tasks)
                if event.worker not in present.workers:
                    self.worker_files.remove(event.worker)
                if not present.focus:
                    (self._context.folder / LAST_ACTIVE_FILE).unlink(missing_ok=True)
                await self._outbox.put(NAME, (), str(event.seq))
            case facts.Focused():
                write_private(self._context.folder / LAST_ACTIVE_FILE, event.worker)
            case _:
                worker = (await self._hub.look()).workers.get(event.worker)
                if worker is not None:
                    self.sessions.follow(event, worker)
                if isinstance(event.fact, facts.Queued):
                    self._queued.set()
                    await self._pass_on(event.worker)

    async def _welcome(self, event: Event) -> None:
        """Sent once for each hiring, however often the node dies."""
        pipe, frame = str(self.worker_files.pipe(event.worker)), FRAME.partition("{")[0]
        text = welcome(event.worker, self._context.bridge_url, pipe, frame)
        try:
            say = Say(id=f"welcome:{event.worker}:{event.seq}", worker=event.worker, text=text, anyway=True)
            await self._hub.send(say, Sender(via=NAME))
        except Refused as error:
            log.info("not welcomed", worker=event.worker, why=error.text)

    async def _expire(self) -> None:
        """Sleeps until what is pending must be cleared; costs nothing when nothing is."""
        while True:
            self._queued = anyio.Event()
            left = self.sessions.expire(await self._hub.look(), self._clock.now())
            if left is None:
                await self._queued.wait()
            else:
                await self._clock.sleep(left)
