"""A session: one conversation with an agent, its transcript, its recording, and the turns that run in it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from farhand.sdk import wire
from farhand.sdk.approve import approve
from farhand.sdk.compression import compress_session
from farhand.sdk.conversation import Restored
from farhand.sdk.errors import SessionBusy
from farhand.sdk.events import Error, Event, Finish, Notice
from farhand.sdk.history import History
from farhand.sdk.pending_questions import NOTHING_PENDING, PendingQuestions
from farhand.sdk.protocols import (
    Approval,
    Content,
    Extender,
    HookSystem,
    Memory,
    Part,
    Question,
    Reply,
    Tool,
    ToolCall,
)
from farhand.sdk.questions import OpenQuestions
from farhand.sdk.recording import new_id
from farhand.sdk.result import Result, gathered

if TYPE_CHECKING:
    from farhand.sdk.active_turn import ActiveTurn
    from farhand.sdk.additions import Additions
    from farhand.sdk.agent import Agent
    from farhand.sdk.context import LiveContext
    from farhand.sdk.loop import TurnLoop
    from farhand.sdk.models import Model
    from farhand.sdk.policies.guard import Guard
    from farhand.sdk.prompt import Prompt
    from farhand.sdk.settings import AgentSettings
    from farhand.sdk.structured import Structured
    from farhand.sdk.tool_calls import ToolCalls

T = TypeVar("T")


class Session:
    """Made by `agent.session()` and `agent.resume_session(id)`. One turn runs at a time."""

    def __init__(
        self,
        agent: Agent,
        session_id: str | None = None,
        resumed: tuple[Path, Restored] | None = None,
        pending: PendingQuestions = NOTHING_PENDING,
    ) -> None:
        self.id = session_id or new_id()
        self.agent = agent
        self.losses: tuple[str, ...] = resumed[1].losses if resumed else ()
        self._resumed = resumed
        self._open = False
        self._notices: list[Event] = []
        self.history = History(self._recording_failed)
        self._opening_context = ""
        self._number = 0
        self._running: ActiveTurn | None = None
        self._questions = OpenQuestions(pending.questions)
        self._pending = pending
        self._pausing = False
        self._calls: ToolCalls | None = None
        self.subagent_name = ""
        self.parent: Session | None = None
        self._has_tools = True
        self._stop: str | None = None

    # What tools, hooks and instructions see of the session.

    settings: AgentSettings
    memory: Memory
    hooks: HookSystem
    additions: Additions
    guard: Guard | None
    context: LiveContext
    model: Model
    model_name: str = ""
    system_prompt: str
    folder: Path

    @property
    def cwd(self) -> Path:
        """The agent's folder."""
        return self.agent.cwd

    @property
    def restored(self) -> tuple[Content, ...]:
        """What a resumed session brought along from its recording."""
        return tuple(self._resumed[1].contents) if self._resumed else ()

    @property
    def transcript_path(self) -> str:
        """Where the session is recorded; empty when it is not."""
        return self.history.path

    @property
    def transcript(self) -> list[Content]:
        """The conversation as the next model call sends it."""
        return self.history.contents

    @property
    def last_prompt(self) -> str:
        """What the person said last."""
        return self.history.last_prompt

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment, `.env` files included."""
        return self.settings.environ

    @property
    def max_turns(self) -> int:
        """How many model calls one turn may make: the agent's limit, or a lower one of the settings."""
        limit = self.settings.get("model.maxSessionTurns", -1)
        return min(self.agent.max_turns, limit) if isinstance(limit, int) and limit > 0 else self.agent.max_turns

    @property
    def output_limit(self) -> int:
        """How many characters of a tool's output the model sees."""
        return int(self.settings.get("tools.truncateToolOutputThreshold", 40_000))

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return self._running is not None

    # Turns.

    def send_stream(self, prompt: Prompt, *, output: type[Any] | None = None) -> AsyncGenerator[Event, None]:
        """Runs a turn and yields its events; the last one is `Finish`. The turn waits for its reader."""
        from farhand.sdk.prompt import to_parts

        return self._follow(lambda: to_parts(prompt, self.cwd), _structured(output))

    def retry_stream(self) -> AsyncGenerator[Event, None]:
        """Repeats the last model call, after an error or an interruption: the prompt is in the transcript already."""
        return self._follow(lambda: None, None)

    @overload
    async def send(self, prompt: Prompt) -> Result[None]: ...
    @overload
    async def send(self, prompt: Prompt, *, output: type[T]) -> Result[T]: ...
    async def send(self, prompt: Prompt, *, output: type[Any] | None = None) -> Result[Any]:
        """Runs a turn to its end. With `output`, the answer comes as that type in `.data`. A failed turn raises."""
        from farhand.sdk.prompt import to_parts

        structured = _structured(output)
        return await gathered(self._follow(lambda: to_parts(prompt, self.cwd), structured), structured)

    async def retry(self) -> Result[None]:
        """Repeats the last model call and runs the turn to its end."""
        return await gathered(self.retry_stream(), None)

    async def interrupt(self) -> bool:
        """Ends the running turn; the transcript stays whole. Returns whether there was one."""
        return self._running is not None and self._running.interrupt()

    def use_model(self, model: str | Model) -> None:
        """Goes on with another model, from the next model call on."""
        self.agent.use_model(model)
        if self._open:
            self.model, self.model_name = self.agent.open_model(self.settings)

    async def _follow(
        self, parts_of: Callable[[], list[Part] | None], structured: Structured[Any] | None
    ) -> AsyncGenerator[Event, None]:
        from farhand.sdk.active_turn import ActiveTurn
        from farhand.sdk.loop import TurnLoop

        if self.busy:
            raise SessionBusy(f"Session {self.id} is in a turn. Wait for its end, or interrupt it.")
        if self._pausing:
            raise SessionBusy(f"Session {self.id} was paused. Resume it with agent.resume_session(…).")
        parts = parts_of()
        turn = TurnLoop(self, self.emit, structured)
        async with self.agent.leased():
            running = ActiveTurn(f"turn of {self.id}", lambda: self._perform(turn, parts), lambda: turn.said)
            self._running = running
            try:
                while (event := await running.next_event()) is not None:
                    yield event
            finally:
                await running.abandon()
                self._running = None

    async def _perform(self, turn: TurnLoop, parts: list[Part] | None) -> None:
        try:
            await self._prepare()
        except Exception as error:  # noqa: BLE001 - settings, memory and hooks are the person's own files
            await self.emit(Error(str(error), getattr(error, "kind", "settings"), cause=error))
            await self.emit(Finish("error", "", str(error)))
            return
        await turn.run(parts)

    async def emit(self, event: Event) -> None:
        """Emits an event to the reader of the running turn, after queued notices; queues it when no turn runs."""
        if self._running is None:
            self._notices.append(event)
            return
        while self._notices:
            await self._running.emit(self._notices.pop(0))
        await self._running.emit(event)

    # Preparation: settings, memory, hooks, tools, recording. Once a session, before its first turn.

    async def _prepare(self) -> None:
        if self._open:
            return
        from farhand.sdk import session_setup as setup
        from farhand.sdk.context import make_context
        from farhand.sdk.first_message import system_prompt
        from farhand.sdk.memory import load_memory
        from farhand.sdk.projects import project_folder

        agent = self.agent
        self.additions = setup.load_session_additions(self)
        self.settings = self.additions.settings
        self.memory = load_memory(agent.cwd, agent.home, self.settings) if agent.loads else Memory()
        if self.additions.memory:
            texts = (self.additions.memory, self.memory.project_text)
            self.memory = replace(self.memory, project_text="\n\n".join(text for text in texts if text))
        self.folder = project_folder(agent.cwd, agent.home) if agent.records else agent.temporary_folder()
        self.model, self.model_name = agent.open_model(self.settings)
        self.system_prompt = (
            system_prompt(self.environ, agent.cwd) if agent.system_prompt is None else agent.system_prompt
        )
        if agent.records:
            path = self._resumed[0] if self._resumed else setup.recording_path(self)
            kind = "main" if self.parent is None else "subagent"
            self.history.record(path, self.id, self.cwd, kind, self._pending.message)
        self.context = make_context(self)
        self.hooks, hook_warnings = setup.load_session_hooks(self)
        self.guard = setup.load_guard(self)
        self.history.start(setup.opening(self), self.restored)
        self._notices += [Notice(warning, "hooks") for warning in hook_warnings]
        self._notices += [Notice(warning, "policies") for warning in self.guard.warnings] if self.guard else []
        self._notices += [Notice(loss, "resume") for loss in self.losses]
        self._notices += [Notice(warning, "settings") for warning in self.settings.warnings]
        self._notices += [Notice(complaint, "extensions") for complaint in self.additions.complaints]
        self._open = True
        await self._fire_start()

    def _recording_failed(self, message: str) -> None:
        self._notices.append(Error(message, "recording", fatal=False))

    async def _fire_start(self) -> None:
        source = "resume" if self._resumed else "startup"
        if self.hooks.listens("SessionStart", source):
            outcome = await self.hooks.fire("SessionStart", {"source": source}, self.context)
            self._opening_context = outcome.additional_context or ""
            if outcome.system_message:
                self._notices.append(Notice(outcome.system_message, "SessionStart"))

    @property
    def extenders(self) -> tuple[Extender, ...]:
        """What adds tools and instructions: skills, subagents, extensions, the agent's own, and MCP servers."""
        # A subagent was given those of its parent's tools that it may use, its servers' among them.
        own = self.agent.extenders_for(self.settings) if self.agent.loads_additions else self.agent.extenders
        return (*self.additions.extenders, *own)

    def become_subagent(self, name: str, parent: Session) -> None:
        """Makes a session that has not begun one of a subagent: recorded under its parent, under the rules for it."""
        self.subagent_name, self.parent = name, parent

    def stop(self, reason: str) -> None:
        """Ends the running turn after the call that is running, as a hook's `continue: false` does."""
        self._stop = reason

    def take_stop(self) -> str | None:
        """Why the turn is to end, once."""
        reason, self._stop = self._stop, None
        return reason

    def remove_tools(self) -> None:
        """Leaves the model nothing but its last words."""
        self._has_tools = False

    async def command(self, line: str) -> str:
        """The prompt behind a command line such as `/deploy staging`, to be sent."""
        from farhand.sdk.extensions.commands import prompt_of

        await self._prepare()
        return await prompt_of(line, self)

    async def tools(self) -> dict[str, Tool]:
        """The tools the model may call now, by name; the agent's own win over built-in ones of the same name."""
        if not self._has_tools:
            return {}
        found = dict(self.agent.tools_for(self.settings))
        found.update({tool.name: tool for tool in self.additions.tools})
        for extender in self.extenders:
            found.update({tool.name: tool for tool in await extender.tools(self.context)})
        return found

    def shows(self, tool: Tool) -> bool:
        """Whether the model is told of a tool: one that the policies always refuse is not worth its tokens."""
        return self.guard is None or not self.guard.hides(tool)

    def clear(self) -> None:
        """Starts the conversation over, in the same session."""
        from farhand.sdk.session_setup import opening

        self.history.start_over(opening(self))

    def take_opening_context(self) -> str:
        """What SessionStart hooks had to say, once."""
        text, self._opening_context = self._opening_context, ""
        return text

    def next_number(self) -> int:
        """A number that no other output of this session has."""
        self._number += 1
        return self._number

    def call_prefix(self) -> str:
        """Makes the ids of calls that came without one."""
        return f"{self.id[:8]}_{len(self.transcript)}"

    # Compression.

    async def compress(self) -> bool:
        """Shortens the conversation now. Returns whether it got shorter."""
        if self.busy:
            raise SessionBusy(f"Session {self.id} is in a turn. Wait for its end, or interrupt it.")
        await self._prepare()
        async with self.agent.leased():
            return await compress_session(self, "manual")

    # Questions.

    async def approve(self, call: ToolCall, tool: Tool | None = None) -> Approval:
        """What the policies and the agent's approver say to a call: the harder of the two counts."""
        return await approve(call, tool, self)

    @property
    def can_ask(self) -> bool:
        """Whether anybody may be there to answer."""
        return self.agent.interactive or self.agent.asker is not None

    async def ask_permission(self, call: ToolCall, reason: str) -> bool:
        """Asks a person whether a call may run."""
        text = reason or f"May {call.name} run with {wire.compact(call.arguments)}?"
        reply = await self.ask(Question(f"permission-{call.id}", "permission", text, ("allow", "deny"), call))
        return reply.allows

    async def ask(self, question: Question) -> Reply:
        """Puts a question to a person: the agent's asker, or whoever reads the events of an interactive agent."""
        return await self._questions.ask(question, self)

    def answer(self, question_id: str, reply: Reply | str | bool) -> bool:
        """Answers an `Ask`, or a question that waits in a resumed session. False when it waits no longer."""
        return self._questions.answer(question_id, reply)

    @property
    def pending(self) -> tuple[Question, ...]:
        """The questions that wait for an answer, also those that another process asked."""
        return self._questions.open

    @property
    def is_paused(self) -> bool:
        """Whether a turn waits in the transcript to be gone on with."""
        return bool(self._pending.content) or self._pausing

    async def pause(self) -> None:
        """Ends the running turn where it asks. The session can be resumed, answered and gone on with elsewhere."""
        if self._running is not None and self._questions.open:
            self._pausing = True
            self._running.interrupt("paused")

    def go_on_stream(self) -> AsyncGenerator[Event, None]:
        """Goes on with a turn that asked and was left: calls that ended are not run again, the others are."""
        return self._follow(lambda: None, None)

    async def go_on(self) -> Result[None]:
        """Goes on with a turn that asked and was left, to its end."""
        return await gathered(self.go_on_stream(), None)

    def take_pending(self) -> PendingQuestions:
        """What a turn that goes on begins with, once."""
        pending, self._pending = self._pending, NOTHING_PENDING
        return pending

    def watch_calls(self, calls: ToolCalls | None) -> None:
        """Knows whose calls are running: what has ended is written down with each question."""
        self._calls = calls

    def store_questions(self) -> None:
        """Stores the open questions, before their events are emitted, so that another process can resume the turn."""
        if self._open and not self._pausing:
            ended = self._calls.ended() if self._calls is not None else ()
            self.history.write_questions(self._questions.open, ended)

    @property
    def leaves_calls_open(self) -> bool:
        """Whether the calls of the running turn are to be gone on with later."""
        return self._pausing

    # The end.

    async def close(self, reason: str = "exit") -> None:
        """Ends the session: its turn, its hooks hear of it, commands left in the background end. It can be resumed."""
        if self._running is not None:
            await self._running.abandon()
        if self._open and self.hooks.listens("SessionEnd", reason):
            with suppress(Exception):
                await self.hooks.fire("SessionEnd", {"reason": reason}, self.context)
        if self._open:
            await self.context.close()
        self._open = False

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _structured(output: type[Any] | None) -> Structured[Any] | None:
    if output is None:
        return None
    from farhand.sdk.structured import Structured

    return Structured(output)
