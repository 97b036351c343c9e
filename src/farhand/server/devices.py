"""The routes of devices: a code is exchanged for a key, devices are listed and revoked."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.bounded import read_bounded
from farhand.model.devices import Device
from farhand.model.errors import BadInput, NotAllowed
from farhand.model.http_guard import is_same_site
from farhand.model.wire import encode
from farhand.server.callers import Callers, set_cookie

# Anybody may send one, so that it must cost next to nothing.
LONGEST_REQUEST = 4096


class PairRequest(msgspec.Struct, frozen=True):
    """What a device sends to be paired; a program without a cookie jar asks for its key with `bearer`."""

    code: str
    name: str = ""
    bearer: bool = False


class PairReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The device that was made; its key, if it was asked for."""

    device: Device
    key: str = ""


_requests = msgspec.json.Decoder(PairRequest)


def device_routes(callers: Callers) -> list[BaseRoute]:
    """`POST /api/pair` for whoever has a code; `/api/devices` for devices and whoever has the node's key."""

    async def pair(request: Request) -> Response:
        if not is_same_site(request.headers):
            raise NotAllowed("Another site's page cannot pair a device.")
        asked = _read(await read_bounded(request.stream(), LONGEST_REQUEST))
        device, key = await callers.devices.pair(asked.code, asked.name)
        response = _json(PairReply(device=device, key=key if asked.bearer else ""))
        if not asked.bearer:
            set_cookie(response, request, key)
        return response

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
        Route("/api/devices", devices, methods=["GET"]),
        Route("/api/devices/{device}", revoke, methods=["DELETE"]),
    ]


def _read(data: bytes) -> PairRequest:
    try:
        return _requests.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"That pairs nothing: {error}") from None


def _json(value: object) -> Response:
    return Response(encode(value), media_type="application/json", headers={"Cache-Control": "no-store"})
