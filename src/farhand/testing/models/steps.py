"""The scripts that fake model servers play: steps in order, one script a conversation, nothing left over at the end."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


class ScriptError(AssertionError):
    """A server was asked for more, or for less, than its script says."""


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came over the wire."""

    method: str
    model: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    path: str = ""


@dataclass(frozen=True, slots=True)
class GeminiStep:
    """One answer: chunks of wire JSON, or an HTTP status.

    `cut_after` closes the connection after so many chunks. `wait_for` holds the answer until the event is set, and
    `hold_after` says after how many chunks. `headers` and `details` go with an error status, and `reason` is its name.
    """

    chunks: tuple[dict[str, Any], ...] = ()
    status: int = 200
    error: str = ""
    reason: str = "UNAVAILABLE"
    details: tuple[dict[str, Any], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    wait_for: threading.Event | None = None
    hold_after: int = 0


# A step, or what makes one of the text of the request.
PlayedGeminiStep: TypeAlias = GeminiStep | Callable[[str], GeminiStep]


class ScriptedConversation:
    """The steps of one conversation. A request belongs to it when `matches` says so of its text."""

    def __init__(self, matches: Callable[[str], bool], steps: Iterable[PlayedGeminiStep], name: str = "") -> None:
        self.matches = matches
        self.name = name
        self.steps = list(steps)
        self.requests: list[Received] = []

    def then(self, *steps: PlayedGeminiStep) -> ScriptedConversation:
        """Adds steps."""
        self.steps += steps
        return self


class GeminiScript:
    """All conversations of one server. Thread-safe: requests come from many connections at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.conversations: list[ScriptedConversation] = []
        self.requests: list[Received] = []
        self.complaints: list[str] = []

    def expect(self, *steps: PlayedGeminiStep, prompt: str = "") -> ScriptedConversation:
        """A conversation that plays `steps`, for requests whose text contains `prompt`. Named prompts go first."""
        conversation = ScriptedConversation(lambda text: prompt in text, steps, prompt)
        with self._lock:
            self.conversations.append(conversation)
            self.conversations.sort(key=lambda each: -len(each.name))
        return conversation

    def next_step(self, received: Received, text: str) -> GeminiStep | None:
        """The step that answers a request; None when no conversation has one, which `verify` will tell."""
        with self._lock:
            self.requests.append(received)
            matching = [each for each in self.conversations if each.matches(text)]
            # What was said last counts: a request brings the whole conversation.
            left = [each for each in matching if each.steps]
            chosen = max(left, key=lambda each: (bool(each.name), text.rfind(each.name)), default=None)
            if chosen is None:
                said = "no conversation matches" if not matching else "the script is at its end"
                self.complaints.append(f"{received.method} was asked and {said}: {json.dumps(received.body)[-400:]}")
                return None
            chosen.requests.append(received)
            step = chosen.steps.pop(0)
            return step(text) if callable(step) else step

    def note(self, received: Received) -> None:
        """Writes down a request that needs no step."""
        with self._lock:
            self.requests.append(received)

    def verify(self) -> None:
        """Raises when steps are left or requests had no step."""
        left = [f"{len(each.steps)} step(s) of '{each.name}'" for each in self.conversations if each.steps]
        wrong = [*self.complaints, *(f"{each} were not asked for" for each in left)]
        if wrong:
            raise ScriptError("; ".join(wrong))
