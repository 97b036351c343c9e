"""A worker's agent as a child process in a holder: attached or started, output as lines, input deduplicated."""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import msgspec

from farhand.model.errors import AgentGone, DriverError
from farhand.model.facts import Noted, TurnEnded
from farhand.model.holder_ports import Exit, Fed, Held, Holders
from farhand.model.ports import Heard, NotTaken, Outcome, Taken, Unknown
from farhand.model.words import HowEnded, Word

LINE_LIMIT = 16 * 1024 * 1024
KEY_LIMIT = 200
# After so much has been read its space on the disk is released.
RELEASE_BYTES = 4 * 1024 * 1024
ENDED_WITH_NODE = "The node was stopped, and its agent with it."


class HolderCursor(Word):
    """Where a reader stands: in which life of the agent, and after which byte of its output."""

    life: int = 1
    offset: int = 0

    @classmethod
    def read(cls, cursor: str) -> "HolderCursor":
        """The place that a cursor names; the beginning for an empty one."""
        life, _, offset = cursor.partition(":")
        return cls(life=int(life), offset=int(offset)) if cursor else cls()

    @property
    def cursor(self) -> str:
        """As the journal keeps it."""
        return f"{self.life}:{self.offset}"


class Program(Word):
    """What to run."""

    argv: tuple[str, ...]
    directory: str
    environment: dict[str, str]


class LineSplitter:
    """Cuts a stream of bytes into lines. One that is longer than the limit is cut off there."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._rest = bytearray()

    def add(self, data: bytes) -> list[bytes]:
        """The lines that are whole now."""
        *whole, rest = data.split(b"\n")
        lines: list[bytes] = []
        for piece in whole:
            self._append(piece)
            lines.append(bytes(self._rest))
            self._rest.clear()
        self._append(rest)
        return lines

    def _append(self, piece: bytes) -> None:
        self._rest += piece[: self._limit - len(self._rest)]


class HeldProcess:
    """One life of the agent."""

    def __init__(self, held: Held, start: HolderCursor, *, ended_on_purpose: bool = False) -> None:
        self._held = held
        self._start = start
        # It was over when we found it, and somebody wanted that: the node was stopped with its agents.
        self.ended_on_purpose = ended_on_purpose

    async def lines(self) -> AsyncGenerator[tuple[list[bytes], str], None]:
        """Batches of lines, each with the cursor after it. Ends with the process."""
        lines, life, released = LineSplitter(), self._start.life, self._start.offset
        async for chunk, offset in self._held.follow(self._start.offset):
            whole = lines.add(chunk)
            if whole:
                place = HolderCursor(life=life, offset=offset - (len(chunk) - chunk.rfind(b"\n") - 1))
                yield whole, place.cursor
                # Whoever asks for the next batch has stored the one before.
                if place.offset - released >= RELEASE_BYTES:
                    await self._held.release(place.offset)
                    released = place.offset

    @property
    def is_unread(self) -> bool:
        """Whether nobody has written down anything of this life yet."""
        return not self._start.offset

    async def exit(self) -> Exit:
        """How this life ended."""
        return await self._held.wait_exit()

    async def last_facts(self, *, in_turn: bool = True) -> list[Heard]:
        """What the end of this life brings: the end of its turn, and how it ended unless somebody wanted that."""
        text = ENDED_WITH_NODE if self.ended_on_purpose else sentence(await self.exit())
        over = Heard(fact=TurnEnded(how=HowEnded.FAILED, error=text))
        if self.ended_on_purpose:
            return [over]
        return [*([over] if in_turn else []), Heard(fact=Noted(text=text))]

    @property
    def next_life(self) -> str:
        """The cursor with which the agent is started anew."""
        return HolderCursor(life=self._start.life + 1).cursor

    async def feed(self, key: str, line: bytes) -> Outcome:
        """Writes the line to the agent's input, once for each key."""
        match await self._held.feed(_short(key), line):
            case Fed.TAKEN:
                return Taken()
            case Fed.NOT_TAKEN:
                return NotTaken(why="The agent is gone and did not get it.")
            case Fed.UNKNOWN:
                return Unknown(why="The agent was killed while this was on its way.")

    async def was_fed(self, key: str) -> bool:
        """Whether a line with that key was written to the agent's input, in this life of the node or an earlier one."""
        return await self._held.fed(_short(key)) is Fed.TAKEN

    async def feed_json(self, key: str, line: Mapping[str, object]) -> Outcome:
        """Writes an object of JSON as a line, once for each key."""
        return await self.feed(key, msgspec.json.encode(line) + b"\n")


@asynccontextmanager
async def open_wire(
    holders: Holders,
    name: str,
    program: Program,
    cursor: str,
    before_start: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[HeldProcess]:
    """Finds the agent in the life that the cursor names, or starts that life, unless `before_start` raises."""
    place = HolderCursor.read(cursor)
    life = _life(name, place.life)
    found = await holders.attach(life)
    if found is None and place.offset:
        raise AgentGone("The agent's files are gone, and with them what it was doing. Relaunch it.")
    if found is None:
        if before_start is not None:
            await before_start()
        found = await start(holders, life, program)
    if place.life > 1:
        await holders.forget(_life(name, place.life - 1))
    async with found as held:
        ended = await held.ended()
        yield HeldProcess(held, place, ended_on_purpose=ended is not None and ended.asked)


async def start(holders: Holders, life: str, program: Program) -> AbstractAsyncContextManager[Held]:
    """Starts the program under that name, or finds it there."""
    directory, environment = Path(program.directory), program.environment
    try:
        return await holders.start(life, program.argv, cwd=directory, environment=environment)
    except DriverError:
        # A start that somebody had begun who was then killed may have come first.
        found = await holders.attach(life)
        if found is None:
            raise
        return found


async def forget(holders: Holders, name: str) -> None:
    """Ends the agent, whichever of its lives it is in."""
    for known in await holders.names():
        if known.rpartition(".")[0] == name:
            await holders.forget(known)


def _short(key: str) -> str:
    return key if len(key) <= KEY_LIMIT else hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()


def _life(name: str, life: int) -> str:
    return f"{name}.{life}"


def sentence(ended: Exit) -> str:
    """How an agent ended, for a person."""
    if ended.signal is not None:
        how = f"was killed by signal {ended.signal}"
    elif ended.code is None:
        how = "is gone"
    else:
        how = f"ended with code {ended.code}" if ended.code else "ended"
    last = ended.errors.strip().splitlines()[-1:]
    return f"The agent {how}" + (f": {last[0]}" if last else ".")
