"""A file that holds a secret of the node is not sent, whatever it is called, and that is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.spec.team import Team
from tests.spec.test_http import DOT, known

from farhand.channels.kit.sendable_files import BLOCK_BYTES
from farhand.client.door import SocketHub
from farhand.model.worker_keys import worker_key
from farhand.store import folder

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "whose", ["token", "token without its number", "webhook's secret", "node's key", "worker's key", "device's key"]
)
async def test_a_file_that_holds_a_secret_of_the_node_is_not_sent(team: Team, tmp_path: Path, whose: str) -> None:
    await known(team)
    key = folder.key(team.settings.key)
    async with SocketHub(team.settings.door) as hub:
        code = (await hub.pair()).code
    device = (await team.post("/api/pair", {"code": code, "bearer": True})).json()["key"]
    secret = {
        "token": team.bot.token,
        "token without its number": team.bot.token.partition(":")[2],
        "webhook's secret": (team.settings.folder / "webhook_secret").read_text(),
        "node's key": key,
        "worker's key": worker_key(key, team.house.worker("ann").hiring_id),
        "device's key": device,
    }[whose]
    # Under a name that says nothing, far behind the beginning, over the end of a block.
    held = tmp_path / "notes.md"
    held.write_bytes(b"x" * (BLOCK_BYTES - 9) + b"\n" + secret.encode() + b"\nthe rest")
    picture = tmp_path / "dot.png"
    picture.write_bytes(DOT + b"\n" + secret.encode())
    await team.post("/response", {"session": "ann", "text": f"[[file:{held}]] [[image:{picture}]]"})
    for name in (held, picture):
        told = await team.manager.reads(f"failed: {name}")
        assert "it holds a secret of this node" in told.text
        assert secret not in told.text
    assert not await team.bot.calls("sendDocument")
    assert not await team.bot.calls("sendPhoto")


async def test_a_file_with_the_key_of_a_worker_that_is_gone_is_sent(team: Team, tmp_path: Path) -> None:
    await known(team)
    notes = tmp_path / "notes.md"
    notes.write_text(worker_key(folder.key(team.settings.key), "nobody-1"))
    await team.post("/response", {"session": "ann", "text": f"[[file:{notes}]]"})
    await team.manager.sees(lambda chat: any(one.from_bot and one.document for one in chat))
