"""What links share that speak to a held agent in lines of JSON: each line is fed once, each answer is written down."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import anyio.to_thread
import msgspec

from farhand.drivers.wires.asks.answers import PartAnswer, PartAnswers
from farhand.drivers.wires.asks.build import CHANGED, DENY, GONE, asked_of, picked_of, step_id
from farhand.drivers.wires.cursor import write_cursor
from farhand.drivers.wires.holder.process import HeldProcess
from farhand.model.ports import Batch, Heard, NotTaken, Outcome, Taken
from farhand.model.present import Ask


class HeldLink:
    """A link over a holder. What is the CLI's own, its driver adds."""

    # Where it stands: `asks` are the questions that wait, each with its `question`.
    _spot: Any

    def __init__(self, wire: HeldProcess, deadline_seconds: float, picks: PartAnswers) -> None:
        self._wire = wire
        self._deadline_seconds = deadline_seconds
        self._picks = picks

    # --- what a driver adds

    @abstractmethod
    def _digest(self, question: Any) -> str:
        """Names exactly what will run."""

    @abstractmethod
    def _steps(self, question: Any) -> int:
        """How many asks the question is made of."""

    @abstractmethod
    async def _respond(self, name: str, waiting: Any, picked: tuple[PartAnswer, ...]) -> Outcome:
        """Tells the agent."""

    # --- what is the same

    def _batch(self, heard: list[Heard]) -> Batch:
        return Batch(heard=tuple(heard), cursor=write_cursor(self._spot))

    async def _feed(self, key: str, line: dict[str, Any]) -> Outcome:
        return await self._wire.feed(key, msgspec.json.encode(line) + b"\n")

    async def _settle(self, ask: Ask) -> Outcome:
        name = asked_of(ask.id)
        waiting = self._spot.asks.get(name)
        if waiting is None or ask.settled is None:
            return NotTaken(why=GONE)
        if ask.digest != self._digest(waiting.question):
            await self._respond(name, waiting, (PartAnswer(choice=DENY),))
            return NotTaken(why=CHANGED)
        given = await self._given(name, self._steps(waiting.question), ask.id, picked_of(ask.settled))
        return Taken() if given is None else await self._respond(name, waiting, given)

    async def _given(self, name: str, steps: int, ask: str, picked: PartAnswer) -> tuple[PartAnswer, ...] | None:
        """All the answers, or the one that refuses; None while some are missing. Each is written down first."""
        if steps == 1:
            return (picked,)
        await anyio.to_thread.run_sync(self._picks.add, ask, picked)
        so_far = await anyio.to_thread.run_sync(self._picks.all)
        every = [so_far.get(step_id(name, step)) for step in range(steps)]
        given = tuple(one for one in every if one is not None)
        if len(given) == steps:
            return given
        return (picked,) if picked.expired or picked.choice in ("", DENY) else None
