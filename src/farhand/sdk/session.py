"""A session: one conversation with an agent, its transcript, its recording, and the turns that run in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from farhand.sdk.authority import Authority, admit, hides
from farhand.sdk.compression import compress_session
from farhand.sdk.conversation import Restored
from farhand.sdk.errors import BadAgent, SessionBusy
from farhand.sdk.events import Error, Event
from farhand.sdk.history import History
from farhand.sdk.messages import HistoryMessage, clean_messages
from farhand.sdk.pending_questions import NOTHING_PENDING, PendingQuestions
from farhand.sdk.protocols import Approval, Content, Extender, HookSystem, Memory, Question, Reply, Tool, ToolCall
from farhand.sdk.questions import ForwardingAsker, OpenQuestions
from farhand.sdk.recording import new_id
from farhand.sdk.result import Result
from farhand.sdk.said_later import SaidLater
from farhand.sdk.session_turns import SessionTurns
from farhand.sdk.spending import Spending

if TYPE_CHECKING:
    from farhand.sdk.active_turn import TurnPrompt
    from farhand.sdk.additions import Additions
    from farhand.sdk.agent import Agent
    from farhand.sdk.budget import Budget
    from farhand.sdk.context import LiveContext
    from farhand.sdk.models import Model
    from farhand.sdk.prompt import Prompt
    from farhand.sdk.run import Run
    from farhand.sdk.sandbox import ShellSandbox
    from farhand.sdk.settings import AgentSettings

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
        if agent.missing_deps:
            raise BadAgent(agent.missing_deps)
        self.id = session_id or new_id()
        self.agent = agent
        self.losses: tuple[str, ...] = resumed[1].losses if resumed else ()
        self._resumed = resumed
        self.is_open = False
        self.turns = SessionTurns(self)
        self.conversation = History(self._recording_failed)
        self._opening_context = ""
        self._number = 0
        self.questions = OpenQuestions(pending)
        self.subagent_name = ""
        self.parent: Session | None = None
        self._has_tools = True
        self.authorities: tuple[Authority, ...] = ()
        self.chosen_model: str | Model | None = None
        self._output: type[Any] | None = None
        self.later = SaidLater()
        self.spending = Spending(self)
        self._settings: AgentSettings | None = None
        self._context: LiveContext | None = None

    # What tools, hooks and instructions see of the session.

    memory: Memory
    hooks: HookSystem
    additions: Additions
    model: Model
    model_name: str = ""
    system_prompt: str

    @property
    def settings(self) -> AgentSettings:
        """What was configured for the session's folder."""
        if self._settings is None:
            self._settings = self.agent.load_settings()
        return self._settings

    @property
    def context(self) -> LiveContext:
        """What tools, hooks and instructions are handed."""
        if self._context is None:
            from farhand.sdk.context import make_context

            self._context = make_context(self)
        return self._context

    @property
    def folder(self) -> Path:
        """Where the session is recorded, or where what it leaves behind goes."""
        return self.agent.recording_folder()

    @property
    def is_borrowed(self) -> bool:
        """Whether this is a subagent made of instructions: it works as its parent does, under its parent's rules."""
        return self.parent is not None and not self.agent.loads_additions

    @property
    def cwd(self) -> Path:
        """The agent's folder."""
        return self.agent.cwd

    @property
    def sandbox(self) -> ShellSandbox | None:
        """Where its commands run: that of the outermost agent that has one, so that no subagent gets out."""
        above = self.parent.sandbox if self.parent is not None else None
        return above or self.agent.sandbox

    @property
    def restored(self) -> tuple[Content, ...]:
        """What a resumed session brought along from its recording."""
        return tuple(self._resumed[1].contents) if self._resumed else ()

    @property
    def transcript_path(self) -> str:
        """Where the session is recorded; empty when it is not."""
        return self.conversation.path

    @property
    def transcript(self) -> list[Content]:
        """The conversation as the next model call sends it."""
        return self.conversation.contents if self.is_open else list(self.restored)

    @property
    def last_prompt(self) -> str:
        """What the person said last."""
        return self.conversation.last_prompt

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment, `.env` files included."""
        return self.settings.environ

    @property
    def max_turns(self) -> int:
        """How many model calls one turn may make: the agent's limit, or a lower one of the settings."""
        return self.settings.lower_limit("model.maxSessionTurns", self.agent.max_turns)

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return self.turns.busy

    # Turns.

    @overload
    def run(self, prompt: Prompt, *, budget: Budget | None = None, commands: bool = False) -> Run[None]: ...
    @overload
    def run(
        self, prompt: Prompt, *, output: type[T], budget: Budget | None = None, commands: bool = False
    ) -> Run[T]: ...
    def run(
        self,
        prompt: Prompt,
        *,
        output: type[Any] | None = None,
        budget: Budget | None = None,
        commands: bool = False,
    ) -> Run[Any]:
        """A turn as an object: `async with session.run(prompt) as run`, its events, `run.result`, `run.data`.

        With `commands`, a prompt that begins with the `/name` of a command which the agent has is that command's."""
        from farhand.sdk.prompt import to_parts

        def parts_of() -> TurnPrompt:
            parts = to_parts(prompt, self.cwd)
            if not commands:
                return parts
            from farhand.sdk.extensions.commands import expanded

            return lambda: expanded(parts, self)

        return self._run(parts_of, output, budget)

    # Read as it comes: the last event is `Finish`. The turn waits for its reader.
    send_stream = run

    @overload
    async def send(self, prompt: Prompt) -> Result[None]: ...
    @overload
    async def send(self, prompt: Prompt, *, output: type[T]) -> Result[T]: ...
    async def send(self, prompt: Prompt, *, output: type[Any] | None = None) -> Result[Any]:
        """Runs a turn to its end. With `output`, the answer comes as that type in `.data`. A failed turn raises."""
        async with self.run(prompt) if output is None else self.run(prompt, output=output) as run:
            return await run.wait()

    @overload
    def send_sync(self, prompt: Prompt) -> Result[None]: ...
    @overload
    def send_sync(self, prompt: Prompt, *, output: type[T]) -> Result[T]: ...
    def send_sync(self, prompt: Prompt, *, output: type[Any] | None = None) -> Result[Any]:
        """`send` for a program that has no event loop."""
        from farhand.sdk.run import blocking

        return blocking(lambda: self.send(prompt) if output is None else self.send(prompt, output=output))

    def retry_stream(self, *, output: type[Any] | None = None) -> Run[Any]:
        """Repeats the last model call, after an error or an interruption: the prompt is in the transcript already.

        The answer is of the type that was asked for then, or of another one."""
        return self._run(lambda: None, output or self._output)

    async def retry(self, *, output: type[Any] | None = None) -> Result[Any]:
        """Repeats the last model call and runs the turn to its end."""
        async with self.retry_stream(output=output) as run:
            return await run.wait()

    # A turn that asked and was left goes on as one that is repeated does: its calls that ended are not run again.
    go_on_stream = retry_stream
    go_on = retry

    def steer(self, prompt: Prompt) -> bool:
        """Says something into the running turn, before the model is asked next. False when none runs."""
        return self.later.steer(prompt, self)

    def queue(self, prompt: Prompt) -> bool:
        """Says something in the running turn when the model is done with what it does. False when none runs."""
        return self.later.queue(prompt, self)

    def history(self, limit: int | None = None) -> list[HistoryMessage]:
        """The conversation as `{role, text, parts}`, without what was put around it; with a limit, its end."""
        found = list(clean_messages(self.transcript))
        return found if limit is None else found[max(0, len(found) - limit) :]

    async def interrupt(self) -> bool:
        """Ends the running turn; the transcript stays whole. Returns whether there was one."""
        return await self.turns.interrupt()

    def use_model(self, model: str | Model) -> None:
        """Goes on with another model, from the next model call on. The agent's other sessions keep theirs."""
        self.chosen_model = model
        if self.is_open:
            self.model, self.model_name = self.agent.open_other(model, self.settings)

    def _run(
        self, parts_of: Callable[[], TurnPrompt], output: type[Any] | None, budget: Budget | None = None
    ) -> Run[Any]:
        from farhand.sdk.run import Run

        self._output = output
        return Run(self, parts_of, output, budget)

    async def emit(self, event: Event) -> None:
        """Emits an event to the reader of the running turn; queues it for the next one when none runs."""
        await self.turns.emit(event)

    # Preparation: settings, memory, hooks, tools, recording. Once a session, before its first turn.

    async def prepare(self) -> None:
        """Reads and opens what a turn needs, once."""
        if self.is_open:
            return
        from farhand.sdk import session_setup as setup

        self.additions = setup.load_session_additions(self)
        self._settings = self.additions.settings
        if self.agent.records:
            path = self._resumed[0] if self._resumed else setup.recording_path(self)
            kind = "main" if self.parent is None else "subagent"
            known_bytes = self._resumed[1].recorded_bytes if self._resumed else None
            self.conversation.record(path, self.id, self.cwd, kind, self.questions.message, known_bytes)
        self.turns.queue(*setup.furnish(self))
        self.conversation.start(setup.opening(self), self.restored)
        self.is_open = True
        source = "resume" if self._resumed else "startup"
        self._opening_context, notices = await setup.fire_start(self, source)
        self.turns.queue(*notices)

    def _recording_failed(self, message: str) -> None:
        self.turns.queue(Error(message, "recording", fatal=False))

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
        self.turns.stop(reason)

    def remove_tools(self) -> None:
        """Leaves the model nothing but its last words."""
        self._has_tools = False

    async def command(self, line: str) -> str:
        """The prompt behind a command line such as `/deploy staging`, to be sent."""
        from farhand.sdk.extensions.commands import prompt_of

        await self.prepare()
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
        return not hides(tool, self)

    def clear(self) -> None:
        """Starts the conversation over, in the same session."""
        from farhand.sdk.session_setup import opening

        self.conversation.start_over(opening(self))

    def take_opening_context(self) -> str:
        """What SessionStart hooks had to say, once."""
        text, self._opening_context = self._opening_context, ""
        return text

    def next_number(self) -> int:
        """A number that no other output of this session has."""
        self._number += 1
        return self._number

    async def compress(self) -> bool:
        """Shortens the conversation now. Returns whether it got shorter."""
        if self.busy:
            raise SessionBusy(f"Session {self.id} is in a turn. Wait for its end, or interrupt it.")
        await self.prepare()
        async with self.agent.leased():
            return await compress_session(self, "manual")

    # Questions.

    async def admit(self, call: ToolCall, tool: Tool | None = None, hook_asks: str | None = None) -> Approval:
        """Whether a call may run: what policies and approvers say, and whom they want to be asked."""
        return await admit(call, tool, self, hook_asks)

    @property
    def can_ask(self) -> bool:
        """Whether anybody may be there to answer."""
        return self.agent.interactive or self.agent.asker is not None

    @property
    def person(self) -> Session:
        """The session whose person is asked in the end: a subagent's questions go to that of its parent."""
        asker = self.agent.asker
        return asker.parent.person if isinstance(asker, ForwardingAsker) else self

    async def ask(self, question: Question) -> Reply:
        """Puts a question to a person: the agent's asker, or whoever reads the events of an interactive agent."""
        return await self.questions.ask(question, self)

    def answer(self, question_id: str, reply: Reply | str | bool) -> bool:
        """Answers an `Ask`, or a question that waits in a resumed session. False when it waits no longer."""
        return self.questions.answer(question_id, reply)

    @property
    def pending(self) -> tuple[Question, ...]:
        """The questions that wait for an answer, also those that another process asked."""
        return self.questions.open

    @property
    def is_paused(self) -> bool:
        """Whether a turn waits in the transcript to be gone on with."""
        return self.questions.is_paused

    async def pause(self) -> None:
        """Ends the running turn where it asks. The session can be resumed, answered and gone on with elsewhere."""
        if self.turns.has_begun and self.questions.open:
            self.questions.pausing = True
            self.turns.pause()

    # The end.

    async def close(self, reason: str = "exit") -> None:
        """Ends the session: its turn, its hooks hear of it, commands left in the background end. It can be resumed."""
        await self.turns.abandon()
        if self.is_open and self.hooks.listens("SessionEnd", reason):
            with suppress(Exception):
                await self.hooks.fire("SessionEnd", {"reason": reason}, self.context)
        if self.is_open:
            await self.context.close()
        self.is_open = False

    async def __aenter__(self) -> Session:
        # So that its agent's connections are kept between its turns.
        self.agent.take_lease()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.close()
        finally:
            await self.agent.give_back_lease()
