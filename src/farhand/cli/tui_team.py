"""The desk of `farhand tui --team`: every worker of a node is a conversation, what is typed goes to the one shown."""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from typing import assert_never

import anyio

from farhand.channels.kit.bot import history_text
from farhand.channels.kit.shared_answers import shared_answer
from farhand.channels.kit.sprint_texts import sprint_line, sprint_summary
from farhand.channels.kit.topic_wishes import with_worker
from farhand.cli.conversation_lines import done_line, help_text, progress_lines, session_lines, team_lines
from farhand.cli.earlier_sessions import node_session_id, of_node
from farhand.cli.team_files import TeamFiles, files_of, named_files
from farhand.cli.tui_agent import file_completions, slash_completions
from farhand.model import commands, facts, grammar, slash, wishes
from farhand.model.answers import Answered, OutOfRange, read_answer
from farhand.model.errors import BadInput, EventsGone, NodeError, NotAllowed
from farhand.model.facts import Event
from farhand.model.live_session import LiveSession, Role, SessionMessage, SessionName
from farhand.model.ports import Hub, SessionFound
from farhand.model.present import Present, Worker
from farhand.model.present_fold import fold
from farhand.model.slash_hire import ANYWAY
from farhand.model.wishes import DEVICES_AT_SHELL, DeviceWish, InfoRequest, Listing, Quit, Tell, Unsure, Wish, Wrong
from farhand.model.words import Attachment, Sender, Usage, replace
from farhand.remote.hub_session import HubSession
from farhand.remote.keyless import refuse_orders
from farhand.remote.log import MemoryLog
from farhand.remote.no_session import NoSession
from farhand.tui.desk import Completion, EarlierSessions

SURFACE = slash.terminal()
NOBODY = "nobody"
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 5.0
EMPTY_TEAM = "Nobody is on the team. /hire <name> takes somebody on."

# What a program without a key may have done: everything else at the keyboard changes what may run, or runs it.
WITHOUT_KEY = (Tell, Unsure, InfoRequest, Listing, Wrong, commands.Focus, commands.Interrupt, commands.Halt)


class TeamDesk:
    """The workers of a node. `run` follows the hub until it is cancelled."""

    def __init__(self, hub: Hub, sender: Sender, files: TeamFiles | None = None) -> None:
        self.leaving = anyio.Event()
        self.title = NOBODY
        self.session: LiveSession = NoSession(EMPTY_TEAM)
        self._hub, self._sender = hub, sender
        self._files = files or files_of(hub)
        self._present = Present()
        self._last: Event | None = None
        self._sessions: dict[str, HubSession] = {}
        self._unread: dict[str, int] = {}
        self._changed = anyio.Event()
        self._is_ready = False
        # The conversations that were listed last, by what the list calls them.
        self._offered: dict[str, SessionFound] = {}
        # A lone order that was typed where there is nothing to obey.
        self._asked_back = ""

    async def open(self) -> None:
        """Reads the present, and shows the worker in focus."""
        self._present = await self._hub.look()
        first = self._present.focus or next(iter(self._present.workers), "")
        if first:
            await self.select(first)
        else:
            self._log().add(Role.NOTICE, EMPTY_TEAM)

    def set_ready(self, ready: bool) -> None:
        """The screen is there; whether a worker is, its own status says."""
        self._is_ready = ready
        if isinstance(self.session, NoSession):
            self.session.log.set_status(ready=ready)

    async def run(self) -> None:
        """Hands every event to the conversation that it belongs to; a node that is away is asked again until it is
        back, and tells what happened since."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                # Raises while the node is away.
                await self._hub.look()
                pause = FIRST_PAUSE_SECONDS
                await self._follow()
            except NodeError as error:
                self._tell_away(error.text)
            except EventsGone:
                with suppress(NodeError):
                    await self._read_anew()
            await anyio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _follow(self) -> None:
        """Takes every event after the last one. That one is asked for once more: where another has its number now, the
        journal is not the one that was read, and EventsGone is raised."""
        last = self._last
        for session in self._sessions.values():
            session.show(self._present)
        async for event in self._hub.watch(after=self._present.seq if last is None else last.seq - 1):
            if last is None or event.seq > last.seq:
                await self._take(event)
            elif event != last:
                raise EventsGone(last.seq, event.seq, event.seq)

    async def _take(self, event: Event) -> None:
        self._present, self._last = fold(self._present, event), event
        session = self._sessions.get(event.worker)
        if session is not None:
            session.take(event, self._present)
            if told := _sprint_notice(event):
                session.log.add(Role.NOTICE, told)
        if isinstance(event.fact, facts.TurnEnded | facts.AskRaised) and event.worker != self.title:
            self._unread[event.worker] = self._unread.get(event.worker, 0) + 1
        if isinstance(event.fact, facts.Hired) and isinstance(self.session, NoSession):
            await self.select(event.worker)
        if not isinstance(event.fact, facts.Said | facts.Thought):
            self._tell_changed()

    def _tell_away(self, why: str) -> None:
        for session in self._sessions.values():
            session.log.set_status(ready=False, why=f"{why} It is asked again.")

    async def _read_anew(self) -> None:
        """What was missed is not kept: the conversation that is shown is read anew, the others when they are."""
        self._present, self._last, shown = await self._hub.look(), None, self.title
        self._sessions.clear()
        if shown in self._present.workers:
            await self.select(shown)

    @property
    def names(self) -> tuple[SessionName, ...]:
        """As `Desk.names`."""
        return tuple(self._name(worker) for worker in self._present.workers.values())

    def _name(self, worker: Worker) -> SessionName:
        cost = worker.spent.total.cost_dollars
        return SessionName(
            name=worker.name,
            state=worker.state_at(time.time()),
            cost="" if cost is None else f"${cost:.2f}",
            unread=self._unread.get(worker.name, 0),
            doing=_doing(worker),
        )

    async def names_changed(self) -> None:
        """As `Desk.names_changed`."""
        await self._changed.wait()

    def _tell_changed(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def select(self, name: str) -> None:
        """As `Desk.select`; the phone's focus stays as it is."""
        session = self._sessions.get(name)
        if session is None:
            session = self._sessions[name] = HubSession(self._hub, name, self._sender, time.time)
            await session.open(self._present)
        self.title, self.session = name, session
        self._unread.pop(name, None)
        self._tell_changed()

    async def earlier(self, text: str) -> EarlierSessions | None:
        """As `Desk.earlier`: what `/sessions` lists, and `/adopt` without a name would want."""
        wish = Listing(id="") if text.split() == ["/adopt"] else self._wish(text) if text.startswith("/") else None
        if not isinstance(wish, Listing):
            return None
        found = await self._hub.sessions(wish.backend, wish.directory)
        self._offered = {node_session_id(one): one for one in found}
        return of_node(found, time.time())

    async def resume(self, session: str) -> str:
        """As `Desk.resume`: what a worker has is shown, what is open at somebody's desk is taken over by a word."""
        found = self._offered[session]
        if found.open and not found.worker:
            return f"/adopt {found.backend} {found.id} {ANYWAY}"
        name = found.worker
        if not name:
            hire = commands.Hire(
                id=uuid.uuid4().hex,
                worker="",
                backend=found.backend,
                session=found.id,
                directory=found.directory,
            )
            name = (await self._hub.send(hire, self._sender)).worker
        while name not in self._present.workers:
            await self._changed.wait()
        await self.select(name)
        return ""

    def completions(self, word: str, *, first: bool) -> list[Completion]:
        """As `Desk.completions`."""
        if word.startswith("/") and first:
            names = [Completion(text=f"/{name} ", help="Talk to this worker") for name in self._present.workers]
            return [*slash_completions(SURFACE, word), *(one for one in names if one.text.startswith(word))]
        if word.startswith("@") and first:
            return [Completion(text=f"@{name} ") for name in self._present.workers if f"@{name}".startswith(word)]
        worker = self._present.workers.get(self.title)
        return file_completions(word, self._files.folder(worker)) if worker and word.startswith("@") else []

    async def submit(self, text: str, key: str = "", *, may_allow: bool = True) -> SessionMessage | None:
        """As `Desk.submit`."""
        asks = self.session.log.asks
        if may_allow and asks and not text.startswith(("/", "@")):
            match read_answer(text, asks[0], addressed=True):
                case Answered(choice=choice, note=note):
                    await self.session.answer(asks[0].id, choice, note)
                    return None
                case OutOfRange() as out:
                    raise BadInput(out.text)
                case None:
                    pass
        wish = self._wish(text)
        if wish is not None and not may_allow and not isinstance(wish, WITHOUT_KEY):
            raise NotAllowed("That is done at the keyboard, or with a key (FARHAND_REMOTE_KEY).")
        if isinstance(wish, Tell) and not may_allow:
            refuse_orders(wish.text)
        return await self._obey(wish, key, self._focused(), attach=may_allow) if wish is not None else None

    def _focused(self) -> Present:
        """The present, as if the worker that is shown were in focus."""
        return replace(self._present, focus=self.title if self.title in self._present.workers else "")

    def _wish(self, text: str) -> Wish | None:
        """What is meant; where it names nobody, the worker that is shown. A lone `stop` is an order, and said to the
        agent only where it is typed a second time."""
        wish = grammar.read(uuid.uuid4().hex, text, self._focused(), SURFACE)
        again, self._asked_back = text.strip() == self._asked_back, ""
        said = wish.text if isinstance(wish, Tell) else text
        wish = wish if again else grammar.meant(wish, said, self._focused(), SURFACE)
        self._asked_back = text.strip() if isinstance(wish, Unsure) else ""
        return with_worker(wish, self.title) if wish is not None and self.title in self._present.workers else wish

    async def _obey(self, wish: Wish, key: str, present: Present, *, attach: bool) -> SessionMessage | None:
        match wish:
            case Quit():
                self.leaving.set()
                return None
            case Wrong(why=why):
                raise BadInput(why)
            case Unsure(command=command, question=question, worker=worker) if command:
                raise BadInput(f"{question} /{command} does it here; type it once more to say it to {worker}.")
            case Unsure(other=other, question=question, worker=worker) if other:
                raise BadInput(f"{question} @{other} says it to {other}; type it once more to say it to {worker}.")
            case Unsure(question=question):
                raise BadInput(f"{question} Type it once more for that.")
            case commands.Focus(worker=worker):
                await self.select(worker)
                return None
            case Tell():
                return await self._tell(wish, key, present, attach=attach)
            case InfoRequest(about="history", of=worker, count=count):
                return self._log().add(Role.NOTICE, await history_text(self._hub, worker or self.title, count))
            case InfoRequest():
                return self._log().add(Role.NOTICE, _told(wish, present))
            case Listing(backend=backend, directory=directory):
                found = await self._hub.sessions(backend, directory)
                return self._log().add(Role.NOTICE, session_lines(found))
            case DeviceWish():
                raise BadInput(DEVICES_AT_SHELL)
            case _:
                return await self._send(wish)

    async def _tell(self, wish: Tell, key: str, present: Present, *, attach: bool) -> SessionMessage | None:
        """Says it, with the files that it names. A program without a key attaches none: one that the agent runs could
        show it a file so that is kept from it."""

        async def files(name: str) -> tuple[Attachment, ...]:
            worker = present.workers.get(name) if attach else None
            return await named_files(wish.text, worker, self._files) if worker else ()

        if wish.everybody or (wish.worker and wish.worker != self.title):
            names = wishes.targets(wish, present) if wish.everybody else (wish.worker,)
            if not names:
                raise BadInput(wishes.nobody_meant(wish))
            for name in names:
                say = wishes.say(wish, name)
                said = replace(say, attachments=(*say.attachments, *await files(name)))
                await self._hub.send(wishes.stop_of(wish, name, present) or said, self._sender)
            if wish.focus and not wish.everybody:
                await self.select(wish.worker)
            return None
        return await self.session.say(wish.text, key, await files(self.title))

    async def _send(self, command: commands.Command) -> SessionMessage | None:
        before = await self._hub.look()
        accepted = await self._hub.send(command, self._sender)
        done = done_line(command, accepted.worker, before)
        return self._log().add(Role.NOTICE, done) if done else None

    def _log(self) -> MemoryLog:
        """The log that is shown, to be written to."""
        shown = self._sessions.get(self.title)
        if shown is not None:
            return shown.log
        return self.session.log if isinstance(self.session, NoSession) else MemoryLog(time.time)


def _doing(worker: Worker) -> str:
    sprint = worker.sprint
    told = [f"sprint {min(sprint.at + 1, sprint.total)}/{sprint.total}"] if sprint else []
    told += [f"✗ {sprint.failures}"] if sprint and sprint.failures else []
    told += [f"{len(worker.queue)} waiting"] if worker.queue else []
    return " · ".join(told)


def _sprint_notice(event: Event) -> str:
    match event.fact:
        case facts.SprintBegan(sprint=sprint):
            return sprint_line(event.worker, sprint, sprint.began, Usage())
        case facts.SprintEnded() as ended:
            return sprint_summary(event.worker, ended, event.at)
        case _:
            return ""


def _told(question: InfoRequest, present: Present) -> str:
    match question.about:
        case "inbox" | "mode" | "queue" | "quiet" | "review" | "sprint" | "usage":
            return shared_answer(question.about, question.of, present, SURFACE)
        case "help":
            return help_text(SURFACE, question.of)
        case "progress":
            return progress_lines(present, time.time(), question.of)
        case "digest" | "history" | "settings" | "start" | "team":
            return team_lines(present, time.time())
        case _:
            assert_never(question.about)
