"""The devices of a node: invites, pairs, recognises and revokes them."""

import asyncio
import hmac
import secrets
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from farhand.model.devices import CODE_SECONDS, LONGEST_NAME, Device, DevicePairing, DeviceStore, digest
from farhand.model.errors import BadInput, NotAllowed, TooManyTries, UnknownDevice, WrongCode
from farhand.model.logger import get_logger
from farhand.model.ports import Clock
from farhand.model.visible import visible
from farhand.model.words import replace

log = get_logger("devices")
# Letters and digits that nobody mistakes for one another. Ten of them are 50 bits: two minutes of guessing at any rate
# that a node can answer find nothing, so that a right code never has to wait behind wrong ones.
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE_LENGTH = 10
MOST_INVITATIONS = 5
# Wrong codes in a minute; beyond it they are answered without a look at their text.
MOST_WRONG = 30
WRONG_SECONDS = 60.0
# Streams and sockets of one device at once; one more ends the oldest, which a phone may have left behind long ago.
MOST_CONNECTIONS = 64
# When a device was last heard of is written down this often.
SEEN_EVERY_SECONDS = 60.0


class Devices:
    """Keys are kept as digests; invitations live in memory, and end with the node."""

    def __init__(self, store: DeviceStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._invitations: list[DevicePairing] = []
        self._wrong: deque[float] = deque(maxlen=MOST_WRONG)
        # By device, the oldest first.
        self._connections: dict[str, dict[asyncio.Event, None]] = {}

    def invite(self, *, read_only: bool = False, seconds: float = CODE_SECONDS) -> DevicePairing:
        """A one-time code for one device. Of more than a few, the oldest ends."""
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        made = DevicePairing(code=code, expires_at=self._clock.now() + seconds, read_only=read_only)
        self._invitations = [*self._open_invitations(), made][-MOST_INVITATIONS:]
        return made

    async def pair(self, code: str, name: str) -> tuple[Device, str]:
        """The device that the code makes, and its key, which is told this once. Raises WrongCode or TooManyTries."""
        found = self.withdraw(code)
        if found is None:
            raise self._wrong_code()
        return await self.admit(name, read_only=found.read_only)

    def withdraw(self, code: str) -> DevicePairing | None:
        """Ends the invitation with that code; None when there is none."""
        asked = "".join(letter for letter in code.upper() if letter in ALPHABET)
        found = [one for one in self._open_invitations() if hmac.compare_digest(one.code.encode(), asked.encode())]
        self._invitations = [one for one in self._invitations if one not in found]
        return found[0] if found else None

    async def admit(self, name: str, *, read_only: bool = False, came_by: str = "") -> tuple[Device, str]:
        """A new device and its key, for somebody who has proven who they are; it goes with the one that vouches."""
        now, made = self._clock.now(), secrets.token_hex(6)
        device = Device(
            id=made, name=clean_name(name), paired_at=now, last_seen=now, read_only=read_only, came_by=came_by
        )
        key = secrets.token_urlsafe(32)
        if not await self._store.add(device, digest(key)):
            raise NotAllowed("The device that made this passkey is revoked.")
        log.info("device paired", device=device.id, name=device.name, came_by=came_by)
        return device, key

    def _open_invitations(self) -> list[DevicePairing]:
        now = self._clock.now()
        return [one for one in self._invitations if one.expires_at > now]

    def _wrong_code(self) -> BadInput:
        now = self._clock.now()
        if len(self._wrong) == MOST_WRONG and now - self._wrong[0] < WRONG_SECONDS:
            return TooManyTries()
        self._wrong.append(now)
        return WrongCode()

    async def recognise(self, key: str) -> Device | None:
        """The device that has this key; None for a key that nobody has, or has no more."""
        device = self._store.with_digest(digest(key)) if key else None
        now = self._clock.now()
        if device is not None and now - device.last_seen >= SEEN_EVERY_SECONDS:
            await self._store.seen(device.id, now)
            device = replace(device, last_seen=now)
        return device

    async def all(self) -> list[Device]:
        """Every device, the newest first."""
        return await self._store.all()

    async def revoke(self, device: str) -> None:
        """Ends a device, and those that its passkeys let in: their keys let nobody in any more, and their open
        connections end at once."""
        gone = await self._store.remove(device)
        if not gone:
            raise UnknownDevice(device)
        for one in gone:
            for revoked in self._connections.pop(one, ()):
                revoked.set()

    @contextmanager
    def connected(self, device: str) -> Iterator[asyncio.Event]:
        """For as long as a connection of the device is open: the event is set when the device is revoked, at once for
        one that was revoked before, and when so many newer ones are open that this one has to go."""
        ended = asyncio.Event()
        if not self._store.has(device):
            ended.set()
        open_ones = self._connections.setdefault(device, {})
        open_ones[ended] = None
        if len(open_ones) > MOST_CONNECTIONS:
            oldest = next(iter(open_ones))
            del open_ones[oldest]
            oldest.set()
        try:
            yield ended
        finally:
            left = self._connections.get(device)
            if left is not None:
                left.pop(ended, None)
                if not left:
                    del self._connections[device]


def clean_name(name: str) -> str:
    """The name that a device gives itself, as it may be shown: one line, nothing hidden."""
    return visible(" ".join(name.split()))[:LONGEST_NAME] or "a device"
