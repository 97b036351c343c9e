"""Questions that wait for a person, and the answers that come for them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from farhand.sdk.events import Ask
from farhand.sdk.seams import Question, Reply

if TYPE_CHECKING:
    import asyncio

    from farhand.sdk.session import Session


class Questions:
    """The open questions of one session."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[Reply]] = {}

    async def ask(self, question: Question, session: Session) -> Reply:
        """Tells the reader of the turn, then waits for whoever answers: the agent's asker, or `answer`."""
        import asyncio

        waiting: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = waiting
        try:
            await session.tell(Ask(question))
            asker = session.agent.asker
            if asker is not None:
                put: Any = getattr(asker, "ask", asker)
                reply = put(question, session.context)
                return _as_reply(await reply if inspect.isawaitable(reply) else reply)
            return await waiting if session.agent.interactive else Reply(answered=False)
        finally:
            self._waiting.pop(question.id, None)

    def answer(self, question_id: str, reply: Reply | str | bool) -> bool:
        """Whether the question still waited for this."""
        waiting = self._waiting.get(question_id)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(_as_reply(reply))
        return True


def _as_reply(reply: Reply | str | bool) -> Reply:
    if isinstance(reply, Reply):
        return reply
    if isinstance(reply, bool):
        return Reply(answered=True, choice="allow" if reply else "deny")
    return Reply(answered=True, choice=reply, text=reply, chosen=(reply,))
