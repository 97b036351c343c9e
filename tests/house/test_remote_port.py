"""The port of `farhand remote`: one that is taken costs the remote control, and nothing else."""

from __future__ import annotations

import socket
from pathlib import Path

import anyio
import pytest

from farhand.cli.remote_agent import listening
from farhand.cli.remote_worker import RemoteWorker
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.panes import PaneTerminal
from farhand.model.words import Sender
from farhand.testing.house import House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio


async def _no_pane() -> Pane | None:
    return None


async def test_a_taken_port_is_one_sentence_and_the_agent_goes_on(house: House, tmp_path: Path) -> None:
    await house.hire("ann")
    tmux = Tmux(("tmux", "-S", str(tmp_path / "none")), "nobody", {})
    follower = RemoteWorker(house.hub, "ann", Sender(via="desk"), lambda _: PaneTerminal(tmux, _no_pane))
    await follower.open()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follower.run)
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            async with listening(follower, port, "") as told:
                assert str(port) in told
                assert told.endswith(": this conversation has no remote control.")
                assert "\n" not in told
                assert (await follower.session.say("hello")).text == "hello"
        async with (
            listening(follower, 0, "") as told,
            local_client(base_url=told.removeprefix("remote control: ")) as client,
        ):
            assert {"role": "user", "text": "hello"} in (await client.get("/history")).json()
        tasks.cancel_scope.cancel()
