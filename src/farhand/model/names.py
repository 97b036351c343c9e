"""Names of workers, nodes and messages: what they are made of."""

from farhand.model.errors import BadName
from farhand.model.lazy_pattern import lazy_pattern

LONGEST = 32

LONGEST_SESSION = 300

_STRIPPED = lazy_pattern(r"[^a-z0-9-]")


def normalize(name: str) -> str:
    """The name in the form that is kept: lower case, `a-z0-9-` only, no hyphen at either end."""
    return _STRIPPED.sub("", name.lower()).strip("-")


def is_session_id(text: str) -> bool:
    """Whether a conversation may be called that. An agent's programs can tell us any id, and it comes to stand on a
    command line, where a hyphen at its beginning makes it an option."""
    plain = text.isprintable() and not any(character.isspace() for character in text)
    return plain and 0 < len(text) <= LONGEST_SESSION and not text.startswith(("-", ".", "/"))


def is_model_name(text: str) -> bool:
    """Whether a model may be called that: the name stands on a command line, as the id of a conversation does."""
    plain = text.isprintable() and not any(character.isspace() for character in text)
    return plain and 0 < len(text) <= LONGEST_SESSION and not text.startswith("-")


def again(message: str) -> str:
    """What a message is called that waits once more: no wire may take it for the one that it had before."""
    first, tilde, times = message.rpartition("~")
    return f"{first}~{int(times) + 1}" if tilde and _is_number(times) else f"{message}~2"


def origin(message: str) -> str:
    """What a message was called when it came."""
    first, tilde, times = message.rpartition("~")
    return first if tilde and _is_number(times) else message


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def node_name(name: str) -> str:
    """The normalized name of a node, or BadName."""
    clean = normalize(name)
    if not clean or len(clean) > LONGEST:
        raise BadName(f"Invalid node name: {name}", name=name)
    return clean
