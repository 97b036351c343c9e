"""What another version of a CLI writes is told apart from what was recorded: kinds, fields, what did not come up."""

import json
from pathlib import Path
from typing import Any

import pytest
from scripts import live

from farhand.testing import witness
from farhand.testing.clis import programs


def lines(*records: dict[str, Any]) -> list[bytes]:
    return [json.dumps(record).encode() for record in records]


def test_a_line_is_called_by_its_type_and_by_what_is_in_it() -> None:
    named: dict[str, dict[str, Any]] = {
        "system/init": {"type": "system", "subtype": "init"},
        "item.completed/error": {"type": "item.completed", "item": {"type": "error"}},
        "session/update/agent_message_chunk": {
            "method": "session/update",
            "params": {"sessionUpdate": "agent_message_chunk"},
        },
        "$set": {"$set": {}},
        "(no type)": {"id": 7},
    }
    assert {kind: witness.kind_of(line) for kind, line in named.items()} == {kind: kind for kind in named}


def test_new_kinds_new_fields_lost_fields_and_what_did_not_come_up_are_told() -> None:
    recorded = witness.kinds_of(lines({"type": "a", "x": 1}, {"type": "a", "x": 1, "y": 2}, {"type": "gone"}))
    seen = witness.kinds_of(lines({"type": "a", "z": 1}, {"type": "fresh", "q": 1}))
    assert list(witness.compared(recorded, seen)) == [
        "+ new kind      fresh (1 lines): q, type",
        "~ new fields    a: z",
        "! fields gone   a: x",
        "- not seen now  gone",
    ]
    assert list(witness.compared(recorded, recorded)) == []


def test_lines_of_another_protocol_are_no_news(tmp_path: Path) -> None:
    (tmp_path / "recorded").write_bytes(b"\n".join(lines({"t": 1, "dir": "in", "msg": {"type": "a"}}, {"id": 7})))
    (tmp_path / "same").write_bytes(b"\n".join([*lines({"type": "a"}), b"no json", b"[1]", b"\xff"]))
    (tmp_path / "other").write_bytes(b"\n".join(lines({"type": "ours"}, {"id": 1})))
    told = witness.report([tmp_path / "recorded"], [tmp_path / "same", tmp_path / "other"])
    whole = "2 kinds recorded, 1 seen in 1 files; 1 files speak something else"
    assert told == ["- not seen now  (no type)", whole]


def test_what_a_cli_wrote_is_kept_only_when_somebody_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    for folder in (home, kept):
        folder.mkdir()
    (home / "session.jsonl").write_text('{"type": "a"}\n')
    (home / "settings.json").write_text("{\n}\n")
    monkeypatch.delenv(witness.FOLDER, raising=False)
    witness.keep(home)
    assert list(kept.iterdir()) == []
    monkeypatch.setenv(witness.FOLDER, str(kept))
    witness.keep(home)
    assert [file.read_text() for file in kept.iterdir()] == ['{"type": "a"}\n']


def test_another_installation_is_found_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FARHAND_CLIS", raising=False)
    assert programs(Path("/here")) == Path("/here/.cache/npm/node_modules/.bin")
    monkeypatch.setenv("FARHAND_CLIS", "/there")
    assert programs(Path("/here")) == Path("/there/node_modules/.bin")


@pytest.mark.parametrize("given", [[], ["nobody@1"], [""], ["codex@1", "claude"]])
def test_a_cli_that_is_not_known_gets_a_sentence(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert live.main(given) == 2
    assert "make live CLI=<claude|codex|gemini|opencode>[@version]" in capsys.readouterr().err
