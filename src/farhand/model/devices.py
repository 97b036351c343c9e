"""Devices: phones, browsers and programs that were paired with a node, each with a key of its own. Pure."""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from farhand.model.stream import DevicePresence, Looking
from farhand.model.words import Word, WorkerName

if TYPE_CHECKING:
    import asyncio

DeviceId: TypeAlias = str
LONGEST_NAME = 60
# How long a code pairs that somebody types.
CODE_SECONDS = 120.0
# What a device speaks as: this and its id. Nobody else can.
VIA_PREFIX = "web-"


class Device(Word):
    """A device that was paired. A read-only one sees everything and does nothing."""

    id: DeviceId
    name: str
    paired_at: float
    last_seen: float = 0.0
    read_only: bool = False
    # The device whose passkey let it in: it goes with that one.
    came_by: DeviceId = ""

    @property
    def via(self) -> str:
        """The name by which its commands are known."""
        return f"{VIA_PREFIX}{self.id}"


class DevicePairing(Word):
    """An invitation for one device: whoever sends the code first, and in time, is paired."""

    code: str
    expires_at: float
    read_only: bool = False


def digest(key: str) -> str:
    """What is kept of a device's key: it lets nobody in."""
    return hashlib.sha256(key.encode()).hexdigest()


class DeviceStore(Protocol):
    """The devices, kept over any kill."""

    async def add(self, device: Device, digest: str) -> bool:
        """Keeps a device and the digest of its key; not where the one that let it in is gone."""
        ...

    def with_digest(self, digest: str) -> Device | None:
        """The device that has this key."""
        ...

    def digests(self) -> frozenset[str]:
        """The digests of all keys."""
        ...

    def has(self, device: DeviceId) -> bool:
        """Whether the device is still paired."""
        ...

    async def all(self) -> list[Device]:
        """Every device, the newest first."""
        ...

    async def remove(self, device: DeviceId) -> tuple[DeviceId, ...]:
        """Forgets a device and whoever came in by it, with their keys; all of these, none where there was none."""
        ...

    async def seen(self, device: DeviceId, at: float) -> None:
        """Notes when a device was last heard of."""
        ...


class DeviceRegistry(Protocol):
    """Who may speak to the node over its HTTP listener, beside whoever has its key."""

    def invite(self, *, read_only: bool = False, seconds: float = CODE_SECONDS) -> DevicePairing:
        """A one-time code for one device, good for that long."""
        ...

    def withdraw(self, code: str) -> DevicePairing | None:
        """Ends the invitation with that code, which then pairs nobody."""
        ...

    async def pair(self, code: str, name: str) -> tuple[Device, str]:
        """The device that the code makes, and its key. Raises WrongCode or TooManyTries."""
        ...

    async def admit(self, name: str, *, read_only: bool = False, came_by: DeviceId = "") -> tuple[Device, str]:
        """A new device and its key, for somebody who has proven who they are; `came_by` is the device that vouches."""
        ...

    async def recognise(self, key: str) -> Device | None:
        """The device that has this key."""
        ...

    async def all(self) -> list[Device]:
        """Every device, the newest first."""
        ...

    async def revoke(self, device: DeviceId) -> None:
        """Ends a device at once; raises UnknownDevice."""
        ...

    def connected(self, device: DeviceId) -> "AbstractContextManager[asyncio.Event]":
        """For as long as a connection of the device is open: the event is set when the device is revoked, or
        has opened too many since."""
        ...


class ViewRegistry(Protocol):
    """What the people at devices look at right now; nothing of it is written down."""

    def connected(
        self, device: DeviceId, name: str = "", *, answers: bool = True
    ) -> AbstractContextManager[Callable[[Looking | None], None]]:
        """For as long as a connection of the device is open: what is called with each view that it tells of."""
        ...

    def tell(self, device: DeviceId, view: Looking) -> None:
        """What a device looks at that cannot say so on its connection."""
        ...

    def calling(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Calls `wake` whenever somebody looks at something else. It must not wait."""
        ...

    @property
    def version(self) -> int:
        """Another number whenever somebody has looked at something else."""
        ...

    def others(self, device: DeviceId) -> tuple[DevicePresence, ...]:
        """The other devices whose people are there right now, and what they look at."""
        ...

    def looking_at(self, worker: WorkerName, *, answers: bool = False) -> frozenset[DeviceId]:
        """The devices on whose screens that worker is, as far as they were heard of lately; or those alone that may
        answer."""
        ...
