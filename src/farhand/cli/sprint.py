"""`farhand sprint`: lets a worker do a list of tasks by itself, tells how it stands, and ends it."""

import argparse
import sys
import time
from pathlib import Path

from farhand.channels.kit.sprint_texts import sprint_text
from farhand.cli.node_flag import add_node
from farhand.cli.options import new_id, with_hub
from farhand.cli.simple import send
from farhand.client.door import SocketHub
from farhand.model.commands import AddTasks, Halt, SkipTask, Sprint
from farhand.model.errors import BadUsage
from farhand.model.slash_sprint import checks_of
from farhand.model.sprint import SprintLimits, tasks_of

USUAL = SprintLimits()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `sprint` takes."""
    add_node(parser)
    parser.add_argument("what", choices=["start", "status", "stop", "skip", "add"], help="what to do")
    parser.add_argument("task", nargs="*", help="start, add: a task each (start without any: the agent's own plan)")
    parser.add_argument("--worker", default="", help="whose sprint (default: the focused one's)")
    parser.add_argument("--file", type=Path, help="start, add: a list of tasks, such as a Markdown check-list")
    parser.add_argument(
        "--verify",
        default="",
        help="a shell command that must succeed before a task is done, or @NAME: a worker that must approve",
    )
    parser.add_argument("--review", default="", help="who must approve of each task: backends or workers, with commas")
    parser.add_argument("--no-commit", action="store_true", help="do not commit each task")
    parser.add_argument("--tasks", type=int, default=USUAL.tasks, help="end after so many tasks (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=USUAL.rounds, help="tries for each task (default: %(default)s)")
    parser.add_argument(
        "--minutes", type=float, default=USUAL.minutes, help="end after that time (default: %(default)g)"
    )
    parser.add_argument("--tokens", type=int, default=0, help="end when so many tokens are used")
    parser.add_argument("--dollars", type=float, default=0.0, help="end when so much is spent")
    parser.add_argument("--context", type=int, default=0, help="end when the context window is so full, in per cent")
    parser.add_argument("--now", action="store_true", help="stop: interrupt the turn, or end the check, that runs")


def run(arguments: argparse.Namespace) -> int:
    """Does it."""
    worker = arguments.worker
    match arguments.what:
        case "start":
            return send(arguments, _sprint(arguments), "{worker} begins its sprint.")
        case "add":
            tasks = _tasks(arguments)
            if not tasks:
                raise BadUsage("There is no task to add.", hints=('farhand sprint add "write the docs"',))
            return send(arguments, AddTasks(id=new_id(), worker=worker, tasks=tasks), "Added to {worker}'s sprint.")
        case "skip":
            return send(arguments, SkipTask(id=new_id(), worker=worker), "{worker} goes on with the next task.")
        case "stop":
            halt = Halt(id=new_id(), worker=worker, now=arguments.now)
            return send(arguments, halt, "{worker} halts now." if halt.now else "{worker} halts after what it is at.")
        case _:
            sys.stdout.write(with_hub(arguments, lambda hub: _status(hub, worker)) + "\n")
            return 0


def _sprint(arguments: argparse.Namespace) -> Sprint:
    limits = SprintLimits(
        tasks=arguments.tasks,
        rounds=arguments.rounds,
        minutes=arguments.minutes,
        tokens=arguments.tokens,
        dollars=arguments.dollars,
        context=arguments.context,
    )
    try:
        verifier, review = checks_of(arguments.verify, arguments.review)
    except ValueError:
        raise BadUsage(
            "There is no worker's name behind the @.", hints=("farhand sprint start --verify @bob",)
        ) from None
    return Sprint(
        id=new_id(),
        worker=arguments.worker,
        tasks=_tasks(arguments),
        verifier=verifier,
        commits=not arguments.no_commit,
        limits=limits,
        review=review,
    )


def _tasks(arguments: argparse.Namespace) -> tuple[str, ...]:
    try:
        listed = arguments.file.read_text("utf-8") if arguments.file else ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadUsage(f"{arguments.file} cannot be read: {error}.") from None
    return (*arguments.task, *tasks_of(listed))


async def _status(hub: SocketHub, worker: str) -> str:
    present = await hub.look()
    return sprint_text(present.workers.get(worker or present.focus), time.time())
