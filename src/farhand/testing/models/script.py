"""What a fake model says: conversations found by a marker in the prompt, steps taken one by one, none left over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import anyio
import msgspec


class ScriptStep(msgspec.Struct, frozen=True, tag_field="step"):
    """One answer of the model to one request."""


class ScriptedText(msgspec.Struct, frozen=True, tag="text", tag_field="block"):
    """Words, streamed in pieces of `piece` characters (0: all at once)."""

    text: str
    piece: int = 0


class ScriptedThinking(msgspec.Struct, frozen=True, tag="thinking", tag_field="block"):
    """A thought, with the signature that the API puts on it."""

    text: str
    signature: str = "c2lnbmVk"


class ToolUse(msgspec.Struct, frozen=True, tag="tool_use", tag_field="block"):
    """The model wants a tool to run."""

    name: str
    input: dict[str, Any]
    id: str = ""


class Hold(msgspec.Struct, frozen=True, tag="hold", tag_field="block"):
    """The stream stands still here until the test releases this gate."""

    gate: str


ScriptedBlock: TypeAlias = ScriptedText | ScriptedThinking | ToolUse | Hold


class ScriptedReply(ScriptStep, frozen=True, tag="reply"):
    """An answer that goes well."""

    blocks: tuple[ScriptedBlock, ...]
    input_tokens: int = 100
    output_tokens: int = 10
    # What the API tells beside its answer: how much of a usage window is used, for one.
    headers: dict[str, str] = {}


class Failure(ScriptStep, frozen=True, tag="failure"):
    """An answer that goes wrong: an HTTP status, or (`status` 0) a connection that is cut in mid-stream."""

    status: int
    kind: str = "api_error"
    message: str = "the fake model was told to fail"
    headers: dict[str, str] = {}
    # What the error's body says beside its kind and its message.
    fields: dict[str, Any] = {}


# Of a request that no step was left for, a complaint shows so much.
MOST_SHOWN = 300
AnyStep: TypeAlias = ScriptedReply | Failure
# A step that depends on what was asked: it is given every text of the request.
Composed: TypeAlias = Callable[[list[str]], AnyStep]
Played: TypeAlias = AnyStep | Composed


def say(text: str, piece: int = 0) -> ScriptedReply:
    """The model answers with these words and is done."""
    return ScriptedReply((ScriptedText(text, piece),))


def use(tool: str, /, *, said: str = "", **arguments: Any) -> ScriptedReply:
    """The model asks for one tool, after some words if there are any."""
    words: tuple[ScriptedBlock, ...] = (ScriptedText(said),) if said else ()
    return ScriptedReply((*words, ToolUse(tool, arguments)))


class Unscripted(AssertionError):
    """A request that no step was left for, or a step that no request asked for."""


class ModelScript:
    """The conversations of one fake, and how far each has got."""

    def __init__(self, conversations: dict[str, Iterable[Played]] | None = None) -> None:
        self._steps: dict[str, list[Played]] = {}
        self._taken: dict[str, int] = {}
        self._gates: dict[str, anyio.Event] = {}
        self.complaints: list[str] = []
        for marker, steps in (conversations or {}).items():
            self.conversation(marker, *steps)

    def conversation(self, marker: str, *steps: Played) -> None:
        """Adds steps to the conversation whose prompt contains this marker."""
        self._steps.setdefault(marker, []).extend(steps)
        self._taken.setdefault(marker, 0)

    def take(self, texts: list[str]) -> AnyStep | None:
        """The next step for a request with these texts, oldest first; None when no marker is in any of them."""
        for text in reversed(texts):
            for marker, steps in self._steps.items():
                if marker in text:
                    step = self._next(marker, steps, texts)
                    return step(texts) if callable(step) else step
        return None

    def _next(self, marker: str, steps: list[Played], texts: list[str]) -> Played:
        taken = self._taken[marker]
        if taken >= len(steps):
            asked = f"the last of {len(texts)} texts is {texts[-1][-MOST_SHOWN:]!r}"
            self.complaints.append(f"{marker!r}: asked once more after its {len(steps)} steps; {asked}")
            return Failure(400, "invalid_request_error", f"the conversation {marker!r} has no step left")
        self._taken[marker] = taken + 1
        return steps[taken]

    def gate(self, name: str) -> anyio.Event:
        """The event that lets a held stream go on."""
        return self._gates.setdefault(name, anyio.Event())

    def release(self, name: str) -> None:
        """Lets every stream that holds at this gate go on."""
        self.gate(name).set()

    def left_over(self) -> dict[str, int]:
        """How many steps of each conversation were never asked for."""
        left = {marker: len(steps) - self._taken[marker] for marker, steps in self._steps.items()}
        return {marker: count for marker, count in left.items() if count}

    def forget(self) -> None:
        """Drops what is left over: for a script of which a test needs only a part."""
        for marker, steps in self._steps.items():
            self._taken[marker] = len(steps)

    def check(self) -> None:
        """Fails when a step was not consumed or a request found none."""
        left = [f"{marker!r}: {count} steps not consumed" for marker, count in self.left_over().items()]
        if left or self.complaints:
            raise Unscripted("; ".join(left + self.complaints))
