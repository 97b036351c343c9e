"""What the SDK's tests share: a fake model server, a project folder, an agent that uses both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partialmethod
from pathlib import Path
from typing import Any, Protocol

import pytest

from farhand.sdk.agent import Agent
from farhand.sdk.context import LiveContext
from farhand.sdk.mcp import McpServers
from farhand.testing.clock import SAFETY_SECONDS
from farhand.testing.models.gemini import FakeGemini
from farhand.testing.sdk_env import sdk_context


@pytest.fixture
def patient_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of MCP start by the dozen while others use the processors: only one that never answers is given up."""
    patient = partialmethod(McpServers.__init__, connect_seconds=SAFETY_SECONDS)
    monkeypatch.setattr(McpServers, "__init__", patient)


class MakeAgent(Protocol):
    """Makes an agent in the project folder that asks the fake model."""

    def __call__(self, **options: Any) -> Agent: ...


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
async def context(project: Path) -> AsyncIterator[LiveContext]:
    made = sdk_context(project)
    yield made
    await made.close()


@pytest.fixture
def make_agent(fake: FakeGemini, home: Path, project: Path) -> MakeAgent:
    def make(**options: Any) -> Agent:
        environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "GEMINI_CLI_TRUST_WORKSPACE": "true", **fake.environ()}
        environ.update(options.pop("environ", {}))
        return Agent(
            **{
                "cwd": project,
                "home": home,
                "model": "gemini-2.5-flash",
                "builtin_tools": False,
                "environ": environ,
                **options,
            }
        )

    return make
