"""What the driver does with the keyboard: hand a message over, stop a turn, change model and mode."""

from __future__ import annotations

import re
from typing import Any

import anyio

from farhand.drivers.claude.launch import MANIFEST
from farhand.drivers.claude.screen import footer_says, holds, last_words, plain, read_box
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.submit import Doubtful, Habits, Occupied, submit, submit_quickly
from farhand.model.ports import NotTaken, Outcome, Taken, Unknown
from farhand.model.words import Mode

# The text is seen in the box before Enter: no further wait is needed.
HABITS = Habits(read_box=read_box, holds=holds, stash="C-s", enter_delay_seconds=0.0)
_COMMAND = re.compile(r"^/[a-z][\w:-]*(\s|$)", re.IGNORECASE)
_START_SECONDS = 30.0
_LOOK_SECONDS = 0.1
# A dialog that gets keys in its first moments hears none ever after.
_DIALOG_SECONDS = 1.0
_KEY_SECONDS = 0.3
_MODES = 8
# A dialog that stands so long at the start, and that nobody knows, is one for a person.
UNKNOWN_DIALOG_SECONDS = 1.5


def is_command(text: str) -> bool:
    """Whether the CLI would take it as one of its slash commands."""
    return bool(_COMMAND.match(text)) and "\n" not in text.strip()


def guarded(text: str) -> str:
    """The text as it is pasted: a leading `!` would run a shell command, a path would be taken for a command."""
    return " " + text if text.startswith("!") or (text.startswith("/") and not is_command(text)) else text


class Still:
    """Counts how often in a row a screen was the same."""

    def __init__(self) -> None:
        self._seen = ""
        self._times = 0

    def looks(self, screen: str) -> int:
        self._times = self._times + 1 if screen == self._seen else 0
        self._seen = screen
        return self._times


def is_dialog(screen: str) -> bool:
    """Whether something on the screen waits for a choice or a key."""
    return "❯" in screen or "Enter to" in screen or "Press " in screen


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
                return NotTaken(why=f"{why} {await self.described()}")
            case Doubtful(why=why):
                return Unknown(why=why)
            case _:
                return Taken()

    def where(self) -> str:
        """What a person types to see for himself."""
        return f"Look at it: {' '.join(self._tmux.server)} attach -t '{self._pane.session}'."

    async def in_dialog(self) -> bool:
        """Whether the screen has no input box, and something on it waits for a key."""
        screen = await self.screen()
        return read_box(screen) is None and is_dialog(plain(screen))

    async def described(self) -> str:
        """What stands on the screen, for a person who must decide what to do about it."""
        return f"{self.where()}\n\n{last_words(await self.screen())}"

    async def escape(self) -> None:
        """Presses Escape: stops a turn, closes a dialog, says no to a question."""
        async with self._busy:
            await self._tmux.press(self._pane, "Escape")

    async def screen(self) -> str:
        """What the pane shows, with its colours."""
        return await self._tmux.capture(self._pane, colours=True)

    async def set_mode(self, mode: Mode) -> Outcome:
        """Cycles through the modes until the footer names the wanted one."""
        words: str = MANIFEST["modes"][mode.value]["footer"]
        async with self._busy:
            for _ in range(_MODES):
                if await self._says(words):
                    return Taken()
                await self._tmux.press(self._pane, "BTab")
            if await self._says(words):
                return Taken()
        return NotTaken(why=f"This session has no mode '{mode.value}'; hire a worker in it, or relaunch.")

    async def _says(self, words: str) -> bool:
        with anyio.move_on_after(0.5):
            while not footer_says(await self.screen(), words):  # noqa: ASYNC110
                await anyio.sleep(0.05)
            return True
        return False

    async def through_dialogs(self) -> str | None:
        """Answers first-run dialogs until the input box is there, or a dialog that nobody knows: a person must see it.

        Otherwise what stands on the screen instead."""
        patience, still = _DIALOG_SECONDS, Still()
        with anyio.move_on_after(_START_SECONDS):
            while read_box(await self.screen()) is None:
                screen = plain(await self.screen())
                if dialog_key(screen, MANIFEST["dialogs"]) is None:
                    if is_dialog(screen) and still.looks(screen) * _LOOK_SECONDS >= UNKNOWN_DIALOG_SECONDS:
                        return None
                    await anyio.sleep(_LOOK_SECONDS)
                    continue
                await anyio.sleep(patience)
                if key := dialog_key(plain(await self.screen()), MANIFEST["dialogs"]):
                    await self._tmux.press(self._pane, key)
                patience = _DIALOG_SECONDS if key == "Enter" else _KEY_SECONDS
            return None
        return last_words(await self.screen())


def dialog_key(screen: str, dialogs: list[dict[str, Any]]) -> str | None:
    """The next key for the dialog on the screen: to its choice, then Enter once that is seen to be chosen."""
    lines = [line.strip() for line in screen.splitlines()]
    words = " ".join(lines)
    for dialog in dialogs:
        if dialog["words"] not in words:
            continue
        if f"❯ {dialog['choice']}" in lines:
            return "Enter"
        return str(dialog["move"]) if dialog["choice"] in lines else None
    return None
