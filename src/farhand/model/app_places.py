"""Where in the phone app something is shown, as the app writes its addresses behind the #. Pure."""

from urllib.parse import quote

from farhand.model.attention import AttentionKind
from farhand.model.words import WorkerName


def place_of(kind: AttentionKind, worker: WorkerName, key: str) -> str:
    """What leads to the question itself, to the worker's conversation, or to the inbox for what is no worker's."""
    if not worker:
        return "#/inbox"
    sheet = f"!{quote(key, safe='')}" if kind is AttentionKind.ASK else ""
    return f"#/w/{quote(worker, safe='').replace('!', '%21')}{sheet}"


def app_address(origin: str, place: str) -> str:
    """The whole address for a browser."""
    return f"{origin.rstrip('/')}/app/{place}"
