"""A node with a bot in which `/praise` is tried on every surface; run with a farhand that has that command."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import anyio
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.cli.conversation import TerminalConversation
from farhand.cli.terminal import PlainTerminal
from farhand.model.errors import BadName
from farhand.model.facts import Noted
from farhand.model.worker_names import worker_name
from farhand.testing.house import House
from farhand.testing.http import local_client
from farhand.testing.telegram import FakeTelegram


async def praised(house: House, via: str) -> None:
    """Waits until somebody was praised over that channel."""
    await house.event(Noted, lambda event: event.fact == Noted(text=f"did well, says {via}"))


async def on_telegram(telegram: TelegramHouse) -> None:
    """A message to the bot, whose menu and help have it, too."""
    await telegram.manager.says(f"/praise@{telegram.bot.username} Ann")
    await praised(telegram.house, "telegram")
    await telegram.manager.says("/commands")
    await telegram.manager.reads("/praise – Say that a worker did well")
    await telegram.bot.until(telegram.bot.standing, lambda standing: "praise" in standing.commands)


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


async def main(folder: Path, telegram_address: str) -> None:
    """Tries all of them."""
    async with FakeTelegram(telegram_address) as fake, telegram_house(folder, await fake.new_bot()) as telegram:
        house = telegram.house
        await house.hire("ann")
        await on_telegram(telegram)
        await in_the_terminal(house)
        await over_http(house)
        await over_the_door(house)
        assert is_reserved("praise")
    sys.stdout.write("praised everywhere\n")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), sys.argv[2])
