"""`farhand run` with a tunnel: real processes, a stand-in that behaves as cloudflared, and Telegram at its far end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import pytest
from tests.live.reach.stand_ins import Cloudflared
from tests.spec.promises import promise

from farhand.testing.http import local_client
from farhand.testing.leftovers import end_agents
from farhand.testing.ports import lasting_port
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
SAFETY_SECONDS = 240.0
MANAGER = 7


class Desk:
    """A home with the command `farhand`, a bot, and a PATH on which cloudflared stands in."""

    def __init__(self, home: Path, bot: FakeBot, cloudflared: Cloudflared, name: str = "cli") -> None:
        self.home = home
        self.name = name
        self.bot = bot
        self.cloudflared = cloudflared
        self.manager = bot.person(MANAGER, "Mo")
        self.folder = home / ".claude" / "telegram" / "nodes" / name
        self.environ = {
            "PATH": cloudflared.path,
            "HOME": str(home),
            "FARHAND_HOST": "127.0.0.1",
            "FARHAND_TEMPORARY": str(home / "temporary"),
            "TELEGRAM_BOT_TOKEN": bot.token,
            "TELEGRAM_API_URL": bot.address,
            "ADMIN_CHAT_ID": str(MANAGER),
        }

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "farhand", *words]

    async def farhand(self, *words: str, **more: str) -> tuple[int, str]:
        """Runs a command to its end: its exit code and what it said."""
        done = await anyio.run_process(
            self.command(*words), env={**self.environ, **more}, cwd=self.home, check=False, stderr=subprocess.STDOUT
        )
        return done.returncode, done.stdout.decode()

    async def status(self) -> dict[str, object]:
        """What the node says of itself."""
        return dict(json.loads((await self.farhand("status", "-n", self.name, "--json"))[1]))

    def read(self, name: str) -> str:
        """A file of the node's."""
        file = self.folder / name
        return file.read_text().strip() if file.exists() else ""

    async def until(self, holds: Callable[[], object], what: str) -> None:
        """Waits for something that no event tells: a file or a process."""
        with anyio.fail_after(SAFETY_SECONDS):
            while not holds():  # noqa: ASYNC110
                await anyio.sleep(0.02)
        assert holds(), what

    async def until_reachable(self) -> str:
        """What `status` says once the node has seen that its way in leads to it: the address is on file before that."""
        with anyio.fail_after(SAFETY_SECONDS):
            while True:
                said = (await self.farhand("status", "-n", self.name))[1]
                if re.search(r"^  reach: .*, up for ", said, re.MULTILINE):
                    return said

    async def until_called(self, other_than: str = "") -> str:
        """Where the webhook leads, once it leads to the tunnel."""
        standing = await self.bot.until_standing(
            lambda standing: standing.webhook_url and standing.webhook_url.rstrip("/") != other_than.rstrip("/")
        )
        return standing.webhook_url.rstrip("/")

    async def talks(self, text: str) -> None:
        """The manager is heard and answered."""
        await self.manager.says(text)
        await self.manager.reads(text)

    @asynccontextmanager
    async def node(self, *more: str, port: str = "0", **variables: str) -> AsyncIterator[anyio.abc.Process]:
        """A node that runs while the block does; killed at its end if it still does."""
        words = self.command("run", "--node", self.name, "-p", port, "--headless", "--demo", "-v", *more)
        with (self.home / "log").open("ab") as log:
            process = await anyio.open_process(
                words, env={**self.environ, **variables}, cwd=self.home, stdout=log, stderr=log
            )
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()
                await process.wait()


@pytest.fixture
async def desk(tmp_path: Path, bot: FakeBot) -> AsyncIterator[Desk]:
    """Somebody who has cloudflared."""
    made = Desk(tmp_path, bot, Cloudflared(tmp_path / "programs"))
    yield made
    with anyio.CancelScope(shield=True):
        made.cloudflared.end()
        await end_agents(tmp_path)


@promise("cli.1", "cli.41", "files.2", "files.3", "files.4")
async def test_a_run_opens_a_tunnel_and_is_called_through_it_and_stop_leaves_nothing(desk: Desk) -> None:
    async with desk.node() as process:
        url = await desk.until_called()
        assert desk.read("tunnel_url") == url
        assert [int(desk.read("tunnel.pid").split()[0])] == desk.cloudflared.alive
        assert "Your quick Tunnel has been created!" in desk.read("tunnel.log")
        files = [desk.folder / name for name in ("tunnel.pid", "tunnel.log", "tunnel_url")]
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
        await desk.talks("through the tunnel")
        status = await desk.status()
        assert status["webhook"] == f"{url}/"
        assert status["reach"]["state"] == "up"  # type: ignore[index]
        assert status["hearing"]["telegram"]["mode"] == "webhook"  # type: ignore[index]
        code, told = await desk.farhand("status", "-n", "cli")
        assert (code, f"  tunnel:   {url}\n" in told, "  webhook:  set\n" in told) == (0, True, True)
        assert "  reach:    quick tunnel, up for " in told
        assert "  hearing:  telegram heard " in told
        # One that another node on this machine left is told, too.
        assert f"PID {desk.read('tunnel.pid').split()[0]} " not in told
        code, told = await desk.farhand("stop", "-n", "cli")
        assert code == 0, told
        assert await process.wait() == 0
    assert desk.cloudflared.alive == []
    assert (desk.read("tunnel.pid"), desk.read("tunnel_url")) == ("", "")


@promise("cli.43", "cli.44")
async def test_a_tunnel_that_is_killed_comes_back_and_nothing_is_lost(desk: Desk) -> None:
    async with desk.node():
        first = await desk.until_called()
        await desk.talks("before")
        os.kill(desk.cloudflared.alive[0], signal.SIGKILL)
        await desk.manager.says("in between")
        second = await desk.until_called(other_than=first)
        await desk.manager.reads("in between")
        await desk.manager.reads("⚠ Tunnel down: cloudflared was killed (9).")
        await desk.manager.reads(f"Tunnel up again: {second}")
        await desk.talks("after")
        assert desk.read("tunnel_url") == second
        assert len(desk.cloudflared.alive) == 1


async def test_a_killed_node_finds_its_tunnel_again(desk: Desk) -> None:
    port = str(lasting_port())
    async with desk.node(port=port) as process:
        url = await desk.until_called()
        process.kill()
        await process.wait()
        await desk.manager.says("while nobody was there")
    assert len(desk.cloudflared.alive) == 1
    tunnel = desk.cloudflared.alive
    async with desk.node(port=port) as process:
        await desk.manager.reads("while nobody was there")
        await desk.bot.until_calls(lambda calls: len(calls) >= 2, "setWebhook")
        assert (await desk.until_called(), desk.cloudflared.alive) == (url, tunnel)
        assert len(desk.cloudflared.starts) == 1
        process.terminate()
        assert await process.wait() == 0
    assert desk.cloudflared.alive == []


async def test_a_tunnel_that_leads_to_another_port_is_ended_before_there_is_a_second(desk: Desk) -> None:
    async with desk.node() as process:
        first = await desk.until_called()
        process.kill()
        await process.wait()
    async with desk.node(port=str(lasting_port())):
        await desk.until_called(other_than=first)
        await desk.talks("again")
        assert len(desk.cloudflared.starts) == 2
        assert desk.cloudflared.alive == [desk.cloudflared.starts[1][0]]


async def test_a_run_without_a_tunnel_ends_the_one_that_was_left(desk: Desk) -> None:
    async with desk.node() as process:
        await desk.until_called()
        process.kill()
        await process.wait()
    async with desk.node("--no-tunnel"):
        await desk.bot.until_standing(lambda standing: standing.polling and not standing.webhook_url)
        await desk.until(lambda: not desk.cloudflared.alive, "the tunnel was left")
        assert (desk.read("tunnel.pid"), desk.read("tunnel_url")) == ("", "")
        await desk.talks("polled")


@promise("cli.42")
@pytest.mark.parametrize("how", ["refused", "stubborn"])
async def test_a_tunnel_that_cannot_be_had_leaves_a_node_that_polls(desk: Desk, how: str) -> None:
    desk.cloudflared.behave(how)
    async with desk.node() as process:
        await desk.bot.until_standing(lambda standing: standing.polling)
        await desk.talks("heard at once")
        if how == "refused":
            told = await desk.manager.reads("⚠ Tunnel down:")
            assert 'status_code="429 Too Many Requests"' in told.text
            status = (await desk.status())["reach"]
            assert status["state"] == "down"  # type: ignore[index]
            # What could not be opened is not left half open; the next attempt may be under way.
            assert desk.read("tunnel_url") == ""
        else:
            await desk.until(lambda: desk.cloudflared.alive, "it was not started")
        process.terminate()
        assert await process.wait() == 0
    assert desk.cloudflared.alive == []


async def test_a_stubborn_tunnel_of_a_killed_node_ends_with_stop(desk: Desk) -> None:
    desk.cloudflared.behave("stubborn")
    async with desk.node() as process:
        await desk.until(lambda: desk.cloudflared.alive, "it was not started")
        process.kill()
        await process.wait()
    code, told = await desk.farhand("stop", "-n", "cli", "--keep-workers")
    assert (code, told) == (0, "Node 'cli' was not running. The tunnel ended.\n")
    await desk.until(lambda: not desk.cloudflared.alive, "it still runs")


async def test_whoever_comes_through_the_tunnel_is_a_stranger(desk: Desk) -> None:
    async with desk.node():
        url = await desk.until_called()
        key = {"Authorization": f"Bearer {desk.read('key')}"}
        async with local_client(base_url=url, timeout=240) as client:
            assert (await client.get("/")).status_code == 200
            assert (await client.get("/healthz")).json() == {"ok": True}
            answers = {
                "/response": await client.post("/response", json={"session": "demo", "text": "[[file:/etc/passwd]]"}),
                "/notify": await client.post("/notify", json={"text": "spam"}),
                "/workers": await client.get("/workers"),
                "/api/hub/present": await client.get("/api/hub/present"),
                "/api/hub/status": await client.get("/api/hub/status"),
                "/api/hub/events": await client.get("/api/hub/events"),
                "/api/hub/commands": await client.post("/api/hub/commands", json={}),
                "webhook": await client.post("/", json={"update_id": 1}),
            }
            assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(answers, 403)
            # Headers of a person's own making change nothing: those of the tunnel are there all the same.
            forged = {"Host": "127.0.0.1", "X-Forwarded-For": "127.0.0.1", "Cf-Connecting-Ip": "127.0.0.1"}
            assert (await client.get("/workers", headers=forged)).status_code == 403
            assert (await client.get("/api/hub/present", headers=key)).status_code == 200


@promise("cli.38", "output.8")
async def test_cloudflared_is_asked_for_by_name_and_is_not_here(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "programs" / "cloudflared").unlink()
    code, told = await desk.farhand("run", "--node", "cli", "--headless", "--reach", "cloudflared")
    assert (code, told) == (
        4,
        "error: cloudflared not installed\n→ brew install cloudflared (or use --no-tunnel)\n",
    )
    code, told = await desk.farhand("--reach=ngrok", "run", "--node", "cli", "--headless")
    assert code == 2
    assert "FARHAND_REACH" in told or "--reach" in told
    async with desk.node():
        await desk.bot.until_standing(lambda standing: standing.polling)
        assert (await desk.status())["reach"] is None


async def test_a_named_tunnel_keeps_its_address(desk: Desk) -> None:
    port = lasting_port()
    (desk.cloudflared.folder / "port").write_text(str(port))
    url = f"http://127.0.0.1:{port}"
    async with desk.node(FARHAND_TUNNEL_NAME="team", TUNNEL_URL=url):
        assert await desk.until_called() == url
        await desk.talks("by name")
        assert desk.cloudflared.starts[0][1].endswith(" team")
        os.kill(desk.cloudflared.alive[0], signal.SIGKILL)
        await desk.manager.reads(f"Tunnel up again: {url}")
        await desk.talks("again")
        assert [len(desk.cloudflared.starts), len(desk.cloudflared.alive)] == [2, 1]


async def test_an_address_of_ones_own_needs_no_tunnel(desk: Desk) -> None:
    async with desk.node("--tunnel-url", "https://never.example"):
        await desk.bot.until_standing(lambda standing: standing.webhook_url == "https://never.example/")
        await desk.until(lambda: desk.read("tunnel_url") == "https://never.example", "the address is not kept")
        assert desk.cloudflared.starts == []
