"""The way in as a newcomer meets it: chosen in the set-up, looked at by the doctor."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.live.reach.stand_ins import Cloudflared, TailscaleCommand
from tests.live.reach.test_reach_tunnel import Desk

from farhand.channels.kit.who_may_speak import as_qr
from farhand.cli.app_link import NO_WAY_IN, app_link
from farhand.cli.checks import NodeChecks
from farhand.testing.http import local_client
from farhand.testing.leftovers import end_agents
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def desk(tmp_path: Path, bot: FakeBot) -> AsyncIterator[Desk]:
    """Somebody who has cloudflared."""
    made = Desk(tmp_path, bot, Cloudflared(tmp_path / "programs"))
    yield made
    with anyio.CancelScope(shield=True):
        await made.farhand("stop", "--all", "--force")
        made.cloudflared.end()
        await end_agents(tmp_path)


SET_UP = "setup -n cli -p 0 --headless --admin 7 --mode default --adapter demo".split()


async def test_what_is_chosen_in_the_set_up_is_opened_and_kept(desk: Desk) -> None:
    code, told = await desk.farhand(*SET_UP, "--reach", "cloudflared")
    assert code == 0, told
    assert "FARHAND_REACH=cloudflared" in desk.read("env").splitlines()
    assert await desk.until_called() == desk.read("tunnel_url")
    await desk.manager.says("/team")
    await desk.manager.reads("No team members yet")
    await _a_phone_is_shown_the_way_in(desk)


async def _a_phone_is_shown_the_way_in(desk: Desk) -> None:
    """`farhand pair` shows the link by which a phone comes in, and the same as a QR code; its code pairs a device."""
    code, told = await desk.farhand("pair", "-n", "cli")
    assert code == 0, told
    typed = told.splitlines()[0].removeprefix("Code: ")
    link = app_link(desk.read("tunnel_url"), typed.replace("-", ""))
    assert f"On a phone: {link}\n{as_qr(link)}\n" in told
    assert NO_WAY_IN not in told
    status = json.loads((await desk.farhand("status", "-n", "cli", "--json"))[1])
    async with local_client(base_url=f"http://127.0.0.1:{status['port']}") as phone:
        paired = await phone.post("/api/pair", json={"code": link.partition("#pair=")[2], "name": "my phone"})
    assert paired.json()["device"]["name"] == "my phone"


async def test_without_a_word_nobody_is_let_in(desk: Desk) -> None:
    code, told = await desk.farhand(*SET_UP)
    assert code == 0, told
    assert "FARHAND_REACH=none" in desk.read("env").splitlines()
    await desk.bot.until_standing(lambda standing: standing.polling)
    assert desk.cloudflared.starts == []
    said = [json.loads(line) for line in (await desk.farhand("status", "-n", "cli", "--json"))[1].splitlines()]
    assert said[0]["reach"] is None


def test_the_doctor_looks_at_the_way_in(tmp_path: Path) -> None:
    def tunnel(path: str, **variables: str) -> tuple[str, str, str]:
        found = NodeChecks("dev", {"HOME": str(tmp_path), "PATH": path, **variables}).reach()
        return found.state, found.told, found.todo

    nowhere = str(tmp_path / "nowhere")
    assert tunnel(nowhere) == ("absent", "none: Telegram is polled, which needs none", "")
    missing = ("bad", "cloudflared not installed", "brew install cloudflared (or use --no-tunnel)")
    assert tunnel(nowhere, FARHAND_REACH="cloudflared") == missing
    assert tunnel(nowhere, FARHAND_REACH="ngrok")[0] == "bad"
    command = TailscaleCommand(tmp_path / "programs")
    assert tunnel(command.path) == ("good", "tailscale", "")
    command.behave("logged out")
    assert tunnel(command.path) == ("warning", "tailscale is on no tailnet", "tailscale up")
    assert tunnel(command.path, FARHAND_REACH="tailscale")[0] == "bad"
    assert tunnel(command.path, FARHAND_REACH="none") == ("good", "tailscale", "")
