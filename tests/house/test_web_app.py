"""The phone app's files: anybody may have them, nothing foreign runs on their page, and no other file is served."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette

from farhand.server.web_app import NOT_BUILT, WebApp, web_app_routes
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
SCRIPT = "console.log('hello')\n" * 50


def build(folder: Path) -> None:
    """What the build leaves: a page, a script with a hashed name, compressed and plain, a service worker."""
    (folder / "assets").mkdir(parents=True)
    (folder / "assets" / "index-a1.js").write_text(SCRIPT)
    (folder / "assets" / "index-a1.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (folder / "sw.js").write_text("self")
    (folder / ".built").write_text("")
    (folder / "index.html").write_text("<!doctype html>one")


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the app's routes alone; nothing is built yet."""
    transport = httpx2.ASGITransport(app=Starlette(routes=web_app_routes(WebApp(tmp_path / "app"))))
    async with local_client(transport=transport, base_url="http://node") as opened:
        yield opened


async def test_a_checkout_without_the_app_says_what_to_run(client: httpx2.AsyncClient, tmp_path: Path) -> None:
    answer = await client.get("/app/")
    assert (answer.status_code, answer.text) == (503, NOT_BUILT)
    build(tmp_path / "app")
    assert (await client.get("/app/")).text == "<!doctype html>one"


async def test_every_answer_forbids_what_is_foreign(client: httpx2.AsyncClient, tmp_path: Path) -> None:
    for path in ("/app", "/app/", "/app/sw.js", "/app/nothing.js"):
        for _ in ("without the files", "with them"):
            headers = (await client.get(path)).headers
            policy = headers["content-security-policy"]
            assert "unsafe" not in policy
            assert "*" not in policy
            assert "http" not in policy
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["x-content-type-options"] == "nosniff"
            if not (tmp_path / "app").exists():
                build(tmp_path / "app")


async def test_what_is_kept_by_a_browser_and_what_is_asked_for_each_time(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    build(tmp_path / "app")
    script = await client.get("/app/assets/index-a1.js", headers={"Accept-Encoding": "gzip"})
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (script.headers["content-encoding"], script.text) == ("gzip", SCRIPT)
    assert script.headers["content-type"].startswith("text/javascript")
    plain = await client.get("/app/assets/index-a1.js", headers={"Accept-Encoding": "identity"})
    assert ("content-encoding" in plain.headers, plain.text) == (False, SCRIPT)
    for name in ("", "sw.js"):
        first = await client.get(f"/app/{name}")
        assert first.headers["cache-control"] == "no-cache"
        again = await client.get(f"/app/{name}", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


async def test_every_screen_is_the_one_page_and_nothing_else_is_a_file(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    build(tmp_path / "app")
    (tmp_path / "secret.txt").write_text("the node's key")
    assert (await client.get("/app/worker/ann")).text == "<!doctype html>one"
    for path in (
        "nothing.js",
        ".built",
        "assets/",
        "assets/index-a1.js.gz",
        "../secret.txt",
        "..%2fsecret.txt",
        "//etc/passwd",
    ):
        answer = await client.get(f"/app/{path}")
        assert "key" not in answer.text
        assert answer.status_code == 404 or answer.text == "<!doctype html>one", path
    assert (await client.get("/app/.built")).status_code == 404
    assert (await client.get("/app/..%2fsecret.txt")).status_code == 404


async def test_the_apps_files_are_public_and_its_data_is_not(house: House) -> None:
    address = f"http://127.0.0.1:{house.node.port}"
    stranger = {"X-Forwarded-For": "203.0.113.9", "Origin": "https://elsewhere.example"}
    async with local_client(base_url=address, timeout=SAFETY_SECONDS) as client:
        assert (await client.get("/app/", headers=stranger)).status_code in (200, 503)
        assert (await client.get("/app", headers=stranger)).headers["location"] == "/app/"
        assert (await client.get("/api/hub/present", headers=stranger)).status_code == 403
        assert (await client.get("/")).text == "Claude-Telegram Multi-Session Bridge"
