"""The desk of `farhand tui` over one agent of the SDK: what is typed becomes commands of this one conversation."""

from __future__ import annotations

import argparse
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.channels.kit import queue_texts
from farhand.cli.earlier_sessions import of_agent
from farhand.cli.remote_control import sdk_action
from farhand.model import commands, grammar, slash, slash_argument
from farhand.model.answers import Answered, OutOfRange, read_answer
from farhand.model.errors import BadInput, FarhandError, NotAllowed
from farhand.model.live_session import MessageState, SessionMessage, SessionName
from farhand.model.present import Message, Present, Turn, Worker
from farhand.model.slash import Slash, Surface, help_lines
from farhand.model.wishes import InfoRequest, Listing, Quit, Tell, Unsure, Wish, Wrong
from farhand.model.words import Sender
from farhand.remote.sdk_session import SdkSession
from farhand.sdk.agent import Agent
from farhand.sdk.errors import SdkError
from farhand.sdk.policies.rules import MODES
from farhand.tui.desk import Completion, EarlierSessions
from farhand.tui.status_line import short_path

# The commands of the one table that make sense with one agent and no node.
NAMES = frozenset("pause queue drop usage mode model commands quit".split())
SESSIONS = Slash(
    "sessions",
    "",
    "Go on with an earlier conversation of this folder",
    slash_argument.read_sessions,
    slash.HERE,
    aliases=("resume",),
)
TABLE = (SESSIONS, *(one for one in slash.SLASHES if one.name in NAMES))
SURFACE = Surface(slash.TERMINAL, passes_on=True, table=TABLE)
AGENT = "agent"
MOST_FILES = 200
HIDDEN_FOLDERS = frozenset((".git", "node_modules", ".venv", "__pycache__"))


class AgentDesk:
    """One agent, one conversation at a time. `run` works in the one that is shown until it is cancelled."""

    def __init__(self, session: SdkSession) -> None:
        self.session = session
        self.title = "farhand"
        self.names: tuple[SessionName, ...] = ()
        self.leaving = anyio.Event()
        self._other_shown = anyio.Event()
        # A lone order that was typed where there is nothing to obey.
        self._asked_back = ""

    @property
    def uploads(self) -> Path:
        """Where files go that programs send."""
        return self.session.agent.temporary_folder() / "uploads"

    def set_ready(self, ready: bool) -> None:
        """The screen is there, or gone."""
        self.session.set_ready(ready)

    async def run(self) -> None:
        """Runs the turns of the conversation that is shown; one that was left for another is closed."""
        async with _closed_whole(self.session.agent):
            while True:
                live, left = self.session, self._other_shown
                async with _closed_whole(live.session), anyio.create_task_group() as tasks:
                    tasks.start_soon(live.run, name="turns")
                    await left.wait()
                    tasks.cancel_scope.cancel()

    async def names_changed(self) -> None:
        """As `Desk.names_changed`: there is but one, and another one in its place when that was chosen."""
        await self._other_shown.wait()

    async def earlier(self, text: str) -> EarlierSessions | None:
        """As `Desk.earlier`."""
        if not text.startswith("/") or not isinstance(self._wish(text), Listing):
            return None
        agent = self.session.agent
        recorded = await anyio.to_thread.run_sync(agent.sessions)
        return of_agent(recorded, self.session.session.id, short_path(str(agent.cwd)), time.time())

    async def resume(self, session: str) -> str:
        """As `Desk.resume`. A turn is neither left behind nor stopped by it."""
        live = self.session
        if session == live.session.id:
            return ""
        if live.log.status.running:
            raise BadInput("The agent is still working: Esc stops it, or wait for its end. Then choose again.")
        try:
            opened = await live.agent.resume_session(session)
        except SdkError as error:
            raise BadInput(str(error)) from None
        self.session = SdkSession(live.agent, opened, sdk_action, time.time)
        self.session.set_ready(live.log.status.ready)
        self._other_shown.set()
        self._other_shown = anyio.Event()
        return ""

    async def select(self, name: str) -> None:
        """As `Desk.select`: there is but one."""

    def completions(self, word: str, *, first: bool) -> list[Completion]:
        """As `Desk.completions`."""
        if word.startswith("/") and first:
            return slash_completions(SURFACE, word)
        return file_completions(word, self.session.agent.cwd) if word.startswith("@") else []

    async def submit(self, text: str, key: str = "", *, may_allow: bool = True) -> SessionMessage | None:
        """As `Desk.submit`."""
        if may_allow and self.session.log.asks and not text.startswith("/"):
            answered = read_answer(text, self.session.log.asks[0], addressed=True)
            match answered:
                case Answered(choice=choice, note=note):
                    await self.session.answer(self.session.log.asks[0].id, choice, note)
                    return None
                case OutOfRange() as out:
                    raise BadInput(out.text)
                case None:
                    pass
        wish = self._wish(text)
        if isinstance(wish, Tell) and not text.startswith("/"):
            return await self.session.say(text, key)
        if isinstance(wish, commands.Tune) and not may_allow:
            raise NotAllowed("The mode and the model are changed at the keyboard, or with a key (FARHAND_REMOTE_KEY).")
        return await self._obey(wish, key) if wish is not None else None

    def _wish(self, text: str) -> Wish | None:
        """What is meant; a lone `stop` is an order, and said to the agent only where it is typed a second time."""
        present, again = _present(self.session), text.strip() == self._asked_back
        # A mention is a file's name here.
        read = grammar.read(uuid.uuid4().hex, text, present, SURFACE) if text.startswith("/") else None
        told = Tell(id=uuid.uuid4().hex, text=text)
        wish = read or (told if again else grammar.meant(told, text, present, SURFACE))
        if isinstance(wish, Unsure) and wish.command and SURFACE.find(wish.command.split()[0]) is None:
            # Here is no team.
            wish = told
        self._asked_back = text.strip() if isinstance(wish, Unsure) else ""
        return wish

    async def _obey(self, wish: Wish, key: str) -> SessionMessage | None:
        match wish:
            case Quit():
                self.leaving.set()
            case Wrong(why=why):
                raise BadInput(why)
            case Unsure(command=command, text=text) if command:
                raise BadInput(f"/{command} does it here. Type it once more to say “{text.strip()}” to the agent.")
            case Unsure(text=text):
                raise BadInput(f"There is nothing to obey. Type it once more to say “{text.strip()}” to the agent.")
            case Tell(text=text):
                return await self._say(text, key)
            case commands.Interrupt():
                return await self._stop()
            case commands.Withdraw(message=message):
                await self.session.withdraw(int(message))
                return self.session.notice("Taken back.")
            case commands.Tune():
                return self._tune(wish)
            case Listing():
                return self.session.notice(self._sessions())
            case InfoRequest():
                return self.session.notice(self._told(wish))
            case _:
                raise BadInput("That is for a team: farhand tui --team.")
        return None

    async def _stop(self) -> SessionMessage:
        """Ends the turn and takes back what waits: nothing goes on by itself."""
        before = _present(self.session).workers[AGENT]
        for one in _waiting(self.session):
            await self.session.withdraw(one.id)
        await self.session.interrupt()
        return self.session.notice(queue_texts.stopped(before, "the agent", withdraw=True))

    async def _say(self, text: str, key: str) -> SessionMessage:
        """A message, or a command of the agent's extensions: its turn fills it in and asks before it runs one."""
        if text.startswith("/"):
            try:
                await self.session.session.prepare()
            except SdkError as error:
                raise BadInput(str(error)) from None
            name = text.removeprefix("/").split(maxsplit=1)[:1]
            if not name or name[0] not in self.session.session.additions.commands:
                raise BadInput(f"There is no command {text.split(maxsplit=1)[0][:40]}. /help tells what can be typed.")
        return await self.session.say(text, key)

    def _tune(self, wish: commands.Tune) -> SessionMessage:
        if wish.mode is not None:
            self.session.use_mode(next(mode for mode in MODES if mode == wish.mode.value))
        if wish.model is not None:
            try:
                self.session.use_model(wish.model)
            except SdkError as error:
                raise BadInput(str(error)) from None
        status = self.session.log.status
        return self.session.notice(f"Model {status.model or 'by the settings'}, mode {status.mode}.")

    def _told(self, wish: InfoRequest) -> str:
        status = self.session.log.status
        match wish.about:
            case "mode":
                return f"Model {status.model or 'by the settings'}, mode {status.mode}."
            case "queue":
                waiting = _waiting(self.session)
                lines = [f"{place}. {one.text}" for place, one in enumerate(waiting, 1)]
                return "\n".join(lines) or "Nothing waits."
            case "usage":
                return f"{status.tokens:,} tokens so far."
            case _:
                return help_lines(SURFACE)

    def _sessions(self) -> str:
        found = self.session.agent.sessions()[:20]
        lines = [f"{one.id}  {one.updated[:16].replace('T', ' ')}  {one.name or one.opening}"[:160] for one in found]
        return "\n".join([*lines, "farhand tui --resume <id> goes on with one."]) if lines else "None is recorded yet."


async def open_desk(arguments: argparse.Namespace) -> AgentDesk:
    """The agent of this folder with a new conversation, or the one to go on with. Raises FarhandError."""
    try:
        agent = Agent(cwd=arguments.cwd, model=arguments.model, mode=arguments.approval_mode, interactive=True)
        session = await agent.resume_session(arguments.resume) if arguments.resume else agent.session()
    except SdkError as error:
        raise FarhandError(str(error)) from None
    return AgentDesk(SdkSession(agent, session, sdk_action, time.time))


@asynccontextmanager
async def _closed_whole(opened: AbstractAsyncContextManager[object]) -> AsyncIterator[None]:
    """Closed to its end, also when whoever held it is cancelled: hooks hear of it, what ran is stopped."""
    await opened.__aenter__()
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await opened.__aexit__(None, None, None)


def _waiting(session: SdkSession) -> list[SessionMessage]:
    return [one for one in session.log.messages if one.state is MessageState.QUEUED]


def _present(session: SdkSession) -> Present:
    """The one agent as a team of one, for the grammar that all surfaces share."""
    here = Sender(via="tui")
    queue = tuple(Message(id=str(one.id), text=one.text, at=one.at, by=here) for one in _waiting(session))
    turn = Turn(id="turn", seq=0, at=0.0) if session.log.status.running else None
    worker = Worker(name=AGENT, since=0, backend=AGENT, directory="", online=True, queue=queue, turn=turn)
    return Present(focus=AGENT, workers={AGENT: worker})


def slash_completions(surface: Surface, word: str) -> list[Completion]:
    """The commands that begin so."""
    found = [one for one in surface.offered() if f"/{one.name}".startswith(word)]
    return [Completion(text=f"/{one.name}{' ' if one.usage else ''}", help=one.help) for one in found]


def file_completions(word: str, directory: Path) -> list[Completion]:
    """The files and folders that begin so, as `@path`; a folder ends with a slash."""
    folder, _, begun = word[1:].rpartition("/")
    try:
        place = directory / Path(folder).expanduser() if folder else directory
        inside = [one for one in place.iterdir() if one.name.startswith(begun) and one.name not in HIDDEN_FOLDERS]
        names = sorted(f"{one.name}{'/' if one.is_dir() else ''}" for one in inside)
    except (OSError, RuntimeError, ValueError):
        return []
    start = f"@{folder}/" if folder else "@"
    return [Completion(text=f"{start}{name}") for name in names[:MOST_FILES]]
