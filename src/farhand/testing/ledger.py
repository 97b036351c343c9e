"""A channel whose surface is a file: every send is one line, on the disk before the channel hears of it."""

import os
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from farhand.channels.kit.follow import JournalFollower
from farhand.channels.kit.outbox import Dispatcher
from farhand.model.channel_ports import ChannelContext
from farhand.model.facts import Event, TurnEnded
from farhand.model.store_ports import Parcel, Waiting
from farhand.model.view import TurnView


class LedgerLine(msgspec.Struct):
    """One send, as the surface got it."""

    chat: str
    key: str
    text: str


def compose(event: Event, turn: TurnView | None) -> Sequence[Parcel]:
    """The answer of every turn that ended, to the chat that has the worker's name."""
    if turn is None or not isinstance(event.fact, TurnEnded):
        return ()
    return (Parcel(key=f"answer:{turn.worker}:{turn.turn}", chat=turn.worker, body=turn.text.encode()),)


class LedgerChannel:
    """Follows the journal and writes answers into the file."""

    name = "ledger"

    def __init__(self, context: ChannelContext, file: Path) -> None:
        self._file = file
        self._dispatcher = Dispatcher(self.name, context.outbox, self._send, context.clock)
        self._follower = JournalFollower(
            self.name, context.hub, context.outbox, compose, self._dispatcher.wake, context.clock
        )

    async def run(self) -> None:
        """Serves until it is cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follower.run, name="ledger follow")
            tasks.start_soon(self._dispatcher.run, name="ledger outbox")

    async def _send(self, waiting: Waiting) -> str:
        parcel = waiting.parcel
        line = msgspec.json.encode(LedgerLine(chat=parcel.chat, key=parcel.key, text=parcel.body.decode())) + b"\n"
        await anyio.to_thread.run_sync(append, self._file, line)
        return parcel.key


def append(file: Path, line: bytes) -> None:
    """Adds the line and puts it on the disk."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(file: Path) -> list[LedgerLine]:
    """Everything that was sent, in order."""
    if not file.exists():
        return []
    return [msgspec.json.decode(line, type=LedgerLine) for line in file.read_bytes().splitlines()]
