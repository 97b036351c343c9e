"""Nothing lost, nothing obeyed twice, through WhatsApp: the node is killed on the way in and on the way out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import anyio
import anyio.abc
import pytest
from tests.live.killed_node import KilledNode, tmp_path

from farhand.testing.ports import lasting_port
from farhand.testing.whatsapp import FakeWhatsApp, PhoneMessage

__all__ = ["tmp_path"]
pytestmark = pytest.mark.anyio
WORKERS = ("ann", "bob", "cleo")
PLACES = (
    "door.received",
    "hub.written",
    "door.acknowledged",
    "worker.handed_over",
    "follow.put",
    "outbox.before_send",
    "outbox.sent",
    "outbox.marked",
)
SAFETY_SECONDS = 900.0


class WhatsAppNode(KilledNode):
    """A node in another process, to be killed, and the WhatsApp that outlives it."""

    def __init__(self, folder: Path, whatsapp: FakeWhatsApp) -> None:
        super().__init__(folder)
        self.whatsapp = whatsapp
        self.manager = whatsapp.person()
        self.port = lasting_port()
        self.said: dict[str, list[PhoneMessage]] = {worker: [] for worker in WORKERS}

    async def start(self, kill_at: str = "") -> None:
        world = self.whatsapp.world
        number = ",".join(
            (self.whatsapp.address, world.phone_id, world.token, world.app_secret, self.manager.owner.number)
        )
        await self.launch("--port", str(self.port), "--whatsapp", number, kill_at=kill_at)

    def name(self, message: PhoneMessage) -> str:
        """The id under which the agent knows a message."""
        return f"whatsapp:m:{self.whatsapp.world.phone_id}:{message.id}"

    def speak(self) -> None:
        for worker in WORKERS:
            self.said[worker].append(self.manager.says(f"@{worker} hello"))

    async def answered(self) -> None:
        wanted = {f"answer to {self.name(one)}" for said in self.said.values() for one in said}
        await self.manager.sees(lambda chat: wanted <= {answer_of(one) for one in chat})


def answer_of(message: PhoneMessage) -> str:
    if not message.from_business or "answer to" not in message.text:
        return ""
    return message.text[message.text.rindex("answer to") :].strip()


async def test_nothing_is_lost_and_nothing_is_obeyed_twice(tmp_path: Path, whatsapp: FakeWhatsApp) -> None:
    node = WhatsAppNode(tmp_path, whatsapp)
    try:
        with anyio.fail_after(SAFETY_SECONDS):
            await killed_again_and_again(node)
    finally:
        await node.end()
    prompts = (tmp_path / "prompts").read_text().split()
    answers = [answer_of(one) for one in node.manager.received if answer_of(one)]
    for worker, said in node.said.items():
        wanted = [node.name(one) for one in said]
        assert [one for one in prompts if one in set(wanted)] == wanted, worker
        told = [one for one in answers if one.removeprefix("answer to ") in set(wanted)]
        assert list(dict.fromkeys(told)) == [f"answer to {one}" for one in wanted]
    counts = Counter(answers)
    assert max(counts.values()) <= 2
    assert sum(count - 1 for count in counts.values()) <= node.kills


async def killed_again_and_again(node: WhatsAppNode) -> None:
    await node.start()
    for worker in WORKERS:
        node.manager.says(f"/hire {worker} --backend scripted")
        await node.manager.reads(f"{worker.capitalize()} is added")
    await node.stop()
    for place in PLACES:
        # What is said while the node is down is brought again until it is taken.
        node.speak()
        await node.start(f"{place}:2")
        await node.died()
        node.speak()
        await node.start()
        await node.answered()
        await node.stop()
