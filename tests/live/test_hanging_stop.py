"""A signal ends a node, also one that hangs in its start or its stop."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from farhand.model.compat import LOG_FILE

# Says "on" where it hangs, or where it runs and will hang when it is to stop.
PROGRAM = """
import sys
from pathlib import Path
import anyio
from farhand.config.settings import Settings
from farhand.model.ports import Can
from farhand.run import run_until_signal

folder, where = Path(sys.argv[1]), sys.argv[2]
# Where nothing hangs, the limit is a net.
stop_seconds = 240 if where == "nowhere" else 0.5

class Hanging:
    name = "hanging"

    async def run(self):
        print("on", flush=True)
        with anyio.CancelScope(shield=where == "stop"):
            await anyio.sleep_forever()

class SlowDriver:
    backend, can = "slow", Can()

    async def run(self, *, task_status):
        print("on", flush=True)
        await anyio.sleep_forever()

settings = Settings(
    node="test",
    folder=folder,
    port=0,
    working_directory=folder,
    host="127.0.0.1",
    stop_seconds=stop_seconds,
    drain_seconds=0.1,
)
drivers = {"slow": SlowDriver()} if where == "start" else {}
anyio.run(run_until_signal, settings, drivers, lambda _: [Hanging()])
"""


@pytest.mark.parametrize(("where", "code"), [("start", 1), ("stop", 1), ("nowhere", 0)])
def test_a_signal_ends_a_node_that_hangs(tmp_path: Path, where: str, code: int) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), where]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as node:
        assert node.stdout is not None
        try:
            assert b"on\n" in node.stdout
            node.send_signal(signal.SIGTERM)
            assert node.wait(240) == code
        finally:
            node.kill()
    log = tmp_path / LOG_FILE
    assert ("did not stop within" in log.read_text() if log.exists() else False) == bool(code)
