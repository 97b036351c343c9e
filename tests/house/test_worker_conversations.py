"""The remote control of each worker of a node, below `/workers/<name>`: for whoever has a key, and for nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest

from farhand.devices.registry import Devices
from farhand.model.facts import AskRaised, Ended, TurnEnded
from farhand.model.words import Choice
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
CHOICES = (Choice(id="allow", label="Allow once"), Choice(id="deny", label="Deny", allows=False, words=True))


def key_of(house: House) -> str:
    return house.node.settings.key.read_text().strip()


@asynccontextmanager
async def outside(house: House, key: str = "") -> AsyncIterator[httpx2.AsyncClient]:
    """A program elsewhere on this machine."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    address = f"http://127.0.0.1:{house.node.port}/workers"
    async with local_client(base_url=address, headers=headers, timeout=SAFETY_SECONDS) as client:
        yield client


async def test_a_worker_is_driven_as_a_terminal_is(house: House) -> None:
    await house.hire("ann")
    async with outside(house, key_of(house)) as client:
        said = await client.post("/ann/message", json={"content": "hello", "type": "user"})
        assert said.status_code == 200, said.text
        await house.event(TurnEnded)
        assert (await client.get("/ann/history")).json() == [
            {"role": "user", "text": "hello"},
            {"role": "model", "text": "answer to hello"},
        ]
        status = (await client.get("/ann/status")).json()
        assert (status["status"], status["agent_type"]) == ("stable", "scripted")
        assert [one["role"] for one in (await client.get("/ann/messages")).json()["messages"]] == ["user", "agent"]
        assert (await client.get("/ann/openapi.json")).json()["servers"] == [{"url": "/workers/ann"}]
        assert (await client.get("/ann/docs")).status_code == 200
        # It has no terminal of its own to type into.
        assert (await client.post("/ann/message", json={"content": "x", "type": "raw"})).status_code == 409


async def test_what_happened_elsewhere_is_in_it(house: House) -> None:
    await house.hire("ann")
    await house.say("before")
    first = await house.event(TurnEnded)
    async with outside(house, key_of(house)) as client:
        async with client.stream("GET", "/ann/events") as response:
            lines = response.aiter_lines()
            await anext(lines)
            await house.say("from the phone", via="telegram")
            await house.event(TurnEnded, after=first.seq)
            seen = ""
            with anyio.fail_after(SAFETY_SECONDS):
                async for line in lines:
                    seen += line
                    if "answer to from the phone" in line:
                        break
        assert "answer to before" in seen
        assert [one["text"] for one in (await client.get("/ann/history")).json()] == [
            "before",
            "answer to before",
            "from the phone",
            "answer to from the phone",
        ]


async def test_nobody_gets_in_without_a_key_and_nobody_is_made_up(house: House) -> None:
    await house.hire("ann")
    async with outside(house) as stranger:
        for path in ("/ann/history", "/ann/events", "/ann/openapi.json", "/ann/docs", "/nobody/status"):
            refused = await stranger.get(path)
            assert refused.status_code == 403, path
            assert refused.headers["content-type"] == "application/problem+json"
        assert (await stranger.post("/ann/message", json={"message": "x"})).status_code == 403
        assert (await stranger.post("/ann/upload", content=b"x")).status_code == 403
    async with outside(house, key_of(house)) as client:
        assert (await client.get("/nobody/status")).status_code == 404
    assert house.worker().turn is None


async def test_a_device_that_may_only_look_says_nothing(house: House) -> None:
    await house.hire("ann")
    devices = house.node.devices
    assert isinstance(devices, Devices)
    _, key = await devices.pair(devices.invite(read_only=True).code, "a screen")
    async with outside(house, key) as screen:
        assert (await screen.get("/ann/history")).status_code == 200
        for path in ("/ann/message", "/ann/interrupt", "/ann/asks/a1", "/ann/upload"):
            assert (await screen.post(path, json={"message": "x"})).status_code == 403, path


async def test_a_question_is_answered_with_the_key(house: House) -> None:
    await house.hire("ann")
    house.agent.plays(AskRaised(ask="a1", question="Run: make", choices=CHOICES, detail="make all"))
    async with outside(house, key_of(house)) as client:
        await client.post("/ann/message", json={"message": "build"})
        await house.event(AskRaised)
        [ask] = (await client.get("/ann/asks")).json()["asks"]
        assert ask["detail"] == "make all"
        assert (await client.post("/ann/asks/a1", json={"choice": "allow"})).status_code == 200
        assert (await client.post("/ann/asks/a1", json={"choice": "deny"})).status_code == 409


async def test_a_file_goes_to_where_the_worker_looks(house: House) -> None:
    await house.hire("ann")
    async with outside(house, key_of(house)) as client:
        sent = await client.post("/ann/upload", files={"file": ("../../evil name.txt", b"hello")})
        assert sent.status_code == 200, sent.text
        path = sent.json()["filePath"]
    assert path.startswith(str(house.node.inbox("ann")))
    assert ".." not in path


async def test_a_name_used_again_is_somebody_else(house: House) -> None:
    await house.hire("ann")
    async with outside(house, key_of(house)) as client:
        await client.post("/ann/message", json={"message": "hello"})
        await house.event(TurnEnded)
        await house.end("ann")
        await house.event(Ended)
        assert (await client.get("/ann/history")).status_code == 404
        again = await house.hire("ann")
        assert (await client.post("/ann/message", json={"message": "hello again"})).status_code == 200
        await house.event(TurnEnded, after=again.seq)
        assert (await client.get("/ann/history?limit=2")).json() == [
            {"role": "user", "text": "hello again"},
            {"role": "model", "text": "answer to hello again"},
        ]
