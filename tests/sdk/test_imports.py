"""What importing the SDK costs is watched by what it imports, not by the clock."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import farhand.sdk
from farhand.testing.models.gemini import FakeGemini, says

HEAVY = {"anyio", "asyncio", "httpx2", "msgspec", "pydantic", "ssl", "starlette", "concurrent", "multiprocessing"}
HEAVY |= {"tree_sitter", "tree_sitter_bash", "yaml", "tomllib"}


def imported_by(statement: str) -> set[str]:
    """The names of all modules that are there after a statement, in a fresh interpreter."""
    code = f"{statement}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240)
    return set(json.loads(ended.stdout))


def test_importing_the_sdk_imports_the_sdk_alone() -> None:
    added = imported_by("import farhand.sdk") - imported_by("pass")
    assert added <= {"farhand", "farhand.sdk", "__future__", "typing", "collections", "collections.abc"} | imported_by(
        "import typing"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "from farhand.sdk import Agent",
        "from farhand.sdk import Agent; Agent().session()",
        "from farhand.sdk import Agent, allow, extension, skill_dir, subagent; "
        "Agent(policies=[allow('x', prefix='git')], mode='plan', skills=[skill_dir('.')], "
        "subagents=[subagent(name='a', description='b', instructions='c')], extensions=[extension(name='x')])",
    ],
)
def test_an_agent_is_made_without_the_heavy_modules(statement: str) -> None:
    assert not {name for name in imported_by(statement) if name.partition(".")[0] in HEAVY}


FIRST_TURN = """
import asyncio, json, sys
from farhand.sdk import Agent
agent = Agent(mode="auto_edit")
before = set(sys.modules)
asyncio.run(agent.send("hello"))
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_a_program_with_an_event_loop_waits_for_no_module_in_its_first_turn(
    fake: FakeGemini, home: Path, project: Path
) -> None:
    fake.expect(says("Hello."))
    environ = {"HOME": str(home), "GEMINI_MODEL": "gemini-2.5-flash", **fake.environ()}
    ended = subprocess.run(
        [sys.executable, "-c", FIRST_TURN], cwd=project, env=environ, capture_output=True, text=True, check=True
    )
    late = [name for name in json.loads(ended.stdout) if name.partition(".")[0] in {"farhand", *HEAVY}]
    assert late == []


def test_every_name_is_there() -> None:
    for name in farhand.sdk.__all__:
        assert getattr(farhand.sdk, name) is not None
    assert set(farhand.sdk.__all__) <= set(dir(farhand.sdk))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = farhand.sdk.Nothing
