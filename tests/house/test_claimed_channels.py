"""Nobody can speak as a channel that is not theirs, nor use up the ids of one."""

import getpass
from pathlib import Path

import httpx2
import pytest

from farhand.client.door import SocketHub
from farhand.model import errors
from farhand.model.commands import Focus, Interrupt, Say
from farhand.model.facts import Queued
from farhand.model.words import Sender
from farhand.testing.house import House, open_house
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", ["telegram", "Telegram", "files", "node", "pipe"])
async def test_the_door_and_http_cannot_claim_another_channel(tmp_path: Path, name: str) -> None:
    async with open_house(tmp_path) as house:
        await house.hire()
        async with SocketHub(house.node.settings.door) as hub:
            with pytest.raises(errors.FarhandError, match="Only the channel itself"):
                await hub.send(Say(id="1", text="x"), Sender(via=name, who="Mo"))
        reply = await post(house, {"type": "say", "id": "1", "text": "x"}, name)
        assert reply.status_code == 403
        assert not [event for event in await house.history() if isinstance(event.fact, Queued)]


async def post(house: House, command: dict[str, str], via: str) -> httpx2.Response:
    """A command over HTTP, with the node's key."""
    settings = house.node.settings
    headers = {"Authorization": f"Bearer {settings.key.read_text().strip()}", "X-Farhand-Via": via}
    async with local_client(base_url=f"http://127.0.0.1:{house.node.port}") as client:
        return await client.post("/api/hub/commands", json=command, headers=headers)


async def test_the_kernel_says_who_knocked_at_the_door(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.hire()
        async with SocketHub(house.node.settings.door) as hub:
            await hub.send(Say(id="1", text="x"), Sender(via="chat", who="the manager"))
        queued = await house.fact(Queued)
        assert queued.by == Sender(via="chat", who=getpass.getuser())


async def test_a_repeat_is_the_same_command(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.hire()
        me = Sender(via="chat")
        first = await house.hub.send(Say(id="1", text="x"), me)
        assert (await house.hub.send(Say(id="1", text="x"), me)).seq == first.seq
        # Whom it goes to may be read otherwise the second time: it is the same message.
        assert (await house.hub.send(Say(id="1", text="x", worker="ann"), me)).again
        for other in (Say(id="1", text="y"), Interrupt(id="1"), Focus(id="1", worker="ann")):
            with pytest.raises(errors.IdTaken):
                await house.hub.send(other, me)
        await house.hub.send(Focus(id="2", worker="ann"), me)
        with pytest.raises(errors.IdTaken):
            await house.hub.send(Focus(id="2", worker="bob"), me)


async def test_a_senders_name_cannot_reach_into_anothers_ids(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.hire()
        async with SocketHub(house.node.settings.door) as hub:
            for name in ("telegram:m", "a b", "x" * 33):
                with pytest.raises(errors.FarhandError, match="letters, digits and hyphens"):
                    await hub.send(Say(id="77:42:5", text="x"), Sender(via=name))
