"""Stops a turn in a terminal by Escape: once, and again at intervals while there is still something to stop."""

from __future__ import annotations

from collections.abc import Callable

from farhand.drivers.wires.tmux.keyboard import Keyboard
from farhand.drivers.wires.tmux.queue import InputQueue, QueuedEvent, Timeout
from farhand.model.ports import Outcome, Taken

INTERRUPT = "interrupt"
AGAIN_SECONDS = 1.5
MOST_ESCAPES = 4


async def interrupt(keyboard: Keyboard, queue: InputQueue[QueuedEvent], turn: str) -> Outcome:
    """Presses Escape; a time-out of that turn looks later whether it helped."""
    await keyboard.escape()
    queue.after(AGAIN_SECONDS, Timeout(INTERRUPT, turn))
    return Taken()


async def interrupt_again(
    keyboard: Keyboard, queue: InputQueue[QueuedEvent], timeout: Timeout, takes_escape: Callable[[str], bool]
) -> None:
    """Presses Escape once more if the screen shows something to stop: at rest, it means something else.

    A dialog that has just appeared ignores keys, so it may take several. A CLI on a busy machine may draw late that it
    works: a look that found nothing to stop does not count."""
    if timeout.tries >= MOST_ESCAPES:
        return
    pressed = await keyboard.escape(takes_escape)
    queue.after(AGAIN_SECONDS, timeout.again() if pressed else timeout)
