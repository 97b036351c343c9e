"""Reads what a person types: slash commands, workers' names, mentions and replies, one grammar everywhere. Pure."""

import re

from farhand.model import commands
from farhand.model.errors import BadInput
from farhand.model.names import normalize
from farhand.model.present import Present
from farhand.model.slash import Surface, chat, interactive
from farhand.model.slash_argument import SlashArgument, find_worker, split_first
from farhand.model.wishes import InfoRequest, Listing, Quit, Tell, Wish, Wrong

__all__ = ("InfoRequest", "Listing", "Quit", "Tell", "Wish", "Wrong", "read", "read_reply")
EVERYBODY = "all"
# Before words of somebody else's.
FORWARDED = "Forwarded message:"
CHAT = chat()
# What a phone adds to a command in a group.
_OUR_NAME = re.compile(r"@\w+bot\Z", re.IGNORECASE)


def read(identity: str, text: str, present: Present, surface: Surface = CHAT) -> Wish | None:
    """What the text asks for on that surface; nothing when it says nothing."""
    if not text.strip():
        return None
    if text.startswith("/"):
        return _read_slash(identity, text, present, surface)
    if text.startswith("@"):
        return _read_mention(identity, text, present, surface)
    return Tell(id=identity, text=text)


def read_reply(
    identity: str, text: str, quoted: str, present: Present, *, ours: bool = True, foreign: bool = False
) -> Wish | None:
    """A reply: to one of our messages, for the worker whose name it begins with; any other, for the focused one.

    What somebody else wrote is quoted line by line, behind a line that says so: none of it passes for the manager's."""
    if not text.strip():
        return None
    name, colon, rest = quoted.partition(":")
    worker = name if ours and colon and name in present.workers else ""
    context = rest.lstrip("\n ") if worker else quoted
    if foreign:
        context = "\n".join((FORWARDED, *(f"> {line}" for line in quoted.splitlines())))
    whole = f"Manager reply:\n{text}\n\nContext (your previous message):\n{context}"
    return Tell(id=identity, text=whole, worker=worker, needs_focus=True)


def _read_mention(identity: str, text: str, present: Present, surface: Surface) -> Wish:
    name, rest = split_first(text[1:])
    if name.lower() == EVERYBODY and rest:
        return Tell(id=identity, text=rest, everybody=True)
    worker = find_worker(name, present)
    if worker and rest:
        return Tell(id=identity, text=rest, worker=worker)
    if not name or not rest or normalize(name) != name.lower():
        # A lone name, or what is no name at all (`@types/node is broken`), is text.
        return (
            Tell(id=identity, text=text) if surface.passes_on or not name else Tell(id=identity, text="", worker=name)
        )
    # The hub says who is there.
    return Tell(id=identity, text=rest, worker=name)


def _read_slash(identity: str, text: str, present: Present, surface: Surface) -> Wish:
    token, argument = split_first(text[1:])
    name = token.partition("@")[0].lower()
    if name in surface.blocked:
        return Wrong(id=identity, why=interactive(name))
    worker = find_worker(name, present)
    if worker:
        if argument:
            return Tell(id=identity, text=argument, worker=worker, focus=True)
        return commands.Focus(id=identity, worker=worker)
    entry = surface.find(name)
    if entry is not None:
        try:
            return entry.read(SlashArgument(identity, argument, present, entry.usage_error))
        except BadInput as error:
            return Wrong(id=identity, why=error.text)
    if surface.passes_on:
        return Tell(id=identity, text=f"/{_OUR_NAME.sub('', token)}{text[1 + len(token) :]}", needs_focus=True)
    return Wrong(id=identity, why=f"'{text}' is nothing that can be done here; /help tells what can.")
