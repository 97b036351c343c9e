"""Claude Code's keyboard: its first dialogs, and its modes."""

from __future__ import annotations

import anyio

from farhand.drivers.claude.launch import MANIFEST
from farhand.drivers.claude.tmux.screen import (
    dialog_key,
    footer_says,
    holds,
    is_all_of,
    is_confirmed_by_enter,
    is_dialog,
    read_box,
    read_notice,
    read_reply,
    times_typed,
)
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.keyboard import Keyboard, commands
from farhand.drivers.wires.tmux.screen import last_words, plain
from farhand.drivers.wires.tmux.submit import BoxOptions
from farhand.model.ports import NotTaken, Outcome, Taken, Unknown
from farhand.model.start_problems import is_known
from farhand.model.words import Mode

# The text is seen in the box before Enter: no further wait is needed.
BOX = BoxOptions(read_box=read_box, holds=holds, stash="C-s", enter_delay_seconds=0.0)
is_command = commands(r"^/[a-z][\w:-]*(\s|$)")
_START_SECONDS = 60.0
_LOOK_SECONDS = 0.1
# A dialog that gets keys in its first moments hears none ever after.
_DIALOG_SECONDS = 1.0
_KEY_SECONDS = 0.3
# A dialog that stands so long at the start, and that nobody knows, is one for a person.
UNKNOWN_DIALOG_SECONDS = 1.5
_EMPTY_SECONDS = 2.0
# It asks the API whether there is such a model, for up to 15 seconds.
_CHANGE_SECONDS = 30.0


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

    async def change(self, name: str, value: str) -> Outcome:
        """Types the command for it, and reads what is said to that; asked whether the cost of it is meant, says yes."""
        command, done = f"/{name} {value}", MANIFEST["changes"][name]
        before = await self.screen()
        outcome = await self.submit(command)
        if not isinstance(outcome, Taken):
            return outcome
        async with self._busy:
            with anyio.move_on_after(_CHANGE_SECONDS):
                while True:
                    screen = await self.screen()
                    if reply := new_reply(before, screen, command, done):
                        return Taken() if reply.startswith(done) else NotTaken(why=f"Claude Code says: {reply}")
                    if confirms(screen):
                        await anyio.sleep(_DIALOG_SECONDS)
                        # Somebody at the desk may have answered by now.
                        if confirms(await self.screen()):
                            await self._tmux.press(self._pane, "Enter")
                    await anyio.sleep(_LOOK_SECONDS)
            return await self._unanswered(command)

    async def _unanswered(self, command: str) -> Outcome:
        """Nothing was said to a command; a dialog that nobody knows is closed, and stands in no message's way."""
        why = f"{command} was typed, and Claude Code did not say that it is done."
        if read_box(await self.screen()) is not None:
            return Unknown(why=f"{why} {self.where()}")
        shown = await self.described()
        await self._tmux.press(self._pane, "Escape")
        return NotTaken(why=f"{why} {shown}")

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


def confirms(screen: str) -> bool:
    """Whether an Enter says yes to a change that has its price."""
    return read_box(screen) is None and is_confirmed_by_enter(plain(screen), MANIFEST["confirmation"])


def new_reply(before: str, screen: str, command: str, done: str) -> str:
    """What is said to a command that was typed since the screen `before`, under it or, in a turn, above the box."""
    notice, (_, _, value) = read_notice(screen), command.partition(" ")
    if times_typed(screen, command) > times_typed(before, command):
        return read_reply(screen, command)
    is_about_it = notice.startswith(done) or value in notice
    return notice if is_about_it and notice != read_notice(before) else ""


def mode_shown(screen: str) -> str | None:
    """The mode that the footer names, the CLI's own ones among them; None while it names none."""
    footers = {name: one["footer"] for name, one in MANIFEST["modes"].items()} | MANIFEST["other_modes"]
    return next((name for name, footer in footers.items() if footer_says(screen, footer)), None)
