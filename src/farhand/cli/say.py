"""`farhand say`: gives a worker a message, and waits for the answer if asked to."""

import argparse
import sys

from farhand.cli.options import add_node, me, new_id, with_hub
from farhand.client.door import SocketHub
from farhand.model.commands import Say
from farhand.model.errors import BadInput
from farhand.model.facts import AskRaised, Said, TurnEnded
from farhand.model.words import HowEnded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `say` takes."""
    add_node(parser)
    parser.add_argument("-w", "--worker", default="", help="the worker's name (default: the focused one)")
    parser.add_argument("--wait", action="store_true", help="wait for the answer and print it")
    parser.add_argument("--steer", action="store_true", help="put it into the running turn where the agent can")
    parser.add_argument("--id", default="", help="the command's id; a repeat with the same id does nothing")
    parser.add_argument("text", nargs="+", help="the message; - reads it from standard input")


def run(arguments: argparse.Namespace) -> int:
    """Sends the message."""
    text = sys.stdin.read() if arguments.text == ["-"] else " ".join(arguments.text)
    if not text.strip():
        raise BadInput("There is nothing in that message.")
    command = Say(id=arguments.id or new_id(), worker=arguments.worker, text=text, steer=arguments.steer)
    return with_hub(arguments, lambda hub: _say(hub, command, wait=arguments.wait))


async def _say(hub: SocketHub, command: Say, *, wait: bool) -> int:
    after = (await hub.look()).seq
    accepted = await hub.send(command, me())
    if not wait:
        again = " (again)" if accepted.again else ""
        sys.stdout.write(f"{accepted.worker}: message taken as {accepted.message}{again}\n")
        return 0
    async for event in hub.watch(after=min(after, accepted.seq - 1)):
        if event.turn != accepted.message:
            continue
        match event.fact:
            case Said(text=text):
                sys.stdout.write(text)
                sys.stdout.flush()
            case AskRaised(ask=ask, question=question):
                sys.stderr.write(f"\n[{event.worker} asks: {question} — farhand answer {ask} <choice>]\n")
            case TurnEnded(how=how, error=error):
                sys.stdout.write("\n")
                if error:
                    sys.stderr.write(f"error: {error}\n")
                return 0 if how is HowEnded.COMPLETED else 1
            case _:
                pass
    return 1
