"""What a link to a session remembers: the translation's state, the cursor that carries it, and a log beside it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from farhand.disk.atomic import write_private
from farhand.disk.jsonl import JsonlFile
from farhand.drivers.opencode.schema import OpenCodeError, OpenCodePermission, OpenCodeQuestions
from farhand.drivers.wires.cursor import write_cursor
from farhand.model.facts import AskSettled
from farhand.model.words import Mode, Usage, Word, replace

MOST_EXPECTED = 500
MOST_CHILDREN = 8

# --- the translation's state. Where a field has a `name`, it is the one under which it has always been stored.


class OpenCodeExpected(Word):
    """A message that was delivered to the session under an id of ours: which one it is, and of which turn."""

    id: str
    message: str
    turn: str = ""


class PartProgress(Word):
    """How much of a part was reported. `whole`: its beginning was missed, and only its end says what is new."""

    kind: str
    reported: int = msgspec.field(default=0, name="told")
    whole: bool = False


class OpenCodeState(Word):
    """The session, how far its turn is, and which requests wait for an answer. It travels in the cursor."""

    session: str = ""
    # The sessions of subagents that the agent started: their requests are its own.
    children: tuple[str, ...] = ()
    expected: tuple[OpenCodeExpected, ...] = ()
    # Messages up to this one were reported whole. OpenCode's ids rise with time.
    after: str = ""
    newest: str = ""
    running: bool = False
    turn: str = ""
    # The messages of persons in this turn, those that the agent has read, and its own: whether each is complete.
    prompts: tuple[str, ...] = ()
    # The message from the terminal that this turn begins with, until its words are known.
    typed: str = ""
    seen: tuple[str, ...] = ()
    replies: dict[str, bool] = {}
    # Those of its own that compact the conversation and are no answer.
    summaries: tuple[str, ...] = ()
    parts: dict[str, PartProgress] = {}
    tools: dict[str, bool] = {}
    spoke: bool = False
    # The model that answers, as `provider/model`.
    model: str = ""
    error: OpenCodeError | None = None
    # Somebody wants the turn to stop.
    stopped: bool = False
    usage: Usage = Usage()
    # The limit that this turn has met, in its own words.
    limited: str = ""
    # Requests that wait, as they came.
    permissions: dict[str, OpenCodePermission] = {}
    # What was allowed for the session: a turn that runs does not see the session's new rules.
    granted: tuple[tuple[str, str], ...] = ()
    questions: dict[str, OpenCodeQuestions] = {}
    skipped: int = 0


def expected_message(state: OpenCodeState, message: str) -> OpenCodeExpected | None:
    """The message of that id, if we delivered it."""
    return next((one for one in state.expected if one.id == message), None)


def is_idle(state: OpenCodeState) -> bool:
    """Whether the session does nothing, and nothing is on its way to it."""
    return not state.running and not any(one.id > state.after for one in state.expected)


def between_turns(state: OpenCodeState) -> OpenCodeState:
    """The state after a turn: what was reported is not reported again."""
    return OpenCodeState(
        session=state.session,
        children=state.children[-MOST_CHILDREN:],
        expected=tuple(one for one in state.expected if one.id not in state.prompts)[-MOST_EXPECTED:],
        after=state.newest,
        newest=state.newest,
        granted=state.granted,
        model=state.model,
        skipped=state.skipped,
    )


def with_whole_part(state: OpenCodeState, part: str, kind: str) -> OpenCodeState:
    """A part whose beginning was missed: what is new of it comes with its end."""
    known = state.parts.get(part) or PartProgress(kind=kind)
    return replace(state, parts={**state.parts, part: replace(known, whole=True)})


def without_request(state: OpenCodeState, request: str) -> OpenCodeState:
    """The request no longer waits."""
    return replace(
        state,
        permissions={name: one for name, one in state.permissions.items() if name != request},
        questions={name: one for name, one in state.questions.items() if name != request},
    )


# --- the cursor


class OtherSession(Word):
    """A session in which somebody spoke in the terminal, and the first message there."""

    session: str
    prompt: str

    @property
    def before(self) -> str:
        """Sorts before every message from the prompt on, and after all that are older."""
        return self.prompt[:-1]


class OpenCodeCursor(Word):
    """Which process served the session, and what was reported of it."""

    life: str = ""
    state: OpenCodeState = OpenCodeState()
    # Where somebody at the terminal went on while the worker's turn was not over.
    other_session: OtherSession | None = msgspec.field(default=None, name="elsewhere")


class OpenCodeTuning(msgspec.Struct):
    """The worker's mode, model and effort; they go with every prompt."""

    mode: Mode
    model: str
    effort: str = ""
    # The agent that the session worked with last.
    agent: str = ""
    # Where the worker works, with links resolved.
    directory: str = ""


class OpenCodePosition:
    """One link's cursor and tuning, shared by those who change them."""

    def __init__(self, cursor: OpenCodeCursor, tuning: OpenCodeTuning) -> None:
        self.cursor = cursor
        self.tuning = tuning

    @property
    def state(self) -> OpenCodeState:
        """What was reported of the session."""
        return self.cursor.state

    @state.setter
    def state(self, state: OpenCodeState) -> None:
        if state is not self.cursor.state:
            self.cursor = replace(self.cursor, state=state)

    def encode(self) -> str:
        """The cursor as the journal stores it."""
        return write_cursor(self.cursor)


# --- the log


class OpenCodeStart(Word):
    """The worker's session, and the message after which it is the worker's own."""

    session: str
    after: str = ""


class OpenCodeLogLine(Word):
    """One thing that was written down before it was done."""

    delivery: OpenCodeExpected | None = msgspec.field(default=None, name="given")
    step_answer: AskSettled | None = msgspec.field(default=None, name="settled")
    # A request that is about to be answered.
    request: str = ""


class OpenCodeLog:
    """Write-ahead log in the worker's folder: its session, deliveries and answers. It is removed with the worker."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines = JsonlFile(folder / "given", OpenCodeLogLine)
        self._start = folder / "session"

    def start(self) -> OpenCodeStart | None:
        """The worker's session, if it has one."""
        try:
            return msgspec.json.decode(self._start.read_bytes(), type=OpenCodeStart)
        except (OSError, msgspec.MsgspecError):
            return None

    def write_start(self, start: OpenCodeStart) -> None:
        """Writes the worker's session down."""
        write_private(self._start, msgspec.json.encode(start))

    def deliveries(self) -> tuple[OpenCodeExpected, ...]:
        """The messages that were delivered to the session, each once."""
        return tuple({one.delivery.message: one.delivery for one in self._lines.all() if one.delivery}.values())

    def add_delivery(self, delivery: OpenCodeExpected) -> None:
        """Called before a message is delivered."""
        self._lines.add(OpenCodeLogLine(delivery=delivery))

    def step_answers(self) -> dict[str, AskSettled]:
        """The answers that persons gave to the steps of questionnaires, by ask."""
        return {one.step_answer.ask: one.step_answer for one in self._lines.all() if one.step_answer}

    def add_step_answer(self, settled: AskSettled) -> None:
        """One step of a questionnaire is answered."""
        self._lines.add(OpenCodeLogLine(step_answer=settled))

    def may_be_answered(self, request: str) -> bool:
        """Whether we set out to answer the request before."""
        return any(one.request == request for one in self._lines.all())

    def add_answer(self, request: str) -> None:
        """Called before a request is answered."""
        self._lines.add(OpenCodeLogLine(request=request))


# --- ids as OpenCode makes them: they rise with time, so that ours sort among its own

ID_DIGITS = 12
ID_LIMIT: int = 16**ID_DIGITS
ID_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ID_TAIL = 14


def message_id(name: str, at: float, newest: str) -> str:
    """The id of a message with that name, delivered at that time: above every id there is."""
    stamp = (int(at * 1000) * 4096 + 1) % ID_LIMIT
    last = _stamp(newest)
    # Only a clock that was set back makes the newest one younger than now; half the circle away it is older.
    if 0 <= last - stamp < ID_LIMIT // 2:
        stamp = (last + 1) % ID_LIMIT
    return f"msg_{stamp:0{ID_DIGITS}x}{_tail(name)}"


def part_id(message: str, number: int) -> str:
    """The id of a message's part, the same however often it is delivered."""
    return f"prt_{message[4 : 4 + ID_DIGITS]}{_tail(f'{message} {number}')}"


def _stamp(newest: str) -> int:
    try:
        return int(newest[4 : 4 + ID_DIGITS], 16)
    except ValueError:
        return -ID_LIMIT


def _tail(name: str) -> str:
    number = int.from_bytes(hashlib.sha256(name.encode(errors="surrogatepass")).digest()[:12], "big")
    letters = []
    for _ in range(ID_TAIL):
        number, rest = divmod(number, len(ID_ALPHABET))
        letters.append(ID_ALPHABET[rest])
    return "".join(letters)
