"""What links share whose agent asks through a hook that waits: the ask, and the hook's own end."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from pathlib import Path
from typing import Any, Protocol

from farhand.drivers.wires.foreign_json import Fields, parse
from farhand.drivers.wires.hooks.endpoint import HookAsk
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.link import LateFacts, Own, read_on
from farhand.drivers.wires.tmux.typed_link import TypedLink
from farhand.model.facts import AskSettled, Noted, TurnEnded
from farhand.model.ports import Heard
from farhand.model.words import replace

MOST_SINGLE = 16
KILLED = "The question's hook was killed, so nothing was allowed. The dialog is still open at the desk: "
KILLED += "answer it there, or pause the worker to refuse."


class WaitingQuestions(Protocol):
    """The questions that wait for a person."""

    def lost(self, asked: HookAsk) -> list[AskSettled]: ...
    def close(self) -> None: ...


class HookedLink(TypedLink[Own]):
    """A link that reads the agent's own file and hears its hooks."""

    _spot: Any
    _questions: WaitingQuestions

    def __init__(self, tmux: Tmux, pane: Pane, folder: Path) -> None:
        super().__init__(tmux, pane, folder)
        # Hooks that ask, of which no other has asked the same so far.
        self._single: deque[HookAsk] = deque(maxlen=MOST_SINGLE)

    @abstractmethod
    def _translate(self, line: bytes, state: Any, at: float) -> tuple[list[Heard], Any]:
        """What a line of the agent's own file means, which was read at that time."""

    def _read(self) -> list[Heard]:
        self._unread = False
        heard, self._spot = read_on(self._spot, self._translate)
        return heard

    def _position(self) -> object:
        return self._spot

    def _state(self) -> Any:
        return self._spot.state

    def _note(self, state: Any) -> None:
        self._spot = replace(self._spot, state=state)

    @abstractmethod
    def _raised(self, asked: HookAsk, payload: Fields) -> Heard:
        """The ask that a person sees; its hook waits."""

    def _asked(self, asked: HookAsk) -> list[Heard]:
        payload = parse(asked.arrived.payload)
        if payload is None or not payload.text("tool_name"):
            # Nobody can be asked about what nobody understands: the CLI's own dialog stays.
            asked.answer(None)
            return []
        first = self._same(asked, payload)
        raised = [] if first else [self._raised(asked, payload)]
        if self._tasks is not None:
            self._tasks.start_soon(*((self._say_the_same, asked, first) if first else (self._hear_end, asked)))
        return raised

    def _same(self, asked: HookAsk, payload: Fields) -> HookAsk | None:
        """The other hook of this very question: our own beside one that a person wrote, or the other way round."""
        for one in reversed(self._single):
            told = parse(one.arrived.payload)
            if one.arrived.keyed != asked.arrived.keyed and told is not None and told.plain == payload.plain:
                self._single.remove(one)
                return one
        self._single.append(asked)
        return None

    async def _say_the_same(self, asked: HookAsk, first: HookAsk) -> None:
        # One that is over has told the agent: what was answered then is never said to a later question.
        told = not first.over and await first.closed()
        asked.answer(await first.wait() if told else None)

    async def _hear_end(self, asked: HookAsk) -> None:
        if await asked.closed():
            return
        settled = self._questions.lost(asked)
        if settled:
            self._told_of_dialog = True
            self._put(LateFacts((*settled, Noted(text=f"{KILLED} {self._hands.where()}"))))

    async def _concluded(self, heard: list[Heard]) -> list[Heard]:
        if any(isinstance(one.fact, TurnEnded) for one in heard):
            self._questions.close()
        return heard
