"""A conversation with a team in a terminal: what is typed becomes commands, what happens is printed as it happens."""

import os
import shlex
import uuid
from collections.abc import Callable
from typing import TextIO

import anyio
import anyio.to_thread

from farhand.model import facts
from farhand.model.commands import Answer, Command, End, Focus, Hire, Interrupt, Relaunch, Say, Tune
from farhand.model.errors import BadInput, FarhandError
from farhand.model.facts import Event
from farhand.model.ports import Hub
from farhand.model.present import Ask, Present
from farhand.model.words import HowEnded, HowSettled, Mode, Sender

HELP = """\
Type a message and Enter: it goes to the focused worker.
  @name message        say it to another worker
  /team                who is there and what they do
  /hire name [backend] take somebody on (backend: demo)
  /focus name          whom to talk to from now on
  /stop [name]         stop the running turn
  /relaunch [name]     restart the agent
  /mode [name] mode    default, auto_edit, plan or yolo
  /end name            let somebody go
  /quit                leave
A question with numbered choices is answered by its number, or a number and a word of advice."""


class Terminal:
    """Where the conversation is shown and typed."""

    def __init__(self, reading: TextIO, writing: TextIO) -> None:
        self._reading = reading
        self._writing = writing
        self._fresh = True
        self._colours = writing.isatty() and "NO_COLOR" not in os.environ

    async def line(self) -> str | None:
        """The next line that is typed; None at the end."""
        text = await anyio.to_thread.run_sync(self._reading.readline, abandon_on_cancel=True)
        self._fresh = True
        return text.rstrip("\n") if text else None

    def tell(self, text: str, style: str = "") -> None:
        """Prints whole lines."""
        if not self._fresh:
            self._writing.write("\n")
        self._writing.write(self._styled(text, style) + "\n")
        self._writing.flush()
        self._fresh = True

    def stream(self, text: str, style: str = "") -> None:
        """Prints a piece of running text."""
        if text:
            self._writing.write(self._styled(text, style))
            self._writing.flush()
            self._fresh = text.endswith("\n")

    def _styled(self, text: str, style: str) -> str:
        codes = {"dim": "2", "bold": "1", "red": "31", "yellow": "33", "green": "32"}
        return f"\x1b[{codes[style]}m{text}\x1b[0m" if style and self._colours else text


class Conversation:
    """One person at one terminal."""

    def __init__(self, hub: Hub, terminal: Terminal) -> None:
        self._hub = hub
        self._terminal = terminal
        self._speaking: tuple[str, str | None] = ("", None)
        self._sender = Sender(via="chat", who=os.environ.get("USER", ""))

    async def run(self) -> None:
        """Talks until /quit or the end of input."""
        present = await self._hub.look()
        self._terminal.tell("farhand: /help tells what you can type, /quit leaves.", "dim")
        self._terminal.tell(team_lines(present), "dim")
        for ask in _open_asks(present):
            self._terminal.tell(ask_lines(ask.worker, ask), "yellow")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._show, present.seq)
            while (line := await self._terminal.line()) is not None and line.strip() != "/quit":
                await self._obey(line.strip())
            tasks.cancel_scope.cancel()

    async def _obey(self, line: str) -> None:
        if not line:
            return
        try:
            present = await self._hub.look()
            if line == "/help":
                self._terminal.tell(HELP)
            elif line == "/team":
                self._terminal.tell(team_lines(present))
            else:
                await self._hub.send(read_line(line, present, lambda: uuid.uuid4().hex), self._sender)
        except FarhandError as error:
            self._terminal.tell(error.text, "red")

    async def _show(self, after: int) -> None:
        async for event in self._hub.watch(after=after):
            self._show_event(event)

    def _show_event(self, event: Event) -> None:
        fact = event.fact
        match fact:
            case facts.Said(text=text):
                self._begin(event)
                self._terminal.stream(text)
            case facts.Thought(text=text):
                self._begin(event)
                self._terminal.stream(text, "dim")
            case facts.AskRaised():
                self._terminal.tell(ask_lines(event.worker, fact), "yellow")
            case facts.TurnStarted():
                pass
            case _:
                if line := event_line(event):
                    self._terminal.tell(line, "red" if "✗" in line else "dim")
        if not isinstance(fact, facts.Said | facts.Thought | facts.Used):
            self._speaking = ("", None)

    def _begin(self, event: Event) -> None:
        """Names the speaker when it is another than before."""
        if self._speaking != (event.worker, event.turn):
            self._terminal.tell(f"{event.worker}:", "bold")
            self._speaking = (event.worker, event.turn)


def event_line(event: Event) -> str:
    """One line for what is no part of an answer; empty for what need not be shown."""
    fact, worker = event.fact, event.worker
    match fact:
        case facts.ToolStarted(title=title):
            return f"  ⚙ {title}"
        case facts.ToolEnded(ok=ok, output=output):
            first = output.strip().splitlines()[0][:100] if output.strip() else "done"
            return f"  {'✓' if ok else '✗'} {first}"
        case facts.Showed(file=file):
            return f"  ▣ {file.path} {file.caption}".rstrip()
        case facts.AskSettled(how=how, choice=choice, by=by):
            who = f" over {by.via}" if by else ""
            return f"  ({choice}{who})" if how is HowSettled.ANSWERED else f"  ({how.value})"
        case facts.TurnEnded(how=HowEnded.COMPLETED):
            return ""
        case facts.TurnEnded(how=how, error=error):
            return f"{worker}: ✗ {how.value}{': ' + error if error else ''}"
        case facts.Hired(backend=backend):
            return f"{worker} is hired ({backend})."
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
        case facts.Noted(text=text):
            return f"{worker}: {text}"
        case _:
            return ""


def team_lines(present: Present) -> str:
    """Who is there and what they do."""
    if not present.workers:
        return "No team members yet. Add someone with /hire <name>."
    lines = []
    for worker in present.workers.values():
        mark = "›" if worker.name == present.focus else " "
        queued = f", {len(worker.queue)} queued" if worker.queue else ""
        lines.append(f"{mark} {worker.name} ({worker.state}, backend={worker.backend}{queued})")
    return "\n".join(lines)


def ask_lines(worker: str, ask: Ask | facts.AskRaised) -> str:
    """A question with its numbered choices."""
    detail = f"\n{ask.detail}" if ask.detail else ""
    choices = "\n".join(f"  {number}. {choice.label}" for number, choice in enumerate(ask.choices, 1))
    return f"? {worker} asks: {ask.question}{detail}\n{choices}"


def _open_asks(present: Present) -> list[Ask]:
    found = [ask for worker in present.workers.values() for ask in worker.asks if ask.settled is None]
    return sorted(found, key=lambda ask: ask.seq)


def read_line(line: str, present: Present, new_id: Callable[[], str]) -> Command:
    """The command that a typed line means. Pure."""
    asks = _open_asks(present)
    number, _, advice = line.partition(" ")
    if asks and number.isascii() and number.isdigit() and 1 <= int(number) <= len(asks[0].choices):
        chosen = asks[0].choices[int(number) - 1].id
        return Answer(id=new_id(), ask=asks[0].id, choice=chosen, note=advice.strip())
    if line.startswith("@"):
        name, _, text = line[1:].partition(" ")
        return Say(id=new_id(), worker=name, text=text)
    if line.startswith("/"):
        return _slash(line, new_id)
    return Say(id=new_id(), text=line)


def _slash(line: str, new_id: Callable[[], str]) -> Command:
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
        case "stop", [] | [_]:
            return Interrupt(id=new_id(), worker=one)
        case "relaunch", [] | [_]:
            return Relaunch(id=new_id(), worker=one)
        case "mode", [*name, mode] if mode in {known.value for known in Mode} and len(name) < 2:
            return Tune(id=new_id(), worker=name[0] if name else "", mode=Mode(mode))
        case _:
            raise BadInput(f"'{line}' is nothing that can be done here; /help tells what can.")
