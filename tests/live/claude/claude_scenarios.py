"""What the real Claude Code plays alike with a terminal and without: the worker that the tests of a file share."""

from __future__ import annotations

from tests.live.claude.shared_worker import SharedWorker
from tests.live.turn_scenarios import a_limit_parks_the_message_and_a_try_brings_it_once

from farhand.testing.models.anthropic import limited
from farhand.testing.models.script import say


async def a_limit_is_told_in_its_words_and_a_try_brings_the_message_once(ann: SharedWorker) -> None:
    """The model's API says how long the limit lasts, and so does she."""
    ann.cli_env.model.script.conversation("zz-limit", limited("limited until tomorrow"), say("here I am again"))
    async with ann.listening() as house:
        await a_limit_parks_the_message_and_a_try_brings_it_once(
            house, "zz-limit", "limited until tomorrow", "here I am again"
        )
