"""What is meant in a worker's own part of a chat: without a name, that worker. Pure."""

from farhand.model import commands
from farhand.model.slash import Surface
from farhand.model.slash_argument import split_first
from farhand.model.wishes import DeviceWish, InfoRequest, Listing, Quit, Tell, Unsure, Wish, Wrong
from farhand.model.words import replace

# The questions that can be about one worker.
ABOUT_WORKER = frozenset({"history", "mode", "progress", "review", "sprint"})


def named_command(text: str, worker: str, surface: Surface) -> str:
    """The text, with the worker's name behind a command that needs one and has none."""
    if not text.startswith("/"):
        return text
    token, argument = split_first(text[1:])
    entry = surface.find(token.partition("@")[0].lower())
    needs_name = entry is not None and entry.usage == "<name>" and entry.name != "hire"
    return f"/{token} {worker}" if needs_name and not argument else text


def with_worker(wish: Wish, worker: str) -> Wish:
    """The same, about that worker where it names nobody."""
    match wish:
        case Tell(worker="", everybody=False):
            return replace(wish, worker=worker)
        case InfoRequest(about=about, of="") if about in ABOUT_WORKER:
            return replace(wish, of=worker)
        case InfoRequest() | DeviceWish() | Listing() | Quit() | Tell() | Unsure() | Wrong():
            return wish
        case command:
            return replace(command, worker=worker) if commands.names_nobody(command) else command
