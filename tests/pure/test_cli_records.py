"""What another version of a CLI writes is told apart from what was recorded: kinds, fields, what did not come up."""

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from scripts import live

from farhand.testing import cli_records
from farhand.testing import format_changes as changes
from farhand.testing.clis import programs


def lines(*records: dict[str, Any]) -> list[bytes]:
    return [json.dumps(record).encode() for record in records]


def test_a_line_is_called_by_its_type_and_by_what_is_in_it() -> None:
    named: dict[str, dict[str, Any]] = {
        "system/init": {"type": "system", "subtype": "init"},
        "item.completed/error": {"type": "item.completed", "item": {"type": "error"}},
        "rpc session/update/agent_message_chunk": {
            "method": "session/update",
            "params": {"sessionUpdate": "agent_message_chunk"},
        },
        "$set": {"$set": {}},
        "(no type)": {"id": 7},
    }
    assert {kind: cli_records.kind_of(line) for kind, line in named.items()} == {kind: kind for kind in named}


def changed(recorded: cli_records.Kinds, before: cli_records.Kinds, now: cli_records.Kinds) -> list[str]:
    sources = {"translate.py": 'record.text("x")', "schema.py": "class A:\n    y: int = 0\n"}
    return changes.report(changes.changes(recorded, before, now), lambda field: changes.readers(sources, field))


def test_what_a_driver_may_lean_on_comes_first_then_what_nobody_reads_then_what_is_new() -> None:
    recorded = cli_records.kinds_of(lines({"type": "rare", "x": 1}))
    before = cli_records.kinds_of(
        lines({"type": "a", "x": 1, "y": 2, "w": 1, "v": 1}, {"type": "a", "x": 1, "y": 2, "w": 1}, {"type": "b"})
    )
    now = cli_records.kinds_of(
        lines({"type": "a", "y": [], "z": None}, {"type": "fresh", "q": 1, "item": {"r": 1}}, {"type": "fresh"})
    )
    assert [" ".join(line.split()) for line in changed(recorded, before, now)] == [
        "! a x is gone (read in translate.py)",
        "! a y was a number, is a list (read in schema.py)",
        "! b is gone",
        "~ a w is gone (no driver reads it)",
        "+ a new fields: z",
        "+ fresh new, 2 times: item.r, q",
    ]


def test_what_only_the_recordings_bring_up_is_no_change() -> None:
    recorded = cli_records.kinds_of(lines({"type": "rare"}, {"type": "a", "x": 1}, {"type": "a"}))
    seen = cli_records.kinds_of(lines({"type": "a", "x": None}, {"id": 7}))
    assert changed(recorded, seen, seen) == []
    assert changed(recorded, cli_records.kinds_of([]), cli_records.kinds_of(lines({"type": "a"}))) == []


def test_lines_of_another_protocol_are_no_news() -> None:
    known = cli_records.kinds_of(lines({"t": 1, "dir": "in", "msg": {"type": "a"}}, {"id": 7}))
    same = cli_records.kinds_of([*lines({"type": "a"}), b"no json", b"[1]", b"\xff"])
    other = cli_records.kinds_of(lines({"type": "ours"}, {"id": 1}))
    assert changes.spoken([same, other], known) == same


def test_what_the_tests_saw_is_kept_in_a_file() -> None:
    kinds = cli_records.kinds_of(lines({"type": "a", "x": 1}, {"type": "a", "x": None}))
    seen = changes.SeenFormat("1.2.3", kinds)
    assert msgspec.json.decode(msgspec.json.encode(seen), type=changes.SeenFormat) == seen


@pytest.mark.parametrize("kept", sorted(live.SEEN.glob("*.json")), ids=lambda path: path.stem)
def test_what_is_kept_is_what_the_pinned_version_wrote(kept: Path) -> None:
    seen = msgspec.json.decode(kept.read_bytes(), type=changes.SeenFormat)
    package = json.loads((live.ROOT / "tests" / "live" / "clis" / "package.json").read_text())
    assert seen.version == package["dependencies"][live.PACKAGES[kept.stem]], f"run `make live CLI={kept.stem}`"
    assert seen.kinds


def test_what_a_program_prints_is_kept_and_its_screen_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\necho '{}'\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.delenv(cli_records.FOLDER, raising=False)
    assert cli_records.recorded_programs(tmp_path, "agent") == tmp_path
    (tmp_path / "kept").mkdir()
    monkeypatch.setenv(cli_records.FOLDER, str(tmp_path / "kept"))
    assert cli_records.recorded_programs(tmp_path, "nobody") == tmp_path
    ear = cli_records.recorded_programs(tmp_path, "agent") / "agent"
    done = subprocess.run([ear], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (3, b"{}\n")
    assert [file.read_text() for file in (tmp_path / "kept").glob("*.jsonl")] == ["{}\n"]


def test_the_last_line_says_what_to_do() -> None:
    assert "nothing that a driver reads" in live.verdict("codex", "1", ["~ x", "+ y"], holds=True)
    assert "'!' lines" in live.verdict("codex", "1", ["! x"], holds=True)
    assert "does not hold" in live.verdict("codex", "1", [], holds=False)


def test_what_a_cli_wrote_is_kept_only_when_somebody_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    for folder in (home, kept):
        folder.mkdir()
    (home / "session.jsonl").write_text('{"type": "a"}\n')
    (home / "settings.json").write_text("{\n}\n")
    monkeypatch.delenv(cli_records.FOLDER, raising=False)
    cli_records.keep(home)
    assert list(kept.iterdir()) == []
    monkeypatch.setenv(cli_records.FOLDER, str(kept))
    cli_records.keep(home)
    assert [file.read_text() for file in kept.iterdir()] == ['{"type": "a"}\n']


def test_another_installation_is_found_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FARHAND_CLIS", raising=False)
    assert programs(Path("/here")) == Path("/here/.cache/npm/node_modules/.bin")
    monkeypatch.setenv("FARHAND_CLIS", "/there")
    assert programs(Path("/here")) == Path("/there/node_modules/.bin")


@pytest.mark.parametrize("given", [[], ["nobody@1"], [""], ["codex@1", "no/such/test.py"]])
def test_a_cli_that_is_not_known_gets_a_sentence(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert live.main(given) == 2
    assert f"make live CLI=<{'|'.join(live.PACKAGES)}>[@version] [TESTS=…]" in capsys.readouterr().err
