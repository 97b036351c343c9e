"""HTTP hooks of the real Claude Code that a person wrote, posting to the node: told once, and strangers to nobody."""

from __future__ import annotations

import json
from subprocess import DEVNULL

import anyio
import pytest

from farhand.model.commands import Hire
from farhand.model.facts import AskRaised, CameOnline, Said, ToolEnded, ToolStarted, TurnEnded, TurnStarted, Used
from farhand.model.words import HowEnded, Mode
from farhand.testing.claude_env import ClaudeEnv
from farhand.testing.models.script import say, use
from farhand.testing.post_hooks import endpoint

pytestmark = pytest.mark.anyio
EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop", "SessionEnd")


async def test_what_a_persons_http_hooks_post_is_told_once_and_a_stranger_is_heard_by_nobody(
    cli_env: ClaudeEnv,
) -> None:
    touch = use("Bash", command="touch one.txt", description="Make it")
    cli_env.model.script.conversation("zz-one", touch, say("made one"))
    other = use("Bash", command="touch two.txt", description="Make it")
    cli_env.model.script.conversation("zz-stranger", other, say("left two"))
    async with cli_env.open() as house:
        hooks = {
            event: [{"hooks": [{"type": "http", "url": endpoint(house.node.port, "claude", event), "timeout": 30}]}]
            for event in EVENTS
        }
        settings = cli_env.home / ".claude" / "settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"hooks": hooks}))
        await house.send(
            Hire(id=house.id(), worker="ann", backend="claude", directory=str(cli_env.project), mode=Mode.DEFAULT)
        )
        await house.fact(CameOnline)
        await house.say("zz-one")
        ask = await house.fact(AskRaised)
        await house.answer(ask.ask, ask.choices[0].id)
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert (cli_env.project / "one.txt").exists()
        history = await house.history()
        for kind in (TurnStarted, AskRaised, ToolStarted, ToolEnded, TurnEnded):
            assert sum(isinstance(event.fact, kind) for event in history) == 1, kind
        assert "".join(event.fact.text for event in history if isinstance(event.fact, Said)) == "made one"
        # Another one in the same folder, started by a person: nobody is asked, and it may not.
        before = house.hub.present.seq
        words = [str(cli_env.environment["PATH"]).split(":")[0] + "/claude", "-p", "zz-stranger"]
        with anyio.fail_after(240):
            stranger = await anyio.run_process(words, cwd=cli_env.project, env=cli_env.environment, stdin=DEVNULL)
        assert b"left two" in stranger.stdout
        assert not (cli_env.project / "two.txt").exists()
        late = [event.fact for event in await house.history() if event.seq > before]
        # What the worker's own turn has cost may come behind its end.
        assert [fact for fact in late if not isinstance(fact, Used)] == []
