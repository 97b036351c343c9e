"""Asks the node how it is from outside: only its own health at the public address proves that the way leads here."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias
from urllib.parse import urlsplit

import anyio

# Why the node cannot be reached at that address; empty when it can.
Probe: TypeAlias = Callable[[str], Awaitable[str]]
PROBE_SECONDS = 10.0
LARGEST_ANSWER = 4096


async def probe(url: str) -> str:
    """One request; whoever else answers there is not taken for the node.

    Where the name is not known here, nobody can tell: this machine is offline, or remembers that the name was not there
    yet. Those who call from outside tell then."""
    import httpx2
    import msgspec

    if not await _is_known(urlsplit(url).hostname or ""):
        return ""
    try:
        async with httpx2.AsyncClient(timeout=PROBE_SECONDS, follow_redirects=False) as client:
            answer = await client.get(f"{url.rstrip('/')}/healthz")
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        return f"No connection ({type(error).__name__})."
    if answer.status_code != 200:
        return f"The address answers {answer.status_code}."
    try:
        said = msgspec.json.decode(answer.content[:LARGEST_ANSWER])
    except msgspec.MsgspecError:
        said = None
    return "" if isinstance(said, dict) and said.get("ok") is True else "Somebody else answers at the address."


async def _is_known(host: str) -> bool:
    try:
        await anyio.getaddrinfo(host, None)
    except OSError:
        return False
    return True
