"""A manager talks to the real Claude Code."""

from __future__ import annotations

import json

import pytest

from farhand.model.commands import Hire
from farhand.model.facts import CameOnline, Said, Seen, TurnEnded
from farhand.model.words import HowEnded
from farhand.testing.house import House
from farhand.testing.models.script import say
from farhand.testing.studio import Studio

pytestmark = pytest.mark.anyio


async def hired(house: House, studio: Studio, name: str = "ann") -> None:
    """A worker who can be spoken to."""
    await house.send(Hire(id=house.id(), worker=name, backend="claude", directory=str(studio.project)))
    await house.fact(CameOnline, lambda event: event.worker == name)


async def test_a_message_is_answered_in_a_fresh_home(studio: Studio) -> None:
    studio.model.script.conversation("zz-hello", say("hello manager"))
    async with studio.open() as house:
        await hired(house, studio)
        accepted = await house.say("zz-hello")
        ended = await house.event(TurnEnded)
        assert ended.turn == accepted.message
        assert ended.fact.how is HowEnded.COMPLETED  # type: ignore[union-attr]
        assert (await house.fact(Said)).text == "hello manager"
        assert (await house.fact(Seen)).message == accepted.message


async def test_an_untrusted_folder_of_an_older_account_is_trusted_by_keys(studio: Studio) -> None:
    account = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": [], "rejected": []}}
    (studio.folder / "home/.claude.json").write_text(json.dumps(account))
    studio.model.script.conversation("zz-hello", say("hello manager"))
    async with studio.open() as house:
        await hired(house, studio)
        await house.say("zz-hello")
        assert (await house.fact(Said)).text == "hello manager"
        await house.event(TurnEnded)
