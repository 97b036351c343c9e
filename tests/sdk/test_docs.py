"""Every example of the SDK's pages and every script in examples/sdk runs, against a model that says what the page says.

Before a block, `<!-- model: [...] -->` lists what the model answers, a part or a list of parts a step, and
`<!-- files: {...} -->` what lies in the project. A block of `text` right after it is what the example prints.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from farhand.testing.models.gemini import FakeGemini, answers, chunk

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"(?P<notes>(?:<!--(?:(?!-->).)*-->\s*)*)```(?P<language>python|sh)(?P<flags>[^\n]*)\n(?P<code>.*?)```"
    r"(?:\s*```text\n(?P<output>.*?)```)?",
    re.DOTALL,
)
NOTE = re.compile(r"<!--\s*(model|files):\s*(.*?)\s*-->", re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A piece of code with the world it runs in."""

    code: str
    model: list[Any] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    output: str | None = None


def noted(text: str, code: str, output: str | None) -> Example:
    notes = {name: json.loads(value) for name, value in NOTE.findall(text)}
    return Example(code, notes.get("model", []), notes.get("files", {}), output)


def examples() -> list[Any]:
    found = []
    for page in sorted((ROOT / "docs" / "sdk").glob("*.md")):
        for number, match in enumerate(BLOCK.finditer(page.read_text()), 1):
            if match["language"] == "python" and "no-run" not in match["flags"]:
                found.append(
                    pytest.param(noted(match["notes"], match["code"], match["output"]), id=f"{page.stem}-{number}")
                )
    for script in sorted((ROOT / "examples" / "sdk").glob("*.py")):
        code = script.read_text()
        comments = re.sub(r"(?m)^# ?", "", "\n".join(re.findall(r"(?m)^#.*$", code)))
        found.append(pytest.param(noted(comments, code, None), id=script.name))
    return found


@pytest.mark.parametrize("example", examples())
def test_the_example_runs(example: Example, fake: FakeGemini, home: Path, project: Path) -> None:
    for step in example.model:
        parts = step if isinstance(step, list) else [step]
        fake.expect(answers(chunk(*parts, finish="STOP")))
    for name, text in example.files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (project / "example.py").write_text(example.code)
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "OPENAI_BASE_URL": fake.url,
        **fake.environ(),
    }
    ended = subprocess.run(
        [sys.executable, "-W", "error", "example.py"],
        cwd=project,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    if example.output is not None:
        assert ended.stdout == example.output
