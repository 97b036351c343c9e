"""Reads what a person types: slash commands, workers' names, mentions and replies, one grammar everywhere. Pure."""

import re

from farhand.model import commands
from farhand.model.answers import read_answer
from farhand.model.errors import BadInput
from farhand.model.for_whom import done_here, named_first
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.names import normalize
from farhand.model.plain_orders import PlainOrder, can_stop, last_said, order_for
from farhand.model.present import Present, Worker
from farhand.model.slash import Surface, chat, interactive, open_chat
from farhand.model.slash_argument import SlashArgument, find_worker, split_first
from farhand.model.wishes import InfoRequest, Listing, Quit, Tell, Unsure, Wish, Wrong
from farhand.model.words import replace

__all__ = ("InfoRequest", "Listing", "Quit", "Tell", "Wish", "Wrong", "meant", "read", "read_reply")
EVERYBODY = "all"
# Before words of somebody else's.
FORWARDED = "Forwarded message:"
CHAT, OPEN_CHAT = chat(), open_chat()
# What a phone adds to a command in a group.
_OUR_NAME = lazy_pattern(r"@\w+bot\Z", re.IGNORECASE)


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


def meant(wish: Wish | None, said: str, present: Present, surface: Surface = CHAT) -> Wish | None:
    """The wish, or the order that lone words such as `stop` are to the worker that they are said to. What answers an
    open question of that worker is its answer."""
    if not isinstance(wish, Tell) or wish.everybody:
        return wish
    worker = present.workers.get(wish.worker or present.focus)
    if (
        not wish.worker
        and not wish.needs_focus
        and (otherwise := _for_somebody_else(wish, said, worker, present, surface))
    ):
        return otherwise
    order = order_for(worker, said) if worker else None
    if worker is None or order is None or _answers(said, worker):
        return wish
    if order is PlainOrder.STOP and can_stop(worker):
        return commands.Interrupt(id=wish.id, worker=worker.name, withdraw=True)
    if order is PlainOrder.TAKE_BACK and (last := last_said(worker)):
        return commands.Withdraw(id=wish.id, message=last.id)
    question = f"{_not_to_obey(worker)} Shall {worker.name} be told “{said.strip()}”?"
    return Unsure(id=wish.id, worker=worker.name, text=wish.text, question=question, can_stop=worker.turn is not None)


def _for_somebody_else(wish: Tell, said: str, worker: Worker | None, present: Present, surface: Surface) -> Wish | None:
    """What words that name nobody may be instead of a message for that worker: for the node, or for another worker,
    whose open question they answer behind its name. With nobody to say them to, the node does what they say."""
    here, (other, rest) = done_here(said, present), named_first(said, present)
    if other and _answers(rest, present.workers[other], addressed=True):
        return replace(wish, text=rest, worker=other)
    if worker is None:
        is_known = here is not None and surface.find(here.command.split()[0]) is not None
        return _read_slash(wish.id, f"/{here.command}", present, surface) if here and is_known else None
    if _answers(said, worker):
        return None
    name, to = worker.name, Unsure(id=wish.id, worker=worker.name, text=wish.text, question="")
    if here:
        return replace(to, question=f"Is that for {name}, or for me?", command=here.command, label=here.label)
    if not other or other == name:
        return None
    return replace(to, question=f"Is that for {other}, or for {name}?", other=other, other_text=rest)


def _answers(said: str, worker: Worker, *, addressed: bool = False) -> bool:
    """Whether the words answer an open question of that worker."""
    return any(read_answer(said, ask, addressed=addressed) for ask in worker.asks if ask.settled is None)


def _not_to_obey(worker: Worker) -> str:
    if worker.turn is None:
        return f"Nothing of {worker.name}'s runs or waits."
    at = " ".join(worker.turn.message.text.split()) if worker.turn.message else ""
    named = f"“{at[:60]}{'…' if len(at) > 60 else ''}”" if at else "something"
    return f"Nothing waits for {worker.name} any more: it is at {named}."


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
        return Wrong(id=identity, why=interactive(name), blocked=name)
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
