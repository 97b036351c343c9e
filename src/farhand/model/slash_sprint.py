"""How `/sprint` is read: begun with its flags and tasks, added to, skipped, stopped. Pure."""

import dataclasses

from farhand.model import commands
from farhand.model.slash_argument import SlashArgument, find_worker, reviewers_of
from farhand.model.sprint import SprintLimits, tasks_of
from farhand.model.wishes import InfoRequest, Wish

SPRINT_FLAGS = (
    "[--file <list in its folder>] [--review <reviewers>] [--verify <command or @worker>] [--no-commit] [--tasks <n>] "
    "[--rounds <n>] [--minutes <n>] [--tokens <n>] [--dollars <n>] [--context <percent>]"
)
_VALUED = frozenset(("file", "review", "verify", "tasks", "rounds", "minutes", "tokens", "dollars", "context"))


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
        elif flag in _VALUED and words:
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
            context=int(flags.get("context", "0").rstrip("%")),
        )
        verifier, review = checks_of(flags.get("verify", ""), flags.get("review", ""))
    except ValueError:
        raise argument.wrong() from None
    return commands.Sprint(
        id=argument.id,
        worker=worker,
        tasks=tasks,
        verifier=verifier,
        commits="no-commit" not in flags,
        limits=limits,
        review=review,
        file=flags.get("file", ""),
    )


def checks_of(verify: str, review: str) -> tuple[str, tuple[str, ...]]:
    """The verifier's command and who must approve: `@bob` is no command, but another worker. Raises ValueError."""
    if not verify.startswith("@"):
        return verify, reviewers_of(review)
    if not verify[1:].strip():
        raise ValueError(verify)
    return "", reviewers_of(f"{review},{verify[1:]}")
