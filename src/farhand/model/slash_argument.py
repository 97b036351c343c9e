"""How the argument of a slash command is read: names, numbers, flags and settings. Pure."""

import dataclasses
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from farhand.model import commands, sandbox
from farhand.model.commands import Command
from farhand.model.errors import BadInput
from farhand.model.present import AGENT, AGENT_BACKEND, WIRE, Message, Present
from farhand.model.sprint import SprintLimits, tasks_of
from farhand.model.wishes import InfoRequest, Listing, Quit, Tell, Wish
from farhand.model.words import Mode, Word, replace

ANYWAY = "--anyway"
SPRINT_FLAGS = (
    "[--verify <command>] [--no-commit] [--tasks <n>] [--rounds <n>] [--minutes <n>] [--tokens <n>] [--dollars <n>]"
)
_SPRINT_VALUES = frozenset(("verify", "tasks", "rounds", "minutes", "tokens", "dollars"))
_VALUED = frozenset(("adapter", "backend", "mode", "model", "dir", "directory", "wire", AGENT))
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


def queued(present: Present) -> list[tuple[str, Message]]:
    """The messages that wait, each with its worker, in the order of the numbers that people know them by."""
    return [(worker.name, one) for worker in present.workers.values() for one in worker.queue]


def about(topic: str) -> Reader:
    """A question that the surface answers itself; whatever stands behind it is passed over."""

    def read(argument: SlashArgument) -> Wish:
        return InfoRequest(id=argument.id, about=topic)

    return read


def about_worker(topic: str) -> Reader:
    """A question about something that may be named, which the surface answers itself."""

    def read(argument: SlashArgument) -> Wish:
        return InfoRequest(id=argument.id, about=topic, of=argument.worker)

    return read


def or_about(topic: str, reader: Reader) -> Reader:
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


def read_sprint(argument: SlashArgument) -> Wish:
    """`/sprint`: what shall become of a worker's sprint; the tasks stand below, one a line."""
    head, _, below = argument.text.partition("\n")
    words = head.split()
    worker = find_worker(words[0], argument.present) if words else ""
    verb = words[1 if worker else 0].lower() if len(words) > bool(worker) else "status"
    rest = head.split(maxsplit=1 + bool(worker))[1 + bool(worker) :]
    match verb:
        case "status":
            return InfoRequest(id=argument.id, about="sprint", of=worker)
        case "stop":
            return commands.Halt(id=argument.id, worker=worker, now=bool(rest) and rest[0].lower() == "now")
        case "skip":
            return commands.SkipTask(id=argument.id, worker=worker)
        case "add":
            return commands.AddTasks(id=argument.id, worker=worker, tasks=_tasks(argument, rest, below))
        case "start":
            return _sprint(argument, worker, rest[0] if rest else "", below)
        case _:
            raise argument.wrong()


def _tasks(argument: SlashArgument, rest: list[str], below: str) -> tuple[str, ...]:
    tasks = (*rest, *tasks_of(below))
    if not tasks:
        raise argument.wrong()
    return tasks


def _sprint(argument: SlashArgument, worker: str, head: str, below: str) -> Wish:
    """Flags and a task may stand behind `start`; a flag's value goes up to the next blank, or is quoted."""
    words = dataclasses.replace(argument, text=head).words()
    flags: dict[str, str] = {}
    while words and words[0].startswith("--"):
        flag = words.pop(0)[2:]
        if flag == "no-commit":
            flags[flag] = "yes"
        elif flag in _SPRINT_VALUES and words:
            flags[flag] = words.pop(0)
        else:
            raise argument.wrong()
    tasks = (*((" ".join(words),) if words else ()), *tasks_of(below))
    try:
        limits = SprintLimits(
            tasks=int(flags.get("tasks", SprintLimits().tasks)),
            rounds=int(flags.get("rounds", SprintLimits().rounds)),
            minutes=float(flags.get("minutes", SprintLimits().minutes)),
            tokens=int(flags.get("tokens", 0)),
            dollars=float(flags.get("dollars", "0").lstrip("$")),
        )
    except ValueError:
        raise argument.wrong() from None
    return commands.Sprint(
        id=argument.id,
        worker=worker,
        tasks=tasks,
        verifier=flags.get("verify", ""),
        commits="no-commit" not in flags,
        limits=limits,
    )


def to_named(command: WorkerCommand) -> Reader:
    """A command that needs the name of a worker."""

    def read(argument: SlashArgument) -> Wish:
        if not argument.text:
            raise argument.wrong()
        return command(id=argument.id, worker=argument.worker)

    return read


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
    """`<n>`."""
    return commands.Steer(id=argument.id, message=_numbered(argument, argument.text))


def read_drop(argument: SlashArgument) -> Wish:
    """`<n>`."""
    return commands.Withdraw(id=argument.id, message=_numbered(argument, argument.text))


def read_edit(argument: SlashArgument) -> Wish:
    """`<n> <message>`."""
    number, text = split_first(argument.text)
    if not text:
        raise argument.wrong()
    return commands.Reword(id=argument.id, message=_numbered(argument, number), text=text)


def _numbered(argument: SlashArgument, number: str) -> str:
    """The id of the message that waits under that number."""
    if not number:
        raise argument.wrong()
    waiting = queued(argument.present)
    if not (number.isascii() and number.isdigit() and len(number) < 5) or not 1 <= int(number) <= len(waiting):
        raise BadInput(f"No message waits under the number {number}; /queue tells which do.")
    return waiting[int(number) - 1][1].id


# --- mode and model


def read_mode(argument: SlashArgument) -> Wish:
    """`[name] <mode>`."""
    *name, mode = argument.words() or [""]
    if not mode or len(name) > 1:
        raise argument.wrong()
    return _tune(argument, name, mode=_mode(mode))


def read_model(argument: SlashArgument) -> Wish:
    """`[name] <model>`."""
    *name, model = argument.words() or [""]
    if not model or len(name) > 1:
        raise argument.wrong()
    return _tune(argument, name, model=model)


def read_tune(argument: SlashArgument) -> Wish:
    """`[name] [mode=<mode>] [model=<model>]`."""
    words = argument.words()
    name = [word for word in words if "=" not in word]
    given = dict(word.split("=", 1) for word in words if "=" in word)
    if len(name) > 1 or not given or set(given) - {"mode", "model"} or not all(given.values()):
        raise argument.wrong()
    return _tune(argument, name, model=given.get("model"), mode=_mode(given["mode"]) if "mode" in given else None)


def _tune(argument: SlashArgument, name: list[str], *, model: str | None = None, mode: Mode | None = None) -> Wish:
    worker = find_worker(name[0], argument.present) or name[0] if name else ""
    return commands.Tune(id=argument.id, worker=worker, model=model, mode=mode)


def _mode(text: str) -> Mode:
    if text.lower() not in set(Mode):
        raise BadInput(f"There is no mode '{text}'. Known: {', '.join(Mode)}.")
    return Mode(text.lower())


# --- hiring


class HireFlags(Word):
    """What the flags of a hiring say."""

    backend: str = ""
    mode: Mode | None = None
    model: str = ""
    directory: str = ""
    wire: str = ""
    agent: str = ""
    sandbox: str = ""
    anyway: bool = False


def read_hire(argument: SlashArgument) -> Wish:
    """`<name>` and flags; without a backend the node decides, by the name's prefix or its own default."""
    names, flags = _flags(argument)
    if len(names) != 1 or flags.anyway:
        raise argument.wrong()
    return _hire(argument, flags, worker=names[0], backend=flags.backend)


def read_adopt(argument: SlashArgument) -> Wish:
    """`<backend> <session> [name]`, with `--anyway` and the flags of `/hire`."""
    names, flags = _flags(argument)
    if not 2 <= len(names) <= 3 or flags.backend:
        raise argument.wrong()
    named = replace(_hire(argument, flags, worker="".join(names[2:]), backend=names[0].lower()), session=names[1])
    return replace(named, anyway=flags.anyway)


def read_sessions(argument: SlashArgument) -> Wish:
    """`[backend] [folder]`, either of them alone, or neither; what has a slash in it is a folder."""
    first, rest = split_first(argument.text)
    if "/" in first:
        return Listing(id=argument.id, directory=argument.text)
    return Listing(id=argument.id, backend=first.lower(), directory=rest)


def _hire(argument: SlashArgument, flags: HireFlags, *, worker: str, backend: str) -> commands.Hire:
    if flags.agent and backend not in ("", AGENT_BACKEND):
        raise BadInput(f"An agent of your own is a {AGENT_BACKEND} worker, and no {backend} one.")
    options = {WIRE: flags.wire, AGENT: flags.agent, sandbox.OPTION: flags.sandbox}
    return commands.Hire(
        id=argument.id,
        worker=worker,
        backend=backend or (AGENT_BACKEND if flags.agent else ""),
        mode=flags.mode,
        model=flags.model,
        directory=flags.directory,
        options={name: value for name, value in options.items() if value},
    )


def _flags(argument: SlashArgument) -> tuple[list[str], HireFlags]:
    """The names, and what the flags say; a flag that is none of ours names a backend."""
    names: list[str] = []
    flags = HireFlags()
    left = iter(argument.words())
    for word in left:
        if not word.startswith("-"):
            names.append(word)
            continue
        option, equals, value = word.lstrip("-").partition("=")
        option = option.lower()
        if option in _VALUED:
            value = value if equals else next(left, "")
            if not value or value.startswith("-"):
                raise argument.wrong()
        flags = _with_flag(flags, option, value)
    return names, flags


def _with_flag(flags: HireFlags, option: str, value: str) -> HireFlags:
    match option:
        case "backend" | "adapter":
            return replace(flags, backend=value.lower())
        case "mode":
            return replace(flags, mode=_mode(value))
        case "model":
            return replace(flags, model=value)
        case "dir" | "directory":
            return replace(flags, directory=value)
        case "ask":
            return replace(flags, mode=Mode.DEFAULT)
        case "wire":
            return replace(flags, wire=value)
        case "agent":
            return replace(flags, agent=value)
        case "tmux" | "headless":
            return replace(flags, wire=option)
        case "sandbox" | "no-sandbox":
            return replace(flags, sandbox=sandbox.ON if option == "sandbox" else sandbox.OFF)
        case "anyway":
            return replace(flags, anyway=True)
        case _:
            return replace(flags, backend=option)
