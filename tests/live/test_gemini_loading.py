"""What the SDK loads beside what the real Gemini CLI loads: memory with its imports, settings with variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live.test_gemini_interchange import GEMINI, SETTINGS, House

from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not GEMINI.exists(), reason="the Gemini CLI is not installed: sh scripts/setup-tests.sh"),
]

BLOCK = re.compile(r"--- Context from: (\S+) ---\n(.*?)\n--- End of Context from: \1 ---", re.DOTALL)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with FakeGemini() as fake:
        yield House(tmp_path, fake)


def write(house: House, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = house.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def both(house: House, *steps: Any) -> list[dict[str, Any]]:
    """The last request of the CLI, then ours."""
    asked = []
    for who in ("cli", "sdk"):
        house.fake.expect(*(steps or (says("ok"),)))
        await (house.gemini("-p", "hi") if who == "cli" else house.agent().send("hi"))
        asked.append(house.fake.last)
    return asked


def blocks(texts: list[str]) -> list[tuple[str, str]]:
    return [found for text in texts for found in BLOCK.findall(text)]


def user_texts(body: dict[str, Any]) -> list[str]:
    return [
        part["text"]
        for content in body["contents"]
        if content["role"] == "user"
        for part in content["parts"]
        if "text" in part
    ]


def system_texts(body: dict[str, Any]) -> list[str]:
    return [part["text"] for part in body["systemInstruction"]["parts"]]


async def test_memory_is_the_same_and_in_the_same_place(house: House) -> None:
    write(
        house,
        {
            "../.gemini/GEMINI.md": "Mine.\n@./more.md\n",
            "../.gemini/more.md": "More of mine.\n",
            "GEMINI.md": "\n# Project\n\n@./docs/a.md and `@./docs/a.md`\n\n```\n@./docs/a.md\n```\n\nend\n",
            "docs/a.md": "A imports @./b.md here\n",
            "docs/b.md": "B",
        },
    )
    theirs, ours = await both(house)
    assert blocks(user_texts(ours)) == blocks(user_texts(theirs))
    assert len(blocks(user_texts(ours))) == 1
    assert blocks(system_texts(ours)) == blocks(system_texts(theirs))
    assert "More of mine." in blocks(system_texts(ours))[0][1]


async def test_other_names_of_memory(house: House) -> None:
    house.settings({**SETTINGS, "context": {"fileName": ["AGENTS.md", "NOTES.md"]}})
    write(house, {"GEMINI.md": "gemini", "AGENTS.md": "agents", "NOTES.md": "notes", "OTHER.md": "other"})
    theirs, ours = await both(house)
    assert blocks(user_texts(ours)) == blocks(user_texts(theirs))
    assert [text for _, text in blocks(user_texts(ours))] == ["agents", "gemini", "notes"]


async def test_memory_of_a_sub_folder_comes_with_the_tool(house: House) -> None:
    write(house, {"GEMINI.md": "root", "sub/GEMINI.md": "below", "sub/deep/a.txt": "text\n"})
    theirs, ours = await both(house, calls("read_file", {"file_path": "sub/deep/a.txt"}), says("ok"))
    outputs = [
        next(part["functionResponse"]["response"]["output"] for part in body["contents"][-1]["parts"])
        for body in (theirs, ours)
    ]
    assert [path for path, _ in blocks(outputs[1:])] == [str(house.project / "sub" / "GEMINI.md")]
    assert blocks(outputs[1:]) == blocks(outputs[:1])
    assert [text.rpartition("\n--- Newly")[2] for text in outputs[:1]] == [outputs[1].rpartition("\n--- Newly")[2]]


async def test_settings_with_comments_and_variables(house: House) -> None:
    names = ["${UNSET:-DEFAULT.md}", "$UNSET.md", "$GEMINI_CLI_NO_RELAUNCH.md", "// kept.md"]
    settings = json.dumps({"context": {"fileName": names}})
    write(
        house,
        {
            ".gemini/settings.json": settings.replace("{", "{ // a comment\n/* and\nanother */", 1),
            "DEFAULT.md": "default",
            "true.md": "variable",
            "UNSET.md": "never",
            "OTHER.md": "never",
        },
    )
    theirs, ours = await both(house)
    assert [text for _, text in blocks(user_texts(ours))] == ["default", "variable"]
    assert blocks(user_texts(ours)) == blocks(user_texts(theirs))
