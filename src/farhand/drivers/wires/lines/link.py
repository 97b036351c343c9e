"""A link to any agent that speaks the line protocol in a holder."""

from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

from farhand.drivers.wires.holder.process import HeldProcess, sentence
from farhand.model.facts import Noted, TurnEnded
from farhand.model.ports import Batch, Errand, Heard, NotTaken, Outcome
from farhand.model.words import HowEnded

# The key and the line of an errand; None when this agent cannot do it.
ToLine: TypeAlias = Callable[[Errand], tuple[str, bytes] | None]
# What one line means.
Translate: TypeAlias = Callable[[bytes], tuple[Heard, ...]]


class LineLink:
    """An open connection to one worker."""

    def __init__(self, wire: HeldProcess, to_line: ToLine, translate: Translate, cannot: str) -> None:
        self._wire = wire
        self._to_line = to_line
        self._translate = translate
        self._cannot = cannot

    async def perform(self, errand: Errand) -> Outcome:
        """Writes it to the agent's input, once however often it is asked."""
        line = self._to_line(errand)
        if line is None:
            return NotTaken(why=self._cannot)
        return await self._wire.feed(*line)

    async def facts(self) -> AsyncIterator[Batch]:
        """What the agent says; at its end how it ended, with the cursor of its next life."""
        async for lines, cursor in self._wire.lines():
            yield Batch(heard=tuple(heard for line in lines for heard in self._translate(line)), cursor=cursor)
        ended = Noted(text=sentence(await self._wire.exit()))
        # The running turn is over with the life it ran in: said in one batch, or a kill could come in between.
        over = TurnEnded(how=HowEnded.FAILED, error=ended.text)
        yield Batch(heard=(Heard(fact=over), Heard(fact=ended)), cursor=self._wire.next_life)
