"""A bot whose webhook somebody else has set: asked about on a terminal, left alone where nobody can be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
import pytest
from tests.live.nodes import Home
from tests.live.test_terminal import Desk

from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio

ELSEWHERE = "https://elsewhere.example/hook"
QUESTION = f"The bot's webhook leads to {ELSEWHERE}. Delete it, to be heard here? y/n [n]: "
RUN = ("run", "-n", "test", "-p", "0", "--no-tunnel", "--demo")


@pytest.fixture
async def home(tmp_path: Path, bot: FakeBot) -> AsyncIterator[Home]:
    """Somebody with a bot that another program hears."""
    await bot.http.post(f"/bot{bot.token}/setWebhook", json={"url": ELSEWHERE})
    made = Home(tmp_path, TELEGRAM_API_URL=bot.address, TELEGRAM_BOT_TOKEN=bot.token)
    yield made
    await anyio.to_thread.run_sync(made.farhand, "stop", "--all", "--force")
    await anyio.to_thread.run_sync(made.end_agents)


@asynccontextmanager
async def asked(home: Home, *words: str) -> AsyncIterator[Desk]:
    """A terminal that runs this."""
    desk = Desk(home, *words, columns=200)
    try:
        yield desk
    finally:
        await anyio.to_thread.run_sync(desk.close)


async def webhook(bot: FakeBot) -> str:
    said = (await bot.http.post(f"/bot{bot.token}/getWebhookInfo")).json()
    return str(said["result"]["url"])


async def test_a_yes_on_a_terminal_deletes_it_and_the_node_hears(home: Home, bot: FakeBot) -> None:
    async with asked(home, *RUN) as desk:
        await anyio.to_thread.run_sync(desk.see, QUESTION)
        desk.type("maybe\r")
        await anyio.to_thread.run_sync(desk.see, "y or n, please")
        assert await webhook(bot) == ELSEWHERE
        desk.type("y\r")
        await anyio.to_thread.run_sync(desk.see, "Webhook deleted.")
        await bot.until_standing(lambda standing: standing.polling)
        assert await webhook(bot) == ""
        await anyio.to_thread.run_sync(desk.see, "demo>")
        desk.type("/quit\r")
        assert await anyio.to_thread.run_sync(desk.leave) == 0


async def test_a_no_leaves_it_and_the_node_says_that_it_hears_nothing(home: Home, bot: FakeBot) -> None:
    async with asked(home, *RUN) as desk:
        await anyio.to_thread.run_sync(desk.see, QUESTION)
        desk.type("\r")
        await anyio.to_thread.run_sync(desk.see, "A webhook is set elsewhere (elsewhere.example)")
        assert await webhook(bot) == ELSEWHERE
        desk.type("/quit\r")
        assert await anyio.to_thread.run_sync(desk.leave) == 0


async def test_nobody_is_asked_without_a_terminal_and_force_is_a_yes(home: Home, bot: FakeBot) -> None:
    told = await anyio.to_thread.run_sync(home.farhand, *RUN, "--detach")
    assert (told.returncode, await webhook(bot)) == (0, ELSEWHERE), told.stderr
    said = await anyio.to_thread.run_sync(home.farhand, "doctor", "-n", "test")
    assert f"set elsewhere: {ELSEWHERE}" in said.stdout
    assert "farhand webhook delete" in said.stdout
    await anyio.to_thread.run_sync(home.farhand, "stop", "-n", "test", "--force")
    told = await anyio.to_thread.run_sync(home.farhand, *RUN, "-n", "other", "--detach", "--force")
    assert (told.returncode, await webhook(bot)) == (0, ""), told.stderr
    assert "Webhook deleted." in told.stderr
    await bot.until_standing(lambda standing: standing.polling)


@pytest.mark.parametrize(
    ("more", "left", "said"),
    [((), ELSEWHERE, "until you say: farhand webhook delete --node dev"), (("--force",), "", "is deleted")],
)
async def test_an_unattended_setup_leaves_it_and_says_so_unless_forced(
    home: Home, bot: FakeBot, more: tuple[str, ...], left: str, said: str
) -> None:
    words = ["setup", "-n", "dev", "-p", "0", "--headless", "--admin", "78", "--adapter", "demo", "--no-start", *more]
    told = await anyio.to_thread.run_sync(home.farhand, *words)
    assert (told.returncode, await webhook(bot)) == (0, left), told.stdout + told.stderr
    assert f"Its webhook leads to {ELSEWHERE}" in told.stdout
    assert said in told.stdout
