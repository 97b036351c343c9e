"""What pipes bring, as messages: each says whose it is, so many of one writer wait, and a flood is told once."""

import uuid
from contextlib import suppress
from math import inf

from farhand.channels.files.pipes import PipeEnds
from farhand.model.channel_ports import ChannelContext
from farhand.model.commands import Say
from farhand.model.errors import Refused, StoreError
from farhand.model.logger import get_logger
from farhand.model.provenance import pipe_sender, writer

log = get_logger("pipes")
STORE_PAUSE_SECONDS = 1.0
# What of one writer waits for one worker; the next line is taken when there is room again.
MOST_WAITING = 32
MOST_WAITING_CHARACTERS = 1_000_000
ROOM_SECONDS = 0.5
# One that floods is told of once, and again only after so long.
TOLD_AGAIN_SECONDS = 3600.0
FULL = "as much as may waits already; more is read when that is done"


class PipeMessages:
    """Says the lines of pipes to workers. Never the manager's word: who writes is stamped here, and nowhere else."""

    def __init__(self, context: ChannelContext) -> None:
        self._hub = context.hub
        self._peers = context.peers
        self._clock = context.clock
        self._told_at: dict[PipeEnds, float] = {}

    async def say_line(self, ends: PipeEnds, line: str) -> None:
        """One line of a pipe; a store that cannot write is waited for, so that no line is lost."""
        command = Say(id=f"pipe:{uuid.uuid4().hex}", worker=ends.worker, text=line, anyway=True)
        await self._until_room(ends)
        while True:
            try:
                await self._hub.send(command, pipe_sender(ends.writer))
                return
            except Refused as error:
                log.warning("line refused", worker=ends.worker, why=error.text)
                return
            except StoreError as error:
                log.error("line waits", worker=ends.worker, why=error.text)
                await self._clock.sleep(STORE_PAUSE_SECONDS)

    async def held_up(self, ends: PipeEnds, why: str) -> None:
        """Tells the manager who writes more to whom than is taken."""
        now = self._clock.now()
        if now - self._told_at.get(ends, -inf) < TOLD_AGAIN_SECONDS:
            return
        self._told_at[ends] = now
        log.warning("pipe held up", worker=ends.worker, writer=ends.writer, why=why)
        with suppress(StoreError):
            await self._peers.notify(f"⚠ {ends.worker}'s pipe, {writer(pipe_sender(ends.writer))}: {why}.")

    async def _until_room(self, ends: PipeEnds) -> None:
        while await self._is_full(ends):
            await self.held_up(ends, FULL)
            await self._clock.sleep(ROOM_SECONDS)

    async def _is_full(self, ends: PipeEnds) -> bool:
        worker, by = (await self._hub.look()).workers.get(ends.worker), pipe_sender(ends.writer)
        waiting = [one for one in worker.queue if one.by == by] if worker else []
        return len(waiting) >= MOST_WAITING or sum(len(one.text) for one in waiting) >= MOST_WAITING_CHARACTERS
