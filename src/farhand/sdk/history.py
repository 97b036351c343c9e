"""A session's conversation: whatever is added goes to memory first, then to the recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from farhand.sdk import wire
from farhand.sdk.pending_questions import pending_path, write_pending
from farhand.sdk.protocols import Content, Question
from farhand.sdk.recording import CallRecord, Recording


class History:
    """The transcript, its recording if there is one, and what the last model call said about its length."""

    def __init__(self, failed: Callable[[str], None]) -> None:
        self.contents: list[Content] = []
        # Whatever was added, also what a compression took away again.
        self.added: list[Content] = []
        self.last_prompt = ""
        self.prompt_tokens = 0
        # Not retried before the person says something new.
        self.compression_failed = False
        self._failed = failed
        self._recording: Recording | None = None
        self._is_new_file = False

    @property
    def path(self) -> str:
        """Where it is recorded; empty when it is not."""
        return str(self._recording.path) if self._recording is not None else ""

    def record(
        self,
        path: Path,
        session_id: str,
        cwd: Path,
        kind: str,
        last_message: Mapping[str, Any],
        known_bytes: int | None = None,
    ) -> None:
        """Records from now on, in a new file or behind what a resumed session has there."""
        self._recording = Recording(path, self._failed)
        self._recording.known_bytes = known_bytes
        self._is_new_file = not path.exists()
        if last_message:
            self._recording.go_on_from(last_message)
        if self._is_new_file:
            self._recording.start(session_id, cwd, kind)

    def alone(self) -> AbstractContextManager[None]:
        """Keeps others from writing to the recording while a turn runs; raises RecordingTaken when somebody has."""
        return self._recording.alone() if self._recording is not None else nullcontext()

    def start(self, opening: Sequence[Content], restored: Sequence[Content]) -> None:
        """Begins with the opening message and with what a resumed session had."""
        self.contents = [*opening, *restored]
        self.last_prompt = next(
            (wire.text_of(each) for each in reversed(restored) if each["role"] == "user" and wire.text_of(each)), ""
        )
        if self._recording is not None and self._is_new_file:
            self._recording.checkpoint(self.contents)

    def start_over(self, contents: Sequence[Content]) -> None:
        """Replaces the whole conversation."""
        self.contents = list(contents)
        self.prompt_tokens = 0
        if self._recording is not None:
            self._recording.checkpoint(self.contents)

    def add_prompt(self, content: Content, prompt: str) -> None:
        """A message of the person."""
        self.last_prompt = prompt
        self.compression_failed = False
        self.added.append(content)
        self.contents.append(content)
        if self._recording is not None:
            self._recording.said(content)

    def add_answer(self, content: Content, usage: Mapping[str, Any], model: str) -> None:
        """A message of the model, whole."""
        self.added.append(content)
        self.contents.append(content)
        self.prompt_tokens = int(usage.get("promptTokenCount") or 0) or self.prompt_tokens
        if self._recording is not None:
            self._recording.answered(content, usage, model)

    def add_results(self, content: Content, records: Sequence[CallRecord]) -> None:
        """The responses to the calls of the model's last message."""
        self.added.append(content)
        self.contents.append(content)
        if self._recording is not None:
            self._recording.called(records)

    def write_questions(self, questions: Sequence[Question], ended: Sequence[CallRecord]) -> None:
        """Writes the open questions beside the recording, with the calls of the last message that have ended."""
        if self._recording is None:
            return
        nothing: Content = {}
        content = next((each for each in reversed(self.contents) if each["role"] == "model"), nothing)
        try:
            write_pending(pending_path(self._recording.path), questions, content, ended)
        except OSError as error:
            self._failed(f"The question cannot be kept for another process: {error}")
