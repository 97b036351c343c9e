"""Extensions: everything in one piece, in code and as they are installed for the Gemini CLI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.test_skills import declared, outputs, system, write_skill
from tests.sdk.turning import collect

from farhand.sdk import ExtensionError, Notice, SessionContext, deny, extension, hook, skill_dir, subagent
from farhand.sdk.hooks import BeforeAgentInput, BeforeAgentOutput
from farhand.testing.models.gemini import FakeGemini, calls, calls_all, says

pytestmark = pytest.mark.anyio


def install(home: Path, name: str = "tool-box", **manifest: Any) -> Path:
    folder = home / ".gemini" / "extensions" / name
    folder.mkdir(parents=True)
    (folder / "gemini-extension.json").write_text(json.dumps({"name": name, "version": "1.0.0", **manifest}))
    return folder


async def test_an_extension_in_code(fake: FakeGemini, make_agent: MakeAgent, tmp_path: Path) -> None:
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    @hook("BeforeAgent")
    def more(event: BeforeAgentInput) -> BeforeAgentOutput:
        return BeforeAgentOutput(additional_context="from the hook")

    def dynamic(context: SessionContext) -> str:
        return f"Dynamic in {context.session_id}."

    one = extension(
        name="one",
        description="The first.",
        instructions="THESE ARE ADDED.",
        tools=[add],
        skills=[skill_dir(write_skill(tmp_path / "s", "packing"))],
        hooks=[more],
        subagents=[subagent(name="helper", description="Helps.", instructions="Help.")],
        policies=[deny("glob", reason="no globs.")],
        mcp_servers={"files": {"command": "files-server"}},
        commands={"greet": "Say hello to {{args}}."},
        exclude_tools=["web_fetch"],
    )
    fake.expect(calls_all(("add", {"a": 1, "b": 2}, "1"), ("glob", {"pattern": "*"}, "2")), says("ok"))
    agent = make_agent(
        instructions="The agent's own.",
        extensions=[one, extension(name="two", instructions=dynamic)],
        builtin_tools=True,
    )
    session = agent.session()
    await session.send("hi")
    for text in ("The agent's own.", "THESE ARE ADDED.", f"Dynamic in {session.id}.", "packing", "Helps."):
        assert text in system(fake)
    assert {"add", "invoke_agent", "activate_skill"} <= set(declared(fake))
    assert not {"glob", "web_fetch"} & set(declared(fake))
    assert outputs(fake)[0]["output"] == "3"
    assert "no globs." in outputs(fake)[1]["error"]
    assert "from the hook" in json.dumps(fake.last["contents"])
    assert session.settings.get("mcpServers.files.command") == "files-server"
    assert await session.command("/greet the world") == "Say hello to the world."
    with pytest.raises(ExtensionError, match="Known: greet"):
        await session.command("/nothing")


async def test_an_installed_extension(fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path) -> None:
    folder = install(
        home,
        mcpServers={"files": {"command": "${extensionPath}${/}run", "cwd": "${workspacePath}", "trust": True}},
        excludeTools=["web_fetch", "run_shell_command(rm)"],
        settings=[{"name": "Key", "description": "A key.", "envVar": "BOX_KEY", "sensitive": False}],
    )
    (folder / ".env").write_text("BOX_KEY=sesame\nOTHER=x\n")
    (folder / "GEMINI.md").write_text("The box has @./more.md\n")
    (folder / "more.md").write_text("many tools.")
    write_skill(folder / "skills" / "packing", "packing", "Packs boxes.")
    (folder / "agents").mkdir()
    (folder / "agents" / "packer.md").write_text("---\nname: packer\ndescription: Packs.\n---\nPack.\n")
    (folder / "hooks").mkdir()
    said = json.dumps({"hookSpecificOutput": {"additionalContext": "from ${extensionPath}"}})
    entry = {"type": "command", "name": "told", "command": f"echo '{said}'"}
    (folder / "hooks" / "hooks.json").write_text(json.dumps({"hooks": {"BeforeAgent": [{"hooks": [entry]}]}}))
    (folder / "policies").mkdir()
    (folder / "policies" / "p.toml").write_text(
        "[[rule]]\ntoolName='glob'\ndecision='deny'\npriority=100\n"
        "[[rule]]\ntoolName='write_file'\ndecision='allow'\npriority=100\n"
    )
    (folder / "commands" / "box").mkdir(parents=True)
    (folder / "commands" / "box" / "list.toml").write_text(
        "description='Lists.'\nprompt='List @{a.txt} !{echo {{args}}}'"
    )
    (project / "a.txt").write_text("a file")
    fake.expect(calls("run_shell_command", {"command": "rm a.txt"}), says("ok"))
    session = make_agent(builtin_tools=True).session()
    events = await collect(session.send_stream("hi"))
    opening = json.dumps(fake.last["contents"], ensure_ascii=False)
    assert f"--- Context from: {folder / 'GEMINI.md'} ---" in opening
    assert "many tools." in opening
    assert f"from {folder}" in opening
    assert "Packs boxes." in system(fake)
    assert "Packs." in system(fake)
    assert not {"glob", "web_fetch"} & set(declared(fake))
    assert "the extension tool-box excludes it." in outputs(fake)[0]["error"]
    assert (project / "a.txt").exists()
    server = session.settings.get("mcpServers.files")
    assert server == {"command": f"{folder}/run", "cwd": str(project), "env": {"BOX_KEY": "sesame"}}
    assert await session.command("/box:list it's 'me'") == "List a file it's 'me'"
    assert any("cannot allow a tool" in event.message for event in events if isinstance(event, Notice))


async def test_the_persons_own_settings_win(fake: FakeGemini, make_agent: MakeAgent, home: Path) -> None:
    install(home, mcpServers={"files": {"command": "theirs"}, "web": {"command": "theirs"}})
    (home / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": {"files": {"command": "mine"}}}))
    fake.expect(says("ok"))
    session = make_agent().session()
    await session.send("hi")
    assert session.settings.get("mcpServers.files.command") == "mine"
    assert session.settings.get("mcpServers.web.command") == "theirs"


@pytest.mark.parametrize("how", ["settings", "enablement", "enabled", "elsewhere"])
async def test_extensions_can_be_switched_off(
    fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path, how: str
) -> None:
    folder = install(home)
    (folder / "GEMINI.md").write_text("I am here.")
    overrides = {"enablement": [f"!{project.parent}/*"], "enabled": ["!/*", f"{project}/*"], "elsewhere": ["!/other/*"]}
    if how == "settings":
        (home / ".gemini" / "settings.json").write_text(json.dumps({"extensions": {"disabled": ["tool-box"]}}))
    else:
        text = json.dumps({"tool-box": {"overrides": overrides[how]}})
        (folder.parent / "extension-enablement.json").write_text(text)
    fake.expect(says("ok"))
    await make_agent().send("hi")
    assert ("I am here." in json.dumps(fake.last["contents"])) == (how in ("enabled", "elsewhere"))


async def test_a_broken_extension_costs_that_one_and_is_told(
    fake: FakeGemini, make_agent: MakeAgent, home: Path
) -> None:
    (install(home, "good") / "GEMINI.md").write_text("Good.")
    (install(home, "nameless") / "gemini-extension.json").write_text("{}")
    (install(home, "garbage") / "gemini-extension.json").write_text("{")
    hooks = install(home, "hooks") / "hooks"
    hooks.mkdir()
    (hooks / "hooks.json").write_text("[]")
    commands = home / ".gemini" / "extensions" / "good" / "commands"
    commands.mkdir()
    (commands / "a.toml").write_text("prompt=")
    (commands / "b.toml").write_text("x=1")
    fake.expect(says("ok"))
    events = await collect(make_agent().session().send_stream("hi"))
    told = " ".join(event.message for event in events if isinstance(event, Notice))
    for complaint in (
        "it needs a name",
        "garbage",
        "hooks.json cannot be used",
        "a.toml is no command",
        "needs a prompt",
    ):
        assert complaint in told
    assert "Good." in json.dumps(fake.last["contents"])


async def test_a_commands_shell_obeys_the_policies(fake: FakeGemini, make_agent: MakeAgent, project: Path) -> None:
    one = extension(name="one", commands={"go": "!{touch made.txt}", "file": "@{missing}", "bad": "!{false}"})
    session = make_agent(extensions=[one], mode="default", asker=lambda *_: False).session()
    with pytest.raises(ExtensionError, match="may not run"):
        await session.command("/go")
    assert not (project / "made.txt").exists()
    with pytest.raises(ExtensionError, match="not there"):
        await session.command("/file")
    assert "exited with code 1" in await session.command("/bad")
    with pytest.raises(ExtensionError, match="needs a name"):
        extension(name=" ")
