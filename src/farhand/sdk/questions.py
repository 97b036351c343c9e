"""Questions that wait for a person, and the answers that come for them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from farhand.sdk.authority import from_subagent
from farhand.sdk.events import Ask, Error
from farhand.sdk.pending_questions import NOTHING_PENDING, PendingQuestions
from farhand.sdk.protocols import Question, Reply

if TYPE_CHECKING:
    import asyncio

    from farhand.sdk.protocols import SessionContext
    from farhand.sdk.session import Session
    from farhand.sdk.tool_calls import ToolCalls


class OpenQuestions:
    """The open questions of one session, also those that another process asked and did not live to see answered."""

    def __init__(self, pending: PendingQuestions = NOTHING_PENDING) -> None:
        earlier = pending.questions
        self._pending = pending
        # Whether the running turn ends where it asks, to be gone on with later.
        self.pausing = False
        self._calls: ToolCalls | None = None
        self._waiting: dict[str, asyncio.Future[Reply]] = {}
        self._asked: dict[str, Question] = {question.id: question for question in earlier}
        self._earlier = list(earlier)
        self._replies: dict[str, Reply] = {}

    @property
    def open(self) -> tuple[Question, ...]:
        """The questions that have no answer yet."""
        return tuple(question for question in self._asked.values() if question.id not in self._replies)

    async def ask(self, question: Question, session: Session) -> Reply:
        """Tells the reader of the turn, then waits for whoever answers: the agent's asker, or `answer`."""
        import asyncio

        answered = self._take_earlier(question)
        if answered is not None:
            self._store(session)
            return answered
        question = self._with_own_id(question)
        waiting: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = waiting
        self._asked[question.id] = question
        try:
            self._store(session)
            await session.emit(Ask(question))
            return await self._answered(question, waiting, session)
        finally:
            self._waiting.pop(question.id, None)
            self._asked.pop(question.id, None)
            self._store(session)

    async def _answered(self, question: Question, waiting: asyncio.Future[Reply], session: Session) -> Reply:
        asker: Any = session.agent.asker
        if asker is not None:
            put = asker.ask if hasattr(asker, "ask") else asker
            try:
                reply = put(question, session.context)
                return as_reply(await reply if inspect.isawaitable(reply) else reply)
            except Exception as error:  # noqa: BLE001 - an asker is foreign code, and a broken one is nobody
                why = f"The asker failed: {type(error).__name__}: {error}"
                await session.emit(Error(why, "asker", fatal=False, cause=error))
                return Reply(answered=False)
        return await waiting if session.agent.interactive else Reply(answered=False)

    def answer(self, question_id: str, reply: Reply | str | bool) -> bool:
        """Whether the question still waited for this."""
        waiting = self._waiting.get(question_id)
        if waiting is None:
            if question_id not in self._asked or question_id in self._replies:
                return False
            self._replies[question_id] = as_reply(reply)
            return True
        if waiting.done():
            return False
        waiting.set_result(as_reply(reply))
        return True

    @property
    def is_paused(self) -> bool:
        """Whether a turn waits in the transcript to be gone on with."""
        return bool(self._pending.content) or self.pausing

    @property
    def message(self) -> Mapping[str, Any]:
        """The model's message that asked, as it was recorded."""
        return self._pending.message

    def take_pending(self) -> PendingQuestions:
        """What a turn that goes on begins with, once."""
        pending, self._pending = self._pending, NOTHING_PENDING
        return pending

    def watch_calls(self, calls: ToolCalls | None) -> None:
        """Knows whose calls are running: what has ended is stored with each question."""
        self._calls = calls

    def _store(self, session: Session) -> None:
        """Stores the open questions, before their events are emitted, so that another process can resume the turn."""
        if session.is_open and not self.pausing:
            ended = self._calls.ended() if self._calls is not None else ()
            session.conversation.write_questions(self.open, ended)

    def _with_own_id(self, question: Question) -> Question:
        """The question under an id that no open one has: an answer is for one question alone."""
        number, own = 1, question.id
        while own in self._asked:
            number += 1
            own = f"{question.id}-{number}"
        return replace(question, id=own)

    def _take_earlier(self, question: Question) -> Reply | None:
        """The answer that waits for a question which is asked again; a tool's own may come under another id."""
        for earlier in self._earlier:
            same = (earlier.id == question.id and earlier.call == question.call) or (
                question.kind != "permission" and (earlier.kind, earlier.text) == (question.kind, question.text)
            )
            if same:
                self._earlier.remove(earlier)
                self._asked.pop(earlier.id, None)
                return self._replies.pop(earlier.id, None)
        return None


class ForwardingAsker:
    """Puts a subagent's questions to the person of its parent."""

    def __init__(self, parent: Session) -> None:
        self.parent = parent

    async def ask(self, question: Question, context: SessionContext) -> Reply:
        """Asks, and says who asks."""
        return await self.parent.ask(from_subagent(question, context.session))


def as_reply(reply: Reply | str | bool) -> Reply:
    """A reply in its full form."""
    if isinstance(reply, Reply):
        return reply
    if isinstance(reply, bool):
        return Reply(answered=True, choice="allow" if reply else "deny")
    return Reply(answered=True, choice=reply, text=reply, chosen=(reply,))
