"""What is one CLI's own in tmux: the protocol that `TmuxLink` is composed with."""

from __future__ import annotations

from typing import Protocol, TypeVar

from farhand.drivers.wires.hooks.endpoint import HookAsk, HookReport
from farhand.drivers.wires.tmux.keyboard import Keyboard
from farhand.drivers.wires.tmux.queue import Timeout
from farhand.drivers.wires.tmux.state import State
from farhand.model.ports import Change, Deliver, Heard, Outcome
from farhand.model.present import Ask
from farhand.model.words import Word

Event_contra = TypeVar("Event_contra", contravariant=True)


class TmuxCli(Protocol[State, Event_contra]):
    """One agent CLI. It holds its own state and cursor, and turns what the link takes from its queue into facts.

    Facts and cursor are written in one transaction, so only what the link calls while it takes an item brings facts;
    the errands (`settle`, `stop`, `change`) put what follows from them into the queue."""

    # What its translation remembers; the link adds the messages that it expects to be seen.
    state: State

    @property
    def title(self) -> str:
        """How a person calls it."""
        ...

    @property
    def keyboard(self) -> Keyboard:
        """What messages are typed with."""
        ...

    @property
    def hooks_pid(self) -> int | None:
        """The one process whose hooks count; None where the payload itself says whose it is."""
        ...

    @property
    def steers(self) -> bool:
        """Whether a message may join the running turn."""
        ...

    @property
    def confirms(self) -> bool:
        """Whether it reports at once that it has read a prompt, when it is at rest."""
        ...

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        ...

    @property
    def cursor(self) -> Word:
        """Where it stands; written down with the facts that led there."""
        ...

    def start_sources(self) -> None:
        """Starts whatever fills the queue beside hooks, the spool and the agent's death."""
        ...

    # --- facts

    def read(self) -> list[Heard]:
        """All that was added to the agent's own file since the cursor."""
        ...

    async def on_report(self, report: HookReport) -> list[Heard]:
        """What follows from a hook's report, deduplicated with what the agent's own file brought."""
        ...

    def on_ask(self, asked: HookAsk) -> list[Heard]:
        """What follows from a hook that waits for an answer."""
        ...

    async def on_event(self, event: Event_contra) -> list[Heard]:
        """What follows from news of this CLI alone."""
        ...

    async def on_timeout(self, timeout: Timeout) -> list[Heard]:
        """What follows when nothing had followed."""
        ...

    async def on_turn_ended(self) -> list[Heard]:
        """What a person must be told before the end of a turn that was just read or reported."""
        ...

    def on_death(self) -> list[Heard]:
        """What ends with the agent."""
        ...

    # --- errands

    def on_command(self, errand: Deliver) -> None:
        """A slash command was typed, which may never reach the model: its turn ends with what the CLI does about it."""
        ...

    async def settle(self, ask: Ask) -> Outcome:
        """Brings a person's answer to the agent."""
        ...

    async def stop(self) -> Outcome:
        """Stops the turn that runs."""
        ...

    async def change(self, change: Change) -> Outcome:
        """Another model, mode or effort."""
        ...
