"""A house with a push service beside it, devices that subscribed there, and a chat that can be nudged."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import httpx2

from farhand.attention.service import Attention
from farhand.channels.push.channel import PushChannel, build
from farhand.model.attention_rules import AskBundle, Buzz
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.facts import AskRaised, Fact, TurnEnded
from farhand.model.stream import Looking
from farhand.model.words import Choice, HowEnded
from farhand.testing.clock import ManualClock
from farhand.testing.house import SAFETY_SECONDS, House, open_house
from farhand.testing.http import local_client
from farhand.testing.push_service import Browser, FakePushService, PushRequest, push_service
from farhand.testing.scripted import ScriptedDriver

# Others wrote it, without types.
http_ece: Any = import_module("http_ece")
ALLOW = Choice(id="yes", label="Allow once")
ALWAYS = Choice(id="always", label="Always", scope="every make deploy, by ann")
DENY = Choice(id="no", label="Deny", allows=False, words=True)
DONE = TurnEnded(how=HowEnded.COMPLETED)


def asks(ask: str = "a1", question: str = "Run: make deploy", **fields: Any) -> AskRaised:
    """A question about a command."""
    usual = {"choices": (ALWAYS, ALLOW, DENY), "digest": "d1", "detail": "make deploy", "risks": ("uses the network",)}
    given: dict[str, Any] = {"where": "/srv/app", **usual, **fields}
    return AskRaised(ask=ask, question=question, **given)


@dataclass
class Phone:
    """A paired device and its browser."""

    id: str
    client: httpx2.AsyncClient
    browser: Browser

    def reads(self, request: PushRequest) -> dict[str, Any]:
        """The message as the browser decrypts it, by an implementation of others."""
        assert request.browser == self.browser.name
        text = http_ece.decrypt(
            request.body, private_key=self.browser.private, auth_secret=self.browser.auth, version="aes128gcm"
        )
        assert len(text) <= 3000
        message: dict[str, Any] = json.loads(text)
        assert message["web_push"] == 8030
        return message

    async def post(self, path: str, body: Any = None) -> httpx2.Response:
        return await self.client.post(path, json=body if body is not None else {})


class ToyChat:
    """A chat that notes what it is asked to say."""

    name = "toychat"

    def __init__(self) -> None:
        self.manager_chat = "1"
        self.nudged: list[Buzz] = []
        self.withdrawn: list[tuple[str, tuple[int, ...]]] = []
        self.left: list[AskBundle] = []
        self._said = anyio.Event()

    async def says(self, count: int) -> list[Buzz]:
        """What it was asked to say, once that is so much."""
        with anyio.fail_after(SAFETY_SECONDS):
            while len(self.nudged) < count:
                await self._said.wait()
        return self.nudged

    async def run(self) -> None:
        await anyio.sleep_forever()

    async def notify(self, text: str) -> None:
        raise AssertionError(text)

    async def nudge(self, buzz: Buzz) -> None:
        self.nudged.append(buzz)
        said, self._said = self._said, anyio.Event()
        said.set()

    async def withdraw_nudges(self, ask: str, steps: Sequence[int]) -> None:
        self.withdrawn.append((ask, tuple(steps)))

    async def bundle_left(self, bundle: AskBundle) -> None:
        self.left.append(bundle)


@dataclass
class PushHouse:
    """The house, the service, and what its people have."""

    house: House
    service: FakePushService
    clock: ManualClock
    agent: ScriptedDriver
    chat: ToyChat
    stack: AsyncExitStack
    phones: list[Phone] = field(default_factory=list)

    @property
    def attention(self) -> Attention:
        assert self.house.node.attention is not None
        return self.house.node.attention

    @property
    def channel(self) -> PushChannel:
        return next(one for one in self.house.node.channels if isinstance(one, PushChannel))

    async def pair(self, name: str = "phone", *, read_only: bool = False) -> Phone:
        """A device that is paired, and reachable."""
        devices = self.house.node.devices
        assert devices is not None
        device, key = await devices.pair(devices.invite(read_only=read_only).code, name)
        client = local_client(
            base_url=f"http://127.0.0.1:{self.house.node.port}",
            headers={"Authorization": f"Bearer {key}"},
            timeout=SAFETY_SECONDS,
            trust_env=False,
        )
        await self.stack.enter_async_context(client)
        phone = Phone(device.id, client, self.service.browser(name))
        answer = await phone.post("/api/push", phone.browser.subscription())
        assert answer.status_code == 200, answer.text
        self.phones.append(phone)
        return phone

    async def plays(self, *facts: Fact, worker: str = "ann") -> None:
        """The worker does this at a message."""
        self.agent.plays(*facts)
        await self.house.say("go", worker, via="pipe")

    async def ask(self, raised: AskRaised | None = None, worker: str = "ann") -> AskRaised:
        """A question that waits."""
        fact = raised or asks()
        await self.plays(fact, worker=worker)
        await self.house.fact(AskRaised, lambda event: isinstance(event.fact, AskRaised) and event.fact.ask == fact.ask)
        return fact

    def look(self, phone: Phone, worker: str) -> Callable[[Looking | None], None]:
        """What that device has on its screen, until the house closes; what is called when that changes."""
        connected = self.stack.enter_context(self.house.node.views.connected(phone.id))
        connected(Looking(worker=worker, visible=True))
        return connected


@asynccontextmanager
async def push_house(
    folder: Path,
    *,
    chat: bool = False,
    beside: Callable[[ChannelContext], Sequence[Channel]] = lambda _: (),
    service: FakePushService | None = None,
    clock: ManualClock | None = None,
    variables: dict[str, str] | None = None,
) -> AsyncIterator[PushHouse]:
    """A house with ann in it, and channels beside push; opened again in the same folder with the same service, it is
    the same node."""
    clock, toy = clock or ManualClock(), ToyChat()
    async with AsyncExitStack() as stack:
        opened = None if service else await stack.enter_async_context(push_service(clock.now()))
        running = service or opened
        assert running is not None
        address = running.address

        def channels(context: ChannelContext) -> list[Channel]:
            own = {"FARHAND_PUSH_SERVICES": address, **(variables or {})}
            return [*build(replace(context, variables=own)), *([toy] if chat else []), *beside(context)]

        agent = ScriptedDriver()
        house = await stack.enter_async_context(open_house(folder, agent, clock, channels))
        if "ann" not in house.hub.present.workers:
            await house.hire()
        yield PushHouse(house, running, clock, agent, toy, stack)
