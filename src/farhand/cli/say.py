"""`farhand say`: gives a worker a message, and waits for the answer if asked to."""

import argparse
import sys

from farhand.cli.conversation_lines import ask_lines, open_asks
from farhand.cli.far_hub import add_url, with_any_hub
from farhand.cli.node_flag import add_node
from farhand.cli.options import me, new_id
from farhand.model.commands import Accepted, Say
from farhand.model.errors import BadInput
from farhand.model.facts import AskRaised, Doubted, Ended, Fact, HandedOver, Said, TurnEnded, Withdrawn
from farhand.model.names import again
from farhand.model.ports import Hub
from farhand.model.present import Ask
from farhand.model.visible import for_terminal, visible
from farhand.model.words import HowEnded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `say` takes."""
    add_node(parser)
    add_url(parser)
    parser.add_argument("-w", "--worker", default="", help="the worker's name (default: the focused one)")
    parser.add_argument("--wait", action="store_true", help="wait for the answer and print it")
    parser.add_argument("--steer", action="store_true", help="put it into the running turn where the agent can")
    parser.add_argument("--anyway", action="store_true", help="let it wait when the worker is offline")
    parser.add_argument("--id", default="", help="the command's id; a repeat with the same id does nothing")
    parser.add_argument("text", nargs="+", help="the message; - reads it from standard input")


def run(arguments: argparse.Namespace) -> int:
    """Sends the message."""
    text = sys.stdin.read() if arguments.text == ["-"] else " ".join(arguments.text)
    if not text.strip():
        raise BadInput("There is nothing in that message.")
    command = Say(
        id=arguments.id or new_id(),
        worker=arguments.worker,
        text=text,
        steer=arguments.steer,
        anyway=arguments.anyway,
    )
    return with_any_hub(arguments, lambda hub: _say(hub, command, wait=arguments.wait))


async def _say(hub: Hub, command: Say, *, wait: bool) -> int:
    if wait:
        return await wait_for(hub, command)
    accepted = await hub.send(command, me())
    if not accepted.message:
        return _ordered(accepted)
    again = " (again)" if accepted.again else ""
    sys.stdout.write(for_terminal(f"{accepted.worker}: message taken as {accepted.message}{again}\n"))
    return 0


def _ordered(accepted: Accepted) -> int:
    """Tells that lone words such as STOP were obeyed and not said."""
    sys.stdout.write(f"{accepted.worker}: taken as an order, and not said to its agent.\n")
    return 0


async def wait_for(hub: Hub, command: Say) -> int:
    """Sends the message and prints its answer, or why there will be none."""
    before = await hub.look()
    accepted = await hub.send(command, me())
    said = accepted.message
    if not said:
        return _ordered(accepted)
    for ask in open_asks(before):
        if ask.worker == accepted.worker:
            # The message waits until that is answered.
            sys.stderr.write(f"\n{asked(ask.worker, ask)}\n")
    turn: str | None = said
    async for event in hub.watch(after=min(before.seq, accepted.seq - 1)):
        match event.fact:
            case HandedOver(message=message) if message == said:
                # Put into a running turn, it is answered there.
                turn = event.turn
            case Withdrawn(message=message) if message == said:
                return _no_answer("The message was taken back.")
            case Doubted(message=message, why=why) if message == said != event.turn:
                return _no_answer(why)
            case Ended() if event.worker == accepted.worker:
                return _no_answer(f"{event.worker} was let go before the answer.")
            case TurnEnded(how=HowEnded.PARKED) if event.turn == turn:
                # A usage limit: the message waits and gets another turn, under its next name.
                said = turn = again(said)
                sys.stderr.write(f"\n[{event.worker} has reached its usage limit; the message waits]\n")
            case AskRaised() as raised if event.worker == accepted.worker and not event.turn:
                # Before its agent starts, such as whether to trust the folder.
                sys.stderr.write(f"\n{asked(event.worker, raised)}\n")
            case fact if event.turn == turn and (code := _show(event.worker, fact)) is not None:
                return code
            case _:
                pass
    return 1


def _show(worker: str, fact: Fact) -> int | None:
    """Prints what belongs to the answer; the exit code at its end."""
    match fact:
        case Said(text=text):
            sys.stdout.write(for_terminal(text))
            sys.stdout.flush()
        case AskRaised():
            sys.stderr.write(f"\n{asked(worker, fact)}\n")
        case TurnEnded(how=how, error=error):
            sys.stdout.write("\n")
            if error:
                sys.stderr.write(f"error: {for_terminal(error)}\n")
            return 0 if how is HowEnded.COMPLETED else 1
        case _:
            pass
    return None


def asked(worker: str, ask: Ask | AskRaised) -> str:
    """The question with all that it is about, and the command that answers it."""
    identity = ask.id if isinstance(ask, Ask) else ask.ask
    ids = " or ".join(choice.id for choice in ask.choices)
    return f"{ask_lines(worker, ask)}\n  Answer it with: {visible(f'farhand answer {identity}')} {visible(ids)}"


def _no_answer(why: str) -> int:
    sys.stderr.write(f"error: {for_terminal(why)}\n")
    return 1
