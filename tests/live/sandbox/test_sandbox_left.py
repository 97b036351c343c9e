"""A container that has outlived the node and the program that started it, and `farhand stop`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live.nodes import Home
from tests.live.sandbox.engines import containers, image_python, remove_containers, variables

from farhand.sandbox.engine import call


@pytest.fixture
def home(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Somebody with podman, and with the storage and the settings in which it runs here."""
    given = variables("podman", tmp_path_factory.getbasetemp())
    mounts = ",".join([given["SANDBOX_MOUNTS"], *image_python(tmp_path)])
    own = {"HOME": os.environ.get("HOME", "/"), "FARHAND_SANDBOX_HOME": "0", "SANDBOX_MOUNTS": mounts}
    made = Home(tmp_path, **{**given, **own})
    yield made
    made.end_agents()
    remove_containers("podman", made.node_folder(), made.environment)


def test_stop_of_all_nodes_removes_the_container_that_nothing_keeps(home: Home) -> None:
    node = home.start("test")
    assert home.farhand("hire", "ann", "--backend", "demo").returncode == 0
    assert "You said" in home.farhand("say", "ann", "zz-demo", "--wait").stdout
    (started,) = containers("podman", home.node_folder(), home.environment)
    environment = {**os.environ, **home.environment}
    wanted = '{{index .Config.Labels "farhand.hiring"}}'
    hiring = call(["podman", "container", "inspect", f"--format={wanted}", started], environment).text
    node.kill()
    node.wait()
    # Its agent is found by its holder.
    assert home.farhand("stop", "--all").stdout == "Node 'test' was not running. 1 agent ended: ann.\n"
    assert home.farhand("stop", "--all").stdout == "No node is running.\n"
    # The same container, as it is when its holder was killed, too.
    labels = [f"--label=farhand.node={home.node_folder()}", f"--label=farhand.hiring={hiring}"]
    volumes = [
        "--volume=/usr:/usr:ro",
        *(f"--volume={one}:{one}:ro" for one in ("/lib", "/lib64") if Path(one).is_dir()),
    ]
    image = home.environment["SANDBOX_IMAGE"]
    said = call(
        ["podman", "run", "--detach", "--rm", "--network=none", *labels, *volumes, image, "/usr/bin/sleep", "600"],
        environment,
    )
    assert said.code == 0, said.text
    assert home.farhand("stop", "--all").stdout == "Node 'test' was not running. 1 agent ended: ann.\n"
    assert containers("podman", home.node_folder(), home.environment) == []
    assert home.farhand("stop", "--all").stdout == "No node is running.\n"
