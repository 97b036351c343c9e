"""An agent CLI that can be called once for one message: its words, and what it says. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec


@dataclass(frozen=True)
class OneshotOutput:
    """What a CLI's output says: the answer, the session that it belongs to, and what went wrong."""

    text: str = ""
    session: str = ""
    error: str = ""


T = TypeVar("T")


def parsed(raw: str | bytes, kind: type[T]) -> T | None:
    """A line of JSON as that kind; None when it is none."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return None


@dataclass(frozen=True)
class OneshotCli:
    """One CLI. `words` are its command line for a message, a directory and a session; `read` understands its output."""

    # The program's name, and the source that the bridge reports.
    source: str
    title: str
    words: Callable[[str, str, str], list[str]]
    read: Callable[[str, str], OneshotOutput]
    # The file in a worker's folder that names its session, for a CLI that is given one.
    session_file: str = ""
    # The message goes in here, where the command line would spoil it.
    input: Callable[[str], str] = lambda _: ""
    variables: Mapping[str, str] | None = None
    # Words of the CLI that say that a session is gone for good.
    lost: str = ""
    # How long a call may take.
    limit_seconds: float = 300.0

    @property
    def lock(self) -> str:
        """The file in a worker's folder that is locked while the CLI runs."""
        return f"{self.session_file or self.source}.lock"


def as_argument(message: str) -> str:
    """The message as an argument: what begins with a hyphen would be taken for a flag."""
    return f" {message}" if message.startswith("-") else message


def final_output(adapter: OneshotCli, read: OneshotOutput, problem: str) -> OneshotOutput:
    """The answer, or why there is none."""
    if read.text and not problem:
        return OneshotOutput(read.text, read.session)
    why = problem or read.error or "it said nothing"
    sentence = f"{adapter.title} failed: {why.rstrip('.')}."
    return OneshotOutput(f"{read.text}\n\n{sentence}".strip(), read.session, sentence)


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
