"""Telegram's own app opens the phone app and vouches for who did: the manager is let in once, nobody else ever."""

import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import httpx2
import pytest
from tests.house.telegram_house import MANAGER, TelegramHouse, telegram_house

from farhand.channels.telegram import channel
from farhand.channels.telegram.settings import TelegramSettings
from farhand.channels.telegram.sign_in import GOOD_FOR_SECONDS, read_user
from farhand.model.devices import Device
from farhand.model.errors import NotAllowed
from farhand.testing.house import SAFETY_SECONDS
from farhand.testing.http import local_client
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
TOKEN = "42:the-bot's-own"


def proof(token: str, *, user: int = MANAGER, at: float | None = None, **more: str) -> str:
    """What Telegram hands a page in its app; signed a little after the node's start, which may be in this second."""
    about = {"id": user, "first_name": "Mo", "language_code": "en"}
    made = str(int(time.time() + 2 if at is None else at))
    fields = {"query_id": "AAF", "user": json.dumps(about), "auth_date": made, "signature": "s", **more}
    listed = "\n".join(f"{name}={value}" for name, value in sorted(fields.items()))
    secret = hmac.new(b"WebAppData", token.encode(), hashlib.sha256).digest()
    right = hmac.new(secret, listed.encode(), hashlib.sha256).hexdigest()
    return urlencode({**fields, "hash": right})


def test_what_telegram_signed_is_believed_for_a_few_minutes() -> None:
    user, _ = read_user(proof(TOKEN, at=1000.0), TOKEN, 1000.0 + GOOD_FOR_SECONDS)
    assert (user.id, user.first_name) == (MANAGER, "Mo")


@pytest.mark.parametrize(
    "given",
    [
        "",
        "hash=",
        "user=%7B%7D&hash=00",
        proof(TOKEN, at=1000.0).replace("Mo", "Bo"),
        proof(TOKEN, at=1000.0) + "&more=1",
        proof(TOKEN, at=1000.0) + "&user=%7B%22id%22%3A1%7D",
        proof(TOKEN, at=1000.0) + "&hash=" + "0" * 64,
        proof("43:another-bot", at=1000.0),
        proof("", at=1000.0),
        proof(TOKEN, at=1000.0 - GOOD_FOR_SECONDS - 1),
        proof(TOKEN, at=2000.0),
        proof(TOKEN, at=1000.0, user="no user at all"),  # type: ignore[arg-type]
        proof(TOKEN, at=1000.0, auth_date="-5"),
        proof(TOKEN, at=1000.0, padding="x" * 5000),
        "\ud800=1&hash=1",
    ],
)
def test_what_is_forged_altered_or_old_is_not(given: str) -> None:
    with pytest.raises(NotAllowed):
        read_user(given, TOKEN, 1000.0)


def test_what_was_signed_in_the_second_of_the_start_may_have_been_used_before_it() -> None:
    # Telegram writes whole seconds; a node that was started at 1000.4 cannot know what was used at 1000.1.
    with pytest.raises(NotAllowed):
        read_user(proof(TOKEN, at=1000.0), TOKEN, 1000.9, since=1000.4)
    assert read_user(proof(TOKEN, at=1001.0), TOKEN, 1001.0, since=1000.4)


@pytest.fixture
async def telegram(tmp_path: Path, bot: FakeBot) -> AsyncIterator[TelegramHouse]:
    async with telegram_house(tmp_path, bot, mini_app=True, admin_chat_id=str(MANAGER)) as opened:
        yield opened


async def _sign_in(telegram: TelegramHouse, given: str, **headers: str) -> httpx2.Response:
    address = f"http://127.0.0.1:{telegram.house.node.port}"
    async with local_client(base_url=address, timeout=SAFETY_SECONDS) as client:
        asked = {"channel": "telegram", "proof": given, "name": "Telegram"}
        return await client.post("/api/sign-in", json=asked, headers=headers)


async def _devices(telegram: TelegramHouse) -> list[Device]:
    assert telegram.house.node.devices is not None
    return await telegram.house.node.devices.all()


async def test_the_manager_is_let_in_once_with_each_proof(telegram: TelegramHouse) -> None:
    given = proof(telegram.bot.token)
    first = await _sign_in(telegram, given)
    assert first.json()["device"]["name"] == "Telegram (Mo)"
    assert "HttpOnly" in first.headers["set-cookie"]
    assert "key" not in first.json()
    assert (await _sign_in(telegram, given)).status_code == 403
    others = {
        "another person": proof(telegram.bot.token, user=MANAGER + 1),
        "another bot": proof("1:x"),
        "too old": proof(telegram.bot.token, at=time.time() - 3600),
    }
    for name, forged in others.items():
        assert (await _sign_in(telegram, forged)).status_code == 403, name
    fresh = proof(telegram.bot.token, query_id="BBB")
    assert (await _sign_in(telegram, fresh, Origin="https://evil.example")).status_code == 403
    assert len(await _devices(telegram)) == 1


async def test_no_proof_is_good_over_a_restart(tmp_path: Path, bot: FakeBot) -> None:
    given = proof(bot.token, at=time.time() - 2)
    async with telegram_house(tmp_path, bot, mini_app=True, admin_chat_id=str(MANAGER)) as telegram:
        # A node that has just started cannot know whether it was used.
        assert (await _sign_in(telegram, given)).status_code == 403
        assert (await _sign_in(telegram, proof(bot.token))).status_code == 200


async def test_where_it_is_not_wanted_nobody_signs_in(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, admin_chat_id=str(MANAGER)) as telegram:
        assert (await _sign_in(telegram, proof(bot.token))).status_code == 403


async def test_while_nobody_is_manager_nobody_signs_in(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot, mini_app=True) as telegram:
        assert (await _sign_in(telegram, proof(bot.token))).status_code == 403


async def test_devices_are_listed_and_revoked_in_the_chat(telegram: TelegramHouse) -> None:
    manager = telegram.manager
    await manager.says("/devices")
    await manager.reads("No device is paired.")
    device = (await _sign_in(telegram, proof(telegram.bot.token))).json()["device"]
    await manager.says("/devices")
    listed = await manager.reads("/devices revoke <id>")
    assert f"Telegram (Mo): last seen just now, id {device['id']}" in listed.text
    await manager.says("/devices revoke nobody")
    await manager.reads("/devices lists those that are paired.")
    await manager.says(f"/devices revoke {device['id']}")
    await manager.reads("is revoked: it is cut off")
    assert await _devices(telegram) == []


async def test_the_button_beside_the_input_field_opens_the_app(tmp_path: Path, bot: FakeBot) -> None:
    # As with --tunnel-url: nobody calls that name here, and the fake Telegram only notes it.
    url = "https://team.example/"
    async with telegram_house(tmp_path, bot, url=url, mini_app=True, admin_chat_id=str(MANAGER)):
        (call,) = (await bot.until_calls(lambda calls: calls, method="setChatMenuButton"))[:1]
        assert call.parameters["chat_id"] == MANAGER
        assert call.parameters["menu_button"]["web_app"] == {"url": "https://team.example/app/"}


@pytest.mark.parametrize(
    ("wanted", "address", "url"),
    [
        (True, "https://team.example", "https://team.example/app/"),
        (True, "http://127.0.0.1:8081", ""),
        (True, "", ""),
        (False, "https://team.example", ""),
    ],
)
def test_it_leads_to_an_https_address_alone_and_only_where_it_is_wanted(wanted: bool, address: str, url: str) -> None:
    reached = SimpleNamespace(way_in=address)
    settings = TelegramSettings(token=TOKEN, mini_app=wanted)
    assert channel.app_address(settings, reached) == url  # type: ignore[arg-type]
