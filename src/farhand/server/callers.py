"""Who is behind a request to the node's API: a paired device, or whoever holds the node's key. Nobody else gets in."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection
from starlette.responses import Response

from farhand.model.devices import Device, DeviceRegistry
from farhand.model.errors import NotAllowed
from farhand.model.http_guard import bearer, has_bearer, is_same_site
from farhand.model.words import Sender
from farhand.model.worker_keys import VIA_KEY
from farhand.server.local import CONNECTION, CUT_UNREAD
from farhand.server.local_cookies import LocalCookies
from farhand.server.plain_http import PlainHttp, is_readable_by_others, is_secure

# A cookie that only this very host may set and read, over TLS alone; and the one for a node on this machine.
SECURE_COOKIE = "__Host-farhand"
LOCAL_COOKIE = "farhand-device"
YEAR_SECONDS = 365 * 24 * 3600


@dataclass(frozen=True)
class Caller:
    """A device; None is whoever holds the node's key."""

    device: Device | None = None
    # Cuts its connection off, where it leaves unread what was sent to it.
    cut_unread: Callable[[], None] = field(default=lambda: None, compare=False)

    @property
    def may_act(self) -> bool:
        """Whether it may do more than look."""
        return self.device is None or not self.device.read_only

    @property
    def sender(self) -> Sender:
        """Who it is in facts."""
        return Sender(via=self.device.via, who=self.device.name) if self.device else Sender(via=VIA_KEY)


class Callers:
    """Checks every request before anything else is done with it."""

    def __init__(self, key: str, devices: DeviceRegistry, *, plain_http: bool = False) -> None:
        """With `plain_http` a browser on another machine gets its key, and brings it, where others can read along."""
        self._key = key
        self._plain_http = plain_http
        self._local_cookies = LocalCookies(key)
        self.devices = devices

    async def check(self, request: HTTPConnection, *, writes: bool = False) -> Caller:
        """Who calls; NotAllowed for a stranger, and for a read-only device that wants to change something."""
        if has_bearer(request.headers, self._key):
            return Caller()
        device = await self.devices.recognise(bearer(request.headers)) or await self._by_cookie(request)
        if device is None:
            raise NotAllowed("This needs the node's key or a paired device: `Authorization: Bearer <key>`.")
        if writes and device.read_only:
            raise NotAllowed("This device may look, and change nothing.", device=device.id)
        return Caller(device, request.scope.get("state", {}).get(CONNECTION, {}).get(CUT_UNREAD, lambda: None))

    @contextmanager
    def admitted(self, caller: Caller) -> Iterator[asyncio.Event]:
        """For as long as a connection of the caller is open: the event is set when its device is revoked."""
        if caller.device is None:
            yield asyncio.Event()
            return
        with self.devices.connected(caller.device.id) as revoked, _cut_when(revoked, caller):
            yield revoked

    async def _by_cookie(self, request: HTTPConnection) -> Device | None:
        """A cookie counts only for the node's own pages: another site's page sends it along without being asked."""
        if not is_same_site(request.headers):
            return None
        key = request.cookies.get(SECURE_COOKIE, "")
        if not key and self.may_have_key(request) and (masked := request.cookies.get(LOCAL_COOKIE)):
            key = self._local_cookies.key(request, masked)
        return await self.devices.recognise(key) if key else None

    def may_have_key(self, request: HTTPConnection) -> bool:
        """Whether a key may go this way: nobody but its device reads it, or the manager has allowed that."""
        return self._plain_http or not is_readable_by_others(request)

    def check_way(self, request: HTTPConnection) -> None:
        """Raises PlainHttp where nobody may be given a key."""
        if not self.may_have_key(request):
            raise PlainHttp()

    def set_cookie(self, response: Response, request: HTTPConnection, key: str) -> None:
        """Gives a browser its key, where no script can read it."""
        secure = is_secure(request)
        response.set_cookie(
            SECURE_COOKIE if secure else LOCAL_COOKIE,
            key if secure else self._local_cookies.value(request, key),
            max_age=YEAR_SECONDS,
            path="/",
            secure=secure,
            httponly=True,
            samesite="strict",
        )


async def until_revoked(devices: DeviceRegistry, caller: Caller, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The pieces of a stream, which ends at once when the device that reads it is revoked."""
    if caller.device is None:
        async for piece in pieces:
            yield piece
        return
    with devices.connected(caller.device.id) as revoked, _cut_when(revoked, caller) as ended:
        coming = asyncio.ensure_future(anext(pieces))
        try:
            while not ended.done():
                await asyncio.wait((ended, coming), return_when=asyncio.FIRST_COMPLETED)
                if coming.done() and not ended.done():
                    yield coming.result()
                    coming = asyncio.ensure_future(anext(pieces))
        except StopAsyncIteration:
            return
        finally:
            coming.cancel()


@contextmanager
def _cut_when(revoked: asyncio.Event, caller: Caller) -> Iterator[asyncio.Future[object]]:
    """Done when the event is set. Whoever does not read cannot be told: its connection is cut off then."""

    def cut(done: asyncio.Future[object]) -> None:
        if not done.cancelled():
            caller.cut_unread()

    ended: asyncio.Future[object] = asyncio.ensure_future(revoked.wait())
    ended.add_done_callback(cut)
    try:
        yield ended
    finally:
        ended.cancel()
