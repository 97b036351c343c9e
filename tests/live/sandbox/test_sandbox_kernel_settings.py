"""Under bubblewrap no setting of the kernel can be written: root without capabilities is still root there."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.live.sandbox.engines import variables

from farhand.config.sandbox import read_sandbox
from farhand.model.present import Worker
from farhand.roster import sandboxes_of
from farhand.testing.house import settings_in

pytestmark = pytest.mark.anyio
# Opened and closed again: nothing is written, also where it could be.
OPENS = """
import os, sys
def opened(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
        return True
    except OSError:
        return False
files = (os.path.join(folder, name) for folder, _, names in os.walk("/proc/sys") for name in names)
print(open("/proc/sys/kernel/core_pattern").read() != "", [path for path in files if opened(path)][:3])
"""


async def test_no_setting_of_the_kernel_can_be_written(
    short_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = short_folder / "home"
    folder, project = home / ".claude/telegram/nodes/test", home / "project"
    for one in (folder / "hooks", project):
        one.mkdir(parents=True)
    environment = {**variables("bwrap", tmp_path_factory.getbasetemp()), "PATH": os.environ["PATH"], "HOME": str(home)}
    settings = replace(
        settings_in(short_folder), folder=folder, environment=environment, sandbox=read_sandbox(environment)
    )
    worker = Worker(name="ann", since=1, backend="claude", directory=str(project))
    words = [sys.executable, "-ISc", OPENS]
    start = await sandboxes_of(settings).wrapped(worker, words, {"HOME": str(home)}, terminal=False)
    done = subprocess.run(start.argv, env=start.environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True []\n", "")
