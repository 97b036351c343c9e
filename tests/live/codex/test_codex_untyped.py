"""A message that could not be typed into Codex's box is expected no more: the same words later are the desk's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from farhand.drivers.codex.tmux.cursor import CodexCursor
from farhand.drivers.codex.tmux.link import CodexTmuxLink
from farhand.drivers.codex.tmux.pending import CodexQuestions
from farhand.drivers.wires.tmux import Tmux
from farhand.drivers.wires.tmux.delivered import DeliveredLog
from farhand.model.ports import Deliver, NotTaken
from farhand.model.present import Message
from farhand.model.words import Sender

pytestmark = pytest.mark.anyio
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm-256color"}


async def test_what_was_not_typed_is_expected_no_more(tmux_server: tuple[str, ...], short_folder: Path) -> None:
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as tmux:
        # No box to type into.
        pane = await tmux.start("ann", ["cat"], short_folder, {})
        link = CodexTmuxLink(tmux, pane, CodexCursor(), CodexQuestions(60.0), short_folder)
        link._settled_in.set()
        message = Message(id="m1", text="go on", at=0.0, by=Sender(via="telegram", who="Ann"))
        outcome = await link.perform(Deliver(turn="t1", message=message))
        link.close()
    assert isinstance(outcome, NotTaken), outcome
    assert DeliveredLog(short_folder / "handed").all() == ()
    assert link._state().expected == ()
