"""web_fetch: pages as text, the private network left alone, hostile servers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from farhand.sdk.protocols import ToolResult
from farhand.sdk.tools.builtin import BUILTIN_TOOLS
from farhand.sdk.tools.pagetext import page_text
from farhand.sdk.tools.web import addresses_in
from farhand.testing.sdk_env import sdk_context

pytestmark = pytest.mark.anyio

PAGE = b"""<html><head><title>The  page</title><style>x{}</style></head><body><script>evil()</script>
<h1>Head</h1><p>Some <b>bold</b> text&amp;more.</p><ul><li>one<li><a href="https://host/x">two</a></ul></body></html>"""


class Site(BaseHTTPRequestHandler):
    """A few pages, some of them hostile."""

    def do_GET(self) -> None:
        name = self.path.partition("?")[0]
        if name == "/page":
            self._answer(200, PAGE, "text/html; charset=utf-8")
        elif name == "/json":
            self._answer(200, b'{"a": 1}', "application/json")
        elif name == "/binary":
            self._answer(200, b"\x00\x01", "application/octet-stream")
        elif name == "/huge":
            self._flood()
        elif name == "/loop":
            self._answer(302, b"", "text/plain", location="/loop")
        elif name == "/onward":
            self._answer(302, b"", "text/plain", location="/json")
        elif name == "/file":
            self._answer(302, b"", "text/plain", location="file:///etc/passwd")
        elif name == "/odd":
            self._answer(200, "größe".encode("latin-1"), "text/plain; charset=latin-1")
        else:
            self._answer(404, b"no", "text/plain")

    def _answer(self, status: int, body: bytes, kind: str, location: str = "") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if location:
            self.send_header("location", location)
        self.end_headers()
        self.wfile.write(body)

    def _flood(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 1_000_000)
        except OSError:
            pass

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def fetch(folder: Path, prompt: str, *, private: bool = True) -> ToolResult:
    context = sdk_context(folder, raw={"tools": {"webFetch": {"allowPrivateAddresses": private}}})
    return await BUILTIN_TOOLS["web_fetch"].run({"prompt": prompt}, context)


async def test_a_page_comes_as_marked_text(tmp_path: Path, site: str) -> None:
    result = await fetch(tmp_path, f"Sum up {site}/page, please.")
    assert result.content == (
        f"<untrusted_context>\n--- {site}/page ---\nThe page\n\n# Head\n\nSome bold text&more.\n\n- one\n"
        "- two (https://host/x)\n</untrusted_context>"
    )
    assert result.display == "Fetched 1 of 1 pages."


async def test_several_pages_and_one_that_fails(tmp_path: Path, site: str) -> None:
    result = await fetch(tmp_path, f"{site}/onward {site}/gone {site}/odd")
    assert '{"a": 1}' in str(result.content)
    assert "The server answered 404" in str(result.content)
    assert "größe" in str(result.content)
    assert result.display == "Fetched 2 of 3 pages."


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/gone", "answered 404"),
        ("/binary", "not text"),
        ("/huge", "larger than 10 MB"),
        ("/loop", "leads on more than 5 times"),
        ("/file", "neither http nor https"),
    ],
)
async def test_what_cannot_be_fetched_is_said(tmp_path: Path, site: str, path: str, sentence: str) -> None:
    result = await fetch(tmp_path, f"{site}{path}")
    assert sentence in (result.error or "")


async def test_a_dead_server_is_an_error(tmp_path: Path) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        result = await fetch(tmp_path, f"http://127.0.0.1:{bound.getsockname()[1]}/")
    assert "Not fetched" in (result.error or "")


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://169.254.169.254/meta",
        "http://[::1]/",
        "http://10.0.0.1/",
        "http://0/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "http://100.64.0.1/",
    ],
)
async def test_the_private_network_is_left_alone(tmp_path: Path, address: str) -> None:
    result = await fetch(tmp_path, address, private=False)
    assert "private network" in (result.error or "")


async def test_prompts_without_or_with_too_many_addresses(tmp_path: Path) -> None:
    assert "names no address" in ((await fetch(tmp_path, "ftp://x and file:///y")).error or "")
    many = " ".join(f"https://host/{n}" for n in range(21))
    assert "20 is the most" in ((await fetch(tmp_path, many)).error or "")


def test_addresses_are_found_without_their_punctuation() -> None:
    assert addresses_in("See (https://a.b/c), <http://d.e/f>. And https://a.b/c!") == ["https://a.b/c", "http://d.e/f"]


def test_hostile_html_is_only_text() -> None:
    assert page_text("<p>a<script>b</p>") == "a"
    assert page_text("<" * 1000 + "a</" + "&#x110000;") != ""
    assert page_text("</a></script></p>plain") == "plain"
