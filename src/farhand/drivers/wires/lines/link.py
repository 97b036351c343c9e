"""A link to any agent that speaks the line protocol in a holder."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

from farhand.drivers.wires.holder.process import HeldProcess
from farhand.drivers.wires.lines.translate import KeyedLine, change_line, to_line
from farhand.model.folder_trust import FolderNotTrusted
from farhand.model.ports import Batch, Change, Deliver, Errand, Heard, NotTaken, Outcome

# The key and the line of an errand; why it is refused; None when agents of this kind cannot do it.
ToLine: TypeAlias = Callable[[Errand], KeyedLine | NotTaken | None]
# The facts of one line.
TranslateLine: TypeAlias = Callable[[bytes], tuple[Heard, ...]]


def line_or_change(errand: Errand) -> KeyedLine | None:
    """The line of an errand for an agent that takes changes; the same change may be wanted twice."""
    return change_line(errand, uuid.uuid4().hex) if isinstance(errand, Change) else to_line(errand)


class LineLink:
    """An open connection to one worker."""

    def __init__(
        self,
        process: HeldProcess,
        to_line: ToLine,
        translate: TranslateLine,
        refusal: str,
        may_run: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._process = process
        self._to_line = to_line
        self._translate = translate
        self._refusal = refusal
        # Asked before every message, where each is a process of its own that reads the folder anew.
        self._may_run = may_run

    @property
    def ended_on_purpose(self) -> bool:
        """Whether its agent was ended with its node, and what comes is what it left."""
        return self._process.ended_on_purpose

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the agent's input, deduplicated by its key."""
        line = self._to_line(errand)
        if line is None:
            return NotTaken(why=self._refusal)
        if isinstance(line, NotTaken):
            return line
        if self._may_run is not None and isinstance(errand, Deliver):
            try:
                await self._may_run()
            except FolderNotTrusted as untrusted:
                # One that the agent has already is told as it was.
                if not await self._process.was_fed(line[0]):
                    return NotTaken(why=untrusted.not_run)
        return await self._process.feed(*line)

    async def facts(self) -> AsyncIterator[Batch]:
        """The agent's output as facts; at its end how it ended, with the cursor of its next life."""
        async for lines, cursor in self._process.lines():
            yield Batch(heard=tuple(heard for line in lines for heard in self._translate(line)), cursor=cursor)
        # The running turn is over with the life it ran in: said in one batch, or a kill could come in between.
        yield Batch(heard=tuple(await self._process.last_facts()), cursor=self._process.next_life)
