"""What a worker's session carries: where the node is, once it is known, and the key of that hiring."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from farhand import roster
from farhand.manifests import channel_secrets
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


async def test_no_agent_has_what_a_channel_signs_in_with_though_the_tmux_server_has_it(
    short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    settings = replace(settings_in(short_folder), tmux_socket=tmux_server[-1])
    settings.folder.mkdir(mode=0o700)
    secrets = channel_secrets()
    assert {"TELEGRAM_BOT_TOKEN", "WHATSAPP_TOKEN", "WHATSAPP_APP_SECRET"} <= set(secrets)
    # Somebody's own session, by which the tmux server has them.
    own = {**ENVIRONMENT, **dict.fromkeys(secrets, "a secret"), "HARMLESS": "here"}
    await anyio.run_process([*tmux_server, "new-session", "-d", "-s", "mine", "sleep 600"], env=own)
    host = roster.tmux_host(settings, ENVIRONMENT)
    told = short_folder / "environment"
    async with host.tmux.opened():
        worker = Worker(name="ann", since=3, backend="opencode", directory="/")
        await host.spawn(worker, ["sh", "-c", f"env > {told}.part; mv {told}.part {told}; exec sleep 600"], {})
        with anyio.fail_after(240):
            while not told.exists():  # noqa: ASYNC110
                await anyio.sleep(0.01)
    assert "HARMLESS=here" in told.read_text()
    assert "a secret" not in told.read_text()
