"""The real Gemini CLI at its limit: told as one, with its end where the API says it, and gone on from by itself."""

from __future__ import annotations

import time

import pytest

from farhand.model.commands import Retry
from farhand.model.facts import Limited, LimitLifted, Said, TurnEnded
from farhand.model.words import HowEnded, Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.models.gemini import exhausted, says

pytestmark = pytest.mark.anyio
# With a limit of 0 the CLI does not try again by itself, whatever the API says about when to.
SOON = "Quota exceeded for metric: free_tier_requests, limit: 0, model: gemini-2.5-flash\nPlease retry in 1.25s."


@pytest.mark.parametrize("wire", ["headless", "exec", "tmux"])
async def test_a_limit_parks_the_queue_which_goes_on_by_itself_or_when_somebody_wants_and_a_short_one_parks_nothing(
    cli_env: GeminiEnv, wire: str
) -> None:
    cli_env.model.expect(exhausted(SOON), says("first, after all"), prompt="zz-one")
    cli_env.model.expect(exhausted(daily=True), says("second, after all"), prompt="zz-two")
    cli_env.model.expect(exhausted("Quota exceeded for a minute.", seconds=2), says("waited"), prompt="zz-three")
    async with cli_env.open() as house:
        await house.hire(backend="gemini", directory=cli_env.project, mode=Mode.DEFAULT, wire=wire)
        said = time.time()
        await house.say("zz-one")
        limited = await house.event(Limited)
        assert isinstance(limited.fact, Limited)
        assert limited.fact.until is not None
        assert said + 1.25 <= limited.fact.until <= limited.at + 1.5
        parked = await house.event(TurnEnded)
        assert isinstance(parked.fact, TurnEnded)
        assert parked.fact.how is HowEnded.PARKED
        assert "free_tier_requests" in parked.fact.error
        lifted = await house.event(LimitLifted, after=parked.seq)
        ended = await house.event(TurnEnded, after=lifted.seq)
        assert isinstance(ended.fact, TurnEnded)
        assert ended.fact.how is HowEnded.COMPLETED
        await house.say("zz-two")
        daily = await house.fact(Limited, after=ended.seq)
        assert "daily quota" in daily.text
        assert daily.until is None
        parked = await house.event(TurnEnded, after=ended.seq)
        assert house.worker().state_at(0.0) == "limited"
        await house.send(Retry(id="now", worker="ann"))
        assert (await house.fact(TurnEnded, after=parked.seq)).how is HowEnded.COMPLETED
        assert house.worker().queue == ()
        told = [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]
        assert told == ["first, after all", "second, after all"]
        if wire == "exec":
            return
        # A short one the CLI waits for by itself.
        house.begin_anew()
        await house.say("zz-three")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert not any(isinstance(event.fact, Limited) for event in await house.history())
