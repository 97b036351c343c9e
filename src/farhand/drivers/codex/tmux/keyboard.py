"""Types into Codex's terminal: its input box, and the answers to its first-run dialogs."""

from __future__ import annotations

import anyio

from farhand.drivers.codex.launch import MANIFEST
from farhand.drivers.codex.tmux.screen import (
    dialog_key,
    holds,
    is_all_of,
    is_asking,
    is_ready,
    is_stopped,
    read_box,
    refusals,
)
from farhand.drivers.codex.tmux.state import GUARD
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.keyboard import Keyboard, commands
from farhand.drivers.wires.tmux.screen import last_words
from farhand.drivers.wires.tmux.submit import BoxOptions
from farhand.model.start_problems import is_known

# Ctrl-C would empty the box at once, and quits Codex when it is empty already.
BOX = BoxOptions(
    read_box=read_box,
    holds=holds,
    enter_delay_seconds=0.05,
    guard=GUARD,
    delete_line="C-u",
    is_all_of=is_all_of,
    refusals=refusals,
)
is_command = commands(r"^/[a-z][\w-]*(\s|$)")
_START_SECONDS = 60.0
_LOOK_SECONDS = 0.1
_DIALOG_SECONDS = 0.5
_LATE_SECONDS = 4.0
_STOPPED_SECONDS = 3.0


class CodexKeyboard(Keyboard):
    """The keyboard of one worker's pane, with the first dialogs of Codex."""

    def __init__(self, tmux: Tmux, pane: Pane) -> None:
        super().__init__(tmux, pane, BOX, is_command)

    async def through_dialogs(self, *, late: bool = False) -> str | None:
        """Answers first-run dialogs until the input box is there; otherwise what stands on the screen instead.

        A dialog that comes `late` takes the place of a box that was there already."""
        with anyio.move_on_after(_START_SECONDS):
            problem = await self._through()
            if problem or not late:
                return problem
            if await self.shows(lambda screen: not is_ready(screen), _LATE_SECONDS, _LOOK_SECONDS):
                return await self._through()
            return None
        return last_words(await self.screen())

    async def stopped(self) -> None:
        """Waits until the screen says that the turn was stopped.

        The rollout says so before. A message that is sent in between is taken for one into the stopped turn: it is
        answered, and put back into the box all the same."""
        await self.shows(is_stopped, _STOPPED_SECONDS, _LOOK_SECONDS / 4)

    async def _through(self) -> str | None:
        """None when the input box is there; else the dialog that tells why Codex cannot work."""
        while not is_ready(screen := await self.screen()):
            key = dialog_key(screen, MANIFEST["dialogs"])
            if key is None and is_asking(screen) and is_known(words := last_words(screen)):
                return words
            await anyio.sleep(_DIALOG_SECONDS if key else _LOOK_SECONDS)
            if key and dialog_key(await self.screen(), MANIFEST["dialogs"]) == key:
                await self._tmux.press(self._pane, key)
        return None
