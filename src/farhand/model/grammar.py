"""What a manager's text asks for: commands, names, mentions and replies, one grammar for every chat surface. Pure."""

from collections.abc import Iterable
from typing import TypeAlias

from farhand.model import commands
from farhand.model.commands import Command
from farhand.model.compat import DEFAULT_BACKEND
from farhand.model.names import normalize
from farhand.model.present import WIRE, Present
from farhand.model.words import Mode, Word, replace

BLOCKED = frozenset(
    (
        "mcp help config model compact cost doctor init login logout memory permissions pr review terminal vim "
        "approved-tools listen"
    ).split()
)
EVERYBODY = "all"
ANYWAY = "--anyway"
ADOPT_USAGE = "Usage: /adopt <backend> <session> [name]; /sessions lists them."
HIRE_USAGE = "Usage: /hire <name>"
_VALUED = frozenset(("backend", "mode", "model", "dir", "directory"))


class InfoRequest(Word):
    """The manager wants to know something that the surface itself can tell."""

    id: str
    about: str


class Wrong(Word):
    """What was sent cannot be obeyed, and why."""

    id: str
    why: str


class Tell(Word):
    """A message for a worker, for the focused one when no name is given, or for everybody who is online."""

    id: str
    text: str
    worker: str = ""
    # The worker is focused as well.
    focus: bool = False
    everybody: bool = False
    # More than bare text: without a focused worker it is refused in other words.
    needs_focus: bool = False


class Listing(Word):
    """The manager wants to see which conversations agents have on the node's machine: of a backend, of a folder."""

    id: str
    backend: str = ""
    directory: str = ""


Wish: TypeAlias = Command | InfoRequest | Wrong | Tell | Listing


def find(name: str, present: Present) -> str:
    """The worker that is meant by a name as it is typed; `_` stands for `-`, and a backend's prefix may be left out."""
    wanted = name.lower().replace("_", "-")
    if wanted in present.workers:
        return wanted
    prefixed = [one.name for one in present.workers.values() if one.name == f"{one.backend}-{wanted}"]
    return prefixed[0] if len(prefixed) == 1 else ""


def read(identity: str, text: str, present: Present, backends: Iterable[str] = ()) -> Wish | None:
    """What the text asks for; nothing when it says nothing."""
    if not text.strip():
        return None
    if text.startswith("/"):
        return _slash(identity, text, present, backends)
    if text.startswith("@"):
        name, rest = _parted(text[1:])
        if name.lower() == EVERYBODY and rest:
            return Tell(id=identity, text=rest, everybody=True)
        worker = find(name, present)
        if worker and rest:
            return Tell(id=identity, text=rest, worker=worker)
    return Tell(id=identity, text=text)


def read_reply(identity: str, text: str, quoted: str, present: Present) -> Wish | None:
    """A reply to one of our messages: for the worker whose name it begins with, else for the focused one."""
    if not text.strip():
        return None
    name, colon, rest = quoted.partition(":")
    worker = name if colon and name in present.workers else ""
    context = rest.lstrip("\n ") if worker else quoted
    told = f"Manager reply:\n{text}\n\nContext (your previous message):\n{context}"
    return Tell(id=identity, text=told, worker=worker, needs_focus=True)


def learn(topic: str) -> str:
    """The question after a day's work."""
    about = f" about {topic}" if topic else ""
    return (
        f"What did you learn{about} today? Please answer in Problem / Fix / Why format:\n"
        "Problem: <what went wrong or was inefficient>\n"
        "Fix: <the better approach>\n"
        "Why: <root cause or insight>"
    )


def _parted(text: str) -> tuple[str, str]:
    """The first word, and what comes after the white space behind it."""
    parts = text.split(maxsplit=1)
    first = parts[0] if parts and text.startswith(parts[0]) else ""
    return (first, parts[1].strip() if len(parts) > 1 else "") if first else ("", text.strip())


def _slash(identity: str, text: str, present: Present, backends: Iterable[str]) -> Wish:
    token, argument = _parted(text[1:])
    name = token.partition("@")[0].lower()
    worker = find(name, present)
    if worker:
        if argument:
            return Tell(id=identity, text=argument, worker=worker, focus=True)
        return commands.Focus(id=identity, worker=worker)
    if name in BLOCKED:
        return Wrong(id=identity, why=f"/{name} is interactive and not supported here.")
    return _command(identity, name, argument, present, backends) or Tell(id=identity, text=text, needs_focus=True)


def _command(identity: str, name: str, argument: str, present: Present, backends: Iterable[str]) -> Wish | None:
    match name:
        case "team" | "progress" | "settings" | "start":
            return InfoRequest(id=identity, about=name)
        case "learn":
            return Tell(id=identity, text=learn(argument), needs_focus=True)
        case "pause" | "stop":
            return commands.Interrupt(id=identity, worker=find(argument, present) or argument)
        case "relaunch":
            return commands.Relaunch(id=identity, worker=find(argument, present) or argument)
        case "retry":
            return commands.Retry(id=identity, worker=find(argument, present) or argument)
        case "focus":
            if not argument:
                return Wrong(id=identity, why="Usage: /focus <name>")
            return commands.Focus(id=identity, worker=find(argument, present) or argument)
        case "end":
            if not argument:
                return Wrong(id=identity, why="Offboarding is permanent. Usage: /end <name>")
            return commands.End(id=identity, worker=find(argument, present) or argument)
        case "handback":
            if not argument:
                return Wrong(id=identity, why="Usage: /handback <name>")
            return commands.End(id=identity, worker=find(argument, present) or argument, hand_back=True)
        case "sessions":
            return read_listing(identity, argument, backends)
        case "adopt":
            return read_adopt(identity, argument)
        case "hire":
            return read_hire(identity, argument, backends)
        case _:
            return None


class _Terms(Word):
    """What was said about a hiring beside the name."""

    backend: str = ""
    mode: Mode | None = None
    model: str = ""
    directory: str = ""
    wire: str = ""


def read_hire(identity: str, argument: str, backends: Iterable[str]) -> Wish:
    """`name`, `name --backend b`, `name --b`, or a name that begins with its backend: `b-alice`.

    `--tmux` and `--headless` choose the wire, `--ask` and `--mode m` what it may do unasked; `--model`, `--dir`.
    """
    try:
        named, terms = _terms(argument.replace("—", "--").split())
    except ValueError as wrong:
        return Wrong(id=identity, why=str(wrong))
    if len(named) != 1:
        return Wrong(id=identity, why=HIRE_USAGE)
    name = normalize(named[0])
    prefix = next((one for one in sorted(backends, key=len, reverse=True) if name.startswith(f"{one}-")), "")
    return commands.Hire(
        id=identity,
        worker=named[0],
        backend=terms.backend or prefix or DEFAULT_BACKEND,
        mode=terms.mode,
        model=terms.model,
        directory=terms.directory,
        options={WIRE: terms.wire} if terms.wire else {},
    )


def read_listing(identity: str, argument: str, backends: Iterable[str]) -> Wish:
    """`[backend] [folder]`, either of them alone, or neither."""
    first, rest = _parted(argument)
    if first.lower() in set(backends):
        return Listing(id=identity, backend=first.lower(), directory=rest)
    return Listing(id=identity, directory=argument.strip())


def read_adopt(identity: str, argument: str) -> Wish:
    """`backend session [name]`, with `--anyway` and the flags of `/hire`."""
    words = argument.replace("—", "--").split()
    try:
        named, terms = _terms([word for word in words if word != ANYWAY])
    except ValueError as wrong:
        return Wrong(id=identity, why=str(wrong))
    if not 2 <= len(named) <= 3 or terms.backend:
        return Wrong(id=identity, why=ADOPT_USAGE)
    return commands.Hire(
        id=identity,
        worker=named[2] if len(named) > 2 else "",
        backend=named[0].lower(),
        session=named[1],
        mode=terms.mode,
        model=terms.model,
        directory=terms.directory,
        options={WIRE: terms.wire} if terms.wire else {},
        anyway=ANYWAY in words,
    )


def _terms(words: list[str]) -> tuple[list[str], _Terms]:
    """The names, and what the flags say; a flag that is none of ours names a backend. Raises ValueError."""
    named: list[str] = []
    terms = _Terms()
    left = iter(words)
    for word in left:
        if not word.startswith("-"):
            named.append(word)
            continue
        option, equals, value = word.lstrip("-").partition("=")
        option = option.lower()
        if option in _VALUED:
            value = value if equals else next(left, "")
            if not value or value.startswith("-"):
                raise ValueError(HIRE_USAGE)
        terms = _with_term(terms, option, value)
    return named, terms


def _with_term(terms: _Terms, option: str, value: str) -> _Terms:
    match option:
        case "backend":
            return replace(terms, backend=value.lower())
        case "mode":
            if value.lower() not in set(Mode):
                raise ValueError(f"There is no mode '{value}'. Known: {', '.join(Mode)}.")
            return replace(terms, mode=Mode(value.lower()))
        case "model":
            return replace(terms, model=value)
        case "dir" | "directory":
            return replace(terms, directory=value)
        case "ask":
            return replace(terms, mode=Mode.DEFAULT)
        case "tmux" | "headless":
            return replace(terms, wire=option)
        case _:
            return replace(terms, backend=option)
