"""A TOML file in the node's folder is a backend: hired, asked, and found again by the next node."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from tests.live.acp_agents import ROOT

from farhand import roster
from farhand.config.settings import Settings
from farhand.model import facts
from farhand.model.words import HowEnded
from farhand.sandbox.holders import LocalHolders
from farhand.testing.house import open_house
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = pytest.mark.anyio


async def test_an_ask_of_a_hired_agent_outlives_the_node(short_folder: Path) -> None:
    described = {
        "command": [sys.executable, str(ROOT / "tests" / "sdk" / "acp_agent.py")],
        "variables": ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL"],
    }
    (short_folder / "acp").mkdir()
    toml = "\n".join(f"{name} = {json.dumps(value)}" for name, value in described.items())
    (short_folder / "acp" / "editor.toml").write_text(toml)
    (short_folder / "acp" / "broken.toml").write_text("command = 3")
    project = short_folder / "project"
    (project / ".git").mkdir(parents=True)
    holders = LocalHolders(short_folder / "holders")
    with FakeGemini() as fake:
        fake.expect(calls("write_file", {"file_path": "new.txt", "content": "x"}), says("Written."))
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(short_folder),
            "TELEGRAM_BOT_TOKEN": "secret",
            "GEMINI_MODEL": "gemini-2.5-flash",
            **fake.environ(),
        }
        settings = Settings(node="t", folder=short_folder, port=0, working_directory=project, environment=own)
        drivers = roster.drivers_by_kind(roster.build_drivers(roster.driver_context(settings), ["acp"]))
        assert list(drivers) == ["editor", "editor/headless"]
        try:
            async with open_house(short_folder, drivers=drivers) as house:
                await house.hire("ed", "editor")
                await house.say("make a file", worker="ed")
                ask = await house.fact(facts.AskRaised)
                assert ask.question.endswith("new.txt")
                assert not ask.question.startswith("Use")
            async with open_house(short_folder, drivers=drivers) as house:
                assert house.worker("ed").session
                await house.answer(ask.ask, "allow_once")
                assert (await house.fact(facts.TurnEnded)).how is HowEnded.COMPLETED
                said = [event.fact.text for event in await house.history() if isinstance(event.fact, facts.Said)]
                assert said == ["Written."]
                await house.end("ed")
                await house.fact(facts.Ended)
        finally:
            for name in await holders.names():
                await holders.forget(name)
    assert [path.read_text() for path in short_folder.glob("**/new.txt")] == ["x"]
