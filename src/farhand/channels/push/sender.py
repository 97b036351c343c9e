"""Posts encrypted messages to push services, and says in plain words what they answer."""

import hashlib
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from cryptography.hazmat.primitives.asymmetric import ec

from farhand.channels.push.encrypt import as_text, authorization, encrypt
from farhand.model.logger import get_logger
from farhand.model.ports import Clock
from farhand.model.push import PushSubscription, bytes_of, parts_of

log = get_logger("push")
TIMEOUT_SECONDS = 15.0
LONGEST_ANSWER = 500
# A signature is used again while it holds for at least so long.
RENEWED_SECONDS = 3600.0
LONGEST_WAIT_SECONDS = 3600.0


@dataclass(frozen=True)
class PushReply:
    """What a push service answered; 0 when it did not."""

    status: int
    text: str = ""
    retry_after: float | None = None

    @property
    def taken(self) -> bool:
        """Whether it passes the message on."""
        return 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """Whether there is nobody any more at that address."""
        return self.status in (404, 410)


# An address that cannot be called was kept: nobody is there, and no service has to say so.
NOBODY = PushReply(410)


class PushSender:
    """One client for all services."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, contact: str, clock: Clock) -> None:
        self._key = key
        self._contact = contact
        self._clock = clock
        self._client = httpx2.AsyncClient(timeout=TIMEOUT_SECONDS, follow_redirects=False)
        self._signed: dict[tuple[str, str], tuple[float, str]] = {}

    async def close(self) -> None:
        """Lets its connections go."""
        await self._client.aclose()

    async def send(
        self, to: PushSubscription, message: bytes, *, ttl_seconds: int, urgent: bool, topic: str
    ) -> PushReply:
        """Encrypts and posts it. Raises httpx2.HTTPError when nobody can tell what became of it."""
        if parts_of(to.endpoint) is None:
            return NOBODY
        body = encrypt(message, bytes_of(to.keys.p256dh), bytes_of(to.keys.auth))
        headers = {
            "Authorization": self._authorization(to),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(ttl_seconds),
            "Urgency": "high" if urgent else "normal",
            # An undelivered message of the same topic is replaced.
            "Topic": as_text(hashlib.sha256(topic.encode()).digest())[:32],
        }
        try:
            answer = await self._client.post(to.endpoint, content=body, headers=headers)
        except httpx2.InvalidURL:
            return NOBODY
        reply = PushReply(answer.status_code, answer.text[:LONGEST_ANSWER], _seconds(answer.headers))
        level = log.info if reply.taken else log.warning
        level("push answered", device=to.device, service=to.service, status=reply.status, text=reply.text)
        return reply

    def _authorization(self, to: PushSubscription) -> str:
        parts = urlsplit(to.endpoint)
        audience, contact = f"{parts.scheme}://{parts.netloc}", contact_for(self._contact, to)
        now = self._clock.now()
        ends, kept = self._signed.get((audience, contact), (0.0, ""))
        if ends <= now:
            kept = authorization(self._key, audience, contact, now)
            self._signed[audience, contact] = (now + RENEWED_SECONDS, kept)
        return kept


def contact_for(contact: str, to: PushSubscription) -> str:
    """How the service reaches whoever runs the node; without an address of a person, that of the app itself."""
    return contact or to.origin


def _seconds(headers: httpx2.Headers) -> float | None:
    given = headers.get("retry-after", "")
    return min(float(given), LONGEST_WAIT_SECONDS) if given.isascii() and given.isdigit() and len(given) < 9 else None


def explain(reply: PushReply, to: PushSubscription, contact: str) -> str:
    """What went wrong and what to do about it, for a person."""
    said = f" It said: {' '.join(reply.text.split())[:200]}" if reply.text.strip() else ""
    match reply.status:
        case 0:
            return f"{to.service} did not answer.{said}"
        case 404 | 410:
            return "This device's subscription has ended. Switch notifications off and on again here."
        case 401 | 403:
            given = contact_for(contact, to)
            return (
                f"{to.service} refused this node ({reply.status}). Either the contact address '{given}' does not "
                "exist: set FARHAND_PUSH_CONTACT to one that does; or the subscription was made for another node: "
                f"switch notifications off and on again here.{said}"
            )
        case 413:
            return f"{to.service} found the message too large.{said}"
        case 429:
            wait = f" for {reply.retry_after:.0f} s" if reply.retry_after else ""
            return f"{to.service} wants to be left alone{wait}: too many messages came.{said}"
        case status if status >= 500:
            return f"{to.service} has trouble of its own ({status}). It is tried again.{said}"
        case status:
            return f"{to.service} did not take it ({status}).{said}"
