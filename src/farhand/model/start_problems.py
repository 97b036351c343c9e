"""Why an agent does not run, in plain words and with what to do; never what its screen happened to show. Pure."""

import re

from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.phrases import phrase
from farhand.model.words import Phrase

LONGEST_REASON = 240
NO_NETWORK = "why_no_network"
PROGRAM_MISSING = "why_program_missing"
# What is said more exactly where it is known how to sign in to that agent: the code's words with that.
_BY = "_by"
_SIGN_IN = ("why_not_signed_in", "why_key_refused", "why_no_key", "why_cannot_use_model")
SIGNED_OUT = frozenset(code + end for code in _SIGN_IN[:3] for end in ("", _BY))
WAITS_FOR_NETWORK = "No network. It waits, and goes on by itself when the network is back; Stop or /pause ends that."
# What agents and systems say, and the reason with what a person can do about it, by code. The first that fits counts.
PROBLEMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), code)
    for pattern, code in (
        (
            r"not logged in|run /login|select login method|log ?in with|sign in with|login required|not authenticated"
            r"|auth login|please (log|sign) in|waiting for auth|choose .*auth"
            r"|authentication required|authenticate first",
            "why_not_signed_in",
        ),
        (
            r"invalid (x-)?api.key|incorrect api key|api key not valid|authentication_error|unauthorized|\b401\b",
            "why_key_refused",
        ),
        (
            r"api[_ ]key.*(not|missing|must|set|find|require)|(not|no|missing|set|find|specify) .*api[_ ]key"
            r"|set an auth method|no auth|missing environment variable: .*key",
            "why_no_key",
        ),
        (
            r"model not found: \S+/\S+",
            "why_cannot_use_model",
        ),
        (
            r"\bENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|fetch failed|unable to connect|failed to connect"
            r"|could not resolve|network (error|is unreachable)|getaddrinfo|connection (refused|error|failed)"
            r"|waiting for network",
            NO_NETWORK,
        ),
        (
            r"do you trust|trust this folder|trust the files|not trusted|untrusted",
            "why_asks_about_trust",
        ),
    )
)
_FRAMES = lazy_pattern(r"[\u2500-\u259f\u2800-\u28ff█▐▛▜▝▘]+")


def is_known(words: str) -> bool:
    """Whether the words tell why an agent cannot work; a question about trust, the last, is answered where it is."""
    return any(pattern.search(words) for pattern, _ in PROBLEMS[:-1])


def is_network(words: str) -> bool:
    """Whether the words say that there is no network."""
    return any(pattern.search(words) for pattern, code in PROBLEMS if code == NO_NETWORK)


def explained(why: str, sign_in: str = "") -> Phrase | str:
    """The reason for a person: plain words and what to do, or the last words of what was said.

    `sign_in` is how a person signs in to that agent at the desk, where that is known."""
    found = next((code for pattern, code in PROBLEMS if pattern.search(why)), "")
    return _reason(found, sign_in) if found else _last_words(why)


def of_turn(error: str, sign_in: str = "") -> Phrase | None:
    """What a failed turn's error means and what to do about it; nothing for an error that speaks for itself."""
    code = next((code for pattern, code in PROBLEMS[:-1] if pattern.search(error)), "")
    if code == NO_NETWORK:
        # The turn is over: nobody tries it again by itself.
        return phrase("why_turn_without_network")
    return _reason(code, sign_in) if code else None


def _reason(code: str, sign_in: str) -> Phrase:
    return phrase(code + _BY, how=sign_in) if sign_in and code in _SIGN_IN else phrase(code)


def _last_words(why: str) -> Phrase | str:
    """What was said without frames and pictures; of many lines the first and the last that says something."""
    lines = [line for line in (" ".join(_FRAMES.sub(" ", one).split()) for one in why.splitlines()) if line]
    if not lines:
        return phrase("why_no_reason")
    whole = lines[0] if len(lines) == 1 else f"{lines[0]} … {lines[-1]}"
    return whole if len(whole) <= LONGEST_REASON else f"{whole[: LONGEST_REASON - 1]}…"
