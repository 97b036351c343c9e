"""A node on the tailnet: a stand-in keeps Serve settings as Tailscale does, and somebody else's are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.live.reach.stand_ins import Cloudflared, TailscaleCommand
from tests.live.reach.test_reach_tunnel import Desk

from farhand.core.clock import SystemClock
from farhand.model.errors import ReachFailed
from farhand.model.reach import ReachMode
from farhand.reach.choose import ReachOptions, choose, close_left_behind
from farhand.reach.tailscale import Tailscale, TailscaleWay
from farhand.reach.way import CloudflaredWay
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
TARGET = "http://127.0.0.1:8081"
ADDRESS = "https://desk.tail1234.ts.net"


@pytest.fixture
def command(tmp_path: Path) -> TailscaleCommand:
    """Somebody who is on a tailnet."""
    return TailscaleCommand(tmp_path / "programs")


def tailscale(command: TailscaleCommand, seconds: float = 60.0) -> Tailscale:
    return Tailscale(str(command.folder / "tailscale"), {"PATH": command.path}, seconds)


def way(command: TailscaleCommand, folder: Path, seconds: float = 60.0) -> TailscaleWay:
    return TailscaleWay(tailscale(command, seconds), folder, TARGET)


def proxies(command: TailscaleCommand) -> dict[str, str]:
    """Where each port leads to."""
    sites = command.settings.get("Web", {})
    return {site.rpartition(":")[2]: one["Handlers"]["/"]["Proxy"] for site, one in sites.items()}


async def test_the_node_is_served_while_it_runs(command: TailscaleCommand, tmp_path: Path) -> None:
    one = way(command, tmp_path)
    assert await one.open() == ADDRESS
    assert "serve --bg --https=443 http://127.0.0.1:8081" in command.calls
    assert proxies(command) == {"443": TARGET}
    assert (tmp_path / "tunnel_url").read_text() == ADDRESS
    assert await one.check() == ""
    # A node that was killed finds what it served, and serves nothing a second time.
    again = way(command, tmp_path)
    assert await again.open() == ADDRESS
    assert len([call for call in command.calls if "--bg" in call]) == 1
    await again.close()
    assert proxies(command) == {}
    assert not (tmp_path / "tunnel_url").exists()


async def test_what_somebody_else_serves_stays(command: TailscaleCommand, tmp_path: Path) -> None:
    command.serve_something_else(443)
    one = way(command, tmp_path)
    assert await one.open() == f"{ADDRESS}:8443"
    assert proxies(command) == {"443": "http://127.0.0.1:3000", "8443": TARGET}
    await one.close()
    assert proxies(command) == {"443": "http://127.0.0.1:3000"}


async def test_what_somebody_has_put_in_its_place_stays(command: TailscaleCommand, tmp_path: Path) -> None:
    one = way(command, tmp_path)
    await one.open()
    command.serve_something_else(443)
    assert await one.check() == "Tailscale does not serve this node any more."
    await one.close()
    assert proxies(command) == {"443": "http://127.0.0.1:3000"}


async def test_what_tailscale_says_against_it_is_told(command: TailscaleCommand, tmp_path: Path) -> None:
    command.behave("denied")
    with pytest.raises(ReachFailed) as refused:
        await way(command, tmp_path).open()
    assert refused.value.text.startswith("tailscale serve refuses. It says: Access denied: serve config denied")
    command.behave("no consent")
    with pytest.raises(ReachFailed) as hung:
        await way(command, tmp_path, seconds=3.0).open()
    assert hung.value.text.startswith("tailscale serve does not come back.")
    assert "https://login.tailscale.com/f/serve?node=n1" in hung.value.text
    command.behave("logged out")
    with pytest.raises(ReachFailed, match="This machine is on no tailnet: run `tailscale up`"):
        await way(command, tmp_path).open()


def options(folder: Path, path: str, mode: ReachMode = ReachMode.AUTO, **more: object) -> ReachOptions:
    return ReachOptions(mode=mode, folder=folder, target=TARGET, environment={"PATH": path}, **more)  # type: ignore[arg-type]


async def test_which_way_is_taken(command: TailscaleCommand, tmp_path: Path) -> None:
    clock, cloudflared = SystemClock(), Cloudflared(tmp_path / "others")
    both = f"{command.folder}:{cloudflared.path}"

    async def taken(path: str, mode: ReachMode = ReachMode.AUTO, **more: object) -> str:
        found = await choose(options(tmp_path, path, mode, **more), clock)
        return found.name if found else ""

    assert await taken(both) == "tailscale"
    assert await taken(both, ReachMode.CLOUDFLARED) == "quick tunnel"
    assert await taken(both, ReachMode.NONE) == ""
    assert await taken(both, tunnel_name="team", public_url="https://team.example") == "named tunnel"
    assert await taken(both, ReachMode.CLOUDFLARED, public_url="https://mine.example") == ""
    assert await taken(cloudflared.path) == "quick tunnel"
    assert await taken(cloudflared.path, public_url="https://mine.example") == ""
    # Nobody out there has anything to call: nothing is opened that was not asked for.
    assert await taken(cloudflared.path, wants_public=False) == ""
    command.behave("logged out")
    assert await taken(both) == "quick tunnel"
    assert await taken(both, ReachMode.TAILSCALE) == "tailscale"
    assert await taken("/nowhere") == ""


async def test_what_a_run_of_another_kind_left_is_closed(command: TailscaleCommand, tmp_path: Path) -> None:
    await way(command, tmp_path).open()
    cloudflared = Cloudflared(tmp_path / "others")
    chosen = options(tmp_path, f"{command.folder}:{cloudflared.path}", ReachMode.CLOUDFLARED)
    found = await choose(chosen, SystemClock())
    assert isinstance(found, CloudflaredWay)
    await close_left_behind(chosen, found)
    assert proxies(command) == {}


async def test_a_node_on_a_tailnet_polls_and_stop_takes_it_off(
    command: TailscaleCommand, tmp_path: Path, bot: FakeBot
) -> None:
    desk = Desk(tmp_path, bot, Cloudflared(tmp_path / "others"))
    desk.environ["PATH"] = f"{command.folder}:{desk.environ['PATH']}"
    async with desk.node() as process:
        await bot.until_standing(lambda standing: standing.polling)
        await desk.until(lambda: desk.read("tunnel_url") == ADDRESS, "it is not served")
        assert "  reach:    tailscale, up for " in await desk.until_reachable()
        await desk.talks("polled")
        process.kill()
        await process.wait()
    assert len(proxies(command)) == 1
    code, told = await desk.farhand("stop", "-n", "cli")
    assert code == 0, told
    assert "The tunnel ended." in told
    assert (proxies(command), desk.cloudflared.starts) == ({}, [])
