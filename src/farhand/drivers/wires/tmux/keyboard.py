"""The keyboard of a worker's pane: submits messages and presses keys, one at a time under a lock."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import anyio

from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.protocol import pictured
from farhand.drivers.wires.tmux.screen import last_words
from farhand.drivers.wires.tmux.submit import BoxOptions, Doubtful, Occupied, OwnTexts, submit, submit_quickly
from farhand.model.agent_orders import without_hidden_beginning
from farhand.model.facts import Said
from farhand.model.ports import NotTaken, Outcome, Taken, Unknown
from farhand.model.words import Mode

MOST_SWITCHES = 8
# How long a CLI may take to draw what a key did.
REACTION_SECONDS = 10.0
NAMED_SECONDS = 2.0
# Whether a CLI would take a text as one of its slash commands.
IsCommand = Callable[[str], bool]


def commands(pattern: str) -> IsCommand:
    """Knows a slash command by its first word; a text of several lines is none."""
    first = re.compile(pattern, re.IGNORECASE)
    return lambda text: bool(first.match(text)) and "\n" not in text.strip()


def guarded(text: str, is_command: IsCommand, guard: str = " ") -> str:
    """The text as it is pasted: a leading `!` would run a shell command, a path would be taken for a command.

    A CLI that trims what it reads needs a guard that is no blank, also before a text that begins with one. What nobody
    sees at the beginning is left out: a CLI may do so, too, and would then take for an order what we take for words."""
    text = without_hidden_beginning(text)
    begins = text.lstrip() if guard.strip() else text
    return f"{guard}{text}" if begins.startswith("!") or (begins.startswith("/") and not is_command(text)) else text


class Keyboard:
    """What every interactive CLI is driven by; what is its own is added by its driver."""

    def __init__(
        self, tmux: Tmux, pane: Pane, options: BoxOptions, is_command: IsCommand, *, colours: bool = True
    ) -> None:
        self._tmux = tmux
        self._pane = pane
        self._options = options
        self.is_command = is_command
        self._colours = colours
        self._busy = tmux.typing_lock(pane)
        # What was submitted last: a CLI may put it back into its box when its turn is stopped early.
        self._submitted = ""

    @property
    def is_typing(self) -> bool:
        """Whether something is being typed or pressed at this moment."""
        return self._busy.locked()

    async def submit(self, text: str, seen: anyio.Event | None = None, handed_over: OwnTexts = tuple) -> Outcome:
        """Pastes a message and sends it; types a slash command. `seen` is set when the agent has read it.

        A message that was `handed_over` and stands in the box again is in nobody's way, nor is this one."""
        pasted, self._submitted = self._pasted(text), text

        def own() -> Iterator[str]:
            return (pictured(self._pasted(one)) for one in (text, *handed_over()))

        async with self._busy:
            if seen is not None:
                result = await submit_quickly(self._tmux, self._pane, pasted, self._options, seen, own=own)
            else:
                keys = self.is_command(text)
                result = await submit(self._tmux, self._pane, pasted, self._options, keys=keys, own=own)
        match result:
            case Occupied(why=why):
                return NotTaken(why=f"{why} {await self.described()}")
            case Doubtful(why=why):
                return Unknown(why=why)
            case _:
                return Taken()

    def _pasted(self, text: str) -> str:
        return guarded(text, self.is_command, self._options.guard)

    def where(self) -> str:
        """What a person types to see for himself."""
        return f"Look at it: {' '.join(self._tmux.server)} attach -t '{self._pane.session}'."

    async def described(self) -> str:
        """What a person should know who must decide what to do about an occupied box."""
        return self.where()

    async def escape(self, takes_escape: Callable[[str], bool] | None = None) -> bool:
        """Presses Escape: stops a turn, closes a dialog, says no to a question; or only if the screen takes it so."""
        async with self._busy:
            # Looked at under the lock: a message that is submitted meanwhile begins another turn.
            pressed = takes_escape is None or takes_escape(await self.screen())
            if pressed:
                await self._tmux.press(self._pane, "Escape")
            return pressed

    async def command_output(self, screen: str, lines: int = 30) -> Said:
        """What a command of the CLI's own shows; a panel that it opened is closed again, and seen to be."""
        if self._options.read_box(screen) is None:
            await self.escape()
            await self.shows(lambda seen: self._options.read_box(seen) is not None, REACTION_SECONDS)
        return Said(text=f"{last_words(screen, lines)}\n\n(read off the screen)")

    async def screen(self) -> str:
        """What the pane shows."""
        return await self._tmux.capture(self._pane, colours=self._colours)

    async def switch(
        self,
        mode: Mode,
        shown: Callable[[str], str | None],
        key: Callable[[str], str],
        seconds: float = REACTION_SECONDS,
    ) -> Outcome:
        """Presses the screen's key until the mode that the screen names is this one.

        A key is pressed again only after the screen has named another mode: on a busy machine the CLI draws late, and a
        key pressed meanwhile would go past the mode that is wanted."""
        passed: set[str | None] = set()
        async with self._busy:
            for _ in range(MOST_SWITCHES):
                # A screen that is just drawn anew names none for a moment; one that goes on so has one without a name.
                await self.shows(lambda screen: shown(screen) is not None, NAMED_SECONDS)
                screen = await self.screen()
                now = shown(screen)
                if now == mode.value:
                    return Taken()
                if now in passed:
                    break
                passed.add(now)
                await self._tmux.press(self._pane, key(screen))
                await self.shows(lambda screen, before=now: shown(screen) not in (None, before), seconds)  # type: ignore[misc]
        return NotTaken(why=f"This session cannot change to it; a new worker can: /hire <name> --mode {mode.value}")

    async def shows(self, true: Callable[[str], bool], seconds: float, look_seconds: float = 0.05) -> bool:
        """Polls the screen until the predicate holds, or the time-out."""
        with anyio.move_on_after(seconds):
            while not true(await self.screen()):  # noqa: ASYNC110
                await anyio.sleep(look_seconds)
            return True
        return False
