"""Settles a question that may be a questionnaire: partial answers are stored until the agent can get all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeAlias, TypeVar

import anyio.to_thread

from farhand.drivers.wires.asks.answers import PartAnswer, PartAnswers
from farhand.drivers.wires.asks.build import CHANGED, DENY, GONE, part_answer, question_id, step_id
from farhand.model.ports import NotTaken, Outcome, Taken
from farhand.model.present import Ask

DriverQuestion = TypeVar("DriverQuestion")
# Tells the agent; gets one answer for each step of the question, or the one that refuses.
SettleWith: TypeAlias = Callable[[tuple[PartAnswer, ...]], Awaitable[Outcome]]


class AskSettler(Generic[DriverQuestion]):
    """Answers the questions of one worker. `digest` names exactly what will run; `steps` counts a question's asks."""

    def __init__(
        self, answers: PartAnswers, digest: Callable[[DriverQuestion], str], steps: Callable[[DriverQuestion], int]
    ) -> None:
        self._answers = answers
        self._digest = digest
        self._steps = steps

    async def settle(self, ask: Ask, question: DriverQuestion, respond: SettleWith) -> Outcome:
        """Responds when all answers are there, or when one refuses; denies what has changed since it was shown."""
        if ask.settled is None:
            return NotTaken(why=GONE)
        if ask.digest != self._digest(question):
            await respond((PartAnswer(choice=DENY),))
            return NotTaken(why=CHANGED)
        answers = await self._collect(ask.id, self._steps(question), part_answer(ask.settled))
        return Taken() if answers is None else await respond(answers)

    async def _collect(self, ask: str, steps: int, answer: PartAnswer) -> tuple[PartAnswer, ...] | None:
        """All the answers, or the one that refuses; None while some are missing. Each is stored first."""
        if steps == 1:
            return (answer,)
        await anyio.to_thread.run_sync(self._answers.add, ask, answer)
        stored = await anyio.to_thread.run_sync(self._answers.all)
        found = [stored.get(step_id(question_id(ask), step)) for step in range(steps)]
        answers = tuple(one for one in found if one is not None)
        if len(answers) == steps:
            return answers
        return (answer,) if answer.expired or answer.choice in ("", DENY) else None
