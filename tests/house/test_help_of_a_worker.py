"""What can be typed is told together with what the focused worker can do, on the phone and in the terminal."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from tests.house.telegram_house import telegram_house

from farhand.cli.conversation import TerminalConversation
from farhand.cli.terminal import PlainTerminal
from farhand.client.door import SocketHub
from farhand.model.abilities import can_words
from farhand.model.ports import Can
from farhand.model.present import Worker
from farhand.model.words import Mode
from farhand.testing.house import open_house
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


def worker(name: str = "ann") -> Worker:
    return Worker(name=name, backend="claude", directory="/srv", since=1, options={"wire": "tmux"})


def test_what_nobody_knows_is_not_told() -> None:
    assert can_words(worker(), Can()) == ""


def test_what_it_can_is_one_sentence() -> None:
    every = Can(
        interrupt=True,
        steer=True,
        images=True,
        files=True,
        models=True,
        modes=(Mode.DEFAULT, Mode.PLAN),
        effort=("low", "high"),
        sessions=True,
        reviews=True,
    )
    assert can_words(worker(), every) == (
        "ann (claude/tmux): can be stopped; takes words into a running turn; pictures and files; modes default, plan; "
        "any model (/tune model=…); effort low, high; goes on with conversations of the desk; judges others' work."
    )
    assert can_words(worker(), Can(files=True)) == (
        "ann (claude/tmux): cannot be stopped; takes a message after its turn; files."
    )


async def test_the_phone_is_told_what_the_focused_worker_can(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.manager.says("/commands")
        nobody = await telegram.manager.reads("/commands <command> tells more.")
        assert "ann (" not in nobody.text
        await telegram.house.hire("ann")
        await telegram.manager.says("/commands")
        told = await telegram.manager.reads("\nann (scripted)")
        assert told.text.endswith(can_words(telegram.house.worker(), telegram.agent.can))


async def test_the_terminal_is_told_what_the_focused_worker_can(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, SocketHub(house.node.settings.door) as hub:
        await house.hire("ann")
        paper = io.StringIO()
        with os.fdopen(os.memfd_create("keyboard"), "w+") as keyboard:
            keyboard.write("/help\n/quit\n")
            keyboard.seek(0)
            await TerminalConversation(hub, PlainTerminal(keyboard, paper), status=hub.status).run()
        assert can_words(house.worker(), house.agent.can) in paper.getvalue()
