"""What an agent CLI runs before and after each turn: hands the inbox to the agent, and the agent's words to the outbox.

    before EVENT FOLDER                             prints what is unread in the inbox as context for the turn
    after EVENT FOLDER DECISION RECORDS [tells]     puts what the agent said into the outbox; in a sprint, prints the
                                                    next prompt

DECISION is the CLI's word for "not yet done". RECORDS is the kind of a transcript's records in which the agent speaks,
or `-` when the payload has its last words. `tells` says that a turn which we force runs no hook before it, so that the
inbox goes with the prompt. Always exits 0 and prints one JSON object, whatever goes wrong; needs no node.
"""

from __future__ import annotations

import os
import sys
import time

from farhand.bridge.hook import quick_json, rules
from farhand.bridge.hook.deliver import collect, flush, queue, spool, tell_set_aside
from farhand.bridge.hook.files import HOOK_TRIES, BridgeState, FolderHeld, FolderLock, MessageFile, is_own_folder
from farhand.bridge.hook.rules import INBOX, READ, BridgeMessage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from farhand.bridge.hook.rounds import Rounds

LONGEST_PAYLOAD = 32 * 1024 * 1024
TRANSCRIPT_BYTES = 1024 * 1024
# What a CLI says of a turn that was cancelled.
SILENCE = "[no response text]"
HELD = "⚠ The sprint waits: its files are held by another program. It goes on after the agent's next turn."


class BridgeOutput:
    """The one JSON object on stdout; nothing else is ever printed there."""

    def __init__(self) -> None:
        self.printed = False

    def print(self, content: dict[str, object]) -> None:
        """Prints it, the first time."""
        if not self.printed:
            self.printed = True
            data = quick_json.dumps(content).encode() + b"\n"
            while data:
                data = data[os.write(1, data) :]


def run(words: list[str]) -> None:
    """Answers the CLI; what goes wrong is told on stderr, and the agent goes on without us."""
    output = BridgeOutput()
    try:
        payload = _payload(sys.stdin.buffer.read(LONGEST_PAYLOAD))
        if words[0] == "before":
            before(output, words[1], words[2])
        else:
            said = last_words(payload, words[4])
            after(output, said, words[2], words[3], tells=words[5:] == ["tells"])
    except Exception as error:  # noqa: BLE001
        sys.stderr.write(f"farhand bridge: {type(error).__name__}: {error}\n")
    output.print({})


def before(output: BridgeOutput, event: str, folder: str) -> None:
    """Gives the agent what is unread; only what was given is marked."""
    if not is_own_folder(folder):
        return
    with FolderLock(folder, HOOK_TRIES):
        state, inbox = BridgeState(folder), MessageFile(folder, INBOX, READ)
        collect(folder, state)
        found = state.unread(inbox.messages())
        if state.note(busy=True, event=event) and not found:
            state.write()
        if found:
            text = take(found, state)
            output.print({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
        confirm(folder, state, inbox, found)


def take(found: list[BridgeMessage], state: BridgeState) -> str:
    """What these messages tell the agent; one of them may start a sprint, or stop it."""
    texts: list[str] = []
    stopped = False
    for text in map(rules.text_of, found):
        prompt = _begin(text, state)
        stopped = stopped or (not prompt and rules.is_stop(text))
        texts.append(prompt or text)
    if stopped:
        state.stopping = state.sprint is not None
    return rules.context(texts)


def _begin(text: str, state: BridgeState) -> str:
    """The first prompt of the sprint that a message starts; nothing when it starts none."""
    if "/sprint" not in text.casefold():
        return ""
    # Only whoever runs a sprint waits for it to load.
    from farhand.bridge.hook import rounds

    begun = rounds.started(text)
    if begun is None:
        return ""
    state.sprint, state.stopping = begun.stored(), False
    return rounds.first_prompt(begun)


def confirm(folder: str, state: BridgeState, inbox: MessageFile, found: list[BridgeMessage]) -> None:
    """Marks what was given to the agent, prunes, and brings the outbox up to date."""
    now = time.time()
    state.seen += [rules.key(one) for one in found]
    tell_set_aside(folder, state, inbox, now)
    if found:
        state.write()
    inbox.change(lambda messages: rules.pruned(rules.marked(state.kept(messages), state.seen, READ), READ, now))
    if state.queued or state.pending:
        flush(folder, state, now)


def after(output: BridgeOutput, said: str, folder: str, decision: str, *, tells: bool) -> None:
    """Brings what was said to the outbox; in a sprint the next task follows, unless a person said STOP."""
    if not is_own_folder(folder):
        return
    try:
        with FolderLock(folder, HOOK_TRIES):
            _after(output, said, folder, decision, tells=tells)
    except FolderHeld:
        held = [HELD] if BridgeState(folder).sprint is not None else []
        spool(folder, [said, *held], time.time())


def _after(output: BridgeOutput, said: str, folder: str, decision: str, *, tells: bool) -> None:
    now = time.time()
    state, inbox = BridgeState(folder), MessageFile(folder, INBOX, READ)
    collect(folder, state)
    sprint = _running(state)
    if not said and sprint is None and not state.queued:
        if state.note(busy=False):
            state.write()
        return
    found = state.unread(inbox.messages()) if sprint else []
    if said:
        queue(folder, state, said, now)
    prompt = ""
    given: list[BridgeMessage] = []
    if sprint is not None:
        prompt, given = _next(sprint, said, found, state, folder, tells=tells)
    state.note(busy=bool(prompt))
    flush(folder, state, now)
    if prompt:
        output.print({"decision": decision, "reason": prompt})
    if given or inbox.set_aside:
        confirm(folder, state, inbox, given)


def _running(state: BridgeState) -> Rounds | None:
    """The sprint that this session is in."""
    if state.sprint is None:
        return None
    from farhand.bridge.hook import rounds

    return rounds.read_rounds(state.sprint)


def _next(
    sprint: Rounds, said: str, found: list[BridgeMessage], state: BridgeState, folder: str, *, tells: bool
) -> tuple[str, list[BridgeMessage]]:
    """The next prompt of the sprint (none: it is over), and which messages went with it."""
    from farhand.bridge.hook import rounds

    stops = [one for one in found if rules.is_stop(rules.text_of(one))]
    decided = rounds.after_turn(sprint, said, stopped=state.stopping or bool(stops))
    state.sprint, state.stopping = decided.rounds and decided.rounds.stored(), False
    queue(folder, state, decided.report, time.time())
    if decided.rounds is None:
        # The turn is over and the sprint with it: the STOP has done what it was for.
        return "", stops
    if not tells or not found:
        return decided.prompt, []
    return f"{decided.prompt}\n\n{take(found, state)}", found


def _payload(data: bytes) -> dict[str, object]:
    try:
        content = quick_json.loads(data.decode("utf-8", "surrogatepass"))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def last_words(payload: dict[str, object], records: str) -> str:
    """What the agent said last in this turn: of the transcript where the payload cannot be relied on."""
    if records == "-":
        return _text(payload.get("last_assistant_message"))
    fallback = _text(payload.get("prompt_response"))
    try:
        return from_transcript(_tail(str(payload.get("transcript_path", ""))), records) or fallback
    except OSError:
        return fallback


def _tail(path: str) -> bytes:
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TRANSCRIPT_BYTES))
        return file.read()


def from_transcript(data: bytes, records: str) -> str:
    """The last record of that kind, unless a person has spoken since."""
    for line in reversed(data.splitlines()):
        record = _payload(line)
        if record.get("type") == records and _text(record.get("content")):
            return _text(record.get("content"))
        if record.get("type") == "user":
            break
    return ""


def _text(value: object) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return "" if text == SILENCE else text
