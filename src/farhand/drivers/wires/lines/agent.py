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
from typing import NamedTuple

CHUNK = 65_536


class AgentPrompt(NamedTuple):
    """What the agent is asked to do."""

    id: str
    text: str
    files: tuple[str, ...] = ()


def decode_line(line: bytes) -> dict[str, object] | None:
    """What the line says; None where it is no object of JSON."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def read_prompt(fields: object) -> AgentPrompt | None:
    """The prompt that a line asks for, or None when it is another line."""
    match fields:
        case {"prompt": str(prompt), "text": str(text), **more}:
            files = more.get("files")
            return AgentPrompt(prompt, text, tuple(map(str, files)) if isinstance(files, list) else ())
        case _:
            return None


def unknown_line(turn: str, line: bytes) -> dict[str, object]:
    """What is said about a line that nobody knows."""
    return {"problem": turn, "text": f"No such line is known: {line[:200]!r}"}


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
    """One agent's stdin and stdout. While the agent pauses or waits, its input is read."""

    def __init__(self, source: int = 0, sink: int = 1, on_prompt: Callable[[AgentPrompt], None] | None = None) -> None:
        self._source = source
        self._sink = sink
        self._on_prompt = on_prompt
        self._rest = b""
        self._open = True
        self._prompts: deque[AgentPrompt] = deque()
        self._answers: dict[str, LineAnswer] = {}
        self._stopped: set[str] = set()
        self._running = ""

    def prompts(self) -> Iterator[AgentPrompt]:
        """One prompt after the other, until the input has ended and all of them are done."""
        while True:
            while not self._prompts:
                try:
                    self._read(None)
                except Gone:
                    return
            yield self._prompts.popleft()

    def turn(self, prompt: AgentPrompt, play: Callable[[], None]) -> None:
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

    def say(self, word: str, **fields: object) -> None:
        """Writes one line about the running turn."""
        self._write({word: self._running, **fields})

    def pause(self, seconds: float) -> None:
        """Lets time pass while input is read; raises LineInterrupted when the turn is to stop."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and self._open:
            self._read_while_running(left)
        if left > 0:
            time.sleep(left)
        self.check()

    def check(self) -> None:
        """Reads what has come by now; raises LineInterrupted when the turn is to stop."""
        self._read_while_running(0)
        if self._running in self._stopped:
            raise LineInterrupted

    def answer(self, ask: str) -> LineAnswer:
        """Waits for the answer to an ask; raises LineInterrupted when the turn is to stop, Gone at the end of input."""
        while ask not in self._answers:
            self._read(None)
            if self._running in self._stopped:
                raise LineInterrupted
        return self._answers.pop(ask)

    def _read_while_running(self, seconds: float) -> None:
        try:
            self._read(seconds)
        except Gone:
            return  # what was asked is done to its end
        if self._running in self._stopped:
            raise LineInterrupted

    def _read(self, seconds: float | None) -> None:
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
        fields = decode_line(line)
        prompt = read_prompt(fields)
        if prompt is not None:
            self._prompts.append(prompt)
            if self._on_prompt is not None:
                self._on_prompt(prompt)
            return
        match fields:
            case {"answer": str(ask), "choice": str(choice), **more}:
                self._answers[ask] = LineAnswer(choice, str(more.get("note", "")))
            case {"interrupt": str(turn)}:
                self._stopped.add(turn)
            case {"say": str(word)}:
                self._write({"said": word, "piece": f"answer to {word}"})
            case _:
                self._write(unknown_line(self._running, line))

    def _write(self, line: dict[str, object]) -> None:
        data = json.dumps(line).encode() + b"\n"
        while data:
            data = data[os.write(self._sink, data) :]
