"""What a channel is, what it may offer beside that, and what the node gives it to be built from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from farhand.model.attention_ports import NO_ATTENTION, AttentionView
from farhand.model.devices import DeviceRegistry
from farhand.model.known_secrets import SecretsInUse, none_known
from farhand.model.ports import Can, Clock, Hub
from farhand.model.present import Worker
from farhand.model.push import NO_PUSH_STORE, PushStore
from farhand.model.sandbox import SandboxView
from farhand.model.store_ports import Outbox
from farhand.model.voice import Transcriber
from farhand.model.words import Word

if TYPE_CHECKING:
    from starlette.routing import BaseRoute


class Channel(Protocol):
    """Where people speak."""

    @property
    def name(self) -> str:
        """As `Sender.via` has it."""
        ...

    async def run(self) -> None:
        """Serves until it is cancelled."""
        ...


# --- what a channel may offer beside that: the node looks for each of these with `isinstance`


@runtime_checkable
class Announces(Protocol):
    """It can tell the manager something about the node itself."""

    async def announce(self, text: str) -> None:
        """Sends it, unless the surface is known to be out of reach."""
        ...


@runtime_checkable
class Drains(Protocol):
    """It has a queue that should be sent before the node stops."""

    async def drain(self) -> None:
        """Returns when everything that waits is sent; the caller sets the time-out."""
        ...


@runtime_checkable
class HasHealth(Protocol):
    """It can say how its connection stands."""

    @property
    def health(self) -> str:
        """One line for `status`."""
        ...


@runtime_checkable
class HasReceiveStatus(Protocol):
    """It can prove that it hears."""

    @property
    def receive_status(self) -> ReceiveStatus:
        """When it heard last, and what keeps it from hearing."""
        ...


@runtime_checkable
class ServesPublicRoutes(Protocol):
    """The node's HTTP listener serves routes of its own for everyone; it checks its callers itself."""

    def public_routes(self) -> Sequence[BaseRoute]:
        """The routes."""
        ...


@runtime_checkable
class ServesLocalRoutes(Protocol):
    """The node's HTTP listener serves routes of its own for callers on this machine, and for those with the key."""

    def local_routes(self) -> Sequence[BaseRoute]:
        """The routes."""
        ...


@runtime_checkable
class ReachesManager(Protocol):
    """It has a chat in which the manager reads."""

    @property
    def manager_chat(self) -> str:
        """The manager's chat; empty while nobody is known."""
        ...

    async def notify(self, text: str) -> None:
        """Puts the text into the queue of the manager's chat, if there is one."""
        ...


@runtime_checkable
class FollowsManagerChat(Protocol):
    """It keeps something that depends on where the manager reads."""

    async def manager_chat_changed(self) -> None:
        """The manager's chat is known now."""
        ...


@runtime_checkable
class KeepsInboxes(Protocol):
    """It has a folder for every worker, in which the files that the manager sends are put."""

    def inbox(self, worker: str) -> Path:
        """That folder, made if it was not there."""
        ...


@runtime_checkable
class SignsPeopleIn(Protocol):
    """Its own app vouches for who opened a page in it: such a page is paired without a code."""

    def signed_in(self, proof: str) -> str:
        """The name of the person, who may speak for the manager; raises NotAllowed for anybody else."""
        ...


@dataclass(frozen=True)
class ReceiveStatus:
    """Whether a chat is heard: over what, when it last was, since when it is not, and why."""

    mode: str = ""
    account: str = ""
    heard_at: float | None = None
    deaf_since: float | None = None
    problem: str = ""


# --- what a channel is built from


class Tunnel(Protocol):
    """A tunnel that the node keeps up itself; its address comes, changes and goes."""

    @property
    def url(self) -> str:
        """Where anybody can reach the node now; empty while nobody can."""
        ...

    async def changed(self, seen: str) -> str:
        """Returns the address as soon as it is another than that."""
        ...

    def report_unreachable(self, url: str, why: str) -> None:
        """Somebody out there cannot reach that address: the tunnel is opened anew."""
        ...


class Manager(Word):
    """Who the manager is on a channel: the chat, and the person as the surface knows them. Nobody without a chat."""

    chat: str = ""
    person: str = ""
    name: str = ""

    @property
    def title(self) -> str:
        """For a person: the name, and what cannot be chosen freely."""
        known = f"user {self.person}" if self.person else f"chat {self.chat}"
        return f"{self.name} ({known})" if self.name else known


class Managers(Protocol):
    """Who the manager is on each channel, kept in the store; each channel asks under its own name."""

    def manager(self, channel: str) -> Manager | None:
        """The manager there; one without a chat when nobody is, None when nobody was ever asked for."""
        ...

    def keep_manager(self, channel: str, manager: Manager) -> None:
        """Keeps it, on the disk when this returns. Whoever it was before is the former one until that is told."""
        ...

    def former_chat(self, channel: str) -> str:
        """The chat of the one before, who has not been told yet; empty when there is nobody to tell."""
        ...

    def former_told(self, channel: str) -> None:
        """The one before has been told."""
        ...


class Peers(Protocol):
    """What a channel may ask of the node's other channels, whichever there are."""

    def manager_chat(self) -> str:
        """The manager's chat on the first channel that knows it; empty while nobody is known."""
        ...

    async def manager_chat_changed(self) -> None:
        """Tells every channel that follows it that the manager's chat is known now."""
        ...

    async def notify(self, text: str) -> None:
        """Brings the text to the manager over every channel that has a chat, as soon as each can be reached."""
        ...

    async def announce(self, text: str, but: str = "") -> None:
        """Tells the manager something about the node itself: in the log, and over every channel that can now, `but`
        for the channel of that name, which has told it in its own way."""
        ...

    def show_at_terminal(self, text: str) -> None:
        """Shows it to the person at the node's terminal, and to nobody else: not even to the log."""
        ...

    def inbox(self, worker: str) -> Path:
        """The folder for files that the manager sends that worker."""
        ...


def no_agents() -> tuple[str, ...]:
    """No agent is here."""
    return ()


@dataclass(frozen=True)
class ChannelContext:
    """Each channel package has a `channel.py` with `build(context)`, which returns its channels: none if not set up."""

    hub: Hub
    outbox: Outbox
    clock: Clock
    peers: Peers
    managers: Managers
    # The variables that the channel's manifest names in `[settings]` and `secrets`, as far as they are set.
    variables: Mapping[str, str] = field(repr=False)
    version: str
    # The node's own folder, the folders of workers' small files and pipes, and where the node was started.
    folder: Path
    sessions: Path
    temporary: Path
    working_directory: Path
    tmux_prefix: str
    # The port of the node's HTTP listener, where workers find it, and its public address, if it has one.
    port: int
    bridge_url: str
    public_url: str = ""
    # The tunnel that the node keeps up for those that have no address of their own.
    tunnel: Tunnel | None = None
    # The kinds of workers whose agents run in tmux; those that take a message in mid-turn.
    terminals: frozenset[str] = frozenset()
    steers: frozenset[str] = frozenset()
    # What a worker's agent can do.
    can: Callable[[Worker], Can] = lambda _worker: Can()
    # The models by name that a worker's agent can change to.
    models: Callable[[Worker], tuple[str, ...]] = lambda _worker: ()
    # The backends whose agents are installed here now.
    agents: Callable[[], tuple[str, ...]] = no_agents
    # The group of the user whom agents run as, if that is not the node's own: what they are handed is readable for it.
    agent_group: int | None = None
    # How all workers are sandboxed, if they are.
    sandbox: SandboxView | None = None
    # Whether a worker's agent sees a file itself: in a sandbox, and as another user, it may not.
    sees: Callable[[Worker, Path], bool] = lambda _worker, _path: True
    # Where the pipes are that a worker in a sandbox writes to the others through; None for one that is in none.
    sender_pipes: Callable[[Worker], Path | None] = lambda _worker: None
    # The secrets of the node and of its workers and devices that nobody may be sent.
    secrets_in_use: SecretsInUse = none_known
    # The devices that are paired with the node.
    devices: DeviceRegistry | None = None
    # Who listens to recordings, if anybody does.
    voice: Transcriber | None = None
    # Who is buzzed for what, and where devices can be reached by push.
    attention: AttentionView = NO_ATTENTION
    push: PushStore = NO_PUSH_STORE

    @property
    def way_in(self) -> str:
        """Where the node is found from outside now; empty while it is not."""
        return self.public_url or (self.tunnel.url if self.tunnel else "")
