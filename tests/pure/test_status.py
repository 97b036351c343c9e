"""The status as people and programs read it, line by line as spec 2 has it."""

import json
from dataclasses import replace
from pathlib import Path

from tests.spec.promises import promise

from farhand.cli.node_report import BotReport, NodeReport, environ_of
from farhand.cli.orphans import Orphan, kind_of_process, orphan_lines, orphans
from farhand.cli.status import as_json, as_text, conflict_lines
from farhand.cli.tmux_sessions import TmuxSession
from farhand.config.launch import Launch, read_launch
from farhand.disk.processes import ProcessSeen

LAUNCH = Launch(sessions="/s", tmux_prefix="claude-prod-", public_url="https://mine.example")
ANN = TmuxSession("claude-prod-ann", 50.0, {"PORT": "8081", "SESSIONS_DIR": "/s", "TMUX_PREFIX": "claude-prod-"})
BOB = TmuxSession("claude-prod-bob", 5.0, {"PORT": "1", "SESSIONS_DIR": "/x", "TMUX_PREFIX": "claude-x-"})
BOT = BotReport("online", "my_bot", "42", "https://mine.example/")
REPORT = NodeReport(
    node="prod",
    launch=LAUNCH,
    running=True,
    port="8081",
    sessions=(ANN, BOB),
    hook=True,
    settings=True,
    settings_changed_at=10.0,
    token=True,
    bot=BOT,
    said={"pid": 7, "port": 8081, "started_at": 0.0, "seq": 12, "focus": "ann", "channels": {}, "workers": []},
)


@promise("cli.5", "cli.47", "cli.48", "output.2")
def test_the_block_of_a_node() -> None:
    assert as_text(REPORT, now=70.0)[:13] == [
        "Node: prod [running]",
        "  port:     8081",
        "  tunnel:   https://mine.example",
        "  sessions: 2 running",
        "            - claude-prod-ann",
        "            - claude-prod-bob [port dir prefix stale-hooks]",
        "  ⚠ env mismatch: restart node to fix",
        "  ⚠ stale-hooks: restart Claude (/exit) to reload settings.json",
        "  hook:     installed",
        "  bot:      online (@my_bot, id:42)",
        "  webhook:  set",
        "  up:       1 min (pid 7)",
        "  journal:  12 events",
    ]
    stopped = NodeReport(node="prod", launch=Launch())
    assert as_text(stopped, now=0.0) == [
        "Node: prod [stopped]",
        "  sessions: none",
        "  hook:     not installed",
        "  bot:      not configured",
    ]


@promise("output.2")
def test_a_webhook_that_leads_elsewhere_is_shown_with_both_addresses() -> None:
    elsewhere = replace(REPORT, bot=replace(BOT, webhook="https://other.example/"))
    assert as_text(elsewhere, 0.0)[10:13] == [
        "  webhook:  mismatch (pointing to different URL)",
        "            actual:   https://other.example/",
        "            expected: https://mine.example",
    ]
    assert "  webhook:  not set" in as_text(replace(REPORT, bot=replace(BOT, webhook="")), 0.0)
    polls = replace(elsewhere, launch=replace(LAUNCH, public_url=""))
    assert any("this node polls (farhand webhook delete)" in line for line in as_text(polls, 0.0))
    refused = replace(REPORT, bot=BotReport("error", why="Telegram refuses the bot token."))
    assert "  bot:      error: Telegram refuses the bot token." in as_text(refused, 0.0)


@promise("cli.23", "output.5")
def test_the_json_of_a_node() -> None:
    said = as_json(REPORT)
    assert json.dumps({name: said[name] for name in list(said)[:9]}, separators=(",", ":")) == (
        '{"node":"prod","running":true,"port":"8081","sessions":["claude-prod-ann","claude-prod-bob"],"hook":true,'
        '"settings":true,"token":true,"bot":"my_bot","webhook":"https://mine.example/"}'
    )
    assert said["session_warnings"] == {"claude-prod-bob": ["port", "dir", "prefix", "stale-hooks"]}


@promise("cli.46", "output.3")
def test_nodes_that_share_a_bot() -> None:
    assert conflict_lines({"42": ["dev", "prod"], "7": ["test"]}) == [
        "⚠ CONFLICT: 2 nodes running with same bot (id:42)",
        "  Running: dev prod",
        "  Only ONE node receives webhook. Others miss messages.",
        "  Fix: Use different TELEGRAM_BOT_TOKEN per node, or stop extras.",
    ]


@promise("output.4")
def test_the_lines_of_orphans() -> None:
    assert orphan_lines([Orphan("tunnel", 5, "8081"), Orphan("bridge", 6)]) == [
        "⚠ ORPHAN PROCESSES DETECTED",
        "  tunnel: PID 5 (port 8081) - kill 5",
        "  bridge: PID 6 - kill 6",
        "  Fix: kill orphan processes or restart node",
    ]
    assert orphan_lines([]) == []


@promise("cli.45")
def test_only_bridges_and_tunnels_of_this_home_that_nobody_owns_are_orphans() -> None:
    mine, others = {"FARHAND_HOME": "/h"}, {"FARHAND_HOME": "/elsewhere"}
    tunnel = ("/usr/bin/cloudflared", "tunnel", "--url", "http://localhost:8081")
    processes = [
        ProcessSeen(1, ("python3", "/opt/bridge.py"), mine),
        ProcessSeen(2, tunnel, mine),
        ProcessSeen(3, tunnel, mine),
        ProcessSeen(4, tunnel, others),
        ProcessSeen(5, tunnel, None),
        ProcessSeen(6, ("vim", "bridge.py"), mine),
        ProcessSeen(7, ("python3.11", "-m", "farhand", "status"), mine),
        ProcessSeen(8, ("python3.11", "-m", "farhand", "run", "-n", "x"), mine),
    ]
    found = orphans(processes, owned={3}, own_home=Path("/h"))
    assert found == [Orphan("tunnel", 2, "8081"), Orphan("bridge", 1), Orphan("bridge", 8)]
    assert kind_of_process(("bash", "-c", "cloudflared tunnel")) == ""


def test_what_waits_for_an_answer_is_told_with_its_question_and_id() -> None:
    ann = {
        "name": "ann", "backend": "demo", "state": "waiting", "queued": 2, "queued_since": 10.0, "asks": 1,
        "questions": [{"id": "a1", "question": "Run:\n rm -rf x\u202e?"}], "why_offline": "",
        "handing_over_since": 5.0, "unknown": False, "mode": "yolo", "directory": "/shop\u202e",
    }  # fmt: skip
    bob = {**ann, "name": "bob", "state": "offline", "questions": [], "queued": 0, "why_offline": "It ended."}
    said = {**REPORT.said, "workers": [ann, {**bob, "unknown": True}], "channels": {"telegram": "polling"}}
    assert as_text(replace(REPORT, said=said), now=130.0)[13:] == [
        "  telegram: polling",
        "  team:     2",
        "            - ann (focused, waiting, backend=demo, 2 queued for 2 min)",
        "              mode yolo, in /shop‹U+202E›",
        "              ? Run: ⏎ rm -rf x‹U+202E›?  (farhand answer a1 <choice>)",
        "              ⚠ a message has been on its way for 2 min",
        "            - bob (offline, backend=demo): It ended.",
        "              mode yolo, in /shop‹U+202E›",
        "              ⚠ nobody knows whether the last message arrived",
    ]


def test_with_all_nodes_each_has_the_variables_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "nodes" / "dev").mkdir(parents=True)
    (tmp_path / "nodes" / "dev" / "env").write_text("TELEGRAM_BOT_TOKEN=1:dev\n")
    environ = {
        "FARHAND_HOME": str(tmp_path),
        "TELEGRAM_BOT_TOKEN": "2:prod",
        "TMUX_PREFIX": "claude-prod-",
        "PORT": "1",
    }
    assert environ_of("dev", environ)["TELEGRAM_BOT_TOKEN"] == "1:dev"
    assert "PORT" not in environ_of("dev", environ)
    assert environ_of("prod", environ)["PORT"] == "1"


def test_how_a_node_was_started_is_kept_for_its_owner_and_garbage_is_no_harm(tmp_path: Path) -> None:
    LAUNCH.keep(tmp_path)
    assert read_launch(tmp_path, "prod") == LAUNCH
    assert (tmp_path / "run.json").stat().st_mode & 0o777 == 0o600
    for garbage in ("", "[]", '{"flags": 5, "sessions": 7}', "{"):
        (tmp_path / "run.json").write_text(garbage)
        assert read_launch(tmp_path, "x") == Launch(sessions=str(tmp_path / "sessions"), tmux_prefix="claude-x-")
