"""What is allowed for the session over ACP is what the option says, and nothing beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.test_acp import connected, says_always, turn

from farhand.sdk.acp import AcpPermission
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = pytest.mark.anyio


def writes(path: str, text: str) -> Any:
    return calls("write_file", {"file_path": path, "content": text})


def replaces(path: str) -> Any:
    return calls("replace", {"file_path": path, "instruction": "i", "old_string": "a", "new_string": "b"})


def runs(command: str, **more: str) -> Any:
    return calls("run_shell_command", {"command": command, **more})


@pytest.mark.parametrize(
    ("first", "same", "other", "words"),
    [
        (
            writes("one.txt", "a"),
            [writes("./one.txt", "ab"), replaces("docs/../one.txt")],
            [writes("two.txt", "a"), replaces("linked.txt"), writes("docs/two.txt", "a")],
            "Allow every change of one.txt for this session",
        ),
        (
            runs("touch a", description="x"),
            [runs("touch a", description="another word for it")],
            [runs("touch a b"), runs("touch a; id"), runs("touch a", dir_path="docs"), runs("touch  a")],
            "Allow this command for this session",
        ),
        # What configures a tool or a build is shown each time, unless it is to the letter what was shown.
        (
            writes("Makefile", "a"),
            [writes("Makefile", "a")],
            [writes("Makefile", "b"), writes("package.json", "a"), replaces("Makefile")],
            "Allow this very call for this session",
        ),
        (
            calls("pay", {"amount": 1}),
            [calls("pay", {"amount": 1})],
            [calls("pay", {"amount": 2}), calls("pay", {"amount": 1, "to": "x"}), calls("pay", {})],
            "Allow this very call for this session",
        ),
        (
            writes("\u202egpj.txt", "a"),
            [],
            [],
            "Allow every change of ‹U+202E›gpj.txt for this session",
        ),
    ],
)
async def test_for_this_session_gives_what_it_says_and_no_more(
    make_agent: MakeAgent, fake: FakeGemini, project: Path, first: Any, same: list[Any], other: list[Any], words: str
) -> None:
    def pay(amount: int = 0, to: str = "") -> str:
        """Pays."""
        return f"{amount} {to}"

    (project / "docs").mkdir()
    (project / "linked.txt").symlink_to(project / "docs" / "one.txt")
    fake.expect(*(first, *same, *other), says("Done."))
    asked: list[AcpPermission] = []
    agent = make_agent(builtin_tools=True, tools=[pay])
    async with connected(agent, decides=says_always("allow_always", asked)) as client:
        await turn(await client.new_session(project), "go")
    assert len(asked) == 1 + len(other)
    assert [option.name for option in asked[0].options] == ["Allow", words, "Reject"]
