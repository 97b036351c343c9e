"""What links share that type their messages into the agent's box: which messages are under way, and which was read."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any

import anyio

from farhand.drivers.wires.hooks.endpoint import HookAsk, HookReport
from farhand.drivers.wires.text.prompt import worded
from farhand.drivers.wires.tmux import Death, Pane, Tmux, TmuxGone
from farhand.drivers.wires.tmux.delivered import DeliveredLog, ExpectedMessage
from farhand.drivers.wires.tmux.keyboard import Keyboard
from farhand.drivers.wires.tmux.link import LateFacts, News, Own, SeatedLink, Written
from farhand.drivers.wires.tmux.screen import last_words
from farhand.model.facts import Said, Seen
from farhand.model.ports import Change, Deliver, Errand, Heard, NotTaken, Outcome, Settle, Stop
from farhand.model.present import Ask
from farhand.model.words import replace

MOST_EXPECTED = 8


class TypedLink(SeatedLink[Own]):
    """A link to an agent that is spoken to by its keyboard. What is the CLI's own, its driver adds."""

    # So much of the screen is told of a command.
    shown_lines = 30
    _hands: Keyboard

    def __init__(self, tmux: Tmux, pane: Pane, folder: Path) -> None:
        super().__init__(tmux, pane, folder)
        self._handed = DeliveredLog(folder / "handed")
        self._proofs: dict[str, anyio.Event] = {}
        # A dialog stands open that only the desk can close, and a person knows.
        self._told_of_dialog = False

    # --- what a driver adds

    @abstractmethod
    def _state(self) -> Any:
        """What the agent's words have come to; it has `expected` and `running`."""

    @abstractmethod
    def _note(self, state: Any) -> None:
        """Goes on with this state."""

    @abstractmethod
    def _turn(self) -> str | None:
        """The turn of ours that runs."""

    @abstractmethod
    async def _happened(self, item: Own) -> list[Heard]:
        """What follows from news of the CLI's own."""

    def _asked(self, asked: HookAsk) -> list[Heard]:  # noqa: ARG002
        """What follows from a hook that waits for an answer; one that never asks has none."""
        return []

    @abstractmethod
    def _commanded(self, errand: Deliver) -> None:
        """A slash command may never reach the model: its turn ends with what the CLI does about it."""

    @abstractmethod
    async def _settle(self, ask: Ask) -> Outcome:
        """Brings a person's answer to the agent."""

    @abstractmethod
    async def _stop(self) -> Outcome:
        """Stops the turn that runs."""

    @abstractmethod
    async def _change(self, model: str | None, mode: str | None) -> Outcome:
        """Another model, another mode."""

    def _free(self) -> bool:
        """Whether an agent at rest says at once that it has read a message."""
        return True

    async def _concluded(self, heard: list[Heard]) -> list[Heard]:
        """What else follows from all of it."""
        return heard

    # --- facts

    async def _take(self, item: Own | News) -> list[Heard]:
        # What was read is over before this comes: the end of a turn ends its own questions, and no later one.
        read = await self._concluded(self._read())
        heard: list[Heard] = []
        match item:
            case Written():
                pass
            case HookReport():
                heard += await self._reported(item)
            case HookAsk():
                heard += self._asked(item)
            case LateFacts(facts=facts):
                heard += [Heard(fact=fact) for fact in facts]
            case Death() | TmuxGone():
                heard += self._over(item)
            case _:
                heard += await self._happened(item)
        heard = read + await self._concluded(heard)
        for one in heard:
            if isinstance(one.fact, Seen) and one.fact.message in self._proofs:
                self._proofs[one.fact.message].set()
        return heard

    def _over(self, item: Death | TmuxGone) -> list[Heard]:
        """What is told of the agent's end."""
        return [self._went(item)]

    async def _read_off(self, screen: str) -> list[Heard]:
        """What a command of the CLI's own shows; a panel that it opened is closed again."""
        if not self._hands.has_box(screen):
            await self._hands.escape()
        said = Said(text=f"{last_words(screen, self.shown_lines)}\n\n(read off the screen)")
        return [Heard(fact=said, turn=self._turn())]

    # --- errands

    async def perform(self, errand: Errand) -> Outcome:
        """Does what the core wants; returns as soon as it is taken."""
        await self._settled_in.wait()
        match errand:
            case Deliver():
                return await self._deliver(errand)
            case Settle(ask=ask):
                return await self._settle(ask)
            case Stop():
                return await self._stop()
            case Change(model=model, mode=mode):
                return await self._change(model, mode)

    async def _deliver(self, errand: Deliver) -> Outcome:
        text, before = worded(errand.message), self._state()
        one = ExpectedMessage(message=errand.message.id, text=text, turn="" if errand.joins else errand.turn)
        self._handed.add(one)
        # One that a running turn did not take comes again, with a turn of its own.
        self._note(replace(before, expected=(*self._others(one.message), one)[-MOST_EXPECTED:]))
        command = self._hands.is_command(text)
        # At rest it says at once that it has read a message; while it works, or of a command, it does not.
        at_rest = self._free() and not before.running and not errand.joins and not command
        outcome = await self._typed(one, proven=at_rest)
        if isinstance(outcome, NotTaken):
            self._expect_no_more(one)
        elif command and not self._state().running:
            self._commanded(errand)
        return outcome

    async def _typed(self, one: ExpectedMessage, *, proven: bool) -> Outcome:
        self._proofs[one.message] = proof = anyio.Event()
        try:
            return await self._hands.hand_over(one.text, proof if proven else None)
        finally:
            del self._proofs[one.message]

    def _expect_no_more(self, one: ExpectedMessage) -> None:
        """It was not typed: the same words that come later are somebody else's."""
        self._handed.drop(one)
        self._note(replace(self._state(), expected=self._others(one.message)))

    def _others(self, message: str) -> tuple[ExpectedMessage, ...]:
        """All that is under way but this one."""
        return tuple(other for other in self._state().expected if other.message != message)
