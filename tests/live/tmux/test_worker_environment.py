"""What a worker's session carries: where the node is, once it is known, and the key of that hiring."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from farhand import roster
from farhand.model.present import Worker
from farhand.model.worker_keys import hiring_of
from farhand.testing.house import settings_in

pytestmark = pytest.mark.anyio
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm-256color"}


@pytest.mark.parametrize(("given", "expected"), [("", "http://localhost:4711"), ("http://there:1", "http://there:1")])
async def test_a_session_knows_the_port_that_the_node_got(
    short_folder: Path, tmux_server: tuple[str, ...], given: str, expected: str
) -> None:
    settings = replace(settings_in(short_folder), given_bridge_url=given, tmux_socket=tmux_server[-1])
    settings.folder.mkdir(mode=0o700)
    host = roster.tmux_host(settings, ENVIRONMENT)
    host.open_routes("http://127.0.0.1:4711")
    worker = Worker(name="ann", since=3, backend="claude", directory="/")
    async with host.tmux.opened() as tmux:
        pane = await host.spawn(worker, ["sleep", "600"], {})
        assert await tmux.variable(pane, "BRIDGE_URL") == expected
        assert await tmux.variable(pane, "PORT") == "4711"
        key = await tmux.variable(pane, "FARHAND_WORKER_KEY")
        assert hiring_of(key or "", roster.node_key(settings)) == worker.hiring_id
