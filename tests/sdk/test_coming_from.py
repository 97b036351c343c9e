"""The small agent of docs/sdk/coming-from.md runs in the other SDKs, too, and prints there what the page says."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from bench.sdks import PYTHON, VENV, environment_with

from farhand.testing.models.anthropic import FakeAnthropic
from farhand.testing.models.openai import FakeOpenAi
from farhand.testing.models.script import ModelScript, ScriptedReply, say, use

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not (VENV / ".ready").exists(), reason="the other SDKs are not installed: python -m bench sdks installs them"
    ),
]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "sdk" / "coming-from.md"
BLOCK = re.compile(r"```python no-run\n(?P<code>.*?)```\s*```text\n(?P<output>.*?)```", re.DOTALL)
THING = {"thing": "a brick"}
FOUND: dict[str, Any] = {"thing": "a brick", "kilograms": 3.0}
A_HANGING_PROGRAM_ENDS_SECONDS = 240
# The fake speaks the API that many servers speak, and nobody is told of a test.
TO_THE_FAKE = "import agents; agents.set_default_openai_api('chat_completions'); agents.set_tracing_disabled(True)\n"


def example(name: str) -> tuple[str, str]:
    section = PAGE.read_text().split(f"\n## {name}\n")[1]
    found = BLOCK.search(section)
    assert found is not None
    return found["code"], found["output"]


async def printed(code: str, folder: Path, url: str) -> str:
    (folder / "small.py").write_text(code)
    environ = {**environment_with(folder, url), "PATH": "/usr/bin:/bin"}

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(PYTHON), "small.py"],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=A_HANGING_PROGRAM_ENDS_SECONDS,
            check=False,
        )

    ended = await anyio.to_thread.run_sync(run)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize(
    ("name", "opening", "last"),
    [
        ("openai-agents", TO_THE_FAKE, say(json.dumps({"response": FOUND}))),
        ("pydantic-ai", "", use("final_result", **FOUND)),
    ],
    ids=["openai-agents", "pydantic-ai"],
)
async def test_in_python_alone(tmp_path: Path, name: str, opening: str, last: ScriptedReply) -> None:
    code, output = example(name)
    script = ModelScript({"How heavy": [use("weigh", **THING), use("label", **THING, text="3 kg"), last]})
    async with FakeOpenAi(script).served() as url:
        assert await printed(opening + code, tmp_path, url) == output
    script.check()


async def test_beside_claude_code(tmp_path: Path) -> None:
    code, output = example("claude-agent-sdk")
    script = ModelScript(
        {
            "How heavy": [
                use("mcp__scales__weigh", **THING),
                use("mcp__scales__label", **THING, text="3 kg"),
                use("StructuredOutput", **FOUND),
            ]
        }
    )
    async with FakeAnthropic(script).served() as url:
        assert await printed(code, tmp_path, url) == output
    script.check()
