"""Submits a message in an agent's input box: seen to be empty before, to hold the text, to be empty after."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import anyio
import msgspec

from farhand.drivers.wires.tmux.server import Pane, Tmux

# What is in the box on this screen (captured with its colours); None when there is no box to type into.
BoxReader = Callable[[str], str | None]
# Texts of ours that the agent may have put back into its box; asked for only when something stands there.
OwnTexts = Callable[[], Iterable[str]]


SHOWN = 80
SURE = 2
KEYS_AT_ONCE = 200
MIXED = "Somebody typed at the desk in the same moment: the text stands in the box, not sent."


class BoxOptions(msgspec.Struct, frozen=True):
    """How one agent's input box behaves."""

    read_box: BoxReader
    # Whether the box holds this text and nothing else, as far as it shows.
    holds: Callable[[str, str], bool] = lambda box, text: bool(box)  # noqa: ARG005
    # Puts what a person has half typed aside until the message is gone; None when the agent cannot.
    stash: str | None = None
    # Deletes from the cursor to the line's beginning, or the line end before it; nothing in an empty box.
    delete_line: str | None = None
    # Brings the cursor to the end of its line.
    line_end: str = "C-e"
    # Whether the box on this screen holds this text and nothing else.
    is_all_of: Callable[[str, str], bool] = lambda screen, text: False  # noqa: ARG005
    # How often this screen says that it knows no such command: an agent may leave that in its box.
    refusals: Callable[[str], int] | None = None
    enter_delay_seconds: float = 0.05
    # Brings the cursor away from the end, where a backslash would swallow the Enter.
    home: str = "C-a"
    # A machine that is busy draws late; only what is never drawn is a doubt.
    timeout_seconds: float = 8.0
    # Put before a message that would be taken for a command.
    guard: str = " "
    # How long the box may be out of sight before whoever waits is told.
    box_seconds: float = 1.5
    # How long it must be out of sight before it counts as gone.
    away_seconds: float = 1.0
    look_every_seconds: float = 0.015


class Submitted(msgspec.Struct, frozen=True):
    """The box held the text and is empty now."""


class Occupied(msgspec.Struct, frozen=True):
    """Nothing was typed: somebody's words are in the box, or there is no box."""

    why: str


class Doubtful(msgspec.Struct, frozen=True):
    """The text was typed and nobody can tell whether the agent took it."""

    why: str


SubmitResult = Submitted | Occupied | Doubtful


async def submit(
    tmux: Tmux, pane: Pane, text: str, options: BoxOptions, *, keys: bool = False, own: OwnTexts = tuple
) -> SubmitResult:
    """Pastes the text (or types it, as `keys`) and presses Enter, with a look before each."""
    free = await _make_room(tmux, pane, options, own)
    if free is not None:
        return free
    await (tmux.type(pane, text) if keys else tmux.paste(pane, text))
    # A screen that is being drawn may show half of it.
    if not await _until(tmux, pane, options, lambda box: bool(box) and options.holds(box or "", text)):
        shown = options.read_box(await tmux.capture(pane, colours=True))
        return Doubtful(_mixed(shown) if shown else "The text was pasted, and the input box does not show it.")
    await anyio.sleep(options.enter_delay_seconds)
    held = options.read_box(await tmux.capture(pane, colours=True))
    if held is None or not options.holds(held, text):
        # Redrawn in this moment, or changed by somebody: a second look tells.
        if not await _until(tmux, pane, options, lambda box: bool(box) and options.holds(box or "", text)):
            return Doubtful(_mixed(held or ""))
        held = options.read_box(await tmux.capture(pane, colours=True)) or text
    if text.endswith("\\") and not keys:
        await tmux.press(pane, options.home)
    return await _enter(tmux, pane, options, held)


def _mixed(held: str) -> str:
    return f"{MIXED} It holds: {held[:SHOWN]}" if held else MIXED


async def submit_quickly(
    tmux: Tmux, pane: Pane, text: str, options: BoxOptions, seen: anyio.Event, *, own: OwnTexts = tuple
) -> SubmitResult:
    """Pastes and presses Enter at once, for an agent that says itself when it has read the text.

    Only when it does not say so is the box looked at again."""
    free = await _make_room(tmux, pane, options, own)
    if free is not None:
        return free
    await tmux.paste(pane, text, *([options.home] if text.endswith("\\") else []), "Enter")
    with anyio.move_on_after(options.timeout_seconds):
        await seen.wait()
        return Submitted()
    held = options.read_box(await tmux.capture(pane, colours=True))
    if not held or not options.holds(held, text):
        return Doubtful("The text was pasted and sent, and the agent did not say that it has read it.")
    return await _enter(tmux, pane, options, held)


async def _make_room(tmux: Tmux, pane: Pane, options: BoxOptions, own: OwnTexts) -> Occupied | None:
    box = options.read_box(await tmux.capture(pane, colours=True))
    if box is None and not await _until(tmux, pane, options, lambda seen: seen is not None, options.box_seconds):
        return Occupied("There is no input box on the screen: a dialog may be open.")
    if not box:
        return None
    if await _take_back(tmux, pane, options, own):
        return None
    if options.stash is None:
        # A busy machine draws late: the screen may still show what was sent before, or half of it.
        if await _until(tmux, pane, options, lambda seen: seen == "", options.box_seconds):
            return None
        if await _take_back(tmux, pane, options, own):
            return None
        return Occupied("Somebody has typed something at the desk and not sent it.")
    await tmux.press(pane, options.stash)
    if await _until(tmux, pane, options, lambda seen: seen == ""):
        return None
    return Occupied("Somebody has typed something at the desk, and it could not be put aside.")


async def _take_back(tmux: Tmux, pane: Pane, options: BoxOptions, own: OwnTexts) -> bool:
    """Empties the box if a text of ours is all that stands there: no person's draft, the agent has put it back."""
    if (key := options.delete_line) is None:
        return False
    screen = await tmux.capture(pane, colours=True)
    text = next((one for one in own() if options.is_all_of(screen, one)), None)
    if text is None:
        return False
    # An agent may have put it back with the cursor before it.
    await tmux.press(pane, options.line_end)
    # Each line, and each line's end.
    for pressed in range(0, needed := 2 * (text.count("\n") + 1), KEYS_AT_ONCE):
        await tmux.press(pane, *[key] * min(KEYS_AT_ONCE, needed - pressed))
    return await _until(tmux, pane, options, lambda box: box == "")


async def _enter(tmux: Tmux, pane: Pane, options: BoxOptions, held: str) -> SubmitResult:
    options = await _reading_refusals(tmux, pane, options)
    for _ in range(2):
        await tmux.press(pane, "Enter")
        # What was put aside may come back into the box: anything but the same words means that they are gone.
        if await _until(tmux, pane, options, lambda box: box is not None and box != held, away=True):
            return Submitted()
    return Doubtful("Enter was pressed, and the text still stands in the input box.")


async def _reading_refusals(tmux: Tmux, pane: Pane, options: BoxOptions) -> BoxOptions:
    """Reads the box as empty once the screen refuses one more command: that was sent, and stands there again."""
    refusals, read_box = options.refusals, options.read_box
    if refusals is None:
        return options
    before = refusals(await tmux.capture(pane, colours=True))
    return msgspec.structs.replace(options, read_box=lambda seen: "" if refusals(seen) > before else read_box(seen))


async def _until(
    tmux: Tmux,
    pane: Pane,
    options: BoxOptions,
    right: Callable[[str | None], bool],
    seconds: float | None = None,
    *,
    away: bool = False,
) -> bool:
    """Whether the box comes to be right, twice in a row: one look may catch a screen that is half drawn.

    With `away`, it is right as well when the box stays out of sight: a dialog has taken its place. A screen that is
    drawn anew has none for a moment, either."""
    with anyio.move_on_after(options.timeout_seconds if seconds is None else seconds):
        looks, gone_since = 0, math.inf
        while looks < SURE:
            box = options.read_box(await tmux.capture(pane, colours=True))
            looks = looks + 1 if right(box) else 0
            gone_since = min(gone_since, anyio.current_time()) if box is None else math.inf
            if away and anyio.current_time() - gone_since >= options.away_seconds:
                return True
            # tmux tells of output, not of a drawn screen: look again until it is drawn.
            await anyio.sleep(options.look_every_seconds)
        return True
    return False
