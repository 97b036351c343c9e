"""What an older node has stored is read after an upgrade, and written so that the older one could read it again."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from farhand.drivers.opencode.exec.state import OpenCodeRun, OpenCodeRunCursor, OpenCodeRunLog
from farhand.drivers.opencode.headless.server import ServerRecord
from farhand.drivers.opencode.headless.state import (
    OpenCodeCursor,
    OpenCodeExpected,
    OpenCodeLog,
    OpenCodeStart,
    OtherSession,
    PartProgress,
)
from farhand.drivers.opencode.tmux.server import TerminalAddress, stored_address
from farhand.drivers.wires.cursor import read_cursor, write_cursor

DELIVERED = {"id": "msg_2", "message": "m2", "turn": "t2"}
WANTED = {
    "id": "per_1",
    "sessionID": "ses_1",
    "permission": "bash",
    "patterns": ["a"],
    "metadata": {"command": "a"},
    "always": [],
}
STATE = {
    "session": "ses_1",
    "children": ["ses_2"],
    "expected": [DELIVERED],
    "after": "msg_1",
    "newest": "msg_2",
    "running": True,
    "turn": "t2",
    "prompts": ["msg_2"],
    "seen": ["msg_2"],
    "replies": {"msg_3": False},
    "parts": {"prt_1": {"kind": "text", "told": 5, "whole": True}},
    "tools": {"call_1": True},
    "spoke": True,
    "error": {"name": "E", "data": {"message": "no"}},
    "stopped": True,
    "usage": {"input_tokens": 1, "output_tokens": 2},
    "limited": "limit",
    "permissions": {"per_1": WANTED},
    "granted": [["bash", "a *"]],
    "skipped": 1,
}
CURSOR = {"life": "3", "state": STATE, "elsewhere": {"session": "ses_9", "prompt": "msg_8"}}
RUN = {"holder": "ann-1.x", "turn": "t1", "message": "m1"}
RUN_STATE = {"session": "ses_1", "message": "m1", "seen": True, "refused": "Leave"}
RUN_CURSOR = {"run": RUN, "offset": 7, "over": True, "state": RUN_STATE}


def test_a_sessions_cursor() -> None:
    cursor = read_cursor(json.dumps(CURSOR), OpenCodeCursor)
    assert cursor.other_session == OtherSession(session="ses_9", prompt="msg_8")
    assert cursor.state.parts == {"prt_1": PartProgress(kind="text", reported=5, whole=True)}
    assert cursor.state.permissions["per_1"].metadata == {"command": "a"}
    written = json.loads(write_cursor(cursor))
    # A cursor of an earlier release does not have it.
    assert written["state"]["permissions"]["per_1"].pop("tool") is None
    assert written == CURSOR


def test_a_sessions_log(tmp_path: Path) -> None:
    settled = {"type": "ask_settled", "ask": "que_1", "how": "answered", "choice": "2"}
    lines = [{"given": DELIVERED}, {"settled": settled}, {"request": "per_1"}]
    (tmp_path / "given").write_text("".join(f"\n{json.dumps(line)}\n" for line in lines))
    (tmp_path / "session").write_text('{"session":"ses_1","after":"msg_1"}')
    log = OpenCodeLog(tmp_path)
    assert log.start() == OpenCodeStart(session="ses_1", after="msg_1")
    assert log.deliveries() == (OpenCodeExpected(id="msg_2", message="m2", turn="t2"),)
    assert log.step_answers()["que_1"].choice == "2"
    assert log.may_be_answered("per_1")
    log.add_delivery(log.deliveries()[0])
    assert json.loads((tmp_path / "given").read_text().splitlines()[-1]) == {"given": DELIVERED}


def test_the_runs_of_a_process_a_turn(tmp_path: Path) -> None:
    cursor = read_cursor(json.dumps(RUN_CURSOR), OpenCodeRunCursor)
    assert cursor.run == OpenCodeRun(holder="ann-1.x", turn="t1", message="m1")
    assert json.loads(write_cursor(cursor)) == RUN_CURSOR
    (tmp_path / "runs").write_text(json.dumps([RUN]))
    assert OpenCodeRunLog(tmp_path).all() == [cursor.run]


def test_where_a_server_listens(tmp_path: Path) -> None:
    (tmp_path / "sign").write_text('{"port":1,"password":"p"}')
    assert stored_address(tmp_path) == TerminalAddress(port=1, password="p")
    record = msgspec.json.decode(b'{"life":2,"password":"p","url":"u"}', type=ServerRecord)
    assert record == ServerRecord(life=2, password="p", url="u")
