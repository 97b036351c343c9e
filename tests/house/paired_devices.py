"""Devices of a house: paired with a code, as a program with a key and as a browser with a cookie."""

import httpx2

from farhand.client.door import SocketHub
from farhand.model.devices import Device
from farhand.testing.house import House


async def code_of(house: House, *, read_only: bool = False) -> str:
    """A code that pairs one device."""
    async with SocketHub(house.node.settings.door) as hub:
        return (await hub.pair(read_only=read_only)).code


async def paired(house: House, client: httpx2.AsyncClient, *, read_only: bool = False) -> tuple[Device, str]:
    """A device, and its key."""
    code = await code_of(house, read_only=read_only)
    reply = (await client.post("/api/pair", json={"code": code, "name": "my phone", "bearer": True})).json()
    async with SocketHub(house.node.settings.door) as hub:
        (device,) = [one for one in await hub.devices() if one.id == reply["device"]["id"]]
    return device, reply["key"]


async def cookie_of(house: House, client: httpx2.AsyncClient) -> dict[str, str]:
    """The cookie of a browser that was paired."""
    code = await code_of(house)
    reply = await client.post("/api/pair", json={"code": code, "name": "my browser"})
    client.cookies.clear()
    return {"Cookie": reply.headers["set-cookie"].partition(";")[0]}
