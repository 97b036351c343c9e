"""Spec 2 at the desk: `farhand clean`, `farhand hook` and the files of a node, as a person calls them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import anyio
import pytest
from tests.contract.test_hook_program import variables as hook_variables
from tests.spec.promises import promise
from tests.spec.team import Team, team_house
from tests.spec.test_http import known

from farhand.drivers.wires.hooks.spool import read_spool
from farhand.hooks.install import ANSWERS, FORWARDER, PROGRAM
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
FOREIGN = {"hooks": [{"type": "command", "command": "afplay done.mp3"}]}


async def farhand(home: Path, *words: str, **environ: str) -> tuple[int, str]:
    """Calls the command line; its exit code and all that it said."""
    with anyio.fail_after(240):
        done = await anyio.run_process(
            [sys.executable, "-m", "farhand", *words],
            env={"PATH": os.environ["PATH"], "HOME": str(home), **environ},
            check=False,
        )
    return done.returncode, (done.stdout + done.stderr).decode()


def variables(team: Team) -> dict[str, str]:
    """What leads the command line to that team."""
    home = team.settings.folder.parent / "home"
    nodes = home / "nodes"
    nodes.mkdir(parents=True, exist_ok=True)
    if not (nodes / "test").exists():
        (nodes / "test").symlink_to(team.settings.folder)
    return {"FARHAND_HOME": str(home), "NODE_NAME": "test"}


@promise("cli.4")
@promise("files.6", "files.3")
async def test_clean_forgets_the_manager_and_nothing_else(tmp_path: Path, bot: FakeBot) -> None:
    agent = ScriptedDriver(backend="claude")
    async with team_house(tmp_path, bot, claude=agent) as team:
        await known(team)
        given = variables(team)
        code, told = await farhand(tmp_path, "clean", **given)
        assert (code, "is running" in told) == (1, True)
        folder, session = team.settings.folder, team.session()
    for name in ("admin_chat_id", "tunnel.log", "tunnel.pid", "tunnel_url"):
        (folder / name).write_text("4242")
    code, told = await farhand(tmp_path, "clean", **given)
    assert code == 0
    for name in ("admin_chat_id", "last_chat_id", "tunnel.log", "tunnel.pid", "tunnel_url"):
        assert not (folder / name).exists()
        assert name in told
    assert not (session / "chat_id").exists()
    assert (session / "backend").exists()
    assert (folder / "farhand.db").exists()
    assert await farhand(tmp_path, "clean", **given) == (0, "Node 'test' is clean.\n")
    # Somebody else may register now, and the team is still there.
    async with team_house(tmp_path, bot, claude=agent) as team:
        somebody = bot.person(777, "Sam")
        await somebody.says("/team")
        assert "- ann" in (await somebody.reads("Your team:")).text


@promise("files.6")
async def test_the_managers_chat_in_an_older_file_is_honoured(tmp_path: Path, bot: FakeBot) -> None:
    folder = tmp_path / "test"
    folder.mkdir(mode=0o700)
    # Believed at the very first start alone, when no store knows better.
    (folder / "admin_chat_id").write_text("777")
    async with team_house(tmp_path, bot) as team:
        assert team.settings.folder == folder
        await team.manager.says("/team")
        somebody = bot.person(777, "Sam")
        await somebody.says("/team")
        await somebody.reads("No team members yet.")
        assert not [one for one in await bot.messages(4242) if one.from_bot]


@promise("cli.9", "cli.10", "cli.49", "cli.50", "cli.51", "cli.52")
async def test_the_hook_is_merged_and_taken_out_to_the_byte(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    before = json.dumps({"model": "opus", "hooks": {"Stop": [FOREIGN]}}, indent=4).encode()
    settings.write_bytes(before)
    for again in (False, True):
        code, told = await farhand(tmp_path, "hook", "install")
        assert (code, "already" in told) == (0, again)
    groups = json.loads(settings.read_bytes())["hooks"]
    assert list(groups) == ["Stop"]
    assert groups["Stop"][0] == FOREIGN
    assert str(settings.parent / "hooks" / ANSWERS) in groups["Stop"][1]["hooks"][0]["command"]
    assert {one.name for one in (settings.parent / "hooks").iterdir()} == {ANSWERS, FORWARDER}
    assert "hook:     installed\n" in (await farhand(tmp_path, "hook", "status"))[1]

    assert (await farhand(tmp_path, "hook", "install", "--events"))[0] == 0
    groups = json.loads(settings.read_bytes())["hooks"]
    wanted = """SessionStart SessionEnd UserPromptSubmit MessageDisplay PreToolUse PostToolUse Notification Stop
    PermissionRequest"""
    assert set(wanted.split()) <= set(groups)
    assert groups["Stop"][:1] == [FOREIGN]
    assert [name in str(group) for group, name in zip(groups["Stop"][1:], (PROGRAM, ANSWERS), strict=True)] == [
        True,
        True,
    ]
    assert "installed, with events" in (await farhand(tmp_path, "hook", "status"))[1]

    assert (await farhand(tmp_path, "hook", "uninstall"))[0] == 0
    assert settings.read_bytes() == before
    assert list((settings.parent / "hooks").iterdir()) == []
    assert "not installed" in (await farhand(tmp_path, "hook", "status"))[1]
    code, told = await farhand(tmp_path, "hook", "uninstall")
    assert (code, "No hook of ours" in told) == (0, True)


@promise("cli.51")
async def test_another_settings_file_and_a_backend_without_one(tmp_path: Path) -> None:
    settings = tmp_path / "project" / "settings.json"
    assert (await farhand(tmp_path, "hook", "install", "--settings", str(settings)))[0] == 0
    assert ANSWERS in settings.read_text()
    assert not (tmp_path / ".claude" / "settings.json").exists()
    code, told = await farhand(tmp_path, "hook", "install", "--backend", "demo")
    assert (code, told.startswith("error: No backend called 'demo'. Known: claude")) == (2, True)
    older = tmp_path / "older" / "settings.json"
    older.parent.mkdir()
    older.write_text('{"hooks": {"Stop": [{"hooks": [{"command": "~/.claude/hooks/send-to-telegram.sh"}]}]}}')
    told = (await farhand(tmp_path, "hook", "status", "--settings", str(older)))[1]
    assert "The hook of another bridge is there, too (send-to-telegram.sh): what it posts a second time is told" in told
    code, told = await farhand(tmp_path, "hook", "install", "--settings", str(older / "below.json"))
    assert (code, "cannot be used: Not a directory." in told) == (1, True)
    settings.write_text("{ broken")
    code, told = await farhand(tmp_path, "hook", "install", "--settings", str(settings))
    assert (code, "left as it is" in told) == (2, True)
    assert settings.read_text() == "{ broken"


HOOKED = {
    "claude": (".claude/settings.json", ".claude/settings.local.json", b'{\n  "model": "opus"\n}\n'),
    "codex": (".codex/hooks.json", ".codex/hooks.json", b'{"hooks": {"Stop": []}}'),
    "gemini": (
        ".gemini/settings.json",
        ".gemini/settings.json",
        b'{\n  // mine\n  "ui": {"theme": "x"}, /* and this */\n  "hooks": {"AfterAgent": [{"hooks": []}]},\n}\n',
    ),
    "opencode": (".config/opencode/plugin/farhand.js", ".opencode/plugin/farhand.js", b""),
}


@pytest.mark.parametrize("level", ["person", "project"])
@pytest.mark.parametrize("backend", HOOKED)
async def test_hooks_of_every_cli_come_and_go_to_the_byte(tmp_path: Path, backend: str, level: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    person, own, before = HOOKED[backend]
    settings = (tmp_path / person) if level == "person" else (project / own)
    words = ["--backend", backend, *(["--project", str(project)] if level == "project" else [])]
    if before:
        settings.parent.mkdir(parents=True)
        settings.write_bytes(before)
    for again in (False, True):
        code, told = await farhand(tmp_path, "hook", "install", *words)
        assert (code, "already" in told, str(settings) in told) == (0, again, True), told
    installed = settings.read_text()
    assert installed.count(f"-S {settings.anchor}") == 1 or (backend == "opencode" and ANSWERS in installed)
    assert all(line in installed for line in ("// mine", "/* and this */")) or backend != "gemini"
    assert "hook:     installed\n" in (await farhand(tmp_path, "hook", "status", *words))[1]
    assert (await farhand(tmp_path, "hook", "uninstall", *words))[0] == 0
    assert (settings.read_bytes() if settings.exists() else b"") == before
    assert "not installed" in (await farhand(tmp_path, "hook", "status", *words))[1]
    assert not list((tmp_path / ".claude").rglob(ANSWERS))


async def test_a_hook_goes_also_from_settings_with_comments_that_somebody_changed(tmp_path: Path) -> None:
    settings = tmp_path / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  // mine\n  "a": 1\n}\n')
    await farhand(tmp_path, "hook", "install", "--backend", "gemini")
    settings.write_text(settings.read_text().replace('"a": 1', '"a": 2, // changed'))
    code, told = await farhand(tmp_path, "hook", "uninstall", "--backend", "gemini")
    assert (code, told.startswith("Hook removed")) == (0, True)
    assert settings.read_text() == '{\n  // mine\n  "a": 2, // changed\n}\n'


@promise("cli.11")
async def test_the_hook_is_tried_on_the_road_that_answers_take(tmp_path: Path, team: Team) -> None:
    given = variables(team)
    given |= {"SESSIONS_DIR": str(team.settings.sessions)}
    code, told = await farhand(tmp_path, "hook", "test", **given)
    assert (code, "farhand hook install" in told) == (3, True)
    await farhand(tmp_path, "hook", "install")
    code, told = await farhand(tmp_path, "hook", "test", **given)
    assert (code, "No chat is known yet." in told) == (3, True)
    await team.asks("/team")
    code, told = await farhand(tmp_path, "hook", "test", **given)
    assert (code, "is reached" in told) == (0, True), told
    await team.manager.reads("Test message of the Stop hook")
    await team.hire("ann")
    code, told = await farhand(tmp_path, "hook", "test", "--worker", "bob", **given)
    assert (code, "Nobody called 'bob' is on the team." in told) == (3, True)
    code, told = await farhand(tmp_path, "hook", "test", **given)
    assert (code, "The hook reaches node 'test'" in told) == (0, True), told
    await team.manager.reads("ann:\nTest message of the Stop hook")


async def test_installed_events_reach_the_node_unless_the_session_brings_its_own(short_folder: Path) -> None:
    """The very lines of the settings, run by a shell as Claude Code runs them."""
    assert (await farhand(short_folder, "hook", "install", "--events"))[0] == 0
    groups = json.loads((short_folder / ".claude" / "settings.json").read_bytes())["hooks"]
    (command,) = (one["command"] for one in groups["Stop"][0]["hooks"])
    for more in ({"FARHAND_HOOKS": "session"}, {}):
        environ = {"PATH": os.environ["PATH"], **hook_variables(short_folder), **more}
        done = await anyio.run_process(["sh", "-c", command], input=b'{"n":1}', env=environ)
        assert (done.stdout, done.stderr) == (b"", b"")
    (left,) = read_spool(short_folder / "spool")
    assert (left.event, left.payload) == ("Stop", b'{"n":1}')
