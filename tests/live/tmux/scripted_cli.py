"""A CLI of a few words for the link's tests: its file and its hooks bring the same records, and each counts once."""

from __future__ import annotations

import json
import time
from pathlib import Path

from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.asks.build import ALLOW, DENY, AskWording, ask_of, digest_of
from farhand.drivers.wires.foreign_json import Fields, JsonObject, parse
from farhand.drivers.wires.hooks.asks import HookAsks, Wording
from farhand.drivers.wires.hooks.endpoint import HookAsk, HookReport
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.keyboard import Keyboard, commands
from farhand.drivers.wires.tmux.queue import InputQueue, Timeout
from farhand.drivers.wires.tmux.state import TmuxState
from farhand.drivers.wires.tmux.submit import BoxOptions
from farhand.drivers.wires.tmux.transcript import read_on
from farhand.model.facts import AskRaised, Noted, Said, Seen, TurnEnded
from farhand.model.ports import Change, Deliver, Heard, NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import AskKind, Choice, HowEnded, Word, replace

CHOICES = (Choice(id=ALLOW, label="Allow"), Choice(id=DENY, label="Deny", allows=False))


def read_box(screen: str) -> str | None:
    """What the typist's box holds."""
    line = next((line for line in screen.splitlines() if line.startswith(">")), None)
    return None if line is None else line[1:].strip()


class ScriptedState(TmuxState):
    """What it remembers between records."""

    running: str = ""
    known: tuple[str, ...] = ()


class ScriptedCursor(Word):
    """How far its file was read."""

    offset: int = 0
    state: ScriptedState = ScriptedState()


def record(name: str, kind: str, text: str = "") -> bytes:
    """A line of its file, or the payload of its hook."""
    return json.dumps({"id": name, "kind": kind, "text": text}).encode()


def translate(line: bytes, state: ScriptedState, at: float = 0.0) -> tuple[list[Heard], ScriptedState]:
    """The facts of a record, whoever brings it first."""
    del at
    fields = parse(line) or Fields({})
    name, text, turn = fields.text("id"), fields.text("text"), state.running
    if name in state.known:
        return [], state
    state = replace(state, known=(*state.known, name))
    match fields.text("kind"):
        case "prompt":
            found = next((one for one in state.expected if one.text == text), None)
            turn = found.turn if found is not None else "desk"
            rest = tuple(one for one in state.expected if one is not found)
            seen = [Heard(fact=Seen(message=found.message), turn=turn)] if found is not None else []
            return seen, replace(state, running=turn, expected=rest)
        case "end":
            return [Heard(fact=TurnEnded(how=HowEnded.COMPLETED), turn=turn)], replace(state, running="")
        case _:
            return [Heard(fact=Said(text=text), turn=turn)], state


def _raised(name: str, question: str, seconds: float | None, step: int) -> AskRaised:
    del step
    wording = AskWording(about=AskKind.PERMISSION, question=question, choices=CHOICES, whole=question)
    return ask_of(name, wording, digest_of(question), seconds)


def _reply(question: str, answers: tuple[PartAnswer, ...]) -> JsonObject:
    return {"question": question, "answer": answers[-1].choice}


WORDING = Wording(
    question_of=lambda payload: payload.text("tool_name"),
    digest=digest_of,
    steps=lambda _: 1,
    raised=_raised,
    reply=_reply,
)


class ScriptedCli:
    """What `TmuxLink` needs of a CLI, and nothing else."""

    title = "Typist"

    def __init__(
        self,
        queue: InputQueue[str],
        tmux: Tmux,
        pane: Pane,
        file: Path,
        *,
        pid: int | None = None,
        steers: bool = True,
        follows: bool = True,
    ) -> None:
        options = BoxOptions(read_box=read_box, timeout_seconds=20, box_seconds=0.2)
        self.keyboard = Keyboard(tmux, pane, options, commands(r"^/[a-z]+(\s|$)"))
        self.asks = HookAsks(WORDING, 60.0, queue, self.keyboard.where)
        self.state = ScriptedState()
        self.hooks_pid = pid
        self.steers = steers
        self.confirms = True
        self.commands: list[str] = []
        self._follows = follows
        self._queue = queue
        self._file = file
        self._offset = 0

    @property
    def running(self) -> bool:
        return bool(self.state.running)

    @property
    def cursor(self) -> ScriptedCursor:
        return ScriptedCursor(offset=self._offset, state=self.state)

    def start_sources(self) -> None:
        if self._follows:
            self._queue.watch(self._file.parent, self._queue.put_file_changed)

    def read(self) -> list[Heard]:
        heard, self._offset, self.state = read_on(str(self._file), self._offset, self.state, translate, time.time())
        return heard

    async def on_report(self, report: HookReport) -> list[Heard]:
        heard, self.state = translate(report.payload, self.state)
        return heard

    def on_ask(self, asked: HookAsk) -> list[Heard]:
        return self.asks.raise_ask(asked)

    async def on_event(self, event: str) -> list[Heard]:
        return [Heard(fact=Noted(text=event))]

    async def on_timeout(self, timeout: Timeout) -> list[Heard]:
        return [Heard(fact=Noted(text=f"{timeout.what} {timeout.tries}"))]

    async def on_turn_ended(self) -> list[Heard]:
        self.asks.close()
        return []

    def on_death(self) -> list[Heard]:
        return []

    def on_command(self, errand: Deliver) -> None:
        self.commands.append(errand.message.text)

    async def settle(self, ask: Ask) -> Outcome:
        return await self.asks.settle(ask)

    async def stop(self) -> Outcome:
        self._queue.put("stopped")
        self._queue.after(0.0, Timeout("stop").again())
        return Taken()

    async def change(self, change: Change) -> Outcome:
        return NotTaken(why=f"{change.model} {change.mode}")
