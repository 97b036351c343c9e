"""Push: from the fact to the request at the push service, and what the rules of attention cost an event."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.rows import Row
from bench.timing import median, percentile
from farhand.attention.service import Attention
from farhand.channels.push.channel import build
from farhand.core.clock import SystemClock
from farhand.devices.views import DeviceViews
from farhand.model.attention_rules import AttentionState
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.facts import AskRaised, AskSettled, Event, Fact, Said, ToolStarted, TurnEnded
from farhand.model.present import Present, Worker
from farhand.model.words import Choice, HowEnded, HowSettled
from farhand.testing.house import House, open_house
from farhand.testing.push_service import FakePushService, push_service
from farhand.testing.scripted import ScriptedDriver

ASKS = 60
EVENTS = 20_000
MILLISECONDS, MICROSECONDS = 1e3, 1e6
CHOICES = (Choice(id="yes", label="Allow once"), Choice(id="no", label="Deny", allows=False))


async def measure() -> list[Row]:
    """Both, on this machine as it is."""
    return [*await requests(), *rules()]


async def requests() -> list[Row]:
    """From an ask in the journal to its request at the service: rules, outbox, encryption, HTTP."""
    with tempfile.TemporaryDirectory() as folder:
        clock = SystemClock()
        async with push_service(clock.now()) as service:

            def channels(context: ChannelContext) -> list[Channel]:
                return build(replace(context, variables={"FARHAND_PUSH_SERVICES": service.address}))

            agent = ScriptedDriver()
            async with open_house(Path(folder), agent, clock, channels) as house:
                await house.hire()
                await subscribed(house, service)
                times = [await one_ask(house, agent, service, number) for number in range(ASKS)]
    taken = sorted(times[5:])
    return [
        Row("fact written to push request, median", median(taken) * MILLISECONDS, "ms", limit=50.0),
        Row("fact written to push request, 95th percentile", percentile(taken, 0.95) * MILLISECONDS, "ms", limit=50.0),
    ]


async def subscribed(house: House, service: FakePushService) -> None:
    """A device that can be reached."""
    from farhand.model.push import PushKeys, PushSubscription, ServesPush

    devices = house.node.devices
    assert devices is not None
    device, _ = await devices.pair(devices.invite().code, "phone")
    told = service.browser().subscription()
    channel = next(one for one in house.node.channels if isinstance(one, ServesPush))
    keys = PushKeys(**told["keys"])
    await channel.subscribe(
        PushSubscription(device=device.id, endpoint=told["endpoint"], keys=keys, origin=told["origin"])
    )


async def one_ask(house: House, agent: ScriptedDriver, service: FakePushService, number: int) -> float:
    """Seconds from the ask in the journal to its request; it is denied afterwards."""
    written: list[float] = []

    def hear(events: Sequence[Event]) -> None:
        if any(isinstance(event.fact, AskRaised) for event in events):
            written.append(time.perf_counter())

    house.hub.listen(hear)
    before = len(service.requests)
    agent.plays(AskRaised(ask=f"a{number}", question="Run: make deploy", choices=CHOICES, digest="d"))
    await house.say("go", via="pipe")
    await service.receives(before + 1)
    await house.answer(f"a{number}", "no")
    # What says that it is settled comes, too.
    await service.receives(before + 2)
    await house.interrupt()
    await house.until(lambda present: present.workers["ann"].turn is None)
    return service.requests[before].arrived - written[0]


class _NoStore:
    async def load(self) -> AttentionState | None:
        return None

    async def keep(self, _state: AttentionState) -> None:
        return None


@dataclass
class _Hub:
    present: Present

    def listen(self, _listener: object) -> None:
        """Nobody calls."""


def rules() -> list[Row]:
    """The rules alone, event by event, as the hub calls them; with a phone and a full memory."""
    clock = SystemClock()
    workers = {f"w{n}": Worker(name=f"w{n}", since=n, backend="demo", directory="/") for n in range(10)}
    hub = _Hub(Present(workers=workers))
    attention = Attention(hub, _NoStore(), DeviceViews(clock), clock)
    attention.join([_Phone()])
    events = [story(number) for number in range(EVENTS)]
    took: list[float] = []
    for event in events:
        began = time.perf_counter()
        attention.hear((event,))
        took.append(time.perf_counter() - began)
    mixed = sum(took) / len(took) * MICROSECONDS
    matters = [one for one, event in zip(took, events, strict=True) if isinstance(event.fact, AskRaised | TurnEnded)]
    return [
        Row("attention rules an event, mean over a mixed stream", mixed, "µs", limit=100.0),
        Row(
            "attention rules an event that a person is told of, median",
            median(matters) * MICROSECONDS,
            "µs",
            limit=100.0,
        ),
    ]


class _Phone:
    """Something that can buzz."""

    name = "push"
    can_buzz = True

    async def run(self) -> None:
        """Nothing."""

    async def buzz(self, _buzz: object) -> None:
        """Nothing."""

    async def settled(self, _ask: object, _fact: object) -> None:
        """Nothing."""


def story(number: int) -> Event:
    """Mostly talk; every tenth event ends a turn, every fiftieth asks, the one after it is the answer."""
    worker = f"w{number % 10}"
    fact: Fact = Said(text="a piece of an answer ")
    if number % 50 == 0:
        fact = AskRaised(ask=f"a{number}", question="Run: make deploy", choices=CHOICES)
    elif number % 50 == 1:
        fact = AskSettled(ask=f"a{number - 1}", how=HowSettled.ANSWERED, choice="yes")
    elif number % 10 == 0:
        fact = TurnEnded(how=HowEnded.COMPLETED)
    elif number % 10 == 5:
        fact = ToolStarted(call="c", tool="Bash", title="make")
    return Event(seq=number + 1, at=time.time(), worker=worker, turn=f"t{number}", fact=fact)
