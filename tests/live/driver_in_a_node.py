"""A process of its own that runs a scripted worker as a node does, made to be killed: `… ROOT TEXT`."""

import os
import sys
from pathlib import Path

import anyio

from farhand.drivers.demo.driver import DemoDriver
from farhand.model.ports import Batch, Deliver, Link
from farhand.model.present import Message, Worker
from farhand.model.words import Sender
from farhand.sandbox.holders import LocalHolders
from farhand.testing import agent

SINCE = 7


def scripted(root: Path) -> DemoDriver:
    """The driver with the scripted agent, whose ledger is `root/ledger`."""
    return DemoDriver(
        LocalHolders(root / "holders"),
        python=sys.executable,
        environment={"PATH": os.environ["PATH"]},
        program=Path(agent.__file__),
        arguments=[str(root / "ledger")],
        backend="scripted",
    )


def worker(root: Path, name: str = "ann") -> Worker:
    """A worker in that folder."""
    return Worker(name=name, since=SINCE, backend="scripted", directory=str(root))


def deliver(turn: str, text: str) -> Deliver:
    """The errand that starts a turn."""
    return Deliver(turn=turn, message=Message(id=turn, text=text, at=0.0, by=Sender(via="test")))


async def main(root: Path, text: str) -> None:
    """Delivers one prompt, and prints the cursor of everything that comes."""
    async with scripted(root).open(worker(root), "") as link, anyio.create_task_group() as tasks:
        tasks.start_soon(listen, link)
        print(await link.perform(deliver("p", text)), flush=True)


async def listen(link: Link) -> None:
    """Prints cursors and facts."""
    async for batch in link.facts():
        print(batch.cursor, said(batch).decode(), flush=True)


def said(batch: Batch) -> bytes:
    """All facts of a batch, for comparison."""
    return repr(batch.heard).encode()


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2])
