"""The whole way with Claude Code in a sandbox: asked from the phone, killed node, files, and nothing left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.live import phone_scenarios
from tests.live.phone_scenarios import ScriptedPhoneModel
from tests.live.sandbox.conftest import Engine, node_of

from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.script import say, use
from farhand.testing.phone import SECONDS, Phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
# Each line leaves what it saw in the project, which is on both sides.
PROBE = """#!/bin/sh
readlink /proc/self/ns/pid > namespace.txt
env > variables.txt
cat {node}/key > key.txt 2> /dev/null
cat {node}/farhand.db > store.txt 2> /dev/null
ls {node}/hub.sock {node}/http.sock {node}/hooks.sock > sockets.txt 2> /dev/null
ls /workspace > home.txt
touch {outside}/written 2> refused.txt
touch /usr/written 2>> refused.txt
true
"""

# A pipe is named as the report of any process of the agent would be; whoever opens it waits for ever.
LEAVES = """#!/bin/sh
mkdir -p $SESSIONS_DIR/bob/answers && echo '{{"text": "forged"}}' > $SESSIONS_DIR/bob/answers/1.json
mkdir $SESSIONS_DIR/ann/answers && echo '{{"text": "of my own"}}' > $SESSIONS_DIR/ann/answers/2.json
ln -s {outside} $SESSIONS_DIR/ann/linked
touch {temporary}/ann/inbox 2> refused.txt || rm -rf {temporary}/ann 2>> refused.txt
echo '/add-dir /' > {temporary}/bob/in.pipe
mkfifo "$FARHAND_SPOOL/1.2.Stop.json"
for name in $(seq 2 40); do mkfifo "$FARHAND_SPOOL/1.$name.Stop.json"; done
true
"""


@pytest.fixture
async def phone(cli_env: ClaudeEnv, bot: FakeBot, engine: Engine) -> AsyncIterator[Phone]:
    """A phone with a worker in tmux, in a sandbox."""
    async with engine.phone(cli_env, bot, "/hire ann --ask") as opened:
        yield opened


@pytest.fixture
def model(cli_env: ClaudeEnv) -> ScriptedPhoneModel:
    """What the scenarios need of the fake model."""
    return ScriptedPhoneModel(
        cli_env.model, cli_env.project, lambda name: use("Bash", command=f"touch {name}", description="Create it")
    )


async def test_a_life_in_a_sandbox(cli_env: ClaudeEnv, phone: Phone, model: ScriptedPhoneModel, engine: Engine) -> None:
    await it_sees_its_mounts_alone_and_writes_nowhere_else(cli_env, phone)
    await phone_scenarios.an_ask_is_allowed_and_another_denied(phone, model)
    await phone_scenarios.an_ask_outlives_a_killed_node(phone, model)
    await phone_scenarios.a_node_killed_in_mid_turn_brings_the_answer_once(phone, model)
    await what_it_leaves_stops_nobody_and_speaks_for_itself_alone(cli_env, phone)
    await its_container_goes_with_a_relaunch_and_with_its_end(cli_env, phone, model, engine)


async def it_sees_its_mounts_alone_and_writes_nowhere_else(cli_env: ClaudeEnv, phone: Phone) -> None:
    project, node, outside = cli_env.project, node_of(cli_env), cli_env.folder / "outside"
    outside.mkdir()
    (cli_env.home / "of-the-home").touch()
    (project / "probe.sh").write_text(PROBE.format(node=node, outside=outside))
    report = project / "report.md"
    report.write_text("# All is well\n")
    probe = use("Bash", command="sh probe.sh", description="Look around")
    cli_env.model.script.conversation("zz-probe", probe, say(f"looked around [[file:{report}|the report]]"))
    await phone.manager.says("zz-probe")
    await phone.manager.taps(await phone.asks("sh probe.sh"), "Allow once")
    await phone.hears("looked around")
    await phone.manager.sees(lambda chat: any(one.document == "report.md" for one in chat), seconds=SECONDS)

    assert (project / "namespace.txt").read_text().strip() != str(Path("/proc/self/ns/pid").readlink())
    assert [(project / name).read_bytes() for name in ("key.txt", "store.txt", "sockets.txt")] == [b"", b"", b""]
    assert "of-the-home" in (project / "home.txt").read_text()
    assert not (outside / "written").exists()
    assert (project / "refused.txt").read_text().count("touch:") == 2
    variables = dict(line.split("=", 1) for line in (project / "variables.txt").read_text().splitlines() if "=" in line)
    assert variables["BRIDGE_SESSION"] == "ann"
    assert variables["TMUX_FALLBACK"] == "1"
    assert variables["SESSIONS_DIR"] == str(node / "sessions")
    assert phone.bot.token not in "".join(variables.values())


async def what_it_leaves_stops_nobody_and_speaks_for_itself_alone(cli_env: ClaudeEnv, phone: Phone) -> None:
    """In the folders that it shares with the node, which it can neither stop with that nor lead elsewhere."""
    outside, node = cli_env.folder / "outside", node_of(cli_env)
    await phone.manager.says("/hire bob --backend demo --no-sandbox")
    await phone.reads("Bob is added")
    script = LEAVES.format(outside=outside, temporary=cli_env.folder / "temporary" / "test")
    (cli_env.project / "leaves.sh").write_text(script)
    order = use("Bash", command="sh leaves.sh", description="Look around")
    cli_env.model.script.conversation("zz-leaves", order, say("left it there"))
    cli_env.model.script.conversation("zz-listens", say("it listens"))
    await phone.manager.says("/focus ann")
    await phone.manager.says("zz-leaves")
    await phone.manager.taps(await phone.asks("sh leaves.sh"), "Allow once")
    await phone.hears("left it there")
    await phone.manager.says("zz-listens")
    await phone.hears("it listens")
    await phone.reads("of my own")
    assert not (node / "sessions" / "bob" / "answers").exists()
    assert (cli_env.project / "refused.txt").read_text()
    with anyio.fail_after(SECONDS):
        while any("Stop.json" in one.name for one in node.glob("claude/ann-*/spool/*")):  # noqa: ASYNC110
            await anyio.sleep(0.05)


async def its_container_goes_with_a_relaunch_and_with_its_end(
    cli_env: ClaudeEnv, phone: Phone, model: ScriptedPhoneModel, engine: Engine
) -> None:
    model.says("zz-first", "one life")
    model.says("zz-second", "another life")
    await phone.manager.says("zz-first")
    await phone.hears("one life")
    before = await engine.containers(cli_env)
    await phone.manager.says("/relaunch")
    await phone.manager.says("zz-second")
    await phone.hears("another life")
    after = await engine.containers(cli_env)
    count = 0 if engine.kind == "bwrap" else 1
    assert (len(before), len(after)) == (count, count)
    assert not set(before) & set(after)
    await phone.manager.says("/end ann")
    await phone.reads("Ann removed from your team.")
    with anyio.fail_after(SECONDS):
        while await engine.containers(cli_env) or cli_env.agents():  # noqa: ASYNC110
            await anyio.sleep(0.05)
