"""The built-in tool that fetches pages. It refuses addresses inside the private network, also behind a redirect."""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import TYPE_CHECKING, Annotated, Any

from farhand.sdk.context import live
from farhand.sdk.protocols import SessionContext, ToolResult
from farhand.sdk.tools.commands import untrusted
from farhand.sdk.tools.pagetext import page_text
from farhand.sdk.tools.result import ToolError

if TYPE_CHECKING:
    from httpx2 import URL, AsyncClient

MOST_ADDRESSES = 20
MOST_REDIRECTS = 5
TIMEOUT_SECONDS = 20.0
LARGEST_BYTES = 10 * 1024 * 1024
LARGEST_TEXT_CHARACTERS = 100_000
_ADDRESS = re.compile(r"https?://(?:\[[0-9a-f:.]+\][^\s<>\"'`\])}]*|[^\s<>\"'`\])}]+)", re.IGNORECASE)
_GITHUB_FILE = re.compile(r"^https://github\.com/([^/]+)/([^/]+)/blob/(.+)$")


async def web_fetch(
    context: SessionContext,
    prompt: Annotated[str, "The addresses to fetch (http or https, at most 20) and what to look for in them."],
) -> ToolResult:
    """Fetches the pages that a prompt names and returns their text, for you to work with as the prompt says."""
    import httpx2

    addresses = addresses_in(prompt)
    if not addresses:
        raise ToolError("The prompt names no address that starts with http:// or https://.")
    if len(addresses) > MOST_ADDRESSES:
        raise ToolError(f"The prompt names {len(addresses)} addresses; {MOST_ADDRESSES} is the most.")
    private = live(context).settings.granted("tools.webFetch.allowPrivateAddresses") is True
    texts: list[str] = []
    failures = 0
    async with httpx2.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=True) as client:
        for address in addresses:
            try:
                texts.append(f"--- {address} ---\n{await _fetch(client, address, private=private)}")
            except (ToolError, httpx2.HTTPError, httpx2.InvalidURL) as error:
                failures += 1
                texts.append(f"--- {address} ---\nNot fetched: {str(error) or type(error).__name__}")
    whole = "\n\n".join(texts)
    if failures == len(addresses):
        raise ToolError(whole)
    return ToolResult(
        content=untrusted(whole), display=f"Fetched {len(addresses) - failures} of {len(addresses)} pages."
    )


def addresses_in(prompt: str) -> list[str]:
    """The addresses that a text names, each once, without the punctuation that follows them."""
    found = [match.rstrip(".,;:!?") for match in _ADDRESS.findall(prompt)]
    return list(dict.fromkeys(found))


async def _fetch(client: AsyncClient, address: str, *, private: bool) -> str:
    import httpx2

    url = httpx2.URL(_GITHUB_FILE.sub(r"https://raw.githubusercontent.com/\1/\2/\3", address))
    for _ in range(MOST_REDIRECTS + 1):
        if url.scheme not in ("http", "https"):
            raise ToolError(f"{url.scheme} is neither http nor https.")
        target, options = await _pinned(url, private=private)
        async with client.stream("GET", target, **options) as response:
            if response.has_redirect_location:
                url = url.join(response.headers["location"])
                continue
            if response.status_code >= 400:
                raise ToolError(f"The server answered {response.status_code}.")
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > LARGEST_BYTES:
                    raise ToolError(f"The page is larger than {LARGEST_BYTES // 1024 // 1024} MB.")
            return _text(bytes(content), response.headers.get("content-type", ""))
    raise ToolError(f"It leads on more than {MOST_REDIRECTS} times.")


async def _pinned(url: URL, *, private: bool) -> tuple[URL, dict[str, Any]]:
    """The request to make: to the very address that was looked at, so that a name cannot point elsewhere later."""
    options: dict[str, Any] = {"headers": {"user-agent": "farhand", "accept-encoding": "gzip, deflate"}}
    if private:
        return url, options
    address = await _public_address(url.host, url.port or (443 if url.scheme == "https" else 80))
    options["headers"]["host"] = url.netloc.decode("ascii")
    options["extensions"] = {"sni_hostname": url.host}
    return url.copy_with(host=address), options


async def _public_address(host: str, port: int) -> str:
    import anyio

    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ToolError(f"{host} is not known: {error}") from error
    for *_, (address, *_rest) in found:
        if not ipaddress.ip_address(str(address).partition("%")[0]).is_global:
            raise ToolError(f"{host} is an address of the private network, which is not fetched from.")
    return str(found[0][4][0])


def _text(content: bytes, kind: str) -> str:
    charset = re.search(r"charset=[\"']?([\w-]+)", kind)
    if not re.match(r"\s*(text/|application/(json|xml|xhtml|javascript|[\w.+-]+\+(json|xml))|$)", kind):
        raise ToolError(f"It is {kind.partition(';')[0]}, not text.")
    try:
        text = content.decode(charset[1] if charset else "utf-8", errors="replace")
    except LookupError:
        text = content.decode("utf-8", errors="replace")
    if "html" in kind:
        text = page_text(text)
    if len(text) > LARGEST_TEXT_CHARACTERS:
        return f"{text[:LARGEST_TEXT_CHARACTERS]}\n[cut: the page has {len(text)} characters]"
    return text
