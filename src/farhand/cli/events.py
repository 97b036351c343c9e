"""`farhand events`: prints the journal as lines of JSON, and follows it."""

import argparse
import sys

from farhand.cli.far_hub import add_url, with_any_hub
from farhand.cli.node_flag import add_node
from farhand.model.ports import Hub
from farhand.model.wire import encode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `events` takes."""
    add_node(parser)
    add_url(parser)
    parser.add_argument("--after", type=int, default=0, metavar="SEQ", help="only events after this number")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what happens from now on")
    parser.add_argument("-w", "--worker", default="", help="only this worker's events")


def run(arguments: argparse.Namespace) -> int:
    """Prints them."""
    return with_any_hub(
        arguments,
        lambda hub: _print(hub, after=arguments.after, follow=arguments.follow, worker=arguments.worker),
    )


async def _print(hub: Hub, *, after: int, follow: bool, worker: str) -> int:
    last = (await hub.look()).seq
    if not follow and after >= last:
        return 0
    async for event in hub.watch(after=after):
        if not worker or event.worker == worker:
            sys.stdout.buffer.write(encode(event) + b"\n")
            sys.stdout.flush()
        if not follow and event.seq >= last:
            break
    return 0
