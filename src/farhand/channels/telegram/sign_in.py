"""Who has opened the bot's Mini App: what Telegram's own app hands its page, checked with the bot's token.

Telegram signs the data with a key that is made of the token, so that nobody without the token can make it up. It is
good for a few minutes and once: whoever finds it later in a log or a history gets nowhere. A restart forgets what was
used, so what was signed before it is good no more."""

import hashlib
import hmac
from collections.abc import Callable
from urllib.parse import parse_qsl

import msgspec

from farhand.model.errors import NotAllowed
from farhand.model.ports import Clock

LONGEST = 4096
GOOD_FOR_SECONDS = 300.0
# A phone's clock plays no part: Telegram's servers write the time. Theirs may be a little ahead of ours.
AHEAD_SECONDS = 60.0
MOST_USED = 1000
_REFUSED = "Telegram does not vouch for this."


class MiniAppUser(msgspec.Struct, frozen=True):
    """Whom Telegram vouches for."""

    id: int
    first_name: str = ""
    is_bot: bool = False


_users = msgspec.json.Decoder(MiniAppUser)


def read_user(data: str, token: str, now: float, since: float = 0.0) -> tuple[MiniAppUser, str]:
    """The person of `initData`, and its signature; NotAllowed for what is forged, altered, too old or from before
    `since`. Pure."""
    pairs = parse_qsl(data, keep_blank_values=True) if len(data) <= LONGEST else []
    fields = dict(pairs)
    given = fields.pop("hash", "")
    if not given or len(fields) + 1 != len(pairs):
        raise NotAllowed(_REFUSED)
    listed = "\n".join(f"{name}={value}" for name, value in sorted(fields.items()))
    secret = hmac.new(b"WebAppData", token.encode(), hashlib.sha256).digest()
    right = hmac.new(secret, listed.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(right.encode(), given.encode("utf-8", "surrogatepass")):
        raise NotAllowed(_REFUSED)
    made = fields.get("auth_date", "")
    if not (made.isascii() and made.isdigit() and len(made) < 12):
        raise NotAllowed(_REFUSED)
    # Telegram writes whole seconds: what was signed in the second of the start may have been used before it.
    if not -AHEAD_SECONDS <= now - int(made) <= GOOD_FOR_SECONDS or int(made) <= int(since):
        raise NotAllowed("This is too old: close the app in Telegram and open it again.")
    try:
        return _users.decode(fields.get("user", "")), right
    except (msgspec.MsgspecError, UnicodeEncodeError):
        raise NotAllowed(_REFUSED) from None


class MiniAppSignIn:
    """Lets in whoever may speak to the bot, once with each word of Telegram's."""

    def __init__(self, token: str, clock: Clock, may: Callable[[str], bool]) -> None:
        self._token = token
        self._clock = clock
        # Whether the person of that number may speak for the manager.
        self._may = may
        # What was used before that is not known any more.
        self._since = clock.now()
        self._used: dict[str, None] = {}

    def person(self, proof: str) -> str:
        """The name of the person who opened the app; NotAllowed for everybody who may not speak here."""
        user, signature = read_user(proof, self._token, self._clock.now(), self._since)
        if user.is_bot or not self._may(str(user.id)):
            raise NotAllowed("Only the manager of this team can open it.")
        if signature in self._used:
            raise NotAllowed("This was used before: close the app in Telegram and open it again.")
        self._used[signature] = None
        for old in list(self._used)[:-MOST_USED]:
            del self._used[old]
        return user.first_name
