"""What an agent in a sandbox leaves in the folders that it shares with the node: it can neither stop the node with
that, nor lead it elsewhere, nor speak for another worker."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest
from tests.live.sandbox.conftest import Engine, node_of

from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.script import say, use
from farhand.testing.phone import SECONDS, Phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
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


async def test_what_it_leaves_stops_nobody_and_speaks_for_itself_alone(cli_env: ClaudeEnv, phone: Phone) -> None:
    outside, node = cli_env.folder / "outside", node_of(cli_env)
    outside.mkdir()
    await phone.manager.says("/hire bob --backend demo --no-sandbox")
    await phone.reads("Bob is added")
    script = LEAVES.format(outside=outside, temporary=cli_env.folder / "temporary" / "test")
    (cli_env.project / "leaves.sh").write_text(script)
    order = use("Bash", command="sh leaves.sh", description="Look around")
    cli_env.model.script.conversation("zz-leaves", order, say("left it there"))
    cli_env.model.script.conversation("zz-second", say("still here"))
    await phone.manager.says("/focus ann")
    await phone.manager.says("zz-leaves")
    await phone.manager.taps(await phone.asks("sh leaves.sh"), "Allow once")
    await phone.hears("left it there")
    await phone.manager.says("zz-second")
    await phone.hears("still here")
    await phone.reads("of my own")
    assert not (node / "sessions" / "bob" / "answers").exists()
    assert (cli_env.project / "refused.txt").read_text()
    with anyio.fail_after(SECONDS):
        while any("Stop.json" in one.name for one in node.glob("claude/ann-*/spool/*")):  # noqa: ASYNC110
            await anyio.sleep(0.05)
