"""`opencode run`, one process a turn, in a real node: it remembers, cannot ask, and outlives the node."""

from __future__ import annotations

import pytest

from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say, use
from farhand.testing.opencode_env import OpenCodeEnv
from farhand.testing.phone import with_phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


async def test_a_worker_of_one_command_a_turn_remembers_and_outlives_the_node(
    cli_env: OpenCodeEnv, bot: FakeBot
) -> None:
    script = cli_env.model.script
    script.conversation("zz-first", say("the word is plover"))
    script.conversation("zz-ask", use("bash", command="touch no.txt", description="Leave a file"))
    script.conversation(
        "zz-away", ScriptedReply((ScriptedText("the first half "), Hold("away"), ScriptedText("and the second")))
    )
    script.conversation("zz-more", say("still here"))
    async with with_phone(cli_env, bot) as phone:
        await phone.manager.says("/team")
        await phone.reads("No team members")
        await phone.types("hire", "ann", "--node", "test", "--backend", "opencode", "--wire", "exec", "--ask")
        # Hired at the desk: what it says first does not buzz.
        await phone.reads("An aside")
        await phone.manager.says("zz-first")
        await phone.hears("the word is plover")
        await phone.manager.says("zz-ask")
        await phone.hears("cannot ask for it")
        await phone.manager.says("zz-away")
        await cli_env.model.asked("zz-away")
        await phone.kill()
        script.release("away")
        await phone.manager.says("zz-more")
        await phone.start()
        await phone.hears("and the second")
        await phone.hears("still here")
        assert [await phone.answers(text) for text in ("plover", "the second", "still here")] == [1, 1, 1]
    assert not (cli_env.project / "no.txt").exists()
    remembered = str((await cli_env.model.asked("zz-more")).body)
    assert all(text in remembered for text in ("the word is plover", "the first half and the second"))
