"""Programs that a person lets the real Codex run, posting to the node: told once, and strangers to nobody."""

from __future__ import annotations

import json
from subprocess import DEVNULL

import anyio
import pytest

from farhand.model.commands import Hire
from farhand.model.facts import CameOnline, Said, ToolEnded, ToolStarted, TurnEnded, TurnStarted, Used
from farhand.model.words import HowEnded, Mode
from farhand.testing.codex_env import CodexEnv
from farhand.testing.models.script import say, use
from farhand.testing.post_hooks import answered, posts
from farhand.testing.sdk_env import until

pytestmark = pytest.mark.anyio
EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")


async def test_what_a_persons_programs_post_changes_nothing_and_a_stranger_is_heard_by_nobody(
    cli_env: CodexEnv,
) -> None:
    cli_env.model.script.conversation("zz-one", use("exec_command", cmd="touch one.txt"), say("made one"))
    cli_env.model.script.conversation("zz-stranger", use("exec_command", cmd="touch two.txt"), say("made two"))
    answers, settings = cli_env.folder / "answers", cli_env.settings.read_text()
    options, directory = {"wire": "tmux"}, str(cli_env.project)
    async with cli_env.open() as house:
        # At the end of a turn Codex runs a program with what happened as its last word.
        told = f'printf "%s" "$0" | ({posts(house.node.port, "codex", "AgentTurnComplete", answers)})'
        cli_env.settings.write_text(f"notify = {json.dumps(['sh', '-c', told])}\n{settings}")
        await house.send(
            Hire(id=house.id(), worker="ann", backend="codex", directory=directory, mode=Mode.YOLO, options=options)
        )
        await house.fact(CameOnline)
        await house.say("zz-one")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        await until(lambda: bool(answered(answers)))
        history = await house.history()
        for kind in (TurnStarted, ToolStarted, ToolEnded, TurnEnded):
            assert sum(isinstance(event.fact, kind) for event in history) == 1, kind
        assert "".join(event.fact.text for event in history if isinstance(event.fact, Said)) == "made one"
        # Another one in the same folder, started by a person who trusts the project's hooks.
        hooks = {
            event: [{"hooks": [{"type": "command", "command": posts(house.node.port, "codex", event, answers)}]}]
            for event in EVENTS
        }
        (cli_env.project / ".codex").mkdir()
        (cli_env.project / ".codex" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
        before, posted = house.hub.present.seq, len(answered(answers))
        words = [str(cli_env.environment["PATH"]).split(":")[0] + "/codex", "exec", "--yolo", "--skip-git-repo-check"]
        words += ["-c", f'projects={{"{directory}"={{trust_level="trusted"}}}}', "--dangerously-bypass-hook-trust"]
        with anyio.fail_after(240):
            await anyio.run_process([*words, "zz-stranger"], cwd=directory, env=cli_env.environment, stdin=DEVNULL)
        assert (cli_env.project / "two.txt").exists()
        assert {event for event, _ in answered(answers)[posted:]} >= {"PreToolUse", "Stop"}
        assert {answer for _, answer in answered(answers)} == {"{}"}
        late = [event.fact for event in await house.history() if event.seq > before]
        assert [fact for fact in late if not isinstance(fact, Used)] == []
