"""The context of a hook that runs as a command: files and a shell as in a session, but no session to hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from farhand.sdk.environment import child_environment
from farhand.sdk.protocols import Content, Question, Reply
from farhand.sdk.settings import AgentSettings, load_settings
from farhand.sdk.shell import WorkspaceShell
from farhand.sdk.workspace import Workspace, WorkspaceFiles

if TYPE_CHECKING:
    from farhand.sdk.agent import Agent
    from farhand.sdk.session import Session


class CommandContext:
    """What the event's own fields tell of the session."""

    def __init__(self, payload: Mapping[str, Any]) -> None:
        self.session_id = str(payload.get("session_id", ""))
        self.transcript_path = str(payload.get("transcript_path", ""))
        self.cwd = str(payload.get("cwd", "."))
        self.timestamp = str(payload.get("timestamp", ""))

    @cached_property
    def settings(self) -> AgentSettings:
        """What is configured for the folder."""
        return load_settings(self.cwd)

    @property
    def transcript(self) -> Sequence[Content]:
        """The conversation as it was last recorded."""
        return self._recorded

    @cached_property
    def _recorded(self) -> Sequence[Content]:
        from farhand.sdk.conversation import SIDECAR_SUFFIX, read_conversation, read_sidecar, restore

        path = Path(self.transcript_path)
        if not self.transcript_path or not path.is_file():
            return []
        return list(restore(read_conversation(path), read_sidecar(path.with_name(path.name + SIDECAR_SUFFIX))).contents)

    @property
    def fs(self) -> WorkspaceFiles:
        """The files of the workspace."""
        return self._files

    @cached_property
    def _files(self) -> WorkspaceFiles:
        folder = Path(self.cwd)
        included = self.settings.granted("context.includeDirectories") or ()
        return WorkspaceFiles(Workspace(folder, included=[folder / Path(one).expanduser() for one in included]))

    @property
    def shell(self) -> WorkspaceShell:
        """Shell commands in the session's folder."""
        return self._shell

    @cached_property
    def _shell(self) -> WorkspaceShell:
        return WorkspaceShell(Path(self.cwd), child_environment(self.settings))

    @property
    def agent(self) -> Agent:
        """Not here: the agent is another process."""
        _elsewhere("agent")

    @property
    def session(self) -> Session:
        """Not here: the session is in another process."""
        _elsewhere("session")

    @property
    def deps(self) -> Any:
        """Not here: the agent's state is in another process."""
        _elsewhere("deps")

    async def ask(self, question: Question) -> Reply:  # noqa: ARG002
        """Nobody can be asked from here; answer with the decision `ask`."""
        return Reply(answered=False)

    async def progress(self, message: str, fraction: float | None = None) -> None:
        """Nobody follows a hook that is a command."""


def _elsewhere(name: str) -> NoReturn:
    raise RuntimeError(f"A hook that runs as a command has no {name}: that lives in the agent's process.")
