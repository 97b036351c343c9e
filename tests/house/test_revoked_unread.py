"""A device that is revoked is cut off at once, also when it leaves unread what the node sends."""

from __future__ import annotations

import array
import fcntl
import select
import socket
import termios
from functools import partial

import anyio
import anyio.to_thread
import httpx2
import pytest
from tests.house.paired_devices import paired

from farhand.client.door import SocketHub
from farhand.model.facts import Draft, Noted
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
# A frame with an empty opening, masked with zeros.
OPENING = b"\x81\x82\0\0\0\0{}"
# More than a sender's and this reader's sockets hold.
MEGABYTES = 12


def _waiting(link: socket.socket) -> int:
    """How many bytes the client could read."""
    size = array.array("i", [0])
    fcntl.ioctl(link, termios.FIONREAD, size)
    return size[0]


async def _settled(link: socket.socket, client: httpx2.AsyncClient) -> None:
    """Returns when the node has answered others for a while, and nothing more comes for this one."""
    seen, rounds = 0, 0
    while rounds < 30:
        await client.get("/healthz")
        now = _waiting(link)
        seen, rounds = now, rounds + 1 if now == seen and now > 64 * 1024 else 0


async def _until(link: socket.socket, words: bytes) -> None:
    read = b""
    while words not in read:
        read += await anyio.to_thread.run_sync(partial(link.recv, 1))


@pytest.mark.parametrize(
    ("path", "more", "opening", "begun"),
    [
        ("/api/hub/stream", "", b"", b'"hello"'),
        ("/api/hub/events", "", b"", b"\r\n\r\n"),
        ("/api/hub/socket", UPGRADE, OPENING, b'"hello"'),
    ],
    ids=["stream", "events", "socket"],
)
async def test_a_device_that_reads_nothing_is_cut_off_when_it_is_revoked(
    house: House, path: str, more: str, opening: bytes, begun: bytes
) -> None:
    await house.hire("ann")
    address = f"http://127.0.0.1:{house.node.port}"
    async with local_client(base_url=address, timeout=SAFETY_SECONDS) as client:
        device, key = await paired(house, client)
        with socket.socket() as link, anyio.fail_after(SAFETY_SECONDS):
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 256 * 1024)
            link.connect(("127.0.0.1", house.node.port))
            head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n{more}\r\n"
            link.sendall(head.encode())
            await _until(link, b"HTTP/1.1 ")
            link.sendall(opening)
            await _until(link, begun)
            large = [Draft(worker="ann", fact=Noted(text="x" * 1024 * 1024))] * MEGABYTES
            await house.hub.record("ann", lambda _: large)
            await _settled(link, client)
            async with SocketHub(house.node.settings.door) as hub:
                await hub.revoke(device.id)
            # Nothing is read: the system itself tells that the other side is gone.
            poll = select.poll()
            poll.register(link, 0)
            ((_, what),) = await anyio.to_thread.run_sync(poll.poll, abandon_on_cancel=True)
    assert what & select.POLLHUP
