"""A message of the node that was taken back, or that finds the inbox half written: it comes in its time, or never."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.contract.bridge_hooks import HookedProject, read

from farhand.bridge.project import ProjectFiles


@pytest.fixture
def hooked(tmp_path: Path) -> HookedProject:
    return HookedProject(tmp_path, "gemini")


def test_a_message_of_the_node_waits_while_somebody_writes_the_inbox(hooked: HookedProject) -> None:
    """By a program that writes into the file itself, and has come to the half of it."""
    hooked.write("first")
    whole = hooked.inbox.read_bytes()
    hooked.inbox.write_bytes(whole[:20])
    # However slow this machine is, it was written a moment ago.
    os.utime(hooked.inbox, (time.time() + 3600,) * 2)
    node = ProjectFiles(hooked.folder)
    node.put("n1", "ours")
    node.put("n2", "not any more")
    assert node.take_back("n2")
    assert hooked.inbox.read_bytes() == whole[:20]
    assert node.look().inbox == {"n1": False}
    hooked.inbox.write_bytes(whole)
    assert sorted(hooked.context().splitlines()[1:]) == ["first", "ours"]
    assert node.look().inbox["n1"] is True
    assert hooked.context() == ""


def test_what_was_given_to_the_agent_is_not_taken_back(hooked: HookedProject) -> None:
    """The hook was killed before it could mark it, and a foreign writer says that it is unread."""
    node = ProjectFiles(hooked.folder)
    node.put("n1", "ours")
    unmarked = hooked.inbox.read_bytes()
    hooked.context()
    hooked.inbox.write_bytes(unmarked)
    assert not node.take_back("n1")


def test_what_was_taken_back_stays_away_and_can_be_put_again(hooked: HookedProject) -> None:
    node = ProjectFiles(hooked.folder)
    node.put("n1", "ours")
    stale = hooked.inbox.read_bytes()
    assert node.take_back("n1")
    hooked.inbox.write_bytes(stale)
    assert "n1" not in node.look().inbox
    assert read(hooked.inbox) == [], "a script in the place of our hooks does not read it, either"
    hooked.inbox.write_bytes(stale)
    assert hooked.context() == ""
    assert node.take_back("n1"), "a node that was killed does it again"
    node.put("n1", "ours")
    assert hooked.context() == "WhatsApp messages:\nours"
