"""What a driver may offer beside `Driver`: whoever builds a node looks for each of these with `isinstance`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from anyio.abc import TaskStatus
    from starlette.routing import BaseRoute

    from farhand.model.panes import Panes
    from farhand.model.present import Worker
    from farhand.model.sandbox import Sandboxes


@runtime_checkable
class RunsInBackground(Protocol):
    """It keeps something running for all its workers."""

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Reports that it has started, then serves until it is cancelled."""
        ...


class ServesHooks(RunsInBackground, Protocol):
    """Where the hooks of agents in tmux are heard; drivers share one."""

    def routes(self) -> Sequence[BaseRoute]:
        """For the node's own socket."""
        ...

    def open_routes(self, address: str) -> Sequence[BaseRoute]:
        """For the node's HTTP listener, which is at that address."""
        ...

    def intake_routes(
        self, whose: Callable[[str, str], str], asking: Mapping[str, frozenset[str]]
    ) -> Sequence[BaseRoute]:
        """For the node's HTTP listener: hooks that know their session alone. `whose` finds the worker by backend and
        session, `asking` has for each backend the events at which a hook waits for a person."""
        ...


@runtime_checkable
class HasTmuxHost(Protocol):
    """Its agents run in tmux."""

    @property
    def tmux_host(self) -> ServesHooks:
        """The tmux host that it shares with others."""
        ...


@runtime_checkable
class HasPanes(Protocol):
    """Terminals can be watched live: what a tmux host may offer, or a driver without one."""

    @property
    def panes(self) -> Panes:
        """Those of its workers."""
        ...


@runtime_checkable
class ScreenAnswers(Protocol):
    """Its agents show what they say before they write it down."""

    def answers_on_screen(self, worker: Worker) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """The newest words of the worker's agent, whenever its screen has changed; raises CannotDo."""
        ...


@runtime_checkable
class KnowsDesk(Protocol):
    """It can tell who has a conversation open at the desk."""

    async def open_in(self, session: str) -> Sequence[int]:
        """The processes that say they have it open."""
        ...


@runtime_checkable
class HasSandboxes(Protocol):
    """Some of its workers may be in sandboxes: what a tmux host may offer."""

    @property
    def sandboxes(self) -> Sandboxes | None:
        """Who builds them."""
        ...


@runtime_checkable
class HasFormerKinds(Protocol):
    """Workers that were hired with it may have been stored under other kinds."""

    @property
    def formerly(self) -> Sequence[str]:
        """Those kinds."""
        ...
