"""Passkeys: a browser that proves one is let in as a new device, without a code. Pure."""

from typing import Protocol

from farhand.model.devices import Device, DeviceId
from farhand.model.words import Word

LONGEST_NAME = 60


class Passkey(Word):
    """A passkey that a device has made; it ends with that device."""

    id: str
    name: str
    # The name, and the port, of the node under which it was made: a browser offers it to no other name.
    site: str
    device: DeviceId
    made_at: float
    used_at: float = 0.0


class StoredPasskey(Word):
    """A passkey with what its signatures are checked by."""

    passkey: Passkey
    public_key: bytes
    sign_count: int


class PasskeyStore(Protocol):
    """The passkeys, kept over any kill."""

    async def add(self, passkey: StoredPasskey) -> bool:
        """Keeps one; False, and nothing is kept, where its device is gone or its id is taken."""
        ...

    async def find(self, passkey: str) -> StoredPasskey | None:
        """The one of that id."""
        ...

    async def all(self) -> list[Passkey]:
        """Every one, the newest first."""
        ...

    async def used(self, passkey: str, sign_count: int, at: float) -> bool:
        """Notes that it was used, and how often its authenticator says it has signed; whether it is still there."""
        ...

    async def remove(self, passkey: str) -> bool:
        """Forgets one; whether there was one."""
        ...


class PasskeyRegistry(Protocol):
    """Makes and recognises passkeys, under the name that a browser knows the node by (`host`, perhaps with a port).

    Everything of WebAuthn travels as the JSON that browsers speak."""

    @property
    def available(self) -> bool:
        """Whether this node can: what checks signatures is an extra."""
        ...

    def creation_options(self, device: Device, host: str) -> str:
        """What a browser is asked with, to make one."""
        ...

    async def add(self, device: Device, host: str, credential: bytes, name: str) -> Passkey:
        """Keeps what the browser made; raises NotAllowed."""
        ...

    def request_options(self, host: str) -> str:
        """What a browser is asked with, to prove that it has one."""
        ...

    async def recognise(self, host: str, credential: bytes) -> Passkey:
        """The passkey that the browser has proven; raises NotAllowed."""
        ...

    async def all(self) -> list[Passkey]:
        """Every one, the newest first."""
        ...

    async def remove(self, passkey: str) -> None:
        """Ends one; raises UnknownPasskey."""
        ...
