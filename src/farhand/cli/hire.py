"""`farhand hire`: takes a worker on."""

import argparse
import sys
from pathlib import Path

import anyio

from farhand.cli.node_flag import add_node
from farhand.cli.options import me, new_id, with_hub
from farhand.cli.say import asked
from farhand.model import bridge
from farhand.model.commands import Hire
from farhand.model.errors import AgentMissing, AgentNotStarted, FarhandError, SettingMissing
from farhand.model.facts import AskRaised, CameOnline, Hired, WentOffline
from farhand.model.ports import Hub
from farhand.model.present import AGENT, AGENT_BACKEND, WIRE
from farhand.model.sandbox import OFF, ON, OPTION
from farhand.model.start_problems import PROGRAM_MISSING, SIGNED_OUT
from farhand.model.visible import for_terminal
from farhand.model.words import Mode

# An agent that takes longer is not waited for; its driver has given up before, and said why.
START_SECONDS = 90.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `hire` takes."""
    add_node(parser)
    parser.add_argument("worker", help="the worker's name: letters, digits and hyphens")
    parser.add_argument(
        "--backend", "--adapter", dest="backend", default="", help="the kind of agent (default: as the node is set)"
    )
    parser.add_argument("--dir", "--directory", dest="directory", default="", help="where it works (default: here)")
    parser.add_argument(
        "--bridge",
        type=Path,
        metavar="DIR",
        help="an agent that you started there by hand: farhand bridge install first",
    )
    add_flags(parser)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """How a worker runs, whether it is hired or takes up a conversation."""
    parser.add_argument("--model", default="", help="the model it starts with")
    parser.add_argument("--effort", default="", help="how hard it thinks, in its agent's own words: low, medium, high…")
    asking = parser.add_mutually_exclusive_group()
    asking.add_argument(
        "--mode", choices=[mode.value for mode in Mode], help="what it may do unasked (default: as the node is set)"
    )
    asking.add_argument("--ask", action="store_true", help="it asks before it acts: the mode `default`")
    wire = parser.add_mutually_exclusive_group()
    wire.add_argument("--tmux", dest="wire", action="store_const", const="tmux", help="in tmux, where you can sit down")
    wire.add_argument("--headless", dest="wire", action="store_const", const="headless", help="without a terminal")
    wire.add_argument("--wire", help="how its agent is reached, by name")
    sandbox = parser.add_mutually_exclusive_group()
    sandbox.add_argument("--sandbox", action="store_true", help="in a container (default: as the node is set)")
    sandbox.add_argument("--no-sandbox", action="store_true", help="in none, whatever the node is set to")
    parser.add_argument("--agent", default="", help="an agent of your own: package.module:name, or an entry point")


def mode_of(arguments: argparse.Namespace) -> Mode | None:
    """What the flags say about its mode."""
    return Mode.DEFAULT if arguments.ask else Mode(arguments.mode) if arguments.mode else None


def options_of(arguments: argparse.Namespace) -> dict[str, str]:
    """What the flags say about its wire, its agent and its sandbox."""
    sandbox = OFF if arguments.no_sandbox else ON if arguments.sandbox else ""
    options = {WIRE: arguments.wire, AGENT: arguments.agent, OPTION: sandbox}
    return {name: value for name, value in options.items() if value}


def run(arguments: argparse.Namespace) -> int:
    """Sends the command."""
    command = Hire(
        id=new_id(),
        worker=arguments.worker,
        backend=_backend(arguments),
        directory=str((arguments.bridge or Path(arguments.directory)).expanduser().absolute()),
        model=arguments.model,
        effort=arguments.effort,
        mode=mode_of(arguments),
        options=options_of(arguments),
    )
    return with_hub(arguments, lambda hub: hire(hub, command))


def _backend(arguments: argparse.Namespace) -> str:
    if arguments.bridge:
        return bridge.BACKEND
    return str(arguments.backend) or (AGENT_BACKEND if arguments.agent else "")


def not_started(worker: str, ended: WentOffline) -> FarhandError:
    """The error that tells why an agent cannot start; its exit code says what is to be done."""
    code = ended.why_phrase.code if ended.why_phrase is not None else ""
    kind = AgentMissing if code == PROGRAM_MISSING else SettingMissing if code in SIGNED_OUT else AgentNotStarted
    return kind(
        f"{worker} is hired, but its agent cannot start: {ended.why}",
        hints=("farhand doctor", f"farhand relaunch {worker}"),
    )


async def hire(hub: Hub, command: Hire) -> int:
    """Hires, and waits a moment: that the agent cannot start, or what is asked before it does, is told at once."""
    before = await hub.look()
    accepted = await hub.send(command, me())
    worker, how = accepted.worker, ""
    with anyio.move_on_after(START_SECONDS):
        async for event in hub.watch(after=before.seq):
            if event.worker != worker:
                continue
            match event.fact:
                case Hired() as fact:
                    how = "" if fact.backend == bridge.BACKEND else f", mode {fact.mode}"
                    how = f" ({fact.backend}{how}, in {for_terminal(fact.directory)})"
                case WentOffline():
                    raise not_started(worker, event.fact)
                case AskRaised() as ask:
                    sys.stdout.write(f"{worker} is hired{how}; before its agent starts, there is a question.\n")
                    sys.stdout.write(f"{asked(worker, ask)}\n")
                    return 0
                case CameOnline():
                    sys.stdout.write(f"{worker} is hired{how}.\n")
                    return 0
                case _:
                    pass
    sys.stdout.write(f"{worker} is hired{how}; its agent is still starting.\n")
    return 0
