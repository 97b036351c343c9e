"""A conversation at the desk can be read on the phone before anybody takes it up; nothing is taken up by it."""

import pytest

from farhand.model.facts import TurnEnded
from farhand.model.history import HistoryPage, TurnEntry
from farhand.model.ports import SessionFound
from farhand.model.view import TurnView
from farhand.model.words import HowEnded
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
SHOP = SessionFound(id="aaaa-shop", directory="/srv/shop", title="the shop", at=1.0, open=False)
ENDED = TurnEnded(how=HowEnded.COMPLETED)
SAID = TurnView(worker="", turn="desk-1", started_at=1.0, typed="fix the till", text="It is fixed.", ended=ENDED)


async def test_it_is_read_and_not_taken_up(house: House) -> None:
    house.agent.conversations = [SHOP]
    house.agent.pasts = {SHOP.id: HistoryPage(entries=(TurnEntry(seq=7, view=SAID),))}
    headers = {"Authorization": f"Bearer {house.node.settings.key.read_text()}"}
    address = f"http://127.0.0.1:{house.node.port}/api/hub/sessions"
    async with local_client(headers=headers, timeout=SAFETY_SECONDS) as client:
        read = (await client.get(f"{address}/scripted/aaaa-shop")).json()["history"]["entries"]
        assert [(one["view"]["typed"], one["view"]["text"]) for one in read] == [("fix the till", "It is fixed.")]
        refused = {
            path: (await client.get(f"{address}/{path}")).json()["error"]["code"]
            for path in ("scripted/nobody", "nobody/aaaa-shop", "scripted/a")
        }
    assert refused == {
        "scripted/nobody": "unknown_session",
        "nobody/aaaa-shop": "unknown_backend",
        "scripted/a": "unknown_session",
    }
    assert (await house.hub.look()).workers == {}
