"""A conversation with a team in a terminal: what is typed becomes commands, what happens is printed as it happens."""

import re
import shlex
import time
import uuid
from collections.abc import Callable

import anyio

from farhand.cli.terminal import ConversationTerminal
from farhand.model import facts
from farhand.model.commands import (
    Answer,
    Command,
    End,
    Focus,
    Hire,
    Interrupt,
    Relaunch,
    Retry,
    Reword,
    Say,
    Steer,
    Tune,
    Withdraw,
)
from farhand.model.errors import BadInput, FarhandError
from farhand.model.facts import Event
from farhand.model.ports import Hub, SessionFound
from farhand.model.present import Ask, Message, Present, Worker, fold
from farhand.model.words import HowEnded, HowSettled, Mode, Sender

# The numbers that a line begins with, when it answers a question.
ONE = re.compile(r"([0-9]{1,3})(?=\s|$)")
EDIT = re.compile(r"/edit\s+([0-9]{1,4})\s+(.+)", re.DOTALL)
SEVERAL = re.compile(r"([0-9]{1,3}(?:\s*,\s*[0-9]{1,3})*)(?=\s|$)")
HELP = """\
Type a message and Enter: it goes to the worker that the prompt names. A busy worker takes it after its turn.
  @name message        say it to another worker
  /team                who is there and what they do
  /hire name [backend] take somebody on; the backend is demo unless you name one
  /focus name          whom to talk to from now on
  /queue               the messages that wait for their turn, with their numbers
  /now n               put a message that waits into the running turn, where the agent can
  /edit n message      say it otherwise
  /drop n              take it back
  /stop [name]         stop the running turn
  /relaunch [name]     restart the agent, for one that is offline or stuck
  /retry [name]        go on with what waits, although a usage limit may still hold
  /mode [name] mode    default, auto_edit, plan or yolo
  /end name            let somebody go
  /sessions [backend] [folder]     conversations that agents have on this machine
  /adopt backend session [name]    take one up as a worker
  /handback name       end a worker and go on with its conversation at the desk
  /quit                leave; so do Ctrl-D and Ctrl-C on an empty line
A question is answered by the number of a choice, and a word of advice after it if you like: 2 not on a Friday.
Where several may be chosen, their numbers go with commas between them: 1,3."""


class TerminalConversation:
    """One person at one terminal."""

    def __init__(self, hub: Hub, terminal: ConversationTerminal, *, who: str = "", leaving: str = "leaves") -> None:
        self._hub = hub
        self._terminal = terminal
        self._sender = Sender(via="chat", who=who)
        self._leaving = leaving
        # The present as it has been shown: it moves with every event.
        self._present = Present()

    async def run(self) -> None:
        """Talks until /quit or the end of input."""
        self._present = present = await self._hub.look()
        self._ask_for_input()
        self._terminal.tell(f"Type a message. /help tells what else there is, /quit {self._leaving}.", "dim")
        self._terminal.tell(team_lines(present, time.time()), "dim")
        for ask in _open_asks(present):
            self._terminal.tell(ask_lines(ask.worker, ask), "yellow")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._show, present.seq)
            while (line := await self._terminal.line()) is not None and line.strip() not in ("/quit", "/exit"):
                await self._obey(line.strip())
            tasks.cancel_scope.cancel()

    async def _obey(self, line: str) -> None:
        if not line:
            return
        try:
            if line in ("/help", "/?"):
                self._terminal.tell(HELP)
            elif line.split(maxsplit=1)[0] == "/sessions":
                self._terminal.tell(session_lines(await self._hub.sessions(*read_sessions(line))))
            elif line == "/team":
                self._terminal.tell(team_lines(await self._hub.look(), time.time()))
            elif line == "/queue":
                self._terminal.tell(queue_lines(await self._hub.look()))
            else:
                # A number answers the question that the person has seen, not one that came meanwhile.
                command = read_line(line, self._present, lambda: uuid.uuid4().hex)
                busy = isinstance(command, Say) and _is_busy(await self._hub.look(), command.worker)
                accepted = await self._hub.send(command, self._sender)
                if busy:
                    self._terminal.tell(f"{accepted.worker} is busy: your message waits. /queue shows it.", "dim")
        except FarhandError as error:
            self._terminal.tell(f"✗ {error.text}", "red")

    async def _show(self, after: int) -> None:
        async for event in self._hub.watch(after=after):
            self._present = fold(self._present, event)
            self._ask_for_input()
            self._show_event(event)

    def _ask_for_input(self) -> None:
        self._terminal.prompt = prompt(self._present)

    def _show_event(self, event: Event) -> None:
        fact = event.fact
        match fact:
            case facts.Said(text=text):
                self._terminal.stream(event.worker, text)
            case facts.Thought(text=text):
                self._terminal.stream(event.worker, text, "dim")
            case facts.AskRaised():
                self._terminal.finish(event.worker)
                self._terminal.tell(ask_lines(event.worker, fact), "yellow")
            case facts.TurnEnded():
                self._terminal.finish(event.worker)
                self._tell(event_line(event))
            case _:
                if line := event_line(event):
                    self._terminal.finish(event.worker)
                    self._tell(line)

    def _tell(self, line: str) -> None:
        if line:
            self._terminal.tell(line, "red" if "✗" in line else "dim")


def prompt(present: Present) -> str:
    """Whom the next line goes to: the worker who asks, with the numbers it takes, or the focused one and its state."""
    asks = _open_asks(present)
    if asks:
        return f"{asks[0].worker} 1-{len(asks[0].choices)}> "
    focused = present.workers.get(present.focus)
    return f"{present.focus} (working)> " if focused and focused.turn else f"{present.focus}> "


def _is_busy(present: Present, name: str) -> bool:
    """Whether a message to that worker would have to wait."""
    worker = present.workers.get(name or present.focus)
    return worker is not None and (worker.turn is not None or bool(worker.queue))


_SETTLED = {
    HowSettled.ANSWERED: "answered",
    HowSettled.DESK: "answered at the desk",
    HowSettled.EXPIRED: "nobody answered in time: denied",
    HowSettled.WITHDRAWN: "the question is off: its turn is over",
}


def event_line(event: Event) -> str:
    """One line for what is no part of an answer; empty for what need not be shown."""
    fact, worker = event.fact, event.worker
    match fact:
        case facts.ToolStarted(title=title):
            return f"  ⚙ {title}"
        case facts.ToolEnded(ok=ok, output=output):
            first = output.strip().splitlines()[0][:100] if output.strip() else "done" if ok else "failed"
            return f"  {'✓' if ok else '✗'} {first}"
        case facts.Showed(file=file):
            return f"  ▣ {file.path} {file.caption}".rstrip()
        case facts.AskSettled(how=how, choice=choice, by=by):
            over = f" over {by.via}" if by else ""
            return f"  answered: {choice}{over}" if how is HowSettled.ANSWERED else f"  {_SETTLED[how]}"
        case facts.TurnEnded(how=HowEnded.COMPLETED | HowEnded.PARKED):
            return ""
        case facts.TurnEnded(how=how, error=error):
            return f"{worker}: ✗ {how.value}{': ' + error if error else ''}"
        case facts.Hired(session=session) if session:
            note = f" {fact.note}" if fact.note else ""
            last = f"\nIts last answer:\n{fact.answer}" if fact.answer else ""
            return f"{worker} goes on with a conversation of {fact.backend} in {fact.directory}.{note}{last}"
        case facts.Hired(backend=backend):
            return f"{worker} is hired ({backend})."
        case facts.Ended(resume=resume) if resume:
            return f"{worker} is handed back. Go on at the desk with: {resume}"
        case facts.Ended():
            return f"{worker} left the team."
        case facts.Focused():
            return f"Now talking to {worker}."
        case facts.WentOffline(why=why):
            return f"{worker} is offline: {why}"
        case facts.CameOnline():
            return f"{worker} is online."
        case facts.Doubted(why=why):
            return f"{worker}: ✗ nobody can tell whether the message arrived. {why}"
        case facts.Tuned(refused=refused):
            return f"{worker}: ✗ {refused}" if refused else f"{worker} is tuned."
        case facts.Limited(until=until, again=before):
            # Tried again without knowing when the limit ends: that it still holds is no news.
            return f"{worker}: ✗ the usage limit is reached{_until(until)}." if until or not before else ""
        case facts.LimitLifted():
            return f"{worker} is tried again: its usage limit should be over."
        case facts.Noted(text=text) | facts.Responded(text=text):
            return f"{worker}: {text}"
        case _:
            return ""


def read_sessions(line: str) -> tuple[str, str]:
    """The backend and the folder of `/sessions [backend] [folder]`; what has a slash in it is a folder."""
    asked = line.split(maxsplit=2)[1:]
    if asked and "/" in asked[0]:
        return "", " ".join(asked)
    return (asked[0] if asked else "", asked[1].strip() if len(asked) > 1 else "")


def session_lines(found: list[SessionFound]) -> str:
    """Conversations that could be taken up, a line each."""
    if not found:
        return "No agent has a conversation there."
    lines = []
    for one in found:
        whose = f", {one.worker} has it" if one.worker else ", open at the desk" if one.open else ""
        when = time.strftime("%d %b %H:%M", time.localtime(one.at))
        lines.append(f"{one.backend} {one.id}  {when}{whose}\n    {one.title or '(no title)'}  [{one.directory}]")
    return "\n".join(lines)


def team_lines(present: Present, at: float) -> str:
    """Who is there and what they do."""
    if not present.workers:
        return "No team members yet. Add someone with /hire <name>."
    lines = []
    for worker in present.workers.values():
        mark = "›" if worker.name == present.focus else " "
        queued = f", {len(worker.queue)} queued" if worker.queue else ""
        lines.append(f"{mark} {worker.name} ({_state(worker, at)}, backend={worker.backend}{queued})")
    return "\n".join(lines)


def queue_lines(present: Present) -> str:
    """The messages that wait, by the numbers that `/now`, `/edit` and `/drop` know them by."""
    lines = [f"  {number}. {name}: {_one_line(one)}" for number, (name, one) in enumerate(_queued(present), 1)]
    return "\n".join(lines) or "No message waits."


def _queued(present: Present) -> list[tuple[str, Message]]:
    return [(worker.name, one) for worker in present.workers.values() for one in worker.queue]


def _one_line(message: Message) -> str:
    text = " ".join(message.text.split()) or "a file"
    return text if len(text) <= 100 else f"{text[:99]}…"


def _numbered(number: str, present: Present) -> str:
    queued = _queued(present)
    if not number.isdecimal() or not 1 <= int(number) <= len(queued):
        raise BadInput(f"No message waits under the number {number}; /queue tells which do.")
    return queued[int(number) - 1][1].id


def _state(worker: Worker, at: float) -> str:
    """Its state, with the reason when it is offline; an agent that never was online is on its way."""
    state = worker.state_at(at)
    if state == "limited" and worker.limited:
        return f"limited{_until(worker.limited.until or worker.resumes_at)}"
    if state != "offline":
        return state
    return f"offline: {worker.why_offline}" if worker.why_offline else "starting"


def _until(until: float | None) -> str:
    """When a limit ends, by the clock of this terminal; nothing when nobody knows."""
    return f" until {time.strftime('%d %B %H:%M', time.localtime(until))}" if until else ""


def ask_lines(worker: str, ask: Ask | facts.AskRaised) -> str:
    """A question with its numbered choices."""
    detail = f"\n{ask.detail}" if ask.detail else ""
    choices = "\n".join(f"  {number}. {choice.label}" for number, choice in enumerate(ask.choices, 1))
    several = "\n  Several may be chosen, with commas between them: 1,2" if ask.several else ""
    return f"? {worker} asks: {ask.question}{detail}\n{choices}{several}"


def _open_asks(present: Present) -> list[Ask]:
    found = [ask for worker in present.workers.values() for ask in worker.asks if ask.settled is None]
    return sorted(found, key=lambda ask: ask.seq)


def read_line(line: str, present: Present, new_id: Callable[[], str]) -> Command:
    """The command that a typed line means. Pure."""
    asks = _open_asks(present)
    if asks and (answered := _read_answer(line, asks[0])):
        choice, advice = answered
        return Answer(id=new_id(), ask=asks[0].id, choice=choice, note=advice)
    if line.startswith("@"):
        name, _, text = line[1:].partition(" ")
        return Say(id=new_id(), worker=name, text=text)
    if line.startswith("/"):
        return _slash(line, present, new_id)
    return Say(id=new_id(), text=line)


def _read_answer(line: str, ask: Ask) -> tuple[str, str] | None:
    """The choice of a line that begins with its number, or with several, and the advice after it."""
    found = (SEVERAL if ask.several else ONE).match(line)
    if found is None:
        return None
    places = [int(number) for number in found[1].split(",")]
    if not all(1 <= place <= len(ask.choices) for place in places):
        return None
    return ",".join(ask.choices[place - 1].id for place in places), line[found.end() :].strip()


def _slash(line: str, present: Present, new_id: Callable[[], str]) -> Command:
    if found := EDIT.match(line):
        return Reword(id=new_id(), message=_numbered(found[1], present), text=found[2])
    try:
        word, *rest = shlex.split(line[1:])
    except ValueError as error:
        raise BadInput(f"That line cannot be read: {error}.") from None
    one = rest[0] if rest else ""
    match word, rest:
        case "hire", [name]:
            return Hire(id=new_id(), worker=name, backend="demo")
        case "hire", [name, backend]:
            return Hire(id=new_id(), worker=name, backend=backend)
        case "focus", [name]:
            return Focus(id=new_id(), worker=name)
        case "end", [name]:
            return End(id=new_id(), worker=name)
        case "adopt", [backend, session] | [backend, session, _]:
            called = rest[2] if len(rest) > 2 else ""
            return Hire(id=new_id(), worker=called, backend=backend, session=session)
        case "handback", [name]:
            return End(id=new_id(), worker=name, hand_back=True)
        case "now", [number]:
            return Steer(id=new_id(), message=_numbered(number, present))
        case "drop", [number]:
            return Withdraw(id=new_id(), message=_numbered(number, present))
        case "stop", [] | [_]:
            return Interrupt(id=new_id(), worker=one)
        case "relaunch", [] | [_]:
            return Relaunch(id=new_id(), worker=one)
        case "retry", [] | [_]:
            return Retry(id=new_id(), worker=one)
        case "mode", [*name, mode] if mode in {known.value for known in Mode} and len(name) < 2:
            return Tune(id=new_id(), worker=name[0] if name else "", mode=Mode(mode))
        case _:
            raise BadInput(f"'{line}' is nothing that can be done here; /help tells what can.")
