"""A session without a model, for tests of what tools and hooks are handed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from farhand.sdk.context import LiveContext, make_context
from farhand.sdk.protocols import Content, Question, Reply
from farhand.sdk.settings import AgentSettings

if TYPE_CHECKING:
    from farhand.sdk.session import Session

import anyio

PATH = "/usr/local/bin:/usr/bin:/bin"


class EnvSession:
    """What a context reads of a session."""

    def __init__(
        self, cwd: Path, settings: AgentSettings, answer: Callable[[Question], Reply], transcript_path: str
    ) -> None:
        self.id = "5ee704df-904b-4b21-aff2-f5e39965c404"
        self.cwd = cwd
        self.agent = None
        self.sandbox = None
        self.authorities = ()
        self.settings = settings
        self.transcript: list[Content] = []
        self.transcript_path = transcript_path
        self.folder = cwd.parent / "recorded"
        self._answer = answer
        self._number = 0

    def next_number(self) -> int:
        self._number += 1
        return self._number

    async def ask(self, question: Question) -> Reply:
        return self._answer(question)


def nobody(_question: Question) -> Reply:
    return Reply(answered=False)


def sdk_context(
    cwd: Path,
    *,
    raw: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    answer: Callable[[Question], Reply] = nobody,
    transcript_path: str | None = None,
) -> LiveContext:
    """The context of a session in a folder; what it leaves behind lies beside that folder."""
    settings = AgentSettings(raw=raw or {}, environ={"PATH": PATH, **(environ or {})})
    recorded = str(cwd.parent / "recorded" / "chats" / "session.jsonl") if transcript_path is None else transcript_path
    return make_context(cast("Session", EnvSession(cwd, settings, answer, recorded)))


async def until(fact: Callable[[], bool]) -> None:
    """Waits for something to be true that nobody announces, such as a process being gone."""
    with anyio.fail_after(240):
        while not fact():  # noqa: ASYNC110
            await anyio.sleep(0.01)
