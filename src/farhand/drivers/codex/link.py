"""An open link to one Codex in tmux: errands in, facts out, all of them in one order."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.abc
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream

from farhand.drivers.codex.hands import Hands, is_command
from farhand.drivers.codex.questions import Questions, question_of
from farhand.drivers.codex.rollout import (
    State,
    end_turn,
    stopped_without_rollout,
    translate,
    translate_hook,
)
from farhand.drivers.codex.screen import is_asking, last_words, read_box
from farhand.drivers.codex.spot import Began, Kept, Spot
from farhand.drivers.wires.fields import Fields, parse
from farhand.drivers.wires.handed import Expected, Handed
from farhand.drivers.wires.hooks import Arrival, Arrived, Asked, spooled
from farhand.drivers.wires.notify import Folders
from farhand.drivers.wires.tmux import Death, Pane, Tmux, TmuxGone
from farhand.drivers.wires.transcript import read_lines
from farhand.drivers.wires.worded import worded
from farhand.model.errors import AgentGone
from farhand.model.facts import Fact, Noted, Said, Seen, TurnEnded
from farhand.model.ports import Batch, Change, Deliver, Errand, Heard, NotTaken, Outcome, Settle, Stop, Taken
from farhand.model.words import HowEnded, replace

STOP_PATIENCE_SECONDS = 3.0
INTERRUPT_PATIENCE_SECONDS = 1.5
COMMAND_PATIENCE_SECONDS = 1.5
MOST_EXPECTED = 8
MOST_ESCAPES = 4
CANNOT_CHANGE = "Codex in a terminal changes its model or mode by its own menus: type /model there, or hire it so."


class Written(msgspec.Struct, frozen=True):
    """Something may have been added to the rollout."""


class Later(msgspec.Struct, frozen=True):
    """A moment has passed since something that should have had a consequence."""

    what: str
    turn: str
    payload: bytes = b""
    tries: int = 0


class Told(msgspec.Struct, frozen=True):
    """Facts that came to light beside the agent's own words."""

    facts: tuple[Fact, ...]


Item = Written | Later | Told | Arrival | Death | TmuxGone


class InteractiveLink:
    """One worker's Codex. Only `facts` moves the spot; errands leave it a note."""

    def __init__(self, tmux: Tmux, pane: Pane, spot: Spot, questions: Questions, folder: Path) -> None:
        self._spool = folder / "spool"
        self._handed = Handed(folder / "handed")
        self._kept = Kept(folder / "began")
        # What the link's own opening brought to light.
        self.first: list[Heard] = []
        self._tmux = tmux
        self._pane = pane
        self._spot = spot
        self._questions = questions
        self._hands = Hands(tmux, pane)
        self._send, self._receive = anyio.create_memory_object_stream[Item](math.inf)
        self._unread = False
        self._proofs: dict[str, anyio.Event] = {}
        self._settled_in = anyio.Event()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._folders: Folders | None = None
        self._following: anyio.CancelScope | None = None

    # --- what comes in

    def listen(
        self, tasks: anyio.abc.TaskGroup, arrivals: MemoryObjectReceiveStream[Arrival], folders: Folders
    ) -> None:
        """Starts everything that brings news; it ends with the group."""
        self._tasks, self._folders = tasks, folders
        tasks.start_soon(self._hear_hooks, arrivals, name="hooks")
        tasks.start_soon(self._hear_death, name="death")
        self._follow()

    def close(self) -> None:
        """Nobody listens any more; hooks that wait ask the next link."""
        self._send.close()
        self._receive.close()

    async def _hear_hooks(self, arrivals: MemoryObjectReceiveStream[Arrival]) -> None:
        async for arrival in arrivals:
            self._send.send_nowait(arrival)

    async def _hear_death(self) -> None:
        try:
            self._send.send_nowait(await self._tmux.died(self._pane))
        except TmuxGone as gone:
            self._send.send_nowait(gone)

    def _follow(self) -> None:
        """Follows the rollout of the session, as soon as it is known which that is."""
        if self._following is not None:
            self._following.cancel()
        if self._tasks is not None and self._folders is not None and self._spot.path:
            folder = Path(self._spot.path).parent
            folder.mkdir(parents=True, exist_ok=True)
            self._tasks.start_soon(self._watch, self._folders, folder, name="rollout")

    async def _watch(self, folders: Folders, folder: Path) -> None:
        with anyio.CancelScope() as scope, folders.watched(folder) as change:
            self._following = scope
            while True:
                self._kick()
                await change.wait()

    def _kick(self) -> None:
        if not self._unread:
            self._unread = True
            self._send.send_nowait(Written())

    # --- facts

    async def facts(self) -> AsyncIterator[Batch]:
        """Everything that the agent brings, in order, until it ends."""
        yield self._batch(self.first)
        self._settled_in.set()
        for kept in spooled(self._spool):
            yield self._batch(self._read() + self._hook(kept))
            if kept.spooled is not None:
                kept.spooled.unlink(missing_ok=True)
        async for item in self._receive:
            before = self._spot
            heard = await self._take(item)
            if heard or self._spot != before:
                yield self._batch(heard)
            if isinstance(item, Death | TmuxGone):
                if isinstance(item, Death) and item.status == 0:
                    raise AgentGone("Codex was ended at the desk. Relaunch the worker to go on with its memory.")
                return

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=msgspec.json.encode(self._spot).decode())

    async def _take(self, item: Item) -> list[Heard]:
        heard = self._read()
        match item:
            case Written():
                pass
            case Arrived():
                heard += self._hook(item)
            case Asked():
                heard += self._asked(item)
            case Later():
                heard += await self._late(item)
            case Told(facts=facts):
                heard += [Heard(fact=fact) for fact in facts]
            case Death():
                heard += [Heard(fact=Noted(text=_death(item)))]
            case TmuxGone():
                heard += [Heard(fact=Noted(text=f"{item} Codex is started again and keeps its memory."))]
        for one in heard:
            if isinstance(one.fact, Seen) and one.fact.message in self._proofs:
                self._proofs[one.fact.message].set()
        if any(isinstance(one.fact, TurnEnded) for one in heard):
            self._questions.close()
        return heard

    def _read(self) -> list[Heard]:
        """All that was added to the rollout."""
        self._unread = False
        heard: list[Heard] = []
        while self._spot.path:
            found = read_lines(Path(self._spot.path), self._spot.offset)
            state = self._spot.state
            for line in found.lines:
                told, state = translate(line, state, time.time())
                heard += told
            if found.offset != self._spot.offset or state is not self._spot.state:
                self._spot = replace(self._spot, offset=found.offset, state=state)
            if not found.more:
                break
        return heard

    def _hook(self, arrived: Arrived) -> list[Heard]:
        payload = parse(arrived.payload) or Fields({})
        heard, state = translate_hook(arrived.payload, self._spot.state)
        self._spot = replace(self._spot, state=state)
        self._moved(payload.text("transcript_path"), payload.text("session_id"))
        event, turn = payload.text("hook_event_name"), payload.text("turn_id")
        if event == "Stop" and state.running == turn:
            self._after(STOP_PATIENCE_SECONDS, Later("stop", turn, arrived.payload))
        return heard

    def _moved(self, path: str, session: str) -> None:
        """It is known now, or has changed, where the session is written."""
        if path and path != self._spot.path and session == self._spot.state.session:
            self._spot = replace(self._spot, path=path, offset=0)
            self._kept.write(Began(session=session, path=path))
            self._follow()

    def _asked(self, asked: Asked) -> list[Heard]:
        payload = parse(asked.arrived.payload)
        if payload is None or not payload.text("tool_name"):
            # Nobody can be asked about what nobody understands: the CLI's own dialog stays.
            asked.answer(None)
            return []
        raised = self._questions.hold(asked, question_of(payload))
        if self._tasks is not None:
            self._tasks.start_soon(self._hear_end, asked)
        turn = self._spot.state.turns.get(payload.text("turn_id"))
        return [Heard(fact=raised, turn=turn)]

    async def _hear_end(self, asked: Asked) -> None:
        if await asked.closed():
            return
        settled = self._questions.lost(asked)
        if settled:
            note = Noted(
                text="The question's hook was killed, so nothing was allowed. The dialog is open at the desk: "
                f"answer it there, or pause the worker to refuse. {self._hands.where()}"
            )
            self._send.send_nowait(Told((*settled, note)))

    # --- what did not happen

    def _after(self, seconds: float, later: Later) -> None:
        async def wait() -> None:
            await anyio.sleep(seconds)
            self._send.send_nowait(later)

        if self._tasks is not None:
            self._tasks.start_soon(wait)

    async def _late(self, later: Later) -> list[Heard]:
        state = self._spot.state
        if state.running != later.turn:
            return []
        match later.what:
            case "stop":
                heard, state = stopped_without_rollout(later.payload, state)
            case "interrupt" if later.tries < MOST_ESCAPES:
                await self._escape_again(later)
                return []
            case "command":
                said = await self._printed()
                ended, state = end_turn(state, later.turn, HowEnded.COMPLETED)
                heard = said + ended
            case _:
                return []
        self._spot = replace(self._spot, state=state)
        return heard

    async def _escape_again(self, later: Later) -> None:
        """Once more, if it still works or asks: at rest, Escape means something else."""
        screen = await self._hands.screen()
        if is_asking(screen) or "esc to interrupt" in screen:
            await self._hands.escape()
        self._after(INTERRUPT_PATIENCE_SECONDS, msgspec.structs.replace(later, tries=later.tries + 1))

    async def _printed(self) -> list[Heard]:
        """What a command of the CLI's own shows; a menu that it opened is closed again."""
        screen = await self._hands.screen()
        if read_box(screen) is None:
            await self._hands.escape()
        said = Said(text=f"{last_words(screen, 30)}\n\n(read off the screen)")
        return [Heard(fact=said, turn=self._spot.state.turns.get(self._spot.state.running) or None)]

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Does what the core wants; returns as soon as it is taken."""
        await self._settled_in.wait()
        match errand:
            case Deliver():
                return await self._deliver(errand)
            case Settle(ask=ask):
                return await self._questions.settle(ask)
            case Stop():
                await self._hands.escape()
                self._after(INTERRUPT_PATIENCE_SECONDS, Later("interrupt", self._spot.state.running))
                return Taken()
            case Change():
                return NotTaken(why=CANNOT_CHANGE)

    async def _deliver(self, errand: Deliver) -> Outcome:
        text, before = worded(errand.message), self._spot.state
        one = Expected(message=errand.message.id, text=text, turn="" if errand.joins else errand.turn)
        self._handed.add(one)
        # One that a running turn did not take comes again, with a turn of its own.
        others = (other for other in before.expected if other.message != one.message)
        expected = (*others, one)[-MOST_EXPECTED:]
        self._spot = replace(self._spot, state=replace(before, expected=expected))
        # At rest it says at once that it has read a message; while it works, or of a command, it does not.
        at_rest = not before.running and not errand.joins and not is_command(text)
        self._proofs[errand.message.id] = proof = anyio.Event()
        try:
            outcome = await self._hands.hand_over(text, proof if at_rest else None)
        finally:
            del self._proofs[errand.message.id]
        if is_command(text) and not isinstance(outcome, NotTaken):
            self._commanded(errand)
        return outcome

    def _commanded(self, errand: Deliver) -> None:
        """A slash command may never reach the model: its turn ends with what the CLI does about it."""
        state = self._spot.state
        if state.running:
            return
        name = f"command-{errand.message.id}"
        expected = tuple(one for one in state.expected if one.message != errand.message.id)
        self._spot = replace(self._spot, state=_begun(replace(state, expected=expected), name, errand.turn))
        self._after(COMMAND_PATIENCE_SECONDS, Later("command", name))


def _begun(state: State, turn: str, ours: str) -> State:
    return replace(state, turns={**state.turns, turn: ours}, running=turn, spoke=False, last_text="")


def _death(death: Death) -> str:
    status = "was killed" if death.status is None else f"ended with status {death.status}"
    words = f" Its last words: {last_words(death.screen)}" if death.screen else ""
    return f"Codex {status}.{words}"
