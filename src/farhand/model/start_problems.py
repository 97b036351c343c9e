"""Why an agent does not run, in plain words and with what to do; never what its screen happened to show. Pure."""

import re

LONGEST_REASON = 240
NO_NETWORK = "no network"
WAITS_FOR_NETWORK = "No network. It waits, and goes on by itself when the network is back; Stop or /pause ends that."
# What agents and systems say, the reason in plain words, and what a person can do about it. The first that fits counts.
PROBLEMS: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reason, advice)
    for pattern, reason, advice in (
        (
            r"not logged in|run /login|select login method|log ?in with|sign in with|login required|not authenticated"
            r"|auth login|please (log|sign) in|waiting for auth|choose .*auth"
            r"|authentication required|authenticate first",
            "not signed in",
            "Sign in at the desk with the agent's own program, then try again.",
        ),
        (
            r"invalid (x-)?api.key|incorrect api key|api key not valid|authentication_error|unauthorized|\b401\b",
            "its key or sign-in is refused",
            "Renew it at the desk, then try again.",
        ),
        (
            r"api[_ ]key.*(not|missing|must|set|find|require)|(not|no|missing|set|find|specify) .*api[_ ]key"
            r"|set an auth method|no auth|missing environment variable: .*key",
            "it has no key",
            "Sign in at the desk, or set its key where the node is started, then try again.",
        ),
        (
            r"model not found: \S+/\S+",
            "it cannot use its model",
            "Sign in at the desk where that model comes from, or choose another one, then try again.",
        ),
        (
            r"ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|fetch failed|unable to connect|failed to connect"
            r"|could not resolve|network (error|is unreachable)|getaddrinfo|connection (refused|error|failed)"
            r"|waiting for network",
            NO_NETWORK,
            "It is tried again by itself.",
        ),
        (
            r"do you trust|trust this folder|trust the files|not trusted|untrusted",
            "it asks whether its folder can be trusted",
            "Answer that once at the desk, then try again.",
        ),
    )
)
_FRAMES = re.compile(r"[\u2500-\u259f\u2800-\u28ff█▐▛▜▝▘]+")


def is_known(words: str) -> bool:
    """Whether the words tell why an agent cannot work; a question about trust, the last, is answered where it is."""
    return any(pattern.search(words) for pattern, _, _ in PROBLEMS[:-1])


def is_network(words: str) -> bool:
    """Whether the words say that there is no network."""
    return any(pattern.search(words) for pattern, reason, _ in PROBLEMS if reason == NO_NETWORK)


def explained(why: str) -> str:
    """The reason for a person: plain words and what to do, or the last words of what was said."""
    for pattern, reason, advice in PROBLEMS:
        if pattern.search(why):
            return f"{reason}. {advice}"
    return _last_words(why)


def of_turn(error: str) -> str:
    """What a failed turn's error means and what to do about it, as sentences; empty for any other error."""
    for pattern, reason, advice in PROBLEMS[:-1]:
        if pattern.search(error):
            then = "Say it again when the network is back." if reason == NO_NETWORK else advice
            return f"{reason[:1].upper()}{reason[1:]}. {then}"
    return ""


def _last_words(why: str) -> str:
    """What was said without frames and pictures; of many lines the first and the last that says something."""
    lines = [line for line in (" ".join(_FRAMES.sub(" ", one).split()) for one in why.splitlines()) if line]
    if not lines:
        return "No reason was given."
    whole = lines[0] if len(lines) == 1 else f"{lines[0]} … {lines[-1]}"
    return whole if len(whole) <= LONGEST_REASON else f"{whole[: LONGEST_REASON - 1]}…"
