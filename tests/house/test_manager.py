"""Who the manager is: in the store. Files are written for others, and believed when the store knows nothing yet."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.house.telegram_house import MANAGER, telegram_house

from farhand.cli.main import main
from farhand.model.channel_ports import Manager
from farhand.store.database import Database
from farhand.store.managers import SqliteManagers
from farhand.store.schema import MIGRATIONS
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
EVE = 666
# The version of the store that first knew managers; what came after it must stand a second time here.
MANAGERS_SINCE = next(number for number, step in enumerate(MIGRATIONS, 1) if "CREATE TABLE managers" in step)
FILES = ("last_chat_id", "admin_chat_id")


def rewrite(folder: Path, chat: int) -> None:
    """As an agent with a shell would."""
    for name in FILES:
        (folder / "test" / name).write_text(str(chat))


async def test_a_rewritten_file_makes_nobody_manager(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.manager.says("/team")
        await telegram.manager.reads("No team members yet.")
    assert (tmp_path / "test" / "last_chat_id").read_text() == str(MANAGER)
    rewrite(tmp_path, EVE)
    async with telegram_house(tmp_path, bot) as telegram:
        await bot.person(EVE, "Eve").says("/hire evil")
        await telegram.manager.says("/progress")
        await telegram.manager.reads("No one assigned.")
        assert telegram.house.hub.present.workers == {}
        assert not [one for one in await bot.messages(EVE) if one.from_bot]


async def test_a_file_that_is_made_before_anybody_wrote_makes_nobody_manager(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot):
        pass
    rewrite(tmp_path, EVE)
    async with telegram_house(tmp_path, bot) as telegram:
        assert telegram.house.node.manager_chat() == ""


@pytest.mark.parametrize("name", FILES)
async def test_at_the_very_first_start_the_files_are_believed(tmp_path: Path, bot: FakeBot, name: str) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / name).write_text(f"{MANAGER}\n")
    async with telegram_house(tmp_path, bot) as telegram:
        assert telegram.house.node.manager_chat() == str(MANAGER)
        await bot.person(EVE, "Eve").says("/hire evil")
        await telegram.manager.says("/progress")
        await telegram.manager.reads("No one assigned.")
        assert telegram.house.hub.present.workers == {}


async def test_a_store_of_an_earlier_version_takes_its_manager_over(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.manager.says("/team")
        await telegram.manager.reads("No team members yet.")
    store = tmp_path / "test" / "farhand.db"
    store.unlink()
    db = sqlite3.connect(store)
    db.executescript("".join(MIGRATIONS[: MANAGERS_SINCE - 1]) + f"PRAGMA user_version = {MANAGERS_SINCE - 1};")
    db.close()
    async with telegram_house(tmp_path, bot) as telegram:
        assert telegram.house.node.manager_chat() == str(MANAGER)


async def test_who_became_manager_is_said_everywhere(tmp_path: Path, bot: FakeBot) -> None:
    with capture_logs() as logged:
        async with telegram_house(tmp_path, bot) as telegram:
            await telegram.manager.says("/team")
            await telegram.manager.reads("No team members yet.")
            assert telegram.told[0].startswith(f"Mo (user {MANAGER}) is the manager of this node now.")
        async with telegram_house(tmp_path, bot) as telegram:
            await telegram.manager.says("/progress")
            await telegram.manager.reads("No one assigned.")
    starts = [line for line in logged if line["event"] == "manager"]
    assert [(line["chat"], line["name"]) for line in starts] == [("", ""), (str(MANAGER), "Mo")]


async def test_a_manager_who_is_replaced_is_told(
    tmp_path: Path, bot: FakeBot, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FARHAND_HOME", str(tmp_path))
    (tmp_path / "nodes").symlink_to(tmp_path)
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.manager.says("/team")
        await telegram.manager.reads("No team members yet.")
        assert main(["manager", "--node", "test"]) == 0
        assert f"is Mo (user {MANAGER})." in capsys.readouterr().out
        assert main(["manager", "--node", "test", "--set", "77"]) != 0
        assert "is running" in capsys.readouterr().err
    assert main(["manager", "--node", "test", "--set", "x77"]) != 0
    assert main(["manager", "--node", "test", "--set", "77"]) == 0
    assert "is user 77." in capsys.readouterr().out
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.manager.reads("You are no longer the manager of this node: user 77 is.")
        await bot.person(77, "Ann").says("/team")
        await bot.person(77, "Ann").reads("No team members yet.")
    async with telegram_house(tmp_path, bot, admin_chat_id=str(MANAGER)):
        await bot.person(77, "Ann").reads(f"You are no longer the manager of this node: user {MANAGER} is.")
    assert main(["clean", "--node", "test"]) == 0
    assert "knows no manager any more" in capsys.readouterr().out
    async with telegram_house(tmp_path, bot) as telegram:
        assert telegram.house.node.manager_chat() == ""


async def test_the_former_one_is_kept_until_told(tmp_path: Path) -> None:
    database = Database(tmp_path / "farhand.db")
    try:
        managers = SqliteManagers(database)
        assert managers.manager("telegram") is None
        for chat in ("", "1", "1", "", "2"):
            managers.keep_manager("telegram", Manager(chat=chat))
        assert managers.former_chat("telegram") == "1"
        managers.former_told("telegram")
        assert managers.former_chat("telegram") == ""
        assert managers.manager("telegram") == Manager(chat="2")
    finally:
        database.close()
