"""A node in which `/praise` is tried on every surface; run with a farhand that has that command."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import anyio

from farhand.channels.kit import texts
from farhand.channels.kit.bot import Bot
from farhand.channels.kit.inbound import read_message
from farhand.channels.kit.texts import About
from farhand.channels.telegram.parse import to_message
from farhand.channels.telegram.replies import menu
from farhand.channels.telegram.words import TelegramChat, TelegramMessage
from farhand.cli.conversation import TerminalConversation
from farhand.cli.terminal import PlainTerminal
from farhand.model.errors import BadName
from farhand.model.facts import Noted
from farhand.model.grammar import CHAT
from farhand.model.words import Sender
from farhand.model.worker_names import worker_name
from farhand.testing.house import House, open_house
from farhand.testing.http import local_client


async def praised(house: House, via: str) -> None:
    """Waits until somebody was praised over that channel."""
    await house.event(Noted, lambda event: event.fact == Noted(text=f"did well, says {via}"))


async def on_telegram(house: House) -> None:
    """A message to the bot."""
    message = TelegramMessage(message_id=1, chat=TelegramChat(id=4242), text="/praise@my_bot Ann")
    wish = read_message(to_message(message, "telegram", "1"), house.hub.present)
    assert wish is not None
    assert await Bot(house.hub, About).obey(wish, Sender(via="telegram")) == ""
    await praised(house, "telegram")
    assert ("praise", "Say that a worker did well") in menu(house.hub.present)
    assert "/praise – Say that a worker did well" in texts.help_text(CHAT)


async def in_the_terminal(house: House) -> None:
    """A line in the conversation."""
    reading, keyboard = os.pipe()
    with os.fdopen(reading) as inside, os.fdopen(keyboard, "w") as outside, Path(os.devnull).open("w") as paper:
        outside.write("/praise\n")
        outside.flush()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(TerminalConversation(house.hub, PlainTerminal(inside, paper)).run)
            await praised(house, "chat")
            outside.close()


async def over_http(house: House) -> None:
    """A request with the node's key."""
    key = house.node.settings.key.read_text("utf-8").strip()
    async with local_client() as client:
        answer = await client.post(
            f"http://127.0.0.1:{house.node.port}/api/hub/commands",
            json={"type": "praise", "id": "h", "worker": "ann"},
            headers={"Authorization": f"Bearer {key}"},
        )
    assert answer.json()["accepted"]["worker"] == "ann", answer.text
    await praised(house, "http")


async def over_the_door(house: House) -> None:
    """A frame on the unix socket."""
    async with await anyio.connect_unix(house.node.settings.door) as door:
        command = {"type": "praise", "id": "d", "worker": "ann"}
        await door.send(json.dumps({"id": 1, "do": "send", "via": "door", "command": command}).encode() + b"\n")
        await praised(house, "door")


def is_reserved(name: str) -> bool:
    """Whether no worker may be called so."""
    try:
        worker_name(name)
    except BadName:
        return True
    return False


async def main(folder: Path) -> None:
    """Tries all of them."""
    async with open_house(folder) as house:
        await house.hire("ann")
        await on_telegram(house)
        await in_the_terminal(house)
        await over_http(house)
        await over_the_door(house)
        assert is_reserved("praise")
    sys.stdout.write("praised everywhere\n")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
