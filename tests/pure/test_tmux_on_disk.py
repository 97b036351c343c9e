"""What links in tmux keep on the disk, as earlier versions wrote it: agents live on across an upgrade."""

from __future__ import annotations

import json
from pathlib import Path

from farhand.drivers.claude.tmux.state import ClaudeCursor
from farhand.drivers.codex.tmux.link import CodexStartFile
from farhand.drivers.codex.tmux.state import CodexCursor, CodexStart
from farhand.drivers.gemini.tmux.state import GeminiPosition, open_calls, position
from farhand.drivers.wires.asks.answers import PartAnswer
from farhand.drivers.wires.cursor import read_cursor, write_cursor
from farhand.drivers.wires.hooks.endpoint import HookReport
from farhand.drivers.wires.hooks.spool import read_spool
from farhand.drivers.wires.tmux.delivered_log import DELIVERED, DeliveredLog, ExpectedMessage
from farhand.model.sandbox import SPOOL

EXPECTED = '{"message":"m1","text":"go on","turn":"t1"}'
MESSAGE = ExpectedMessage(message="m1", text="go on", turn="t1")
CLAUDE = (
    '{"path":"/p/s.jsonl","offset":12,"state":{"session":"s","turn":"t1","prompt":"p","running":true,'
    '"prompts":{"p":"t1"},"over":["o"],"written":"p","streamed":"He","showing":"i","piece":1,"expected":['
    + EXPECTED
    + '],"usage":{"input_tokens":3},"cost":0.5},"picked":{"a":[{"choice":"1"}]}}'
)
CODEX = (
    '{"path":"/p/r.jsonl","offset":7,"state":{"session":"s","turns":{"c1":"t1"},"running":"c1","over":["c0"],"expected":['
    + EXPECTED
    + '],"spoke":true,"last_text":"Hello","tools":["x"],"resets_at":1.5}}'
)
CALL = '{"tool":"glob","arguments":{"pattern":"*"}}'
GEMINI = (
    '{"spot":{"path":"/p/s.json","offset":9,"stamp":[1,2,3],"newest":"{","state":{"session":"s","turn":"t1",'
    '"prompt":"go on","began":1.5,"running":true,"hooked":true,"tools":[{"call":"c","digest":"d","filed":"f"}],'
    '"last":{"id":"g","length":2,"mark":"k"},"known":["u","g"],"expected":[' + EXPECTED + '],"seen":["m0"],"turns":2}},'
    f'"asks":{{"a":{{"call":{CALL},"kind":"info","details":{{}},"counter":"1 of 2"}}}},"calls":[{CALL}],'
    f'"unseen":{{"b":{{"call":{CALL},"kind":"info","details":{{}}}}}},"allowed":[{CALL}]}}'
)


def test_cursors_are_read_whole_and_written_as_they_were() -> None:
    claude, codex = read_cursor(CLAUDE, ClaudeCursor), read_cursor(CODEX, CodexCursor)
    assert (claude.state.expected, claude.state.running) == ((MESSAGE,), True)
    assert claude.picked == {"a": (PartAnswer(choice="1"),)}
    assert (codex.state.expected, codex.state.running) == ((MESSAGE,), "c1")
    gemini = read_cursor(GEMINI, GeminiPosition)
    assert gemini.cursor.state.expected == (MESSAGE,)
    assert (list(gemini.asks), len(gemini.calls), list(gemini.unseen), len(gemini.allowed)) == (["a"], 1, ["b"], 1)
    # The link keeps its two halves apart.
    together = position(gemini.cursor, open_calls(gemini))
    written = [json.loads(write_cursor(one)) for one in (claude, codex, together)]
    assert written == [json.loads(one) for one in (CLAUDE, CODEX, GEMINI)]


def test_delivered_messages_and_the_start_of_a_session_are_found_under_their_names(tmp_path: Path) -> None:
    (tmp_path / "handed").write_text(f"\n{EXPECTED}\n")
    assert DeliveredLog(tmp_path / DELIVERED).all() == (MESSAGE,)
    (tmp_path / "began").write_text('{"session":"s","path":"/p/r","offset":3}')
    assert CodexStartFile(tmp_path).read() == CodexStart(session="s", path="/p/r", offset=3)


def test_spooled_reports_are_known_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "spool" / "17-4-5.77.Stop.json"
    path.parent.mkdir()
    path.write_text("{}")
    report = HookReport(id="17-4-5", event="Stop", payload=b"{}", agent=77, spooled=path)
    assert list(read_spool(tmp_path / SPOOL)) == [report]
