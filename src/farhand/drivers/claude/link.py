"""An open link to one Claude Code in tmux: errands in, facts out, all of them in one order."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import anyio.abc
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream

from farhand.drivers.claude.asks import question_of
from farhand.drivers.claude.costs import priced
from farhand.drivers.claude.hands import Hands, is_command
from farhand.drivers.claude.launch import COST, Places
from farhand.drivers.claude.news import Later, Own, Priced, Standing, read_cost, read_standing
from farhand.drivers.claude.payloads import stopped_without_transcript, translate_hook
from farhand.drivers.claude.questions import Questions
from farhand.drivers.claude.screen import last_words, read_box
from farhand.drivers.claude.spot import Spot, write_spot
from farhand.drivers.claude.translate import translate
from farhand.drivers.claude.turns import began, end_turn, session_changed
from farhand.drivers.wires.fields import Fields, parse
from farhand.drivers.wires.handed import Expected, Handed
from farhand.drivers.wires.hooks import Arrival, Arrived, Asked
from farhand.drivers.wires.notify import Folders
from farhand.drivers.wires.seated import News, SeatedLink, Told, Written, read_on
from farhand.drivers.wires.tmux import Death, Pane, Tmux, TmuxError, TmuxGone
from farhand.drivers.wires.worded import worded
from farhand.model.facts import Noted, Said, Seen, TurnEnded
from farhand.model.ports import Batch, Change, Deliver, Errand, Heard, NotTaken, Outcome, Settle, Stop, Taken
from farhand.model.words import HowEnded, Mode, replace

STOP_PATIENCE_SECONDS = 3.0
INTERRUPT_PATIENCE_SECONDS = 1.5
COMMAND_PATIENCE_SECONDS = 1.5
DIALOG_PATIENCE_SECONDS = 1.0
IN_A_DIALOG = "Claude Code waits in a dialog: answer it at the desk, or pause the worker to close it."
MOST_EXPECTED = 8
MOST_ESCAPES = 4


class InteractiveLink(SeatedLink[Own]):
    """One worker's Claude Code. Only `facts` moves the spot; errands leave it a note."""

    title = "Claude Code"

    def __init__(self, tmux: Tmux, pane: Pane, places: Places, spot: Spot, questions: Questions, folder: Path) -> None:
        super().__init__(tmux, pane, folder)
        self._handed = Handed(folder / "handed")
        self._cost = folder / COST
        self._places = places
        self._spot = spot
        self._questions = questions
        self._hands = Hands(tmux, pane)
        self._standing = Standing()
        self._told_of_dialog = False
        self._proofs: dict[str, anyio.Event] = {}

    # --- what comes in

    def listen(
        self, tasks: anyio.abc.TaskGroup, arrivals: MemoryObjectReceiveStream[Arrival], folders: Folders
    ) -> None:
        """Starts everything that brings news; it ends with the group."""
        self._attend(tasks)
        tasks.start_soon(self._hear_hooks, arrivals, name="hooks")
        tasks.start_soon(self._watch, folders, Path(self._spot.path).parent, name="transcript")
        tasks.start_soon(self._hear_standing, folders, name="standing")
        tasks.start_soon(self._hear_cost, folders, name="cost")
        self._after(DIALOG_PATIENCE_SECONDS, Later("start", ""))

    async def _hear_hooks(self, arrivals: MemoryObjectReceiveStream[Arrival]) -> None:
        async for arrival in arrivals:
            arrived = arrival.arrived if isinstance(arrival, Asked) else arrival
            if arrived.keyed or arrived.agent == self._pane.pid:
                self._put(arrival)
            elif isinstance(arrival, Asked):
                # Another Claude Code that the agent started: its questions are its own.
                arrival.answer(None)

    async def _hear_standing(self, folders: Folders) -> None:
        file = self._places.status(self._pane.pid)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        before = Standing()
        with folders.watched(file.parent) as change:
            while True:
                now = read_standing(file)
                if now != before and now.status:
                    before = now
                    self._put(now)
                await change.wait()

    async def _hear_cost(self, folders: Folders) -> None:
        before = Priced()
        with folders.watched(self._cost.parent) as change:
            while True:
                now = read_cost(self._cost)
                if now != before:
                    before = now
                    self._put(now)
                await change.wait()

    # --- facts

    def _position(self) -> object:
        return self._spot

    async def _reported(self, arrived: Arrived) -> list[Heard]:
        return self._hook(arrived)

    def _batch(self, heard: list[Heard]) -> Batch:
        spot = replace(self._spot, picked=self._questions.picked())
        return Batch(heard=tuple(heard), cursor=write_spot(spot))

    async def _take(self, item: Own | News) -> list[Heard]:
        heard = self._read()
        match item:
            case Written():
                pass
            case Arrived():
                heard += self._hook(item)
            case Asked():
                heard += self._asked(item)
            case Standing():
                heard += self._stands(item)
            case Later():
                heard += await self._late(item)
            case Priced(payload=payload):
                told, state = priced(payload, self._spot.state)
                self._spot = replace(self._spot, state=state)
                heard += told
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
        """All that was added to the transcript."""
        self._unread = False
        heard, self._spot = read_on(self._spot, translate)
        return heard

    def _hook(self, arrived: Arrived) -> list[Heard]:
        payload = parse(arrived.payload) or Fields({})
        heard, state = translate_hook(arrived.payload, self._spot.state, time.time())
        self._spot = replace(self._spot, state=state)
        self._moved(payload.text("transcript_path"), payload.text("session_id"))
        event = payload.text("hook_event_name")
        if event == "Stop" and state.running:
            self._after(STOP_PATIENCE_SECONDS, Later("stop", state.prompt, arrived.payload))
        elif event == "PostToolUse":
            heard += [Heard(fact=fact) for fact in self._questions.ran(question_of(payload))]
        return heard

    def _moved(self, path: str, session: str) -> None:
        """The conversation was cleared: it goes on in another file of the same folder."""
        if path and path != self._spot.path and session == self._spot.state.session:
            self._spot = replace(self._spot, path=path, offset=0)

    def _asked(self, asked: Asked) -> list[Heard]:
        payload = parse(asked.arrived.payload)
        if payload is None or not payload.text("tool_name"):
            # Nobody can be asked about what nobody understands: the CLI's own dialog stays.
            asked.answer(None)
            return []
        picked = self._spot.picked.get(asked.arrived.id, ())
        raised = self._questions.hold(asked, question_of(payload), picked)
        if self._tasks is not None:
            self._tasks.start_soon(self._hear_end, asked)
        return [Heard(fact=raised)]

    async def _hear_end(self, asked: Asked) -> None:
        if await asked.closed():
            return
        settled = self._questions.lost(asked)
        if settled:
            self._told_of_dialog = True
            note = Noted(
                text="The question's hook was killed, so nothing was allowed. The dialog is still open at the desk: "
                f"answer it there, or pause the worker to refuse. {self._hands.where()}"
            )
            self._put(Told((*settled, note)))

    def _stands(self, standing: Standing) -> list[Heard]:
        before, self._standing = self._standing, standing
        self._told_of_dialog = self._told_of_dialog and standing.status == "waiting"
        heard: list[Heard] = []
        # A hook may have told of a new session before this file did: only a change in the file itself is news.
        if before.session and before.session != standing.session:
            heard, state = session_changed(standing.session, self._spot.state)
        if heard:
            self._spot = replace(self._spot, state=state, offset=0, path=self._sibling(standing.session))
        if standing.status == "waiting":
            self._questions.dialog(open_now=True)
            self._after(DIALOG_PATIENCE_SECONDS, Later("dialog", self._spot.state.prompt))
        elif before.status == "waiting":
            heard += [Heard(fact=fact) for fact in self._questions.dialog(open_now=False)]
        return heard

    def _sibling(self, session: str) -> str:
        return str(Path(self._spot.path).with_name(f"{session}.jsonl"))

    # --- what did not happen

    async def _late(self, later: Later) -> list[Heard]:
        state = self._spot.state
        if later.what in ("dialog", "start"):
            return await self._stuck(later.what)
        if not state.running or state.prompt != later.prompt:
            return []
        match later.what:
            case "stop":
                heard, state = stopped_without_transcript(later.payload, state)
            case "interrupt" if self._standing.status == "idle":
                heard, state = end_turn(state, state.prompt, HowEnded.INTERRUPTED)
            case "interrupt" if later.tries < MOST_ESCAPES:
                # A dialog that has just appeared hears no key: once more.
                await self._hands.escape()
                again = msgspec.structs.replace(later, tries=later.tries + 1)
                self._after(INTERRUPT_PATIENCE_SECONDS, again)
                return []
            case "command" if self._standing.status != "busy":
                said = await self._printed()
                ended, state = end_turn(state, state.prompt, HowEnded.COMPLETED)
                heard = said + ended
            case _:
                return []
        self._spot = replace(self._spot, state=state)
        return heard

    async def _stuck(self, what: str) -> list[Heard]:
        """A dialog that no hook asked about: only a person at the desk can close it, so tell one."""
        if self._questions or self._told_of_dialog:
            return []
        try:
            waits = self._standing.status == "waiting" if what == "dialog" else await self._hands.in_dialog()
            if not waits:
                return []
            self._told_of_dialog = True
            return [Heard(fact=Noted(text=f"{IN_A_DIALOG} {await self._hands.described()}"))]
        except TmuxError:
            # Whatever became of tmux, its end is told by itself.
            return []

    async def _printed(self) -> list[Heard]:
        """A command that opened a panel: what it shows, and the panel closed again."""
        screen = await self._hands.screen()
        if read_box(screen) is not None:
            return []
        await self._hands.escape()
        said = Said(text=f"{last_words(screen, 30)}\n\n(read off the screen)")
        return [Heard(fact=said, turn=self._spot.state.turn or None)]

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Does what the core wants; returns as soon as it is taken."""
        await self._settled_in.wait()
        match errand:
            case Deliver():
                return await self._deliver(errand)
            case Settle(ask=ask):
                outcome, following = await self._questions.settle(ask)
                if following is not None:
                    self._put(Told((following,)))
                return outcome
            case Stop():
                return await self._stop()
            case Change(model=model, mode=mode):
                return await self._change(model, mode)

    async def _deliver(self, errand: Deliver) -> Outcome:
        text, before = worded(errand.message), self._spot.state
        one = Expected(message=errand.message.id, text=text, turn="" if errand.joins else errand.turn)
        self._handed.add(one)
        # One that a running turn did not take comes again, with a turn of its own.
        others = (other for other in before.expected if other.message != one.message)
        expected = (*others, one)[-MOST_EXPECTED:]
        self._spot = replace(self._spot, state=replace(before, expected=expected))
        # Idle, it says at once that it has read a message; while it works, or of a command, it does not.
        free = not before.running and self._standing.status != "waiting"
        idle = free and not errand.joins and not is_command(text)
        self._proofs[errand.message.id] = proof = anyio.Event()
        try:
            outcome = await self._hands.hand_over(text, proof if idle else None)
        finally:
            del self._proofs[errand.message.id]
        if isinstance(outcome, NotTaken):
            self._expect_no_more(one)
        if is_command(text) and not isinstance(outcome, NotTaken):
            self._commanded(errand)
        return outcome

    def _expect_no_more(self, one: Expected) -> None:
        """It was not typed: the same words that come later are somebody else's."""
        self._handed.drop(one)
        state = self._spot.state
        left = tuple(other for other in state.expected if other.message != one.message)
        self._spot = replace(self._spot, state=replace(state, expected=left))

    def _commanded(self, errand: Deliver) -> None:
        """A slash command may never reach the model: its turn ends with what the CLI does about it."""
        state = self._spot.state
        if state.running:
            return
        prompt = f"command-{errand.message.id}"
        self._spot = replace(self._spot, state=began(state, errand.turn, prompt))
        self._after(COMMAND_PATIENCE_SECONDS, Later("command", prompt))

    async def _stop(self) -> Outcome:
        await self._hands.escape()
        self._after(INTERRUPT_PATIENCE_SECONDS, Later("interrupt", self._spot.state.prompt))
        return Taken()

    async def _change(self, model: str | None, mode: str | None) -> Outcome:
        if mode is not None:
            outcome = await self._hands.set_mode(Mode(mode))
            if not isinstance(outcome, Taken):
                return outcome
        return await self._hands.hand_over(f"/model {model}") if model else Taken()
