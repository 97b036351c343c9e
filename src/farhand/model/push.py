"""Web push: where a device can be reached, and what the app asks of whoever sends. Pure."""

import base64
import binascii
from typing import Protocol, runtime_checkable
from urllib.parse import SplitResult, urlsplit

from farhand.model.devices import Device, DeviceId
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.words import AskId, Phrase, Word

LONGEST_ENDPOINT = 2000
# The services of the browsers that people have. Others are allowed by FARHAND_PUSH_SERVICES.
SERVICES = (
    "fcm.googleapis.com",
    # Chromium as it is built without Google's own parts.
    "jmt17.google.com",
    "updates.push.services.mozilla.com",
    "push.apple.com",
    "notify.windows.com",
)
# What an address is written with; whatever else is in one, two programs may read in two ways.
_PLAIN_ADDRESS = lazy_pattern(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*")
_HOST = lazy_pattern(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")
# The curve P-256 of browsers' keys: y² = x³ - 3x + B over this prime.
_PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B


class PushKeys(Word):
    """The two keys of a browser's subscription, base64url as browsers write them."""

    p256dh: str
    auth: str


class PushSubscription(Word):
    """Where one device can be reached while its app is asleep."""

    device: DeviceId
    endpoint: str
    keys: PushKeys
    # Where the app is for this device: what a notification opens.
    origin: str
    language: str = "en"
    at: float = 0.0
    # It may look, and change nothing: its notifications have no buttons.
    read_only: bool = False

    @property
    def service(self) -> str:
        """The host of the push service, which is all of the address that may be shown: the rest is a secret."""
        parts = parts_of(self.endpoint)
        return (parts.hostname if parts else None) or "an address that is none"


class PushAnswer(Word):
    """A button of a notification was tapped: one answer to one ask, as it was shown."""

    ask: AskId
    digest: str
    choice: str
    token: str


class PushTest(Word):
    """What became of a test: `ok`, or what went wrong and what to do about it."""

    ok: bool
    text: str
    # The same by code, where it is the node's own words.
    phrase: Phrase | None = None


def bytes_of(text: str) -> bytes:
    """What is written as base64url, with or without its padding; nothing where it is none."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""


def parts_of(address: str) -> SplitResult | None:
    """The parts of an address; nothing where it is none that every program reads alike."""
    try:
        parts = urlsplit(address)
        # Asked for here because it raises where it is no number of a port.
        _ = parts.port
    except ValueError:
        return None
    return parts if _PLAIN_ADDRESS.fullmatch(address) else None


def problem_of(subscription: PushSubscription, allowed: frozenset[str]) -> str:
    """Why nothing may be sent there; empty when it may.

    The node calls this address by itself, so that a device must not choose just any: `allowed` has more of them, as
    `scheme://host:port`."""
    if len(subscription.endpoint) > LONGEST_ENDPOINT:
        return "The address of the push service is too long."
    if (parts := parts_of(subscription.endpoint)) is None:
        return "The address of the push service is none."
    if f"{parts.scheme}://{parts.netloc}" not in allowed:
        host = parts.hostname or ""
        is_known = bool(_HOST.fullmatch(host)) and any(host == one or host.endswith(f".{one}") for one in SERVICES)
        if parts.scheme != "https" or not is_known or parts.port not in (None, 443) or parts.username is not None:
            return f"'{host[:60]}' is no push service that this node knows; FARHAND_PUSH_SERVICES allows more."
    key, secret = bytes_of(subscription.keys.p256dh), bytes_of(subscription.keys.auth)
    if len(key) != 65 or key[0] != 4 or not _is_on_curve(key) or len(secret) != 16:
        return "The keys of that subscription are none."
    return "" if _is_origin(parts_of(subscription.origin)) else "The app's own address is missing."


def _is_on_curve(key: bytes) -> bool:
    """Whether it is a point of P-256: nothing can be encrypted for any other."""
    x, y = int.from_bytes(key[1:33]), int.from_bytes(key[33:])
    return x < _PRIME and y < _PRIME and (y * y - (x * x * x - 3 * x + _B)) % _PRIME == 0


def _is_origin(origin: SplitResult | None) -> bool:
    if origin is None or origin.scheme not in ("http", "https") or not origin.netloc:
        return False
    return not (origin.path or origin.query or origin.fragment)


class PushStore(Protocol):
    """The subscriptions, kept over any kill; those of revoked devices are none."""

    def all(self) -> list[PushSubscription]:
        """Every one."""
        ...

    async def keep(self, subscription: PushSubscription) -> None:
        """Keeps a device's subscription in place of the one before."""
        ...

    async def remove(self, device: DeviceId, endpoint: str = "") -> bool:
        """Forgets a device's subscription, or that one alone."""
        ...


class NoPushStore:
    """Nobody can be reached."""

    def all(self) -> list[PushSubscription]:
        """None."""
        return []

    async def keep(self, subscription: PushSubscription) -> None:
        """Nowhere."""

    async def remove(self, _device: DeviceId, _endpoint: str = "") -> bool:
        """There was none."""
        return False


NO_PUSH_STORE = NoPushStore()


@runtime_checkable
class ServesPush(Protocol):
    """What devices ask of whoever sends push messages."""

    def public_key(self) -> str:
        """The node's key, by which a push service knows it."""
        ...

    def problem(self, device: DeviceId) -> str:
        """What went wrong with the last message to that device."""
        ...

    async def subscribe(self, subscription: PushSubscription) -> None:
        """Reaches the device there from now on; raises BadInput."""
        ...

    async def unsubscribe(self, device: DeviceId) -> None:
        """Leaves the device in peace."""
        ...

    def subscribed(self, device: DeviceId) -> bool:
        """Whether the device can be reached."""
        ...

    def language(self, device: DeviceId) -> str:
        """In which language the device is spoken to; empty where it is not reached."""
        ...

    async def test(self, device: DeviceId) -> PushTest:
        """Sends a notification at once, and tells what became of it."""
        ...

    async def answer(self, answer: PushAnswer, device: Device) -> None:
        """Settles the ask with what was tapped; raises Refused for what is stale, used or another device's."""
        ...
