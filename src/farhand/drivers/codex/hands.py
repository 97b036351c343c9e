"""What the driver does with the keyboard: hand a message over, stop a turn, go through the first dialogs."""

from __future__ import annotations

import re

import anyio

from farhand.drivers.codex.launch import MANIFEST
from farhand.drivers.codex.screen import dialog_key, holds, is_ready, last_words, read_box
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.submit import Doubtful, Habits, Occupied, submit, submit_quickly
from farhand.model.ports import NotTaken, Outcome, Taken, Unknown

HABITS = Habits(read_box=read_box, holds=holds, enter_delay_seconds=0.05)
_COMMAND = re.compile(r"^/[a-z][\w-]*(\s|$)", re.IGNORECASE)
_START_SECONDS = 30.0
_LOOK_SECONDS = 0.1
_DIALOG_SECONDS = 0.5


def is_command(text: str) -> bool:
    """Whether the CLI would take it as one of its slash commands."""
    return bool(_COMMAND.match(text)) and "\n" not in text.strip()


def guarded(text: str) -> str:
    """The text as it is pasted: a leading `!` would run a shell command, a path would be taken for a command."""
    return " " + text if text.startswith("!") or (text.startswith("/") and not is_command(text)) else text


class Hands:
    """The keyboard of one worker's pane; one thing at a time."""

    def __init__(self, tmux: Tmux, pane: Pane) -> None:
        self._tmux = tmux
        self._pane = pane
        self._busy = anyio.Lock()

    async def hand_over(self, text: str, proof: anyio.Event | None = None) -> Outcome:
        """Pastes a message and sends it; types a slash command. `proof` comes when the agent has read it."""
        async with self._busy:
            if proof is not None:
                result = await submit_quickly(self._tmux, self._pane, guarded(text), HABITS, proof)
            else:
                result = await submit(self._tmux, self._pane, guarded(text), HABITS, keys=is_command(text))
        match result:
            case Occupied(why=why):
                return NotTaken(why=f"{why} {self.where()}")
            case Doubtful(why=why):
                return Unknown(why=why)
            case _:
                return Taken()

    def where(self) -> str:
        """What a person types to see for himself."""
        return f"Look at it: {' '.join(self._tmux.server)} attach -t '{self._pane.session}'."

    async def escape(self) -> None:
        """Presses Escape: stops a turn, or says no to a dialog."""
        async with self._busy:
            await self._tmux.press(self._pane, "Escape")

    async def screen(self) -> str:
        """What the pane shows, with its colours."""
        return await self._tmux.capture(self._pane, colours=True)

    async def through_dialogs(self) -> str | None:
        """Answers first-run dialogs until the input box is there; otherwise what stands on the screen instead."""
        with anyio.move_on_after(_START_SECONDS):
            while not is_ready(screen := await self.screen()):
                key = dialog_key(screen, MANIFEST["dialogs"])
                await anyio.sleep(_DIALOG_SECONDS if key else _LOOK_SECONDS)
                if key and dialog_key(await self.screen(), MANIFEST["dialogs"]) == key:
                    await self._tmux.press(self._pane, key)
            return None
        return last_words(await self.screen())
