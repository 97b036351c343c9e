"""Asks the node how it is from outside: only its own health at the public address proves that the way leads here."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

# Why the node cannot be reached at that address; empty when it can.
Probe: TypeAlias = Callable[[str], Awaitable[str]]
PROBE_SECONDS = 10.0
LARGEST_ANSWER = 4096


async def probe(url: str) -> str:
    """One request; whoever else answers there is not taken for the node."""
    import httpx2
    import msgspec

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
