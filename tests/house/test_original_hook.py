"""A Stop hook of the original that is still in somebody's settings posts what the worker's own session has told."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import anyio.to_thread
import msgspec
import pytest
from tests.spec.team import MANAGER, Team, team_house

from farhand.channels.files.repeats import letters
from farhand.model.facts import Said, TurnEnded
from farhand.model.words import HowEnded
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
ANSWER = "It is **done** & dusted:\n\n```sh\nmake test\n```"
POSTED = 'It is <b>done</b> &amp; dusted:\n\n<pre><code class="language-sh">make test</code></pre>'


def forward(url: str, text: str) -> int:
    """As the original's forwarder does it."""
    body = msgspec.json.encode({"session": "ann", "text": text})
    request = urllib.request.Request(f"{url}/response", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return int(answer.status)


async def shown(team: Team, words: str) -> int:
    """How many messages of the bot have these words."""
    chat = await team.bot.messages(MANAGER)
    return sum(one.from_bot and not one.deleted and words in one.text for one in chat)


async def test_its_post_is_no_second_answer_and_no_other_is_lost(tmp_path: Path, bot: FakeBot) -> None:
    async with team_house(tmp_path, bot) as team:
        await team.manager.says("/team")
        await team.manager.reads("No team members yet")
        await team.hire()
        team.claude.plays(Said(text=ANSWER), TurnEnded(how=HowEnded.COMPLETED))
        await team.manager.says("go on")
        await team.manager.reads("dusted")
        # What follows is behind the end of the turn.
        await team.house.event(TurnEnded)
        assert await anyio.to_thread.run_sync(forward, team.url, POSTED) == 200
        assert await anyio.to_thread.run_sync(forward, team.url, "Something <b>else</b>") == 200
        await team.manager.reads("Something else")
        assert await shown(team, "dusted") == 1


@pytest.mark.parametrize(
    ("said", "posted"),
    [(ANSWER, POSTED), ("a_b `x<y`", "a_b <code>x&lt;y</code>"), ("Ä *ö*", "Ä <i>ö</i>")],
)
def test_markdown_and_its_html_have_the_same_letters(said: str, posted: str) -> None:
    assert letters(posted) in letters(said)
