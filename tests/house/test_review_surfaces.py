"""Reviews where people are: the card on Telegram with its buttons, and the routes of the phone app."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.house.reviewing import HOLE, ReviewingDriver, git, over, repository, review, reviewed_house
from tests.house.telegram_house import MANAGER, telegram_house
from tests.house.workdir_client import api

from farhand.model.facts import Noted, Queued, TurnEnded
from farhand.model.review import ReviewScope
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


async def test_a_verdict_on_telegram_is_sent_back_with_a_tap(tmp_path: Path, bot: FakeBot) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    critic.says("changes", HOLE, summary="One hole.")
    async with telegram_house(tmp_path, bot, drivers={"critic": critic}) as telegram:
        manager, house = telegram.manager, telegram.house
        await house.hire(directory=shop)
        (shop / "a.py").write_text("print(2)\n")
        await manager.says("/review")
        await manager.reads("/verdict")
        await manager.says("/verdict ann tree --by critic")
        verdict = await manager.reads("critic wants changes: One hole.")
        assert "1. P1 a.py:1 – It breaks." in verdict.text
        assert verdict.buzzed
        assert [key.text for row in verdict.buttons for key in row] == ["Send 1 back", "Review again"]
        await manager.taps(verdict, "Send 1 back")
        queued = await house.fact(Queued, lambda event: event.worker == "ann")
        assert "It breaks." in queued.text
        await house.fact(TurnEnded, lambda event: event.worker == "ann")
        await manager.says("/verdict status")
        await manager.reads("1. P1 a.py:1 – It breaks. ↩")
        said = " ".join(message.text for message in await bot.messages(MANAGER))
        assert "judges" not in said, "reviewers come and go without a word"
        assert '"review"' not in said


async def test_the_app_sees_what_is_stale_and_merges_only_what_is_approved(tmp_path: Path) -> None:
    critic, shop = ReviewingDriver(), repository(tmp_path / "shop")
    git(shop, "switch", "-qc", "work")
    (shop / "a.py").write_text("print(2)\n")
    git(shop, "commit", "-qam", "two")
    async with reviewed_house(tmp_path, critic) as house, api(house) as phone:
        await house.hire(directory=shop)
        refused = await phone.client.post("/api/workers/ann/merge", json={"into": "main"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "cannot_do")
        await review(house, scope=ReviewScope.COMMITS, base="main")
        await over(house)
        (shop / "b.py").write_text("x\n")
        (found,) = (await phone.get("/api/workers/ann/reviews"))["reviews"]
        assert (found["stale"], found["phase"]) == (True, "over")
        (shop / "b.py").unlink()
        (found,) = (await phone.get("/api/workers/ann/reviews"))["reviews"]
        assert "stale" not in found
        wrong = await phone.client.post("/api/workers/ann/merge", content=b"[]")
        assert wrong.status_code == 400
        devices = house.node.devices
        assert devices is not None
        device, key = await devices.pair(devices.invite().code, "my phone")
        as_device = {"Authorization": f"Bearer {key}"}
        merged = await phone.client.post("/api/workers/ann/merge", json={"into": "main"}, headers=as_device)
        assert merged.json() == {"merged": git(shop, "rev-parse", "main")}
        assert git(shop, "rev-parse", "main") == git(shop, "rev-parse", "work")
        noted = await house.fact(Noted)
        assert noted.by is not None
        assert (noted.by.via, noted.by.who) == (device.via, "my phone")
        nobody = await phone.client.get("/api/workers/nobody/reviews")
        assert nobody.status_code == 400
