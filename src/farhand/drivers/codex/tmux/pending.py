"""The asks of one terminal that wait for a person: which hook waits for which answer, and what it is told."""

from __future__ import annotations

import anyio

from farhand.drivers.codex.asks import HOOK, CodexQuestion, digest, hook_reply, raised
from farhand.drivers.wires.asks.build import CHANGED, GONE, picked_of
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.hooks.endpoint import HookAsk
from farhand.model.facts import AskRaised, AskSettled
from farhand.model.ports import NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import HowSettled

COMES_BACK_SECONDS = 10.0
TAKES_SECONDS = 5.0


def question_of(payload: Fields) -> CodexQuestion:
    """The question in a PermissionRequest payload."""
    params = {"tool_name": payload.text("tool_name"), "tool_input": payload.fields("tool_input").plain}
    return CodexQuestion(method=HOOK, params=params)


class CodexQuestions:
    """All open questions of a worker."""

    def __init__(self, deadline_seconds: float) -> None:
        self._deadline_seconds = deadline_seconds
        self._open: dict[str, tuple[CodexQuestion, HookAsk]] = {}
        self._news = anyio.Event()

    def hold(self, asked: HookAsk, question: CodexQuestion) -> AskRaised:
        """Keeps a hook waiting; the ask that a person sees."""
        self._open[asked.arrived.id] = (question, asked)
        news, self._news = self._news, anyio.Event()
        news.set()
        return raised(asked.arrived.id, question, self._deadline_seconds)

    async def settle(self, ask: Ask) -> Outcome:
        """Brings a person's answer to the hook."""
        found = await self._found(ask.id)
        if found is None or ask.settled is None:
            return NotTaken(why=GONE)
        question, asked = found
        self._open.pop(ask.id, None)
        if ask.digest != digest(question):
            asked.answer(hook_reply(question, ()))
            return NotTaken(why=CHANGED)
        asked.answer(hook_reply(question, (picked_of(ask.settled),)))
        return Taken() if await asked.taken(TAKES_SECONDS) else NotTaken(why=GONE)

    async def _found(self, ask: str) -> tuple[CodexQuestion, HookAsk] | None:
        """After a restart of the node the hook comes back by itself, a moment later."""
        with anyio.move_on_after(COMES_BACK_SECONDS):
            while ask not in self._open:
                await self._news.wait()
        return self._open.get(ask)

    def lost(self, asked: HookAsk) -> list[AskSettled]:
        """The hook went away before it had an answer: the phone can no longer give one."""
        found = self._open.get(asked.arrived.id)
        if found is None or found[1] is not asked:
            return []
        del self._open[asked.arrived.id]
        return [AskSettled(ask=asked.arrived.id, how=HowSettled.WITHDRAWN)]

    def close(self) -> None:
        """The turn is over: nobody waits any more."""
        for _, asked in self._open.values():
            asked.answer(None)
        self._open.clear()

    def __bool__(self) -> bool:
        return bool(self._open)
