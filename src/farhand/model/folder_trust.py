"""A folder that an agent must not be started in before the manager has said so: what was found in it, and the ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from farhand.model.errors import DriverError
from farhand.model.facts import AskRaised, AskSettled
from farhand.model.phrases import choice, phrase, said
from farhand.model.visible import visible
from farhand.model.words import AskKind, HowSettled, Phrase

TRUST: Final = "trust"
# What is told of a folder where nobody can answer yet; the question itself shows all.
MOST_LINES: Final = 8
LINE_CHARACTERS: Final = 200
_CHOICES: Final = (
    choice(TRUST, phrase("label_trust"), scope=phrase("scope_folder_trust")),
    choice("deny", phrase("label_do_not_start"), allows=False),
)
_RISKS: Final = (phrase("risk_folder_settings"),)

_REFUSED: Final = "was not trusted, so nothing was started in it."


class FolderNotTrusted(DriverError):
    """The folder configures the agent, and nobody has trusted that yet; `trust` remembers it."""

    code = "folder_not_trusted"

    def __init__(
        self, folder: str, found: str, digest: str, seconds: float, trust: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(f"{folder} has settings of its own that nobody has trusted yet.", folder=folder)
        self.folder = folder
        self.found = found
        self.digest = digest
        self.seconds = seconds
        self.trust = trust

    @property
    def refusal(self) -> Phrase:
        """Why a worker was not started."""
        return phrase("why_folder_not_trusted", folder=self.folder)

    @property
    def not_run(self) -> str:
        """Why a message was not given to an agent that would read the folder anew, and what changed there."""
        lines = [visible(line)[:LINE_CHARACTERS] for line in self.found.splitlines()]
        more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
        told = "\n".join([*lines[:MOST_LINES], *more])
        changed = f"The folder {self.folder} configures the agent anew, so nothing was run:"
        return f"{changed}\n{told}\n/relaunch asks about it."


def ask_about(untrusted: FolderNotTrusted, ask: str) -> AskRaised:
    """The question, with all that was found."""
    question = phrase("question_folder", folder=untrusted.folder)
    return AskRaised(
        ask=ask,
        about=AskKind.FOLDER,
        question=said(question),
        question_phrase=question,
        detail=untrusted.found,
        choices=_CHOICES,
        where=untrusted.folder,
        risks=tuple(map(said, _RISKS)),
        risk_phrases=_RISKS,
        digest=untrusted.digest,
        deadline_seconds=untrusted.seconds,
    )


def is_refusal(why: str) -> bool:
    """Whether an agent does not run because its folder was not trusted: the question told that there is something."""
    return _REFUSED in why


def is_trusted(settled: AskSettled) -> bool:
    """Whether the answer was a clear yes."""
    return settled.how is HowSettled.ANSWERED and settled.choice == TRUST
