"""An open link to one Codex in tmux: errands in, facts out, all of them in one order."""

from __future__ import annotations

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
from farhand.drivers.wires.hooks import Arrival, Arrived, Asked
from farhand.drivers.wires.notify import Folders
from farhand.drivers.wires.seated import News, SeatedLink, Told, Written, read_on
from farhand.drivers.wires.tmux import Death, Pane, Tmux, TmuxGone
from farhand.drivers.wires.worded import worded
from farhand.model.facts import Noted, Said, Seen, TurnEnded
from farhand.model.ports import Batch, Change, Deliver, Errand, Heard, NotTaken, Outcome, Settle, Stop, Taken
from farhand.model.words import HowEnded, replace

STOP_PATIENCE_SECONDS = 3.0
INTERRUPT_PATIENCE_SECONDS = 1.5
COMMAND_PATIENCE_SECONDS = 1.5
MOST_EXPECTED = 8
MOST_ESCAPES = 4
CANNOT_CHANGE = "Codex in a terminal changes its model or mode by its own menus: type /model there, or hire it so."


class Later(msgspec.Struct, frozen=True):
    """A moment has passed since something that should have had a consequence."""

    what: str
    turn: str
    payload: bytes = b""
    tries: int = 0


class InteractiveLink(SeatedLink[Later]):
    """One worker's Codex. Only `facts` moves the spot; errands leave it a note."""

    title = "Codex"

    def __init__(self, tmux: Tmux, pane: Pane, spot: Spot, questions: Questions, folder: Path) -> None:
        super().__init__(tmux, pane, folder)
        self._handed = Handed(folder / "handed")
        self._kept = Kept(folder / "began")
        self._spot = spot
        self._questions = questions
        self._hands = Hands(tmux, pane)
        self._proofs: dict[str, anyio.Event] = {}
        self._folders: Folders | None = None
        self._following: anyio.CancelScope | None = None

    # --- what comes in

    def listen(
        self, tasks: anyio.abc.TaskGroup, arrivals: MemoryObjectReceiveStream[Arrival], folders: Folders
    ) -> None:
        """Starts everything that brings news; it ends with the group."""
        self._attend(tasks)
        self._folders = folders
        tasks.start_soon(self._hear_hooks, arrivals, name="hooks")
        self._follow()

    async def _hear_hooks(self, arrivals: MemoryObjectReceiveStream[Arrival]) -> None:
        async for arrival in arrivals:
            self._put(arrival)

    def _follow(self) -> None:
        """Follows the rollout of the session, as soon as it is known which that is."""
        if self._following is not None:
            self._following.cancel()
        if self._tasks is not None and self._folders is not None and self._spot.path:
            self._tasks.start_soon(self._watch_alone, self._folders, Path(self._spot.path).parent, name="rollout")

    async def _watch_alone(self, folders: Folders, folder: Path) -> None:
        with anyio.CancelScope() as scope:
            self._following = scope
            await self._watch(folders, folder)

    # --- facts

    def _position(self) -> object:
        return self._spot

    async def _reported(self, arrived: Arrived) -> list[Heard]:
        return self._hook(arrived)

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=msgspec.json.encode(self._spot).decode())

    async def _take(self, item: Later | News) -> list[Heard]:
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
            case Death() | TmuxGone():
                heard.append(self._went(item, last_words))
        for one in heard:
            if isinstance(one.fact, Seen) and one.fact.message in self._proofs:
                self._proofs[one.fact.message].set()
        if any(isinstance(one.fact, TurnEnded) for one in heard):
            self._questions.close()
        return heard

    def _read(self) -> list[Heard]:
        """All that was added to the rollout."""
        self._unread = False
        heard, self._spot = read_on(self._spot, translate)
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
            self._put(Told((*settled, note)))

    # --- what did not happen

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
