"""What a person says while a turn runs: into it, or after what the model does now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farhand.sdk.prompt import Prompt
    from farhand.sdk.protocols import Part
    from farhand.sdk.session import Session


class SaidLater:
    """Prompts that wait for their moment in the running turn. What the turn's end leaves of them is dropped."""

    def __init__(self) -> None:
        self._steering: list[list[Part]] = []
        self._queued: list[list[Part]] = []

    def steer(self, prompt: Prompt, session: Session) -> bool:
        """For the next model call. False when no turn runs."""
        return _add(prompt, self._steering, session)

    def queue(self, prompt: Prompt, session: Session) -> bool:
        """For when the model has nothing more to call. False when no turn runs."""
        return _add(prompt, self._queued, session)

    def take_steering(self) -> list[list[Part]]:
        """What is to be said before the next model call, once."""
        said, self._steering = self._steering, []
        return said

    def take_queued(self) -> list[Part] | None:
        """The next prompt that waited for the model to be done."""
        return self._queued.pop(0) if self._queued else None

    def clear(self) -> None:
        """A new turn begins."""
        self._steering, self._queued = [], []


def _add(prompt: Prompt, waiting: list[list[Part]], session: Session) -> bool:
    from farhand.sdk.prompt import to_parts

    if session.busy:
        waiting.append(to_parts(prompt, session.cwd))
    return session.busy
