"""How the argument of a slash command is read: names, numbers, modes and models. Pure."""

import re
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from farhand.model import commands, quiet
from farhand.model.commands import Command
from farhand.model.errors import BadInput
from farhand.model.present import Message, Present, Worker
from farhand.model.provenance import NODES_OWN
from farhand.model.wishes import DeviceWish, InfoRequest, Listing, Quit, Tell, Topic, Wish
from farhand.model.words import Mode

NO_QUEUE = "No message waits."
# Phones write these for what is typed as -- and ".
_AS_TYPED = str.maketrans({"—": "--", "“": '"', "”": '"'})


@dataclass(frozen=True)
class SlashArgument:
    """What stands behind the name of a slash command, and what is needed to read it."""

    id: str
    text: str
    present: Present
    # The sentence for an argument that cannot be read.
    usage: str

    @property
    def worker(self) -> str:
        """The worker that is meant; nothing for the focused one."""
        return find_worker(self.text, self.present) or self.text

    def words(self) -> list[str]:
        """The words, where a pair of double quotes makes one word of several."""
        reader = shlex.shlex(self.text.translate(_AS_TYPED), posix=True)
        reader.whitespace_split, reader.quotes, reader.escape, reader.commenters = True, '"', "", ""
        try:
            return list(reader)
        except ValueError:
            raise BadInput("That line cannot be read: a quotation has no end.") from None

    def wrong(self) -> BadInput:
        """The error for an argument that does not fit the usage."""
        return BadInput(self.usage)


Reader: TypeAlias = Callable[[SlashArgument], Wish]


class WorkerCommand(Protocol):
    """A command about one worker."""

    def __call__(self, *, id: str, worker: str) -> Command:  # noqa: A002 - as commands have it
        """Makes it."""
        ...


def find_worker(name: str, present: Present) -> str:
    """The worker that is meant by a name as it is typed; `_` stands for `-`, and a backend's prefix may be left out."""
    wanted = name.lower().replace("_", "-")
    if wanted in present.workers:
        return wanted
    prefixed = [one.name for one in present.workers.values() if one.name == f"{one.backend}-{wanted}"]
    return prefixed[0] if len(prefixed) == 1 else ""


def split_first(text: str) -> tuple[str, str]:
    """The first word, and what comes after the white space behind it."""
    parts = text.split(maxsplit=1)
    first = parts[0] if parts and text.startswith(parts[0]) else ""
    return (first, parts[1].strip() if len(parts) > 1 else "") if first else ("", text.strip())


def numbered(worker: Worker) -> list[tuple[int, Message]]:
    """The messages that wait for a worker, with the numbers that people know them by: each worker's begin with 1.

    What the node itself tells its workers is nobody's message."""
    return list(enumerate((one for one in worker.queue if one.by.via not in NODES_OWN), 1))


def about(topic: Topic) -> Reader:
    """A question that the surface answers itself; whatever stands behind it is passed over."""

    def read(argument: SlashArgument) -> Wish:
        return InfoRequest(id=argument.id, about=topic)

    return read


def about_worker(topic: Topic) -> Reader:
    """A question about something that may be named, which the surface answers itself."""

    def read(argument: SlashArgument) -> Wish:
        return InfoRequest(id=argument.id, about=topic, of=argument.worker)

    return read


def read_history(argument: SlashArgument) -> Wish:
    """`[name] [number]`: whose, and how many of the last."""
    words = argument.words()
    count = int(words.pop()) if words and re.fullmatch("[0-9]{1,4}", words[-1]) else 0
    if len(words) > 1:
        raise argument.wrong()
    name = "".join(words)
    return InfoRequest(id=argument.id, about="history", of=find_worker(name, argument.present) or name, count=count)


def or_about(topic: Topic, reader: Reader) -> Reader:
    """Without an argument, or with the name of a worker alone, a question that the surface answers itself."""

    def read(argument: SlashArgument) -> Wish:
        if not argument.text or find_worker(argument.text, argument.present):
            return InfoRequest(id=argument.id, about=topic, of=argument.worker)
        return reader(argument)

    return read


def to_focused(command: WorkerCommand) -> Reader:
    """A command for the named worker, for the focused one without a name."""

    def read(argument: SlashArgument) -> Wish:
        return command(id=argument.id, worker=argument.worker)

    return read


def reviewers_of(text: str) -> tuple[str, ...]:
    """The names between commas, each once."""
    return tuple(dict.fromkeys(one.strip().lower() for one in text.split(",") if one.strip()))


def to_named(command: WorkerCommand) -> Reader:
    """A command that needs the name of a worker."""

    def read(argument: SlashArgument) -> Wish:
        if not argument.text:
            raise argument.wrong()
        return command(id=argument.id, worker=argument.worker)

    return read


def read_quiet(argument: SlashArgument) -> Wish:
    """What may buzz and when; without an argument, how that is set."""
    words = argument.words()
    if not words:
        return InfoRequest(id=argument.id, about="quiet")

    def find(name: str) -> str:
        return find_worker(name, argument.present)

    # A span counts from the moment at which it is typed.
    settings = quiet.changed(argument.present.attention, words, find, time.time())
    return commands.SetAttention(id=argument.id, settings=settings)


def read_quit(argument: SlashArgument) -> Wish:
    """Leaves the conversation."""
    return Quit(id=argument.id)


def read_learn(argument: SlashArgument) -> Wish:
    """`[topic]`."""
    return Tell(id=argument.id, text=learn(argument.text), needs_focus=True)


def learn(topic: str) -> str:
    """The question after a day's work."""
    named = f" about {topic}" if topic else ""
    return (
        f"What did you learn{named} today? Please answer in Problem / Fix / Why format:\n"
        "Problem: <what went wrong or was inefficient>\n"
        "Fix: <the better approach>\n"
        "Why: <root cause or insight>"
    )


# --- messages that wait


def read_now(argument: SlashArgument) -> Wish:
    """`[name] <n>`."""
    return commands.Steer(id=argument.id, message=_numbered_alone(argument).id)


def read_drop(argument: SlashArgument) -> Wish:
    """`[name] <n>`."""
    return commands.Withdraw(id=argument.id, message=_numbered_alone(argument).id)


def read_edit(argument: SlashArgument) -> Wish:
    """`[name] <n> <message>`."""
    message, text = _numbered(argument)
    if not text:
        raise argument.wrong()
    return commands.Reword(id=argument.id, message=message.id, text=text)


def _numbered_alone(argument: SlashArgument) -> Message:
    message, more = _numbered(argument)
    if more:
        raise argument.wrong()
    return message


def _numbered(argument: SlashArgument) -> tuple[Message, str]:
    """The message that waits under the number, of the named or else of the focused worker; and what follows it."""
    number, rest = split_first(argument.text)
    name = "" if _is_number(number) else find_worker(number, argument.present)
    if name:
        number, rest = split_first(rest)
    if not number:
        raise argument.wrong()
    worker = _whose(argument.present, name)
    found = next((one for place, one in numbered(worker) if _is_number(number) and place == int(number)), None)
    if found is None:
        raise BadInput(f"No message for {worker.name} waits under the number {number}; /queue tells which do.")
    return found, rest


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 5


def _whose(present: Present, name: str) -> Worker:
    """The worker whose messages are counted: the named one, the focused one, or the only one that any wait for."""
    having = [one for one in present.workers.values() if numbered(one)]
    if worker := present.workers.get(name or present.focus):
        return worker
    if len(having) == 1:
        return having[0]
    raise BadInput("Whose message? Nobody is focused: put the name before the number." if having else NO_QUEUE)


# --- mode, model and effort


def read_mode(argument: SlashArgument) -> Wish:
    """`[name] <mode>`."""
    *name, mode = argument.words() or [""]
    if not mode or len(name) > 1:
        raise argument.wrong()
    return _tune(argument, name, mode=mode_named(mode))


def read_model(argument: SlashArgument) -> Wish:
    """`[name] <model>`."""
    *name, model = argument.words() or [""]
    if not model or len(name) > 1:
        raise argument.wrong()
    return _tune(argument, name, model=model)


def read_effort(argument: SlashArgument) -> Wish:
    """`[name] <effort>`."""
    *name, effort = argument.words() or [""]
    if not effort or len(name) > 1:
        raise argument.wrong()
    return _tune(argument, name, effort=effort.lower())


def read_tune(argument: SlashArgument) -> Wish:
    """`[name] [mode=<mode>] [model=<model>] [effort=<effort>]`."""
    words = argument.words()
    name = [word for word in words if "=" not in word]
    given = dict(word.split("=", 1) for word in words if "=" in word)
    if len(name) > 1 or not given or set(given) - {"mode", "model", "effort"} or not all(given.values()):
        raise argument.wrong()
    mode = mode_named(given["mode"]) if "mode" in given else None
    effort = given["effort"].lower() if "effort" in given else None
    return _tune(argument, name, model=given.get("model"), mode=mode, effort=effort)


def _tune(
    argument: SlashArgument,
    name: list[str],
    *,
    model: str | None = None,
    mode: Mode | None = None,
    effort: str | None = None,
) -> Wish:
    worker = find_worker(name[0], argument.present) or name[0] if name else ""
    return commands.Tune(id=argument.id, worker=worker, model=model, mode=mode, effort=effort)


def mode_named(text: str) -> Mode:
    """The mode that is called so."""
    if text.lower() not in set(Mode):
        raise BadInput(f"There is no mode '{text}'. Known: {', '.join(Mode)}.")
    return Mode(text.lower())


# --- lists


def read_sessions(argument: SlashArgument) -> Wish:
    """`[backend] [folder]`, either of them alone, or neither; what has a slash in it is a folder."""
    first, rest = split_first(argument.text)
    if "/" in first:
        return Listing(id=argument.id, directory=argument.text)
    return Listing(id=argument.id, backend=first.lower(), directory=rest)


def read_devices(argument: SlashArgument) -> Wish:
    """Nothing, or `revoke <id>`."""
    verb, device = split_first(argument.text)
    if verb and (verb.lower() != "revoke" or not device or " " in device):
        raise argument.wrong()
    return DeviceWish(id=argument.id, revoke=device)
