"""A worker of a team as a live conversation: its history and its events into the log, what is said into the hub."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from copy import copy

from farhand.model import commands, facts
from farhand.model.errors import AskGone, CannotDo, NotReady, UnknownAsk
from farhand.model.facts import Event
from farhand.model.live_session import (
    MessageState,
    Role,
    SessionMessage,
    SessionPart,
    SessionStatus,
    SessionTerminal,
)
from farhand.model.ports import Hub
from farhand.model.present import WIRE, Message, Present, Worker
from farhand.model.provenance import shown_text
from farhand.model.words import AskId, Attachment, MessageId, Sender, WorkerName, replace
from farhand.remote.keys import KnownKeys
from farhand.remote.log import MemoryLog
from farhand.remote.past import ENDED, WorkerPast

MOST_SETTLED = 200
ORDER_OBEYED = "That was taken as an order, and not said to the agent."
ALREADY_SAID = "The node had that already, and took it once."


class HubSession:
    """One worker. Whoever watches the hub hands every event in; those that came before its history are kept back."""

    def __init__(
        self,
        hub: Hub,
        worker: WorkerName,
        sender: Sender,
        now: Callable[[], float],
        terminal: SessionTerminal | None = None,
    ) -> None:
        self.worker = worker
        self._terminal = terminal
        self.log = MemoryLog(now, SessionStatus(why=f"{worker} is being looked up."))
        self._hub, self._sender = hub, sender
        self._early: list[tuple[Event, Present]] | None = []
        self._after = 0
        self._ids: dict[MessageId, int] = {}
        self._past = WorkerPast(hub, worker, self.log, self._ids)
        self._reply: int | None = None
        self._keys = KnownKeys()
        # What was said last, while nobody knows whether the node has it.
        self._unsure: commands.Say | None = None
        self._settled: dict[AskId, facts.AskSettled] = {}

    def spoken_by(self, sender: Sender) -> HubSession:
        """The same conversation, in which somebody else speaks."""
        other = copy(self)
        other._sender = sender
        return other

    async def open(self, present: Present) -> None:
        """Reads what was said last."""
        self._after, self._reply = await self._past.open()
        self._show_worker(present)
        early, self._early = self._early or [], None
        for event, after in early:
            self.take(event, after)

    async def read_older(self, limit: int) -> bool:
        """As `LiveSession.read_older`."""
        return await self._past.read_older(limit)

    def _add_message(self, message: Message, state: MessageState) -> None:
        if message.id not in self._ids:
            self._ids[message.id] = self.log.add(
                Role.USER, shown_text(message.text, message.by), state, at=message.at
            ).id

    def take(self, event: Event, present: Present) -> None:
        """An event of this worker, and the present after it."""
        if self._early is not None:
            self._early.append((event, present))
            return
        if event.seq > self._after:
            self._after = event.seq
            self._show_event(event)
        self._show_worker(present)

    def show(self, present: Present) -> None:
        """How the worker stands, where no event says so."""
        if self._early is None:
            self._show_worker(present)

    def _show_worker(self, present: Present) -> None:
        worker = present.workers.get(self.worker)
        if worker is None:
            self.log.set_status(ready=False, running=False, why=f"{self.worker} is not on the team any more.")
            self.log.set_asks(())
            return
        for message in worker.queue:
            self._add_message(message, MessageState.QUEUED)
        self.log.set_asks(tuple(ask for ask in worker.asks if ask.settled is None))
        self._show_status(worker)

    def _show_status(self, worker: Worker) -> None:
        spent = worker.spent.total
        self.log.set_status(
            ready=not worker.is_offline,
            running=worker.turn is not None,
            agent_type=worker.backend,
            has_terminal=self._terminal is not None,
            wire=worker.options.get(WIRE, ""),
            model=worker.model,
            mode=worker.mode.value,
            directory=worker.directory,
            session_id=worker.session,
            tokens=spent.input_tokens + spent.output_tokens,
            cost_dollars=spent.cost_dollars,
            why=worker.why_offline or (f"{self.worker} is offline." if worker.is_offline else ""),
        )

    def _show_event(self, event: Event) -> None:
        fact = event.fact
        match fact:
            case facts.Queued(message=message, text=text, by=by):
                shown = shown_text(text, by)
                self._ids[message] = self.log.add(Role.USER, shown, MessageState.QUEUED, at=event.at).id
            case facts.AskSettled(ask=ask):
                self._settled[ask] = fact
                for old in list(self._settled)[:-MOST_SETTLED]:
                    del self._settled[old]
            case facts.Reworded(message=message, text=text) if message in self._ids:
                self.log.mark(self._ids[message], MessageState.QUEUED, text)
            case facts.Withdrawn(message=message) if message in self._ids:
                self.log.remove_waiting(self._ids[message])
            case facts.TurnStarted(message=message, text=text):
                if message in self._ids:
                    self.log.mark(self._ids[message], MessageState.DONE)
                elif text.strip():
                    self.log.add(Role.USER, text, at=event.at)
                self._reply = self.log.add(Role.MODEL, "", MessageState.RUNNING, at=event.at).id
            case facts.HandedOver(message=message) | facts.Seen(message=message) if message in self._ids:
                if self.log.get(self._ids[message]).state is MessageState.QUEUED:
                    self.log.mark(self._ids[message], MessageState.DONE)
            case facts.Said(text=text):
                self.log.append(self._open_reply(), "text", text)
            case facts.Thought(text=text):
                self.log.append(self._open_reply(), "thought", text)
            case facts.ToolStarted(call=call, title=title, detail=detail):
                part = SessionPart(kind="tool", call=call, title=title, detail=detail)
                self.log.add_part(self._open_reply(), part)
            case facts.ToolEnded(call=call, ok=ok, output=output):
                self.log.end_tool(self._open_reply(), call, ok=ok, output=output)
            case facts.TurnEnded(how=how, error=error):
                self.log.mark(self._open_reply(), ENDED.get(how, MessageState.FAILED))
                self._reply = None
                if error:
                    self.log.add(Role.NOTICE, f"✗ {error}")
            case facts.Responded(text=text):
                self.log.add(Role.MODEL, text)
            case facts.Noted(text=text) | facts.Limited(text=text):
                self.log.add(Role.NOTICE, text)
            case facts.WentOffline(why=why):
                self.log.add(Role.NOTICE, f"{self.worker} is offline: {why}")
            case _:
                pass

    def _open_reply(self) -> int:
        """The answer that grows; what an agent says outside of a turn is one of its own."""
        if self._reply is None:
            return self.log.add(Role.MODEL, "").id
        return self._reply

    async def say(self, text: str, key: str = "", attachments: tuple[Attachment, ...] = ()) -> SessionMessage:
        """As `LiveSession.say`; it is on the disk then."""
        if not self.log.status.ready:
            raise NotReady(self.log.status.why or f"{self.worker} is not there.")
        if (known := self._keys.find(key, text)) is not None:
            return self.log.get(known)
        say = commands.Say(id=uuid.uuid4().hex, text=text, worker=self.worker, attachments=attachments)
        if self._unsure is not None and replace(self._unsure, id=say.id) == say:
            # The node went away over it: under the same id it takes it once.
            say = self._unsure
        self._unsure = say
        accepted = await self._hub.send(say, self._sender)
        self._unsure = None
        if accepted.again:
            self.log.add(Role.NOTICE, ALREADY_SAID)
        if not accepted.message:
            # A lone order, such as STOP.
            return self.log.add(Role.NOTICE, ORDER_OBEYED)
        while accepted.message not in self._ids:
            await self.log.wait(self.log.number)
        self._keys.add(key, text, self._ids[accepted.message])
        return self.log.get(self._ids[accepted.message])

    async def interrupt(self) -> bool:
        """As `LiveSession.interrupt`."""
        if not self.log.status.running:
            return False
        await self._hub.send(commands.Interrupt(id=uuid.uuid4().hex, worker=self.worker), self._sender)
        return True

    async def answer(self, ask: str, choice: str, note: str = "") -> None:
        """As `LiveSession.answer`; the hub knows which answer was the first. Whether a caller may permit something is
        judged by what is shown here, so that nothing else can be answered: not another's question, nor one to come."""
        if not any(one.id == ask for one in self.log.asks):
            settled = self._settled.get(ask)
            if settled is None:
                raise UnknownAsk(ask)
            raise AskGone(ask, settled.how.value, settled.choice, settled.by.via if settled.by else "")
        answer = commands.Answer(id=uuid.uuid4().hex, ask=ask, choice=choice, note=note)
        await self._hub.send(answer, self._sender)

    async def withdraw(self, message: int) -> bool:
        """As `LiveSession.withdraw`."""
        found = next((name for name, number in self._ids.items() if number == message), None)
        if found is None or self.log.get(message).state is not MessageState.QUEUED:
            return False
        await self._hub.send(commands.Withdraw(id=uuid.uuid4().hex, message=found), self._sender)
        return True

    async def raw(self, keys: str) -> None:
        """As `LiveSession.raw`."""
        if self._terminal is None:
            raise CannotDo(f"{self.worker} works without a terminal of its own.")
        await self._terminal.write(keys)

    async def watch_screen(self, shown: Callable[[str], None]) -> None:
        """As `LiveSession.watch_screen`."""
        if self._terminal is not None:
            await self._terminal.watch(shown)
