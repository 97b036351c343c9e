"""The agent's side of the line protocol: prompts, answers and interrupts come in, everything else goes out.

For agents that are plain programs: standard library alone, and nothing of farhand is imported. The words are in
docs/reference/line-protocol.md.
"""

import json
import os
import select
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

CHUNK = 65_536


class Prompt(NamedTuple):
    """What the agent is asked to do."""

    id: str
    text: str
    files: tuple[str, ...] = ()


class LineAnswer(NamedTuple):
    """What a person answered to an ask; an empty choice means that nobody did in time."""

    choice: str
    note: str = ""


class LineInterrupted(Exception):
    """Somebody wants the turn to stop."""


class Failed(Exception):
    """The turn cannot be brought to its end; the text says why."""


class Gone(Exception):
    """Nobody is at the other end any more."""


class LineConversation:
    """One agent's stdin and stdout. While the agent pauses or waits, it hears what comes."""

    def __init__(self, source: int = 0, sink: int = 1, heard: Callable[[Prompt], None] | None = None) -> None:
        self._source = source
        self._sink = sink
        self._heard = heard
        self._rest = b""
        self._open = True
        self._prompts: deque[Prompt] = deque()
        self._answers: dict[str, LineAnswer] = {}
        self._stopped: set[str] = set()
        self._running = ""

    def prompts(self) -> Iterator[Prompt]:
        """One prompt after the other, until the input has ended and all of them are done."""
        while True:
            while not self._prompts:
                try:
                    self._hear(None)
                except Gone:
                    return
            yield self._prompts.popleft()

    def turn(self, prompt: Prompt, play: Callable[[], None]) -> None:
        """Plays a whole turn: says when it starts, and how it ended."""
        self._running = prompt.id
        self.say("started")
        try:
            self.check()
            play()
        except LineInterrupted:
            self.say("ended", how="interrupted")
        except Failed as failure:
            self.say("ended", how="failed", error=str(failure))
        else:
            self.say("ended", how="completed")
        finally:
            self._stopped.discard(prompt.id)
            self._running = ""

    def say(self, word: str, **fields: Any) -> None:
        """Writes one line about the running turn."""
        self._write({word: self._running, **fields})

    def pause(self, seconds: float) -> None:
        """Lets time pass, hearing what comes; raises Interrupted when the turn is to stop."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and self._open:
            self._hear_while_running(left)
        if left > 0:
            time.sleep(left)
        self.check()

    def check(self) -> None:
        """Hears what has come by now; raises Interrupted when the turn is to stop."""
        self._hear_while_running(0)
        if self._running in self._stopped:
            raise LineInterrupted

    def answer(self, ask: str) -> LineAnswer:
        """Waits for the answer to an ask; raises Interrupted when the turn is to stop, Gone when nobody can answer."""
        while ask not in self._answers:
            self._hear(None)
            if self._running in self._stopped:
                raise LineInterrupted
        return self._answers.pop(ask)

    def _hear_while_running(self, seconds: float) -> None:
        try:
            self._hear(seconds)
        except Gone:
            return  # what was asked is done to its end
        if self._running in self._stopped:
            raise LineInterrupted

    def _hear(self, seconds: float | None) -> None:
        if not self._open:
            raise Gone
        if not select.select([self._source], [], [], seconds)[0]:
            return
        data = os.read(self._source, CHUNK)
        self._open = bool(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        match said:
            case {"prompt": str(prompt), "text": str(text)}:
                files = said.get("files")
                self._prompts.append(Prompt(prompt, text, tuple(map(str, files)) if isinstance(files, list) else ()))
                if self._heard is not None:
                    self._heard(self._prompts[-1])
            case {"answer": str(ask), "choice": str(choice)}:
                self._answers[ask] = LineAnswer(choice, str(said.get("note", "")))
            case {"interrupt": str(prompt)}:
                self._stopped.add(prompt)
            case {"say": str(word)}:
                self._write({"said": word, "piece": f"answer to {word}"})
            case _:
                self._write({"problem": self._running, "text": f"No such line is known: {line[:200]!r}"})

    def _write(self, line: dict[str, Any]) -> None:
        data = json.dumps(line).encode() + b"\n"
        while data:
            data = data[os.write(self._sink, data) :]
