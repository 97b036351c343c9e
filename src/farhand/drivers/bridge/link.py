"""The link to a bridged agent: errands go into its inbox, its outbox is what it says, its pane is where it is woken."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import anyio
import anyio.to_thread

from farhand.disk.watch import FolderChange
from farhand.drivers.bridge.pace import OutboxPace
from farhand.drivers.bridge.pane import PaneWaker, Waking
from farhand.drivers.bridge.process import identify, is_gone, is_that
from farhand.drivers.bridge.state import BridgeCursor
from farhand.drivers.bridge.translate import answered, said_at_desk
from farhand.drivers.wires.cursor import write_cursor
from farhand.drivers.wires.text.prompt import prompt_text
from farhand.model import facts
from farhand.model.bridge import BridgeAnswer, BridgeFiles, BridgeLook
from farhand.model.logger import get_logger
from farhand.model.ports import Batch, Change, Deliver, Errand, Heard, NotTaken, Outcome, Settle, Stop, Taken
from farhand.model.present import Worker
from farhand.model.words import HowEnded, replace

log = get_logger("bridge")
# A network drive tells nobody of its changes: it is looked at this often.
LOOK_SECONDS = 2.0
# Messages a second into one inbox; the rest waits.
PACE_SECONDS = 1.0
LOG_CHARACTERS = 80
BUSY = "It takes a message when its turn is over."
NOT_HERE = "It was started at the desk, by hand: it can be told things, and nothing else."
NO_LONGER_AWAITED = (
    "Its answer is no longer awaited. It has read your message and may work on at its own desk: "
    "only somebody there can interrupt it."
)
SILENT = "It ended its turn without a word: it had nothing to say, failed, or was stopped at its desk."
GONE = "Its program has ended before it answered."
AT_WORK = "It is at work at its desk, as far as its hooks tell: it reads this after that, with its next turn."
OCCUPIED = "It was not woken, for something is typed or asked at its desk: it reads this with its next turn there."
WAITS = "It was not woken: it reads this with its next turn at the desk."


class BridgeLink:
    """One worker's two files."""

    def __init__(
        self, files: BridgeFiles, worker: Worker, cursor: BridgeCursor, changed: FolderChange, waker: PaneWaker
    ) -> None:
        self._files = files
        self._name = worker.name
        self._cursor = cursor
        self._changed = changed
        self._waker = waker
        running = worker.turn
        message = running.message if running and running.handed_over else None
        # The turn whose message is in the inbox, and that message; what was said before it is nobody's answer to it.
        self._turn = running.id if running and message else ""
        self._message = message.id if message else ""
        self._earlier: frozenset[str] = frozenset()
        # The message that needs no further attempt to wake the agent; the one of which it is told why it waits.
        self._tried = ""
        self._told = ("", "")
        # The turn that a person no longer waits for, and what that person is told.
        self._stopped = ("", "")
        self._put_at = -PACE_SECONDS
        self._pace = OutboxPace(anyio.current_time())
        self._news = anyio.Event()

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Puts a message into the inbox; done twice, it is there once."""
        match errand:
            case Deliver(joins=True):
                return NotTaken(why=BUSY)
            case Deliver():
                return await self._deliver(errand)
            case Stop(turn=turn):
                return await self._take_back(turn)
            case Settle() | Change():
                return NotTaken(why=NOT_HERE)

    async def _deliver(self, errand: Deliver) -> Outcome:
        await anyio.sleep(max(0.0, self._put_at + PACE_SECONDS - anyio.current_time()))
        self._put_at = anyio.current_time()
        text, identity = prompt_text(errand.message), inbox_id(errand.message.id)
        before = await anyio.to_thread.run_sync(self._files.look)
        if identity not in before.inbox:
            self._earlier = frozenset(one.key for one in before.answers)
        self._turn, self._message = errand.turn, errand.message.id
        await anyio.to_thread.run_sync(self._files.put, identity, text)
        log.info(f"📥 Received: {' '.join(text.split())[:LOG_CHARACTERS]}", worker=self._name)
        self._news.set()
        return Taken()

    async def _take_back(self, turn: str) -> Outcome:
        """A message that nobody has read is taken out of the inbox; a turn at the desk goes on, and is awaited no
        longer."""
        if turn != self._turn:
            return NotTaken(why="That turn is over already.")
        is_unread = await anyio.to_thread.run_sync(self._files.take_back, inbox_id(self._message))
        self._stopped = (turn, "" if is_unread else NO_LONGER_AWAITED)
        self._news.set()
        return Taken()

    # --- facts

    async def facts(self) -> AsyncIterator[Batch]:
        """What the files show, as soon as they change, and at least every two seconds."""
        while True:
            self._news = anyio.Event()
            # Before the look: what it wrote before its end is in the files by then.
            gone = bool(self._turn) and await anyio.to_thread.run_sync(is_gone, self._cursor.reader)
            look = self._paced(await anyio.to_thread.run_sync(self._files.look))
            for heard, told in self._read(look, gone=gone):
                self._cursor = replace(self._cursor, told=(*self._cursor.newest, *told))
                yield Batch(heard=heard, cursor=write_cursor(self._cursor))
            # All of it is written down by now: only then is it marked.
            if look.answers:
                await anyio.to_thread.run_sync(self._files.mark_sent, tuple(one.key for one in look.answers))
            if note := await self._wake(look):
                yield Batch(heard=(note,))
            await self._wait()

    def _paced(self, look: BridgeLook) -> BridgeLook:
        """With as many answers as may be told now; the others stay unsent in the file."""
        taken = look.answers[: self._pace.room(anyio.current_time())]
        self._pace.took(sum(one.key not in self._cursor.told for one in taken))
        if len(taken) == len(look.answers):
            return look
        log.warning("outbox is flooded", worker=self._name, waiting=len(look.answers) - len(taken))
        return replace(look, answers=taken, has_more=True)

    async def _wait(self) -> None:
        """Until something changed here, or two seconds are over."""
        async with anyio.create_task_group() as tasks:

            async def until_changed() -> None:
                await self._changed.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(until_changed)
            with anyio.move_on_after(LOOK_SECONDS):
                await self._news.wait()
            tasks.cancel_scope.cancel()

    def _read(self, look: BridgeLook, *, gone: bool) -> list[tuple[tuple[Heard, ...], tuple[str, ...]]]:
        """What is new, in its order: each with the answers that it tells."""
        found: list[tuple[tuple[Heard, ...], tuple[str, ...]]] = []
        if self._turn and self._cursor.seen != self._message and look.inbox.get(inbox_id(self._message)):
            reader = identify(look.agent, self._waker.project)
            self._cursor = replace(self._cursor, seen=self._message, reader=reader)
            found.append(((Heard(fact=facts.Seen(message=self._message), turn=self._turn),), ()))
        for answer in (one for one in look.answers if one.key not in self._cursor.told):
            log.info(f"📤 Sent: {' '.join(answer.text.split())[:LOG_CHARACTERS]}", worker=self._name)
            found.append((self._translated(answer), (answer.key,)))
        if self._turn and (over := self._over(look, gone=gone)):
            found.append((over, ()))
            self._turn, self._message = "", ""
        return found

    def _over(self, look: BridgeLook, *, gone: bool) -> tuple[Heard, ...]:
        """The end of the turn without an answer: a person no longer waits for it, its agent is gone or said nothing."""
        turn, note = self._stopped
        if turn == self._turn:
            noted = (Heard(fact=facts.Noted(text=note), turn=turn),) if note else ()
            return (*noted, Heard(fact=facts.TurnEnded(how=HowEnded.INTERRUPTED), turn=turn))
        if self._cursor.seen != self._message or look.has_more:
            return ()
        idle = not look.busy and inbox_id(self._message) in look.given and is_that(self._cursor.reader, look.agent)
        error = GONE if gone else SILENT if idle else ""
        return (Heard(fact=facts.TurnEnded(how=HowEnded.FAILED, error=error), turn=self._turn),) if error else ()

    def _translated(self, answer: BridgeAnswer) -> tuple[Heard, ...]:
        ours = bool(self._turn) and self._cursor.seen == self._message and answer.key not in self._earlier
        if not ours or answer.is_notice:
            return said_at_desk(answer, running=bool(self._turn))
        turn, self._turn, self._message = self._turn, "", ""
        return answered(answer, turn)

    async def _wake(self, look: BridgeLook) -> Heard | None:
        """An idle agent in a pane that we know is woken once for a message; else the message waits, which is told
        once. While something is typed there, it is tried again."""
        if not self._turn or look.inbox.get(inbox_id(self._message)) is not False or self._tried == self._message:
            return None
        if look.busy:
            return self._note(AT_WORK)
        woken = await self._waker.wake(look)
        if woken is Waking.OCCUPIED:
            return self._note(OCCUPIED)
        self._tried = self._message
        return None if woken is Waking.WOKEN else self._note(WAITS)

    def _note(self, text: str) -> Heard | None:
        if self._told == (self._message, text):
            return None
        self._told = (self._message, text)
        return Heard(fact=facts.Noted(text=text), turn=self._turn)


def inbox_id(message: str) -> str:
    """What the message is called in the inbox: the same one whenever it is put there."""
    return f"msg_{hashlib.sha256(message.encode(errors='surrogatepass')).hexdigest()[:20]}"
