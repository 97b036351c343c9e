"""Claude Code's keyboard: its first dialogs, and its modes."""

from __future__ import annotations

import anyio

from farhand.drivers.claude.launch import MANIFEST
from farhand.drivers.claude.tmux.screen import dialog_key, footer_says, holds, is_all_of, is_dialog, read_box
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.keyboard import Keyboard, commands
from farhand.drivers.wires.tmux.screen import last_words, plain
from farhand.drivers.wires.tmux.submit import BoxOptions
from farhand.model.ports import Outcome
from farhand.model.start_problems import is_known
from farhand.model.words import Mode

# The text is seen in the box before Enter: no further wait is needed.
BOX = BoxOptions(read_box=read_box, holds=holds, stash="C-s", enter_delay_seconds=0.0)
is_command = commands(r"^/[a-z][\w:-]*(\s|$)")
_START_SECONDS = 30.0
_LOOK_SECONDS = 0.1
# A dialog that gets keys in its first moments hears none ever after.
_DIALOG_SECONDS = 1.0
_KEY_SECONDS = 0.3
# A dialog that stands so long at the start, and that nobody knows, is one for a person.
UNKNOWN_DIALOG_SECONDS = 1.5
_EMPTY_SECONDS = 2.0


class Still:
    """Counts how often in a row a screen was the same."""

    def __init__(self) -> None:
        self._seen = ""
        self._times = 0

    def looks(self, screen: str) -> int:
        self._times = self._times + 1 if screen == self._seen else 0
        self._seen = screen
        return self._times


class ClaudeKeyboard(Keyboard):
    """The keyboard of one worker's pane, with the dialogs and modes of Claude Code."""

    def __init__(self, tmux: Tmux, pane: Pane, box: BoxOptions = BOX) -> None:
        super().__init__(tmux, pane, box, is_command)

    async def take_back(self) -> bool:
        """Empties the box if the text that was submitted last stands there again, and nothing else; whether it did."""
        async with self._busy:
            if not is_all_of(read_box(await self.screen()) or "", self._submitted):
                return False
            # Ctrl-C empties a box of any size; in an empty one it does nothing, unless pressed twice.
            await self._tmux.press(self._pane, "C-c")
            await self.shows(lambda screen: read_box(screen) == "", _EMPTY_SECONDS)
            return True

    async def in_dialog(self, *, known: bool = False) -> bool:
        """Whether the screen has no input box, and something on it waits for a key, as is `known` or seen."""
        screen = await self.screen()
        return read_box(screen) is None and (known or is_dialog(plain(screen)))

    async def described(self) -> str:
        """What stands on the screen, for a person who must decide what to do about it."""
        return f"{self.where()}\n\n{last_words(await self.screen())}"

    async def set_mode(self, mode: Mode) -> Outcome:
        """Cycles through the modes until the footer names the wanted one."""
        return await self.switch(mode, mode_shown, lambda _: "BTab")

    async def through_dialogs(self) -> str | None:
        """Answers first-run dialogs until the input box is there, or a dialog that nobody knows: a person must see it.

        Otherwise what stands on the screen instead."""
        patience, still = _DIALOG_SECONDS, Still()
        with anyio.move_on_after(_START_SECONDS):
            while read_box(await self.screen()) is None:
                screen = plain(await self.screen())
                if dialog_key(screen, MANIFEST["dialogs"]) is None:
                    if is_dialog(screen) and still.looks(screen) * _LOOK_SECONDS >= UNKNOWN_DIALOG_SECONDS:
                        return screen if is_known(screen) else None
                    await anyio.sleep(_LOOK_SECONDS)
                    continue
                await anyio.sleep(patience)
                if key := dialog_key(plain(await self.screen()), MANIFEST["dialogs"]):
                    await self._tmux.press(self._pane, key)
                patience = _DIALOG_SECONDS if key == "Enter" else _KEY_SECONDS
            return None
        return last_words(await self.screen())


def mode_shown(screen: str) -> str | None:
    """The mode that the footer names, the CLI's own ones among them; None while it names none."""
    footers = {name: one["footer"] for name, one in MANIFEST["modes"].items()} | MANIFEST["other_modes"]
    return next((name for name, footer in footers.items() if footer_says(screen, footer)), None)
