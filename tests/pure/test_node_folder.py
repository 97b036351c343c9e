"""The folder of a node: its key is never empty, and looking whether it runs disturbs nobody."""

import fcntl
import os
from pathlib import Path

import pytest

from farhand.model import compat
from farhand.store import folder


@pytest.mark.parametrize("left", ["", "\n", "short"])
def test_a_key_that_a_power_failure_emptied_is_made_anew(tmp_path: Path, left: str) -> None:
    path = tmp_path / "key"
    path.write_text(left)
    made = folder.key(path)
    assert len(made) >= 32
    assert folder.key(path) == made


def test_two_who_look_at_once_do_not_take_each_other_for_the_node(tmp_path: Path) -> None:
    with folder.lock(tmp_path, "test", 1):
        pass
    # What a killed node leaves, while somebody else looks whether it runs.
    (tmp_path / compat.PID_FILE).write_text("1\n")
    looking = os.open(tmp_path / "lock", os.O_RDWR)
    try:
        fcntl.flock(looking, fcntl.LOCK_SH | fcntl.LOCK_NB)
        assert folder.running(tmp_path) is None
    finally:
        os.close(looking)
