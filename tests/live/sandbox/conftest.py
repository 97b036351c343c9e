"""Nodes whose workers are in sandboxes: of bubblewrap, and of real podman where it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
import pytest
from tests.live.sandbox.engines import containers, remove_containers, variables

from farhand.testing.cli_env import CliEnv
from farhand.testing.phone import Phone, with_phone
from farhand.testing.telegram import FakeBot


@dataclass(frozen=True)
class Engine:
    """What runs the sandboxes of a test, and what a node with it is started with."""

    kind: str
    variables: dict[str, str]

    @asynccontextmanager
    async def phone(self, cli_env: CliEnv, bot: FakeBot, hire: str) -> AsyncIterator[Phone]:
        """A phone with that worker hired; its node leaves no container behind."""
        try:
            async with with_phone(cli_env, bot, **self.variables) as opened:
                await opened.manager.says(hire)
                await opened.reads("Ann is added")
                yield opened
        finally:
            remove_containers(self.kind, node_of(cli_env), self.variables)

    async def containers(self, cli_env: CliEnv) -> list[str]:
        """The ids of the containers of the node's workers."""
        return await anyio.to_thread.run_sync(containers, self.kind, node_of(cli_env), self.variables)


def node_of(cli_env: CliEnv) -> Path:
    """The folder of a phone's node."""
    return cli_env.folder / "farhand" / "nodes" / "test"


@pytest.fixture(params=["bwrap", "podman"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """One of those that run here."""
    return Engine(request.param, variables(request.param, tmp_path_factory.getbasetemp()))
