"""The Gemini CLI's keyboard: its dialogs answered, its first dialogs, its modes."""

from __future__ import annotations

import re

import anyio

from farhand.drivers.gemini.asks import CUSTOM, ESCAPE, FEEDBACK, GeminiQuestion, is_asked, is_refusal, pressed
from farhand.drivers.gemini.launch import MANIFEST
from farhand.drivers.gemini.tmux.screen import (
    Dialog,
    bare,
    gives_up,
    has_started,
    holds,
    offers_commands,
    read_box,
    read_dialog,
    says,
)
from farhand.drivers.wires.asks.build import GONE
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.keyboard import REACTION_SECONDS, Keyboard, commands
from farhand.drivers.wires.tmux.screen import last_words
from farhand.drivers.wires.tmux.submit import BoxOptions, OwnTexts
from farhand.model.ports import NotTaken, Outcome, Taken, Unknown
from farhand.model.words import Mode

# It takes an Enter within a tenth of a second of a paste for a newline.
BOX = BoxOptions(read_box=read_box, holds=holds, enter_delay_seconds=0.12)
is_command = commands(r"^[/?][a-z]*(\s|$)")
BEHIND = "Another question stands there by now; nothing was allowed. If this one still waits, it is asked again."
STARTING = "Gemini CLI still starts and would take a command for a prompt: nothing was typed. Try again in a moment."
_START_SECONDS = 60.0
_LOOK_SECONDS = 0.1
_DIALOG_SECONDS = 5.0
_GONE_SECONDS = 4.0
# A yes is pressed once, so it is waited for.
_ALLOWED_SECONDS = 10.0
_TRIES = 3
# Of words that are longer than their line so much must be seen.
_SURE_CHARACTERS = 40


class GeminiKeyboard(Keyboard):
    """The keyboard of one worker's pane, with the dialogs and modes of the Gemini CLI."""

    def __init__(self, tmux: Tmux, pane: Pane) -> None:
        super().__init__(tmux, pane, BOX, is_command, colours=False)
        # Whether its commands were seen to be loaded; they stay so.
        self._loaded = False

    async def submit(self, text: str, seen: anyio.Event | None = None, handed_over: OwnTexts = tuple) -> Outcome:
        """Submits a message at once, and a command as soon as the CLI has loaded its commands."""
        if self.is_command(text) and not await self._takes_commands():
            return NotTaken(why=f"{STARTING} {self.where()}")
        return await super().submit(text, seen, handed_over)

    async def _takes_commands(self) -> bool:
        """Whether it has started and lists its commands for a slash, which is taken away again."""
        if self._loaded or not await self.shows(has_started, _START_SECONDS):
            return self._loaded
        async with self._busy:
            if read_box(await self.screen()) != "":
                # Whoever submits is told what stands there.
                return True
            await self._tmux.type(self._pane, "/")
            self._loaded = await self.shows(offers_commands, _START_SECONDS)
            await self._tmux.press(self._pane, "BSpace")
            await self.shows(lambda screen: read_box(screen) == "", REACTION_SECONDS)
        return self._loaded

    async def dialog(self, question: GeminiQuestion, seconds: float = _DIALOG_SECONDS) -> Dialog | None:
        """The very dialog that the question was seen in, while it is on the screen."""
        with anyio.move_on_after(seconds):
            while True:
                found = read_dialog(await self.screen())
                if found is not None and is_asked(found, question):
                    return found
                await anyio.sleep(_LOOK_SECONDS)
        return None

    async def answer(self, question: GeminiQuestion, choice: str, note: str = "") -> Outcome:
        """Presses the answer's key, if the dialog on the screen is the one that was asked about, and sees it go.

        Whatever allows is pressed once and never again: the next dialog may look the same. A no may be repeated."""
        async with self._busy:
            for tries in range(_TRIES):
                dialog = await self.dialog(question)
                if dialog is None:
                    return Taken() if tries else await self._missed()
                key, words = pressed(question, dialog, choice, note)
                await self._tmux.press(self._pane, key)
                if words and not await self._worded(key, words):
                    return Unknown(why=f"The words were typed, and the dialog does not show them. {self.where()}")
                refused = is_refusal(question, dialog, key) and not words
                if await self._left(question, _GONE_SECONDS if refused else _ALLOWED_SECONDS):
                    return await self._arrived(key)
                if not refused:
                    break
        return Unknown(why=f"The dialog was answered and did not close. {self.where()}")

    async def _missed(self) -> Outcome:
        """The dialog is not on the screen; whether another one is tells why."""
        other = read_dialog(await self.screen())
        return NotTaken(why=BEHIND if other is not None else GONE)

    async def _worded(self, key: str, words: str) -> bool:
        """Types words into the option of that key, sees that they are there, and sends them."""
        chosen, text = re.compile(rf"●\s*{key}\.\s+(?:{CUSTOM}|{FEEDBACK})"), bare(words)
        if not await self.shows(lambda screen: bool(chosen.search(screen)), _GONE_SECONDS):
            return False
        # Keys that come all at once would leave but the last of them.
        await self._tmux.paste(self._pane, " ".join(words.split()))

        def stands(screen: str) -> bool:
            dialog = read_dialog(screen)
            shown = bare(dialog.options.get(key, "")) if dialog is not None else ""
            return shown == text or (len(shown) >= _SURE_CHARACTERS and shown in text)

        if not await self.shows(stands, _GONE_SECONDS):
            return False
        await anyio.sleep(BOX.enter_delay_seconds)
        await self._tmux.press(self._pane, "Enter")
        return True

    async def _left(self, question: GeminiQuestion, seconds: float) -> bool:
        """Whether the dialog of the question leaves the screen within that time."""
        with anyio.move_on_after(seconds):
            while True:
                found = read_dialog(await self.screen())
                if found is None or not is_asked(found, question):
                    return True
                await anyio.sleep(_LOOK_SECONDS / 2)
        return False

    async def _arrived(self, key: str) -> Outcome:
        """A key that came too late for its dialog stands in the input box: somebody else had answered."""
        if key == ESCAPE or read_box(await self.screen()) != key:
            return Taken()
        await self._tmux.press(self._pane, "BSpace")
        return NotTaken(why=GONE)

    async def give_up(self) -> None:
        """Stops in the dialog about a model that cannot be had, if it is open: the CLI then says why, in its file.

        Whoever looks reads the agent's facts, too, and waits for no key: while something is typed, nothing is done."""
        if self.is_typing:
            return
        async with self._busy:
            dialog = read_dialog(await self.screen())
            if dialog is not None and gives_up(dialog):
                await self._tmux.press(self._pane, gives_up(dialog))
                await self.shows(lambda screen: read_dialog(screen) != dialog, _GONE_SECONDS)

    async def set_mode(self, mode: Mode) -> Outcome:
        """Ctrl+Y for YOLO and out of it, Shift+Tab through the others, until the line above the box says so."""

        def shown(screen: str) -> str | None:
            return next((name for name, one in MANIFEST["modes"].items() if says(screen, one["footer"])), None)

        def key(screen: str) -> str:
            return "C-y" if mode is Mode.YOLO or shown(screen) == Mode.YOLO.value else "BTab"

        return await self.switch(mode, shown, key)

    async def through_dialogs(self) -> str | None:
        """Waits for the input box, through the dialogs of a first run; otherwise what stands on the screen instead."""
        with anyio.move_on_after(_START_SECONDS):
            while read_box(screen := await self.screen()) is None:
                found = read_dialog(screen)
                if found is not None and found.key("Trust folder"):
                    await self._tmux.press(self._pane, found.key("Trust folder"))
                elif found is not None and "authenticate" in screen:
                    return last_words(screen)
                await anyio.sleep(_LOOK_SECONDS)
            return None
        return last_words(await self.screen())
