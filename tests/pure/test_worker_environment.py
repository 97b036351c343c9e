"""What a worker's session carries: where the node is, once it is known, and the key of that hiring."""

from dataclasses import replace
from pathlib import Path

import pytest

from farhand import roster
from farhand.drivers.wires.tmux import Pane
from farhand.model.present import Worker
from farhand.model.worker_keys import hiring_of
from farhand.testing.house import settings_in

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("given", "expected"), [("", "http://localhost:4711"), ("http://there:1", "http://there:1")])
async def test_a_session_knows_the_port_that_the_node_got(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, expected: str
) -> None:
    settings = replace(settings_in(tmp_path), given_bridge_url=given)
    settings.folder.mkdir(mode=0o700)
    host = roster.tmux_host(settings, {})
    host.open_routes("http://127.0.0.1:4711")
    carried: dict[str, str] = {}

    async def start(
        _name: str, _words: object, _where: Path, variables: dict[str, str], _size: object, tag: str
    ) -> Pane:
        carried.update(variables, tag=tag)
        return Pane("$1", "%1", 1)

    monkeypatch.setattr(host.tmux, "start", start)
    worker = Worker(name="ann", since=3, backend="claude", directory="/")
    await host.spawn(worker, ["true"], {})
    assert (carried["BRIDGE_URL"], carried["PORT"]) == (expected, "4711")
    assert hiring_of(carried["FARHAND_WORKER_KEY"], roster.node_key(settings)) == worker.hiring_id
