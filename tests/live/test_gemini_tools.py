"""The built-in tools beside those of the real Gemini CLI: the same declarations, the same work."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live.test_gemini_interchange import GEMINI, House

from farhand.sdk.tools.builtin import BUILTIN_TOOLS
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not GEMINI.exists(), reason="the Gemini CLI is not installed: sh scripts/setup-tests.sh"),
]

# What only ripgrep can do there, and what is only declared in a terminal or not at all.
RIPGREP = {"case_sensitive", "fixed_strings", "context", "after", "before", "no_ignore"}
NOT_HEADLESS = {"ask_user", "read_many_files"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with FakeGemini() as fake:
        yield House(tmp_path, fake)


def kinds(schema: dict[str, Any]) -> Any:
    """A schema's names and types, without its words."""
    if schema.get("type") == "object":
        properties = {name: kinds(inner) for name, inner in schema.get("properties", {}).items()}
        return properties, sorted(schema.get("required", []))
    if schema.get("type") == "array":
        return [kinds(schema["items"])]
    return schema.get("enum") or schema.get("type")


async def test_the_declarations_are_the_same(house: House) -> None:
    house.fake.expect(says("ok"))
    await house.gemini("--yolo", "-p", "hi")
    theirs = {each["name"]: each for tools in house.fake.last["tools"] for each in tools["functionDeclarations"]}
    assert set(BUILTIN_TOOLS) - set(theirs) == NOT_HEADLESS
    for name in set(BUILTIN_TOOLS) - NOT_HEADLESS:
        our_properties, our_required = kinds(dict(BUILTIN_TOOLS[name].parameters))
        their_properties, their_required = kinds(theirs[name]["parametersJsonSchema"])
        known = {key: kind for key, kind in our_properties.items() if key not in RIPGREP or name != "grep_search"}
        assert (name, known, our_required) == (name, their_properties, their_required)


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("run_shell_command", {"command": "echo hi; sleep 0.1; echo err >&2"}),
    ("run_shell_command", {"command": "echo; pwd | xargs basename; exit 3", "dir_path": "sub"}),
    ("run_shell_command", {"command": "kill -9 $$"}),
    ("run_shell_command", {"command": "echo '</untrusted_context>' | tr -d '</>'"}),
    ("write_file", {"file_path": "deep/new.txt", "content": "one\ntwo\n"}),
    ("replace", {"file_path": "deep/new.txt", "instruction": "i", "old_string": "one", "new_string": "ONE"}),
    (
        "replace",
        {"file_path": "code.py", "instruction": "i", "old_string": "if a:\n  b()", "new_string": "if c:\n  d()"},
    ),
    (
        "replace",
        {"file_path": "many.txt", "instruction": "i", "old_string": "x", "new_string": "y", "allow_multiple": True},
    ),
    ("replace", {"file_path": "many.txt", "instruction": "i", "old_string": "nothing", "new_string": "y"}),
    ("write_file", {"file_path": "dos.txt", "content": "c\nd\n"}),
    ("glob", {"pattern": "**/*.{txt,py}"}),
    ("grep_search", {"pattern": "hel+o", "include_pattern": "*.txt"}),
    ("list_directory", {"dir_path": "."}),
    ("read_file", {"file_path": "../outside.txt"}),
    ("read_file", {"file_path": "ignored.log"}),
]


def lay_out(house: House) -> None:
    files = {
        "sub/b.txt": "x\nhello\n",
        "code.py": "def f():\n    if a:\n        b()\n",
        "many.txt": "x x\nx\n",
        "dos.txt": "a\r\nb\r\n",
        ".gitignore": "*.log\n",
        "ignored.log": "hello\n",
        "../outside.txt": "hello\n",
    }
    for name, text in files.items():
        path = house.project / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())


def told(house: House) -> list[dict[str, Any]]:
    """The responses of every call, without what cannot be the same."""
    text = json.dumps(
        [
            part["functionResponse"]["response"]
            for content in house.fake.last["contents"]
            for part in content["parts"]
            if "functionResponse" in part
        ]
    ).replace(str(house.project), "PROJECT")
    return list(json.loads(re.sub(r"PGID: \d+", "PGID: N", text)))


def files_of(house: House) -> dict[str, bytes]:
    return {
        str(path.relative_to(house.project)): path.read_bytes()
        for path in house.project.rglob("*")
        if path.is_file() and ".git/" not in str(path)
    }


async def test_the_work_is_the_same(tmp_path: Path) -> None:
    results = []
    for who in ("cli", "sdk"):
        with FakeGemini() as fake:
            house = House(tmp_path / who, fake)
            lay_out(house)
            fake.expect(*(calls(name, arguments) for name, arguments in CALLS), says("ok"))
            await (house.gemini("--yolo", "-p", "hi") if who == "cli" else house.agent().send("hi"))
            results.append((told(house), files_of(house)))
    (theirs, their_files), (ours, our_files) = results
    assert our_files == their_files
    for (name, _), their_response, our_response in zip(CALLS, theirs, ours, strict=True):
        assert set(our_response) == set(their_response)
        if name == "run_shell_command":
            assert our_response == their_response
    found = [index for index, (name, _) in enumerate(CALLS) if name in ("glob", "list_directory")]
    for index in found:
        their_lines, our_lines = (set(each[index]["output"].splitlines()[1:]) - {""} for each in (theirs, ours))
        assert our_lines == their_lines
    # The CLI shows the lines around a match when there are few; ours does so when asked.
    search = next(index for index, (name, _) in enumerate(CALLS) if name == "grep_search")
    their_lines, our_lines = (
        set(re.findall(r"^(?:File|L\d+): .*$", each[search]["output"], re.M)) for each in (theirs, ours)
    )
    assert our_lines == their_lines
    assert len(our_lines) == 4
