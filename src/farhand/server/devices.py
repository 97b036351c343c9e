"""The routes of devices: a code is exchanged for a key, devices are listed and revoked."""

from collections.abc import Callable, Mapping

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.body_limits import read_bounded
from farhand.model.devices import Device
from farhand.model.errors import NotAllowed
from farhand.model.http_guard import is_same_site
from farhand.model.wire import encode
from farhand.server.callers import Callers
from farhand.server.json_bodies import read_json

# Anybody may send one, so that it must cost next to nothing.
LONGEST_REQUEST = 4096
LONGEST_PROOF = 16 * 1024


class PairRequest(msgspec.Struct, frozen=True):
    """What a device sends to be paired; a program without a cookie jar asks for its key with `bearer`."""

    code: str
    name: str = ""
    bearer: bool = False


class SignInRequest(msgspec.Struct, frozen=True):
    """What a page inside of a chat's own app sends to be paired: what the chat vouches with for who opened it."""

    channel: str
    proof: str
    name: str = ""
    bearer: bool = False


class PairReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The device that was made; its key, if it was asked for."""

    device: Device
    key: str = ""


# By a channel's name: who it vouches for, by what its own app hands a page; raises NotAllowed.
SignsIn = Mapping[str, Callable[[str], str]]


def device_routes(callers: Callers, vouchers: SignsIn | None = None) -> list[BaseRoute]:
    """`POST /api/pair` for whoever has a code, `POST /api/sign-in` for whom a channel vouches; `/api/devices` for
    devices and whoever has the node's key."""

    async def pair(request: Request) -> Response:
        if not is_same_site(request.headers):
            raise NotAllowed("Another site's page cannot pair a device.")
        asked = read_json(await read_bounded(request.stream(), LONGEST_REQUEST), PairRequest, "That pairs nothing")
        if not callers.may_have_key(request):
            # Whoever has read the code along the way could use it where keys are given.
            callers.devices.withdraw(asked.code)
        callers.check_way(request)
        return paired(callers, request, *await callers.devices.pair(asked.code, asked.name), bearer=asked.bearer)

    async def sign_in(request: Request) -> Response:
        if not is_same_site(request.headers):
            raise NotAllowed("Another site's page cannot sign in.")
        callers.check_way(request)
        asked = read_json(await read_bounded(request.stream(), LONGEST_PROOF), SignInRequest, "That signs nobody in")
        vouches = (vouchers or {}).get(asked.channel)
        if vouches is None:
            raise NotAllowed("Nobody can sign in this way here.")
        person = vouches(asked.proof)
        name = f"{asked.name or asked.channel.title()} ({person})" if person else asked.name
        return paired(callers, request, *await callers.devices.admit(name), bearer=asked.bearer)

    async def devices(request: Request) -> Response:
        caller = await callers.check(request)
        return _json({"devices": await callers.devices.all(), "me": caller.device.id if caller.device else ""})

    async def revoke(request: Request) -> Response:
        device = request.path_params["device"]
        caller = await callers.check(request)
        if caller.device is None or caller.device.id != device:
            # Every device may end itself.
            await callers.check(request, writes=True)
        await callers.devices.revoke(device)
        return _json({"revoked": device})

    return [
        Route("/api/pair", pair, methods=["POST"]),
        Route("/api/sign-in", sign_in, methods=["POST"]),
        Route("/api/devices", devices, methods=["GET"]),
        Route("/api/devices/{device}", revoke, methods=["DELETE"]),
    ]


def paired(callers: Callers, request: Request, device: Device, key: str, *, bearer: bool) -> Response:
    """A new device: a browser gets its key as a cookie, a program in the answer."""
    response = _json(PairReply(device=device, key=key if bearer else ""))
    if not bearer:
        callers.set_cookie(response, request, key)
    return response


def _json(value: object) -> Response:
    return Response(encode(value), media_type="application/json", headers={"Cache-Control": "no-store"})
