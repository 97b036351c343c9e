"""`farhand review`: has a worker's work judged by another agent, tells the verdict, sends findings back."""

import argparse
import sys

from farhand.channels.kit.review_texts import review_lines, review_text
from farhand.cli.node_flag import add_node
from farhand.cli.options import me, new_id, with_hub
from farhand.cli.simple import send
from farhand.client.door import SocketHub
from farhand.model.commands import CancelReview, Review, SendFindings
from farhand.model.errors import BadUsage
from farhand.model.facts import ReviewAsked, ReviewMoved
from farhand.model.present import Worker
from farhand.model.review import Judgement, ReviewScope, ReviewState, findings_of
from farhand.model.slash_argument import reviewers_of

# What the exit code tells of the verdict that was waited for.
EXIT_CODES = {Judgement.APPROVE: 0, Judgement.CHANGES: 1, Judgement.UNSURE: 3}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `review` takes."""
    add_node(parser)
    verbs = ["tree", "turn", "answer", "commits", "again", "send", "cancel", "status"]
    parser.add_argument(
        "what", nargs="?", default="tree", choices=verbs, help="what to judge, or to do (default: tree)"
    )
    parser.add_argument(
        "which", nargs="?", default="", help="commits: base..head; send: findings, as 1,3; turn: its id"
    )
    parser.add_argument("--worker", default="", help="whose work (default: the focused one's)")
    parser.add_argument("--by", default="", help="who judges: backends or workers, with commas between")
    parser.add_argument("--note", default="", help="what the reviewers, or the worker, are told beside")
    parser.add_argument(
        "--wait", action="store_true", help="wait for the verdict; exit with 1 for changes, 3 for unsure"
    )


def run(arguments: argparse.Namespace) -> int:
    """Does it."""
    worker = arguments.worker
    match arguments.what:
        case "status":
            found = with_hub(arguments, lambda hub: _worker(hub, worker))
            sys.stdout.write(review_text(found) + "\n")
            return 0
        case "cancel":
            command = CancelReview(id=new_id(), worker=worker, review=arguments.which)
            return send(arguments, command, "The review of {worker}'s work is cancelled.")
        case "send":
            found = with_hub(arguments, lambda hub: _worker(hub, worker))
            keys = _keys(found, arguments.which)
            back = SendFindings(id=new_id(), worker=worker, review="", findings=keys, note=arguments.note)
            return send(arguments, back, "Sent back to {worker}.")
        case _:
            return with_hub(arguments, lambda hub: _review(hub, arguments))


async def _worker(hub: SocketHub, name: str) -> Worker | None:
    present = await hub.look()
    return present.workers.get(name or present.focus)


def _keys(worker: Worker | None, numbers: str) -> tuple[str, ...]:
    known = [key for key, _ in findings_of(worker.reviews[-1])] if worker and worker.reviews else []
    given = [one.strip() for one in numbers.split(",") if one.strip()]
    if not known or not all(one.isascii() and one.isdigit() and 0 < int(one[:4]) <= len(known) for one in given):
        raise BadUsage(f"The newest review has {len(known)} findings.", hints=("farhand review status",))
    return tuple(known[int(one) - 1] for one in given)


def _command(arguments: argparse.Namespace) -> Review:
    by, which = reviewers_of(arguments.by), arguments.which
    if arguments.what == "again":
        return Review(id=new_id(), worker=arguments.worker, again=which, by=by, note=arguments.note)
    base, dots, head = which.partition("..")
    commits = arguments.what == "commits"
    return Review(
        id=new_id(),
        worker=arguments.worker,
        scope=ReviewScope(arguments.what),
        turn="" if commits else which,
        base=base if commits and dots else "",
        head=(head.lstrip(".") or "HEAD" if dots else base) if commits else "",
        by=by,
        note=arguments.note,
    )


async def _review(hub: SocketHub, arguments: argparse.Namespace) -> int:
    command = _command(arguments)
    if arguments.what == "again" and not command.again:
        found = await _worker(hub, arguments.worker)
        if found is None or not found.reviews:
            raise BadUsage("There is no review yet.", hints=("farhand review",))
        command = Review(id=command.id, worker=command.worker, again=found.reviews[-1].id, by=command.by)
    accepted = await hub.send(command, me())
    if not arguments.wait:
        sys.stdout.write(f"{accepted.worker}'s work is being judged; `farhand review status` tells how it stands.\n")
        return 0
    over = await _verdict(hub, accepted.seq)
    sys.stdout.write(review_lines(accepted.worker, over) + "\n")
    return EXIT_CODES[over.judgement]


async def _verdict(hub: SocketHub, seq: int) -> ReviewState:
    """The review that was asked for with that event, once it is over."""
    wanted = ""
    async for event in hub.watch(after=seq - 1):
        if event.seq == seq and isinstance(event.fact, ReviewAsked):
            wanted = event.fact.review.id
        elif isinstance(event.fact, ReviewMoved) and event.fact.ended and event.fact.review.id == wanted:
            return event.fact.review
    raise BadUsage("The node went away before there was a verdict.")
