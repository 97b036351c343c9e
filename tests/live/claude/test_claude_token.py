"""The bot's token, looked for wherever anybody but the node could see it, while the real Claude Code works: nowhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest
from tests.spec.promises import promise

from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.script import say, use
from farhand.testing.phone import MANAGER, SECONDS, Phone, with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
LOOK = "env > tool.env; ps axwwe > ps.txt; tmux show-environment > tmux.txt; tmux show-environment -g >> tmux.txt"


@pytest.fixture
async def phone(cli_env: ClaudeEnv, bot: FakeBot) -> AsyncIterator[Phone]:
    """A phone with a worker that asks nobody, in a home with a hook that writes down what it sees."""
    settings = cli_env.folder / "home" / ".claude" / "settings.json"
    settings.parent.mkdir()
    hook = {"type": "command", "command": f"env > {cli_env.folder}/hook.env; cat > {cli_env.folder}/hook.in"}
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}], "PreToolUse": [{"hooks": [hook]}]}}))
    cli_env.model.script.conversation("You are ann", say("Ann is ready."))
    async with with_phone(cli_env, bot) as opened:
        await opened.manager.says("/hire ann --mode yolo")
        await opened.manager.reads("Ann is ready.", seconds=SECONDS)
        yield opened


def processes(folder: Path) -> Iterator[tuple[str, bytes]]:
    """What the system shows of every process of the test: its words and its environment."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            environment = (entry / "environ").read_bytes()
            if str(folder).encode() in environment or int(entry.name) == os.getpid():
                yield entry.name, (entry / "cmdline").read_bytes() + environment
        except OSError:
            continue


def content(path: Path) -> bytes:
    """What is in it; nothing, if it was put in another one's place meanwhile."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


@promise("security.1")
async def test_the_token_is_nowhere(cli_env: ClaudeEnv, phone: Phone) -> None:
    token = phone.bot.token
    secret = token.split(":")[1].encode()
    cli_env.model.script.conversation("zz-look", use("Bash", command=LOOK, description="Look"), say("looked around"))
    cli_env.model.script.conversation("zz-error", say("said in spite of errors"))
    await phone.manager.says("zz-look")
    await phone.manager.reads("looked around", seconds=SECONDS)
    # What goes wrong is told and logged: with the address, of which the token is a part, if nobody took it out.
    await phone.bot.fault("sendMessage", "status", code=502)
    await phone.bot.fault("sendMessage", "cut")
    await phone.bot.fault("sendMessage", "status", code=400)
    await phone.bot.fault("setMessageReaction", "status", code=401)
    await phone.manager.says("zz-error")
    await phone.manager.reads("said in spite of errors", seconds=SECONDS)
    await phone.manager.says("/settings")
    await phone.manager.reads("Bot token:", seconds=SECONDS)

    seen = dict(processes(cli_env.folder))
    assert len(seen) > 3
    assert not [pid for pid, shown in seen.items() if secret in shown]
    for name in ("project/tool.env", "project/ps.txt", "project/tmux.txt", "hook.env", "hook.in", "node.log"):
        assert (cli_env.folder / name).stat().st_size, name
    written = [path for path in cli_env.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    log = cli_env.folder / "farhand/nodes/test/bridge.log"
    assert log in written
    assert log.stat().st_mode & 0o777 == 0o600
    assert not [path for path in written if secret in content(path)]
    chat = await phone.bot.messages(MANAGER)
    assert not [one for one in chat if one.from_bot and secret.decode() in one.text]
    # The search itself can find something.
    assert phone.bot.username.encode() in b"".join(content(path) for path in written)
    await nothing_the_node_says_at_the_desk_has_it(cli_env, phone)


async def nothing_the_node_says_at_the_desk_has_it(cli_env: ClaudeEnv, phone: Phone) -> None:
    """Neither of its state nor of its journal."""
    secret = phone.bot.token.split(":")[1].encode()
    environment = {**cli_env.environment, "FARHAND_HOME": str(cli_env.folder / "farhand"), "NODE_NAME": "test"}
    for words in (["status", "--json"], ["status"], ["events"]):
        done = await anyio.run_process([sys.executable, "-m", "farhand", *words], env=environment, check=False)
        assert secret not in done.stdout + done.stderr
