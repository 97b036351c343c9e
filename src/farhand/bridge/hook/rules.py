"""The rules of the two message files: what is new, what is kept, what an agent and a person are told. Pure.

A copy of this module runs inside an agent CLI's hooks: it imports the standard library and its neighbours alone.
"""

from __future__ import annotations

import time
import zlib

from farhand.bridge.hook import quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INBOX, OUTBOX = "wa_inbox.json", "wa_outbox.json"
READ, SENT = "read", "sent"
# Who speaks in the outbox: the agent, or the bridge about its files.
AGENT, BRIDGE = "agent", "bridge"
MOST_MESSAGES = 100
KEPT_SECONDS = 3600.0
SUMMARY_CHARACTERS = 500
HEADING = "WhatsApp messages:\n"
STOP_SENTENCE = (
    "⛔ STOP signal received from user. Complete your current action, write a final status update, and halt."
    " Do not start any new tasks."
)
# Most hooks need none of them, and do not load what reads them.
_STOP = r"(?i)\bstop\b"
_BARE_STOP = r"(?i)\W*stop\W*"
_TIME = r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?"

BridgeMessage = dict[str, object]


class Malformed(ValueError):
    """A file that does not hold messages."""


def parse(data: bytes) -> list[BridgeMessage]:
    """The messages of a file; what is no message in it is passed over. Raises Malformed."""
    try:
        content = quick_json.loads(data.decode().removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from None
    messages = content.get("messages") if isinstance(content, dict) else None
    if not isinstance(messages, list):
        raise Malformed("there is no list of messages in it")
    return [dict(one) for one in messages if isinstance(one, dict)]


def encode(messages: Sequence[BridgeMessage]) -> bytes:
    """A file with these messages: UTF-8 without BOM."""
    listed = ",".join(map(_lines, messages))
    text = '{\n  "messages": [' + (f"{listed}\n  ]" if listed else "]") + "\n}\n"
    # Half of a pair of surrogates, as foreign JSON may have it, is no character.
    return text.encode("utf-8", "replace")


def _lines(message: BridgeMessage) -> str:
    """A message with a line for each of its fields."""
    fields = (quick_json.dumps({name: value}, ascii_only=False)[1:-1] for name, value in message.items())
    listed = ",\n      ".join(fields)
    return "\n    {" + (f"\n      {listed}\n    }}" if listed else "}")


def new_message(kind: str, sender: str, text: str, now: float, salt: str, done: str) -> BridgeMessage:
    """A message as the files have it, with an id that nobody else gives."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    identity = f"{kind}_{int(now * 1000)}_{salt}"
    return {"id": identity, "timestamp": stamp, "from": sender, "text": text, done: False}


def key(message: BridgeMessage) -> str:
    """What tells one message from another: foreign ids may count seconds, and be given twice."""
    return f"{message.get('id', '')}:{zlib.crc32(text_of(message).encode('utf-8', 'replace')):08x}"


def id_of(key: str) -> str:
    """The id in what tells a message from others."""
    return key.rpartition(":")[0]


def text_of(message: BridgeMessage) -> str:
    """Its text, or nothing."""
    text = message.get("text")
    return text if isinstance(text, str) else ""


def is_done(message: BridgeMessage, done: str) -> bool:
    """Whether it was read (or sent)."""
    return message.get(done) is True


def waiting(messages: Iterable[BridgeMessage], done: str, known: Iterable[str] = ()) -> list[BridgeMessage]:
    """Those that are not done, and not known to be done whatever the file says."""
    passed = set(known)
    return [one for one in messages if not is_done(one, done) and key(one) not in passed]


def marked(messages: Iterable[BridgeMessage], keys: Iterable[str], done: str) -> list[BridgeMessage]:
    """The messages, with those of these keys done."""
    wanted = set(keys)
    return [{**one, done: True} if key(one) in wanted else one for one in messages]


def pruned(messages: Sequence[BridgeMessage], done: str, now: float) -> list[BridgeMessage]:
    """Without what is done and older than an hour, or with all that is done gone when there are too many."""
    kept = [one for one in messages if not is_done(one, done) or written_at(one, now) > now - KEPT_SECONDS]
    return kept if len(kept) <= MOST_MESSAGES else [one for one in kept if not is_done(one, done)]


def fitting(messages: list[BridgeMessage], there: Iterable[BridgeMessage], done: str) -> list[BridgeMessage]:
    """A hundred of them at most: what is not done, and was there already, before all else."""
    if len(messages) <= MOST_MESSAGES:
        return messages
    placed = set(map(key, there))
    ranked = sorted(messages, key=lambda one: (is_done(one, done), key(one) not in placed))
    kept = set(map(key, ranked[:MOST_MESSAGES]))
    return [one for one in messages if key(one) in kept][:MOST_MESSAGES]


def merged(first: Sequence[BridgeMessage], second: Sequence[BridgeMessage], done: str) -> list[BridgeMessage]:
    """Both, each message once; one that is done in either is done."""
    found = {key(one): one for one in first}
    for one in second:
        name = key(one)
        known = found.get(name)
        found[name] = one if known is None else {**known, done: is_done(known, done) or is_done(one, done)}
    return list(found.values())


def written_at(message: BridgeMessage, otherwise: float) -> float:
    """When it was written, in seconds since 1970; `otherwise` when it does not say so."""
    stamp = message.get("timestamp")
    if not isinstance(stamp, str):
        return otherwise
    if stamp[4:5] + stamp[7:8] + stamp[10:11] + stamp[13:14] + stamp[16:17] + stamp[19:] == "--T::Z":
        # As we write it, and most do.
        parts = [stamp[:4], stamp[5:7], stamp[8:10], stamp[11:13], stamp[14:16], stamp[17:19]]
        digits = "".join(parts)
        if digits.isascii() and digits.isdigit():
            return _seconds(*map(int, parts))
    import re

    found = re.match(_TIME, stamp)
    if found is None:
        return otherwise
    return _seconds(*(int(found[index] or 0) for index in range(1, 7))) - _offset(found[7] or "Z")


def _seconds(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float:
    return float(_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970, by the calendar of today."""
    year -= month <= 2
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + of_year - 719468


def _offset(zone: str) -> int:
    if zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    return (1 if zone[0] == "+" else -1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)


def is_stop(text: str) -> bool:
    """Whether a person says STOP, in any case, as a word of its own: a stopwatch stops nobody."""
    if "stop" not in text.casefold():
        return False
    import re

    return re.search(_STOP, text) is not None


def context(texts: Sequence[str]) -> str:
    """What the agent is told of these messages; STOP comes first, and nothing that was said beside it is lost."""
    if not any(map(is_stop, texts)):
        return HEADING + "\n".join(texts)
    import re

    beside = [text for text in texts if not re.fullmatch(_BARE_STOP, text)]
    return STOP_SENTENCE + (f"\n\n{HEADING}" + "\n".join(beside) if beside else "")


def summary(text: str) -> str:
    """The text as a phone shows it: 500 characters at most."""
    text = text.strip()
    return text if len(text) <= SUMMARY_CHARACTERS else text[: SUMMARY_CHARACTERS - 1].rstrip() + "…"
