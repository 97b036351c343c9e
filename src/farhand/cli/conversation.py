"""A conversation with a team in a terminal: what is typed becomes commands, what happens is printed as it happens."""

import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias, assert_never

import anyio

from farhand.channels.kit.bot import history_text
from farhand.channels.kit.held_texts import taken_back
from farhand.channels.kit.said_elsewhere import desk_line
from farhand.channels.kit.shared_answers import shared_answer
from farhand.cli.conversation_lines import (
    ask_lines,
    done_line,
    event_line,
    help_text,
    open_asks,
    progress_lines,
    prompt,
    said_line,
    session_lines,
    settled_line,
    team_lines,
)
from farhand.cli.terminal import ConversationTerminal
from farhand.cli.while_away import KeepsPlace, missed_lines
from farhand.model import ask_text, facts, grammar, slash, wishes
from farhand.model.answers import Answered, OutOfRange, denial, meant_yes, read_answer
from farhand.model.commands import Answer, Command, Focus, Interrupt, Say
from farhand.model.errors import FarhandError
from farhand.model.facts import Event
from farhand.model.names import origin
from farhand.model.ports import Hub
from farhand.model.present import Ask, Present
from farhand.model.present_fold import fold
from farhand.model.provenance import NODES_OWN
from farhand.model.slash import Surface
from farhand.model.visible import visible
from farhand.model.wishes import DEVICES_AT_SHELL, DeviceWish, InfoRequest, Listing, Quit, Tell, Unsure, Wish, Wrong
from farhand.model.words import AskKind, MessageId, Sender, Word, replace

TERMINAL = slash.terminal()
MOST_PATHS = 200
# What is typed to decide about a line that was asked back.
DENY_WITH_IT = frozenset({"d", "deny"})
SAY_IT_AFTER = frozenset({"s", "say", "after"})
ALLOW_IT = frozenset({"a", "allow"})
INSTEAD = frozenset({"m", "o"})
STOP_IT = frozenset({"x", "stop"})


class AskedBack(Word):
    """A line that is no answer to the question at the prompt, or perhaps an order: it goes nowhere until the person
    says where."""

    ask: str
    deny: str
    tell: Tell
    # What a plain yes would have chosen, where it begins with one, and its label.
    allow: str = ""
    allow_label: str = ""
    # Where it may be an order.
    unsure: Unsure | None = None
    # What it is where it is for the node, or for another worker.
    instead: Wish | None = None
    # What a stop took back, where it was one.
    back: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What the person is asked."""
        if self.back:
            return f"s: say {'it' if len(self.back) == 1 else 'them'} to {self.tell.worker} after all."
        if self.unsure is not None and self.instead is not None:
            first = f"m: {self.unsure.label}" if self.unsure.command else f"o: say it to {self.unsure.other}"
            return f"{self.unsure.question} {first}, s: say it to {self.unsure.worker}."
        if self.unsure is not None:
            return f"{self.unsure.question} {'x: stop it, ' if self.unsure.can_stop else ''}s: say it."
        deny = "d: deny with this, " if self.deny else ""
        allow = f"a: {self.allow_label}, " if self.allow else ""
        return f"{self.tell.worker} waits for your answer. {allow}{deny}s: say it after, or answer."


NodeStatus: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]


class TerminalConversation:
    """One person at one terminal."""

    def __init__(
        self,
        hub: Hub,
        terminal: ConversationTerminal,
        *,
        who: str = "",
        leaving: str = "leaves",
        surface: Surface = TERMINAL,
        place: KeepsPlace | None = None,
        status: NodeStatus | None = None,
    ) -> None:
        self._place = place
        self._status = status
        self._hub = hub
        self._terminal = terminal
        self._sender = Sender(via="chat", who=who)
        self._leaving = leaving
        self._surface = surface
        self._asked_back: AskedBack | None = None
        # What was said here, by the ids of its commands: the door may call its sender otherwise.
        self._said: set[str] = set()
        # The calls of tools behind which their worker has spoken already.
        self._open_calls: dict[str, set[str]] = {}
        self._spoken_over: set[str] = set()
        # The present as it has been shown: it moves with every event.
        self._present = Present()

    async def run(self) -> None:
        """Talks until /quit or the end of input."""
        self._present = present = await self._hub.look()
        self._terminal.candidates = self._candidates
        self._ask_for_input()
        self._terminal.tell(f"Type a message. /help tells what else there is, /quit {self._leaving}.", "dim")
        self._terminal.tell(team_lines(present, time.time()), "dim")
        if missed := await missed_lines(self._hub, present, self._place.read() if self._place else None):
            self._terminal.tell(missed)
        for ask in open_asks(present):
            self._show_ask(ask.worker, ask)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._show, present.seq)
                while (line := await self._terminal.line()) is not None and await self._take(line.strip()):
                    pass
                tasks.cancel_scope.cancel()
        finally:
            if self._place:
                self._place.keep(self._present.seq)

    def _candidates(self, word: str) -> list[str]:
        """What a word may become: a command, a worker's name, a path."""
        if word.startswith("@"):
            return [f"@{name}" for name in ("all", *self._present.workers)]
        if word.startswith("/") and "/" not in word[1:]:
            names = [f"/{one.name}" for one in self._surface.offered()]
            found = [*names, *(f"/{name}" for name in self._present.workers)]
            if any(one.startswith(word) for one in found):
                return found
        return paths(word) if "/" in word else list(self._present.workers)

    async def _take(self, line: str) -> bool:
        """Obeys a line; False when it leaves the conversation."""
        # A number answers the question that the person has seen, not one that came meanwhile.
        held, self._asked_back = self._asked_back, None
        wish: Wish | AskedBack | None = decided(line, held, uuid.uuid4().hex) if held else None
        wish = wish or read_line(line, self._present, lambda: uuid.uuid4().hex, self._surface)
        if isinstance(wish, Quit):
            return False
        if held is not None and held.back and wish is held.tell:
            await self._say_back(held)
            return True
        if isinstance(wish, AskedBack):
            self._asked_back = wish
            self._terminal.tell(wish.text, "yellow")
            return True
        try:
            await self._obey(wish)
        except FarhandError as error:
            self._refuse(error.text)
        return True

    async def _obey(self, wish: Wish | None) -> None:
        match wish:
            case None | Quit() | Unsure():
                return
            case Wrong(why=why):
                self._refuse(why)
            case InfoRequest(about="history", of=worker, count=count):
                self._terminal.tell(await history_text(self._hub, worker, count))
            case InfoRequest(about="help", of=command):
                worker = "" if command else await self._focused_can()
                self._terminal.tell(help_text(self._surface, command, worker))
            case InfoRequest():
                self._terminal.tell(self._answer(wish, await self._hub.look()))
            case Listing(backend=backend, directory=directory):
                self._terminal.tell(session_lines(await self._hub.sessions(backend, directory)))
            case Tell():
                await self._tell_workers(wish)
            case DeviceWish():
                self._refuse(DEVICES_AT_SHELL)
            case _:
                await self._send(wish)

    async def _send(self, command: Command) -> None:
        before = await self._hub.look()
        accepted = await self._hub.send(command, self._sender)
        if done := done_line(command, accepted.worker, before):
            self._terminal.tell(done, "dim")
        back = taken_back(before.workers.get(accepted.worker)) if isinstance(command, Interrupt) else []
        if back and isinstance(command, Interrupt) and command.withdraw:
            tell = Tell(id=command.id, text="", worker=accepted.worker)
            self._asked_back = AskedBack(ask="", deny="", tell=tell, back=tuple(one.text for one in back))
            self._terminal.tell(self._asked_back.text, "yellow")

    async def _say_back(self, held: AskedBack) -> None:
        """Says what a stop took back, in its order."""
        try:
            for text in held.back:
                await self._tell_workers(Tell(id=uuid.uuid4().hex, text=text, worker=held.tell.worker))
        except FarhandError as error:
            self._refuse(error.text)

    async def _focused_can(self) -> str:
        """What the focused worker can do, where the node is asked for it."""
        if self._status is None:
            return ""
        said = await self._status()
        return next((str(one.get("can", "")) for one in said["workers"] if one["name"] == said["focus"]), "")

    def _answer(self, question: InfoRequest, present: Present) -> str:
        match question.about:
            case "inbox" | "mode" | "queue" | "quiet" | "review" | "sprint" | "usage":
                return shared_answer(question.about, question.of, present, self._surface)
            case "progress":
                return progress_lines(present, time.time(), question.of)
            case "digest" | "help" | "history" | "settings" | "start" | "team":
                return team_lines(present, time.time())
            case _:
                assert_never(question.about)

    async def _tell_workers(self, wish: Tell) -> None:
        present = await self._hub.look()
        if wish.focus:
            await self._hub.send(Focus(id=f"{wish.id}:focus", worker=wish.worker), self._sender)
        # Without a name the hub decides who is focused, and says so when nobody is.
        names = wishes.targets(wish, present) if wish.everybody else (wish.worker,)
        if not names:
            self._refuse(wishes.nobody_meant(wish))
        for name in names:
            if stop := wishes.stop_of(wish, name, present):
                await self._send(stop)
            else:
                await self._say(wishes.say(wish, name), present)

    async def _say(self, say: Say, present: Present) -> None:
        self._said.add(say.id)
        accepted = await self._hub.send(say, self._sender)
        if accepted.message and _is_busy(present, say.worker):
            self._terminal.tell(f"{accepted.worker} is busy: your message waits. /queue shows it.", "dim")

    def _refuse(self, why: str) -> None:
        self._terminal.tell(f"✗ {why}", "red")

    async def _show(self, after: int) -> None:
        async for event in self._hub.watch(after=after):
            before = self._present
            self._present = fold(before, event)
            self._ask_for_input()
            self._show_event(event, before)

    def _ask_for_input(self) -> None:
        self._terminal.prompt = prompt(self._present)

    def _is_said_here(self, message: MessageId) -> bool:
        return origin(message).partition(":")[2] in self._said

    def _show_event(self, event: Event, before: Present) -> None:
        fact = event.fact
        match fact:
            case facts.AskSettled():
                self._terminal.finish(event.worker)
                self._print(settled_line(event.worker, fact, before.ask(fact.ask)))
            case facts.Said(text=text):
                self._spoken_over |= self._open_calls.pop(event.worker, set())
                self._terminal.stream(event.worker, text)
            case facts.Thought(text=text):
                self._terminal.stream(event.worker, text, "dim")
            case facts.Queued(text=text, by=by) if by.via not in NODES_OWN and not self._is_said_here(fact.message):
                # What was said elsewhere, so that an answer never comes without its question.
                self._terminal.finish(event.worker)
                self._terminal.tell(said_line(event.worker, text, by), "cyan")
            case facts.TurnStarted(message=None, text=text) if text.strip():
                self._terminal.finish(event.worker)
                self._terminal.tell(desk_line(event.worker, text), "cyan")
            case facts.AskRaised():
                self._terminal.finish(event.worker)
                self._show_ask(event.worker, fact)
            case facts.ToolEnded(ok=True, call=call) if call in self._spoken_over:
                # The answer stands there already: nobody needs to read behind it that a tool came back.
                self._spoken_over.discard(call)
            case facts.TurnEnded():
                self._terminal.finish(event.worker)
                self._spoken_over -= self._open_calls.pop(event.worker, set())
                self._print(event_line(event))
            case _:
                self._note_call(event)
                if line := event_line(event):
                    self._terminal.finish(event.worker)
                    self._print(line)

    def _note_call(self, event: Event) -> None:
        if isinstance(event.fact, facts.ToolStarted):
            self._open_calls.setdefault(event.worker, set()).add(event.fact.call)
        elif isinstance(event.fact, facts.ToolEnded):
            self._open_calls.get(event.worker, set()).discard(event.fact.call)

    def _show_ask(self, worker: str, ask: Ask | facts.AskRaised) -> None:
        """A question; a plan is Markdown, and shown as what its worker says."""
        is_plan = ask.about is AskKind.PLAN
        if is_plan and (plan := ask_text.whole(ask)):
            self._terminal.stream(worker, visible(plan))
            self._terminal.finish(worker)
        self._terminal.tell(ask_lines(worker, ask, whole=not is_plan), "yellow")

    def _print(self, line: str) -> None:
        if line:
            self._terminal.tell(line, "red" if "✗" in line else "dim")


def paths(word: str) -> list[str]:
    """The files and folders that begin so; a folder ends with a slash."""
    folder, _, begun = word.rpartition("/")
    try:
        inside = [one for one in Path(folder or "/").expanduser().iterdir() if one.name.startswith(begun)]
    except OSError:
        return []
    return sorted(f"{folder}/{one.name}{'/' if one.is_dir() else ''}" for one in inside)[:MOST_PATHS]


def _is_busy(present: Present, name: str) -> bool:
    """Whether a message to that worker would have to wait."""
    worker = present.workers.get(name or present.focus)
    return worker is not None and (worker.turn is not None or bool(worker.queue))


def read_line(
    line: str, present: Present, new_id: Callable[[], str], surface: Surface = TERMINAL
) -> Wish | AskedBack | None:
    """What a typed line asks for: the answer to the question that the prompt names, or what the grammar reads. Pure."""
    wish = grammar.read(new_id(), line, present, surface)
    asking_now = next(iter(open_asks(present)), None)
    # A line without a name goes to whom the prompt names.
    whom = asking_now.worker if asking_now else present.focus
    said = wish.text if isinstance(wish, Tell) else line
    wish = grammar.meant(wish, said, replace(present, focus=whom), surface)
    if isinstance(wish, Unsure):
        tell, instead = Tell(id=wish.id, text=wish.text, worker=wish.worker), None
        if wish.command:
            instead = grammar.read(wish.id, f"/{wish.command}", present, surface)
        elif wish.other:
            instead = Tell(id=wish.id, text=wish.other_text, worker=wish.other)
        return AskedBack(ask="", deny="", tell=tell, unsure=wish, instead=instead)
    if not isinstance(wish, Tell) or wish.everybody:
        return wish
    ask = next((one for one in open_asks(present) if wish.worker in ("", one.worker)), None)
    if ask is None:
        return wish
    match read_answer(wish.text, ask, addressed=True):
        case Answered(choice=choice, note=note):
            return Answer(id=wish.id, ask=ask.id, choice=choice, note=note)
        case OutOfRange() as out:
            return Wrong(id=wish.id, why=out.text)
        case None:
            yes = meant_yes(wish.text, ask)
            allow, label = (yes.id, visible(yes.label)) if yes else ("", "")
            tell = replace(wish, worker=ask.worker)
            return AskedBack(ask=ask.id, deny=denial(ask), tell=tell, allow=allow, allow_label=label)


def decided(line: str, held: AskedBack, identity: str) -> Wish | None:
    """What shall become of a line that was asked back; None when something else is typed."""
    if held.unsure is not None and held.unsure.can_stop and line.lower() in STOP_IT:
        return Interrupt(id=identity, worker=held.unsure.worker, withdraw=True)
    if held.instead is not None and line.lower() in INSTEAD:
        return held.instead
    if line.lower() in ALLOW_IT and held.allow:
        return Answer(id=identity, ask=held.ask, choice=held.allow)
    if line.lower() in DENY_WITH_IT and held.deny:
        return Answer(id=identity, ask=held.ask, choice=held.deny, note=held.tell.text)
    return held.tell if line.lower() in SAY_IT_AFTER else None
