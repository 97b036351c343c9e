"""The agent: what a team member is made of. Sessions with it are where the work happens."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from farhand.sdk.agent_check import check_agent, open_surroundings
from farhand.sdk.agent_check_values import check_dicts, check_lists
from farhand.sdk.protocols import Approver, Asker, Extender, Question, Reply, SessionContext, Tool, ToolCall, Verdict
from farhand.sdk.turn_modules import load_turn_modules

if TYPE_CHECKING:
    from typing import Unpack

    from farhand.sdk.agent_options import AgentOptions, Generation
    from farhand.sdk.budget import Budget, Price
    from farhand.sdk.extensions import Extension
    from farhand.sdk.hooks import Hook
    from farhand.sdk.models import Model
    from farhand.sdk.policies import Rule
    from farhand.sdk.policies.rules import Mode
    from farhand.sdk.prompt import Prompt
    from farhand.sdk.recorded_sessions import RecordedSession
    from farhand.sdk.result import Result
    from farhand.sdk.sandbox import ShellSandbox
    from farhand.sdk.session import Session
    from farhand.sdk.settings import AgentSettings
    from farhand.sdk.skills import SkillDir
    from farhand.sdk.subagents import Subagent
    from farhand.sdk.telemetry import Telemetry

T = TypeVar("T")
Instructions: TypeAlias = str | Callable[[SessionContext], str | Awaitable[str]] | None

Answer: TypeAlias = Reply | str | bool

DEFAULT_MODEL = "gemini-3.8-flash"
DEFAULT_MAX_TURNS = 100
TOOL_TIMEOUT_SECONDS = 900.0


class Agent:
    """An agent in a folder.

    `model` is a name (`gemini-…`, `openai:…`, `anthropic:…`) or anything with generate, stream and count.
    `instructions` is text, or a function of the session's context that is called before each model call.
    `tools` are functions or tools; `builtin_tools` may be False, or the names of those to have.
    With `loads=False` nothing is read from disk: no settings, no GEMINI.md, no `.env`. With `records=False` nothing is
    written. `policies` are rules such as `allow("read_file")`, `mode` is default, auto_edit, plan or yolo; with either,
    what no rule allows is asked for. `interactive=True` lets questions wait for `session.answer(…)`; an `asker` is
    called with them instead. `budget` is for each session, its subagents included. `deps` is state of your own, which
    tools and hooks find as `context.deps`. With `sandbox=True` shell commands see the workspace and no network;
    with `telemetry=True` OpenTelemetry hears of turns, model calls and tool calls.

    Used as `async with Agent(…) as agent`, connections are kept between turns, as they are in an entered session.
    """

    def __init__(
        self,
        *,
        cwd: str | Path | None = None,
        model: str | Model | None = None,
        instructions: Instructions = None,
        tools: Sequence[Tool | Callable[..., Any]] = (),
        hooks: Sequence[Hook[Any, Any]] = (),
        builtin_tools: bool | Sequence[str] = True,
        system_prompt: str | None = None,
        generation: Generation | None = None,
        approver: Approver | Callable[[ToolCall, SessionContext], Verdict | Awaitable[Verdict]] | None = None,
        asker: Asker | Callable[[Question, SessionContext], Answer | Awaitable[Answer]] | None = None,
        interactive: bool = False,
        policies: Sequence[Rule] | None = None,
        mode: Mode | None = None,
        skills: Sequence[SkillDir] = (),
        subagents: Sequence[Subagent] = (),
        extensions: Sequence[Extension] = (),
        extenders: Sequence[Extender] = (),
        max_turns: int = DEFAULT_MAX_TURNS,
        budget: Budget | None = None,
        prices: Mapping[str, Price] | None = None,
        deps: object = None,
        sandbox: bool | ShellSandbox | None = None,
        telemetry: bool | Telemetry | None = None,
        tool_timeout_seconds: float = TOOL_TIMEOUT_SECONDS,
        loads: bool = True,
        records: bool = True,
        trusted: bool | None = None,
        home: str | Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        check_lists(tools=tools, hooks=hooks, policies=policies, skills=skills)
        check_lists(subagents=subagents, extensions=extensions, extenders=extenders)
        check_dicts(generation=generation, prices=prices, environ=environ)
        self.cwd = Path(cwd or Path.cwd()).absolute()
        self.instructions = instructions
        self.hooks = tuple(hooks)
        self.system_prompt = system_prompt
        self.generation: Generation = {**generation} if generation else {}
        self.approver = approver
        self.asker = asker
        self.interactive = interactive
        self.policies = None if policies is None else tuple(policies)
        self.mode: Mode | None = mode
        self.skills = tuple(skills)
        self.subagents = tuple(subagents)
        self.extensions = tuple(extensions)
        self.loads_additions = True
        self.extenders = tuple(extenders)
        self.max_turns = max_turns
        self.budget = budget
        self.prices: dict[str, Price] = dict(prices or {})
        self.deps = deps
        self.sandbox, self.telemetry = open_surroundings(sandbox, telemetry)
        self.tool_timeout_seconds = tool_timeout_seconds
        self.loads = loads
        self.records = records
        self.trusted = trusted
        self.environ = dict(os.environ if environ is None else environ)
        self.home = Path(home) if home is not None else _home(self.environ)
        self._model = model
        self._opened: Model | None = None
        self._others: list[Model] = []
        self._own_tools = tuple(tools)
        self._builtin = builtin_tools
        self._made_tools: dict[str, Tool] | None = None
        self._temporary: Path | None = None
        self._mcp: tuple[Extender, ...] | None = None
        self._leases = 0
        self._entered = False
        self.missing_deps = ""
        check_agent(self, model, self._own_tools, builtin_tools)
        load_turn_modules(self, model, builtin_tools=builtin_tools is not False)

    def with_changes(self, **changes: Unpack[AgentOptions]) -> Agent:
        """The same agent with other options, as `Agent(…)` takes them; its connections are its own."""
        options: AgentOptions = {
            "cwd": self.cwd,
            "model": self._model,
            "instructions": self.instructions,
            "tools": self._own_tools,
            "hooks": self.hooks,
            "builtin_tools": self._builtin,
            "system_prompt": self.system_prompt,
            "generation": self.generation,
            "approver": self.approver,
            "asker": self.asker,
            "interactive": self.interactive,
            "policies": self.policies,
            "mode": self.mode,
            "skills": self.skills,
            "subagents": self.subagents,
            "extensions": self.extensions,
            "extenders": self.extenders,
            "max_turns": self.max_turns,
            "budget": self.budget,
            "prices": self.prices,
            "deps": self.deps,
            "sandbox": self.sandbox,
            "telemetry": self.telemetry,
            "tool_timeout_seconds": self.tool_timeout_seconds,
            "loads": self.loads,
            "records": self.records,
            "trusted": self.trusted,
            "home": self.home,
            "environ": self.environ,
        }
        options.update(changes)
        other = Agent(**options)
        other.loads_additions = self.loads_additions
        return other

    def session(self, session_id: str | None = None) -> Session:
        """A new, empty session."""
        from farhand.sdk.session import Session

        return Session(self, session_id)

    async def resume_session(self, session_id: str) -> Session:
        """A recorded session, ours or the Gemini CLI's, by id or `latest`; `session.losses` says what is missing."""
        from dataclasses import replace

        from farhand.sdk.conversation import SIDECAR_SUFFIX, read_sidecar, restore
        from farhand.sdk.pending_questions import pending_path, read_pending, reopened
        from farhand.sdk.projects import project_folder
        from farhand.sdk.recording import find_session
        from farhand.sdk.session import Session

        path, conversation = find_session(project_folder(self.cwd, self.home), session_id)
        read = path.stat().st_size if path.suffix == ".jsonl" else None
        restored = restore(conversation, read_sidecar(path.with_name(path.name + SIDECAR_SUFFIX)))
        if path.suffix == ".json":
            path = path.with_suffix(".jsonl")
        restored, pending = reopened(conversation, restored, read_pending(pending_path(path)))
        return Session(self, conversation.session_id, (path, replace(restored, recorded_bytes=read)), pending)

    def sessions(self) -> list[RecordedSession]:
        """The recorded sessions of the agent's folder, ours and the Gemini CLI's, the latest first."""
        from farhand.sdk.recorded_sessions import recorded_sessions

        return recorded_sessions(self.recording_folder())

    async def fork_session(self, session_id: str) -> Session:
        """A copy of a recorded session under an id of its own; both can be gone on with."""
        from farhand.sdk.recorded_sessions import fork

        return await self.resume_session(fork(self.recording_folder(), session_id))

    def rename_session(self, session_id: str, name: str) -> None:
        """Gives a recorded session a name, which the Gemini CLI shows, too."""
        from farhand.sdk.recorded_sessions import rename

        rename(self.recording_folder(), session_id, name)

    def delete_session(self, session_id: str) -> None:
        """Removes a recorded session and all that belongs to it."""
        from farhand.sdk.recorded_sessions import delete

        delete(self.recording_folder(), session_id)

    @overload
    async def send(self, prompt: Prompt) -> Result[None]: ...
    @overload
    async def send(self, prompt: Prompt, *, output: type[T]) -> Result[T]: ...
    async def send(self, prompt: Prompt, *, output: type[Any] | None = None) -> Result[Any]:
        """One prompt in a session of its own."""
        async with self.session() as session:
            return await (session.send(prompt) if output is None else session.send(prompt, output=output))

    # What a session needs of its agent.

    def load_settings(self) -> AgentSettings:
        """The settings of the agent's folder; empty ones when nothing is to be loaded."""
        from farhand.sdk.settings import AgentSettings, load_settings

        if not self.loads:
            return AgentSettings(environ=self.environ)
        return load_settings(self.cwd, self.home, self.environ, trust=self.trusted)

    def open_model(self, settings: AgentSettings) -> tuple[Model, str]:
        """The model and its name, from what was given, the environment or the settings."""
        from farhand.sdk.models.choose import bare_name, choose_model, model_name

        name = model_name(self._model, settings) or DEFAULT_MODEL
        if self._opened is None:
            given = self._model
            self._opened = choose_model(name, settings) if given is None or isinstance(given, str) else given
        return self._opened, bare_name(name)

    def open_other(self, model: str | Model, settings: AgentSettings) -> tuple[Model, str]:
        """A model for one session alone, and its name."""
        from farhand.sdk.models.choose import bare_name, choose_model, model_name

        name = model_name(model, settings) or DEFAULT_MODEL
        opened = choose_model(name, settings) if isinstance(model, str) else model
        self._others.append(opened)
        return opened, bare_name(name)

    def take_tools(self, tools: Sequence[Tool]) -> None:
        """Has these tools and no others, built-in ones included."""
        self._own_tools, self._builtin, self._made_tools = tuple(tools), False, None

    def tools_for(self, settings: AgentSettings) -> dict[str, Tool]:
        """The agent's tools by name."""
        if self._made_tools is None:
            from farhand.sdk.tools import as_tool, builtin_tools

            wanted = self._builtin
            builtin = builtin_tools(settings) if wanted is not False else []
            chosen = builtin if isinstance(wanted, bool) else [tool for tool in builtin if tool.name in wanted]
            own = [as_tool(tool) for tool in self._own_tools]
            self._made_tools = {tool.name: tool for tool in [*chosen, *own]}
        return self._made_tools

    @property
    def own_tools(self) -> list[Tool]:
        """The tools that were given in code."""
        from farhand.sdk.tools import as_tool

        return [as_tool(tool) for tool in self._own_tools]

    def extenders_for(self, settings: AgentSettings) -> tuple[Extender, ...]:
        """The agent's extenders, and the MCP servers of the settings."""
        if self._mcp is None:
            self._mcp = ()
            if settings.get("mcpServers"):
                from farhand.sdk.mcp import McpServers, from_settings

                servers, problems = from_settings(settings)
                self._mcp = (McpServers(servers, problems=problems),)
        return (*self.extenders, *self._mcp)

    def temporary_folder(self) -> Path:
        """Where long outputs go when nothing is recorded: a folder nobody else can read, gone with the agent."""
        if self._temporary is None:
            import shutil
            import tempfile
            import weakref

            self._temporary = Path(tempfile.mkdtemp(prefix="farhand-sdk-"))
            weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
        return self._temporary

    def recording_folder(self) -> Path:
        """Where its sessions are recorded, or where what they leave behind goes."""
        from farhand.sdk.projects import project_folder

        return project_folder(self.cwd, self.home) if self.records else self.temporary_folder()

    def leased(self) -> Lease:
        """Keeps connections open for a turn; after the last one they are closed, unless the agent is entered."""
        return Lease(self)

    def take_lease(self) -> None:
        """One more turn runs."""
        self._leases += 1

    async def give_back_lease(self) -> None:
        """A turn is over."""
        self._leases -= 1
        if not self._leases and not self._entered:
            await self.close_connections()

    async def close(self) -> None:
        """Closes what the agent holds open."""
        for extender in self.extenders:
            await extender.close()
        await self.close_connections()

    async def close_connections(self) -> None:
        """Closes the connections that the agent opened by itself: to its model, and to the settings' MCP servers."""
        for extender in self._mcp or ():
            await extender.close()
        await self._close_model()

    async def _close_model(self) -> None:
        for model in [*self._others, self._opened]:
            close = getattr(model, "close", None)
            if close is not None:
                await close()

    async def __aenter__(self) -> Agent:
        self._entered = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered = False
        await self.close()


class Lease:
    """The right to an agent's connections, for one turn.

    A class: an event loop that shuts down closes generators in any order, and one inside another would complain.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def __aenter__(self) -> None:
        self._agent.take_lease()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._agent.give_back_lease()


def _home(environ: Mapping[str, str]) -> Path:
    named = environ.get("GEMINI_CLI_HOME") or environ.get("HOME")
    return Path(named) if named else Path.home()
