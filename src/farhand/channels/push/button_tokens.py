"""What a button of a notification carries: good for one answer to one ask as shown, on one device, for a while."""

import hashlib
import hmac

from farhand.model.errors import NotAllowed
from farhand.model.present import Ask
from farhand.model.push import PushAnswer

GOOD_SECONDS = 3600.0


def token_for(secret: bytes, device: str, ask: Ask, choice: str, now: float) -> str:
    """The token of that choice; it ends with the ask, and after an hour."""
    ends = min(now + GOOD_SECONDS, ask.deadline or now + GOOD_SECONDS)
    return f"{int(ends)}.{_signature(secret, device, ask.id, ask.digest, choice, int(ends))}"


def _signature(secret: bytes, device: str, ask: str, digest: str, choice: str, ends: int) -> str:
    # Each part with its length, so that no two of them can be cut otherwise.
    parts = (device, ask, digest, choice, str(ends))
    signed = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
    return hmac.new(secret, signed, hashlib.sha256).hexdigest()


def check(secret: bytes, answer: PushAnswer, device: str, ask: Ask, now: float) -> None:
    """Raises NotAllowed for a button that is not for this ask as it stands, not this device's, or too old."""
    ends, _, given = answer.token.partition(".")
    is_number = ends.isascii() and ends.isdigit() and len(ends) < 12
    wanted = _signature(secret, device, answer.ask, answer.digest, answer.choice, int(ends) if is_number else 0)
    if not hmac.compare_digest(given.encode(), wanted.encode()) or answer.ask != ask.id:
        raise NotAllowed("That button is not this device's, or not for this question.", device=device)
    if int(ends) < now:
        raise NotAllowed("That button is too old: open the question and answer it there.", device=device)
    if answer.digest != ask.digest:
        raise NotAllowed("The question is another one by now: open it and answer it there.", device=device)


def command_id(answer: PushAnswer) -> str:
    """The id of the command that the button becomes: the same button is the same command."""
    return f"button-{hashlib.sha256(answer.token.encode()).hexdigest()[:32]}"
