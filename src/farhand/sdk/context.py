"""The context that tools, hooks and instructions get: who and where they are, files, a shell, a person to ask."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farhand.sdk.authority import permit
from farhand.sdk.current_call import current_call_id
from farhand.sdk.environment import child_environment
from farhand.sdk.events import Progressed
from farhand.sdk.memory import Discovery
from farhand.sdk.protocols import Content, Question, Reply, SessionContext, ToolCall
from farhand.sdk.shell import WorkspaceShell
from farhand.sdk.workspace import Workspace, WorkspaceFiles

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.session import Session
    from farhand.sdk.settings import AgentSettings


_PLAIN_ID = re.compile(r"[\w-]+", re.ASCII)
# How the tools that are asked for name a path.
_PATHS = {"list_directory": "dir_path", "glob": "pattern"}


class LiveContext:
    """One session's context. Everything in it is made when it is first used."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def session_id(self) -> str:
        """The session's id, the same for its whole life."""
        return self.session.id

    @property
    def agent(self) -> Agent:
        """The agent whose session this is."""
        return self.session.agent

    @property
    def deps(self) -> Any:
        """The agent's own state, as it was given."""
        return self.session.agent.deps

    @property
    def settings(self) -> AgentSettings:
        """What was configured for the session's folder."""
        return self.session.settings

    @property
    def transcript(self) -> Sequence[Content]:
        """The conversation so far, as the model's wire JSON."""
        return self.session.transcript

    @property
    def transcript_path(self) -> str:
        """Where the conversation is recorded; empty when it is not."""
        return str(self.session.transcript_path or "")

    @property
    def cwd(self) -> str:
        """The session's folder."""
        return str(self.session.cwd)

    @property
    def timestamp(self) -> str:
        """Now, in UTC, as the CLI writes it."""
        now = datetime.datetime.now(datetime.UTC)
        return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @cached_property
    def workspace(self) -> Workspace:
        """The folders that may be touched."""
        folder = Path(self.cwd)
        included = self.settings.granted("context.includeDirectories") or ()
        return Workspace(
            folder,
            included=[folder / Path(one).expanduser() for one in included if isinstance(one, str)],
            readable=[self.temporary_folder],
            writable=[self.plans_folder],
        )

    @cached_property
    def temporary_folder(self) -> Path:
        """Where tools leave what was too long to say: beside the recorded sessions."""
        return self.session.folder / "tool-outputs" / f"session-{self.session_id}"

    @cached_property
    def plans_folder(self) -> Path:
        """Where the session's plans go, as the CLI has it: all that is written in plan mode."""
        name = self.session_id if _PLAIN_ID.fullmatch(self.session_id) else "unnamed"
        return self.session.folder / name / "plans"

    @property
    def fs(self) -> WorkspaceFiles:
        """The files of the workspace."""
        return self._files

    @cached_property
    def _files(self) -> WorkspaceFiles:
        return WorkspaceFiles(
            self.workspace, lambda tool, path: self._permit(tool, {_PATHS.get(tool, "file_path"): path})
        )

    @property
    def shell(self) -> WorkspaceShell:
        """Shell commands in the session's folder."""
        return self._shell

    @cached_property
    def _shell(self) -> WorkspaceShell:
        environment = child_environment(self.settings)
        return WorkspaceShell(
            Path(self.cwd),
            environment,
            lambda command: self._permit("run_shell_command", {"command": command}),
            self._confine,
        )

    def _confine(self, argv: Sequence[str], cwd: Path) -> Sequence[str]:
        engine = self.session.sandbox
        return argv if engine is None else engine.wrap(argv, cwd=cwd, writable=self.workspace.roots)

    def _permit(self, tool: str, arguments: dict[str, Any]) -> None:
        """Raises when the policies forbid what a tool or hook wants to do itself."""
        permit(ToolCall("context", tool, arguments), self.session)

    @cached_property
    def todos(self) -> list[dict[str, Any]]:
        """The plan that write_todos keeps."""
        return []

    @cached_property
    def _discovery(self) -> Discovery | None:
        reads = self.settings.trusted and getattr(self.session.agent, "loads", True)
        return Discovery(self.workspace.cwd, self.settings) if reads else None

    def discovered_memory(self, *paths: Path) -> str:
        """The GEMINI.md of sub-folders that these paths lie in, as far as the model was not told of it."""
        return self._discovery.at(*paths) if self._discovery is not None else ""

    def next_number(self) -> int:
        """A number that no other output of this session has."""
        return self.session.next_number()

    async def ask(self, question: Question) -> Reply:
        """Puts a question to the person."""
        return await self.session.ask(question)

    async def progress(self, message: str, fraction: float | None = None) -> None:
        """Says how far the running tool is, as a `Progressed` event."""
        await self.session.emit(Progressed(current_call_id(), message, fraction))

    async def close(self) -> None:
        """Ends what was left running."""
        if "_shell" in self.__dict__:
            await self._shell.close()


def make_context(session: Session) -> LiveContext:
    """The context of a session."""
    return LiveContext(session)


def live(context: SessionContext) -> LiveContext:
    """The context as the built-in tools know it."""
    if isinstance(context, LiveContext):
        return context
    raise TypeError("The built-in tools run in a session; they were given another context.")
