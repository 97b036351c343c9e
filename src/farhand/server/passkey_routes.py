"""The routes of passkeys: a device makes one, a browser that has one is paired by it."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.body_limits import read_bounded
from farhand.model.devices import Device
from farhand.model.errors import NotAllowed
from farhand.model.http_guard import is_same_site
from farhand.model.passkeys import PasskeyRegistry
from farhand.model.wire import encode
from farhand.server.callers import Callers
from farhand.server.devices import paired
from farhand.server.json_bodies import read_json

LONGEST_REQUEST = 16 * 1024
NO_PASSKEY = "That is no passkey"


class PasskeyRequest(msgspec.Struct, frozen=True):
    """What a browser made, or signed, as it says it itself; and what the passkey or the device shall be called."""

    credential: msgspec.Raw
    name: str = ""


def passkey_routes(callers: Callers, passkeys: PasskeyRegistry) -> list[BaseRoute]:
    """`/api/passkeys` for devices that may write; `/api/passkeys/sign-in` for whoever has one."""

    async def device(request: Request) -> Device:
        found = (await callers.check(request, writes=True)).device
        if found is None:
            raise NotAllowed("Only a paired device can make a passkey.")
        return found

    async def options(request: Request) -> Response:
        return _json(passkeys.creation_options(await device(request), _host(request)))

    async def add(request: Request) -> Response:
        await device(request)
        body = await read_bounded(request.stream(), LONGEST_REQUEST)
        # Who sent it may have been revoked while the rest of it came.
        maker, asked = await device(request), read_json(body, PasskeyRequest, NO_PASSKEY)
        made = await passkeys.add(maker, _host(request), bytes(asked.credential), asked.name or maker.name)
        return _json(encode({"passkey": made}))

    async def listed(request: Request) -> Response:
        await callers.check(request)
        return _json(encode({"passkeys": await passkeys.all(), "available": passkeys.available}))

    async def remove(request: Request) -> Response:
        await callers.check(request, writes=True)
        name = request.path_params["passkey"]
        await passkeys.remove(name)
        return _json(encode({"removed": name}))

    async def sign_in_options(request: Request) -> Response:
        _own_page(request)
        return _json(passkeys.request_options(_host(request)))

    async def sign_in(request: Request) -> Response:
        _own_page(request)
        callers.check_way(request)
        sent = await read_bounded(request.stream(), LONGEST_REQUEST)
        asked = read_json(sent, PasskeyRequest, NO_PASSKEY)
        proven = await passkeys.recognise(_host(request), bytes(asked.credential))
        entered = await callers.devices.admit(asked.name or proven.name, came_by=proven.device)
        return paired(callers, request, *entered, bearer=False)

    return [
        Route("/api/passkeys/options", options, methods=["POST"]),
        Route("/api/passkeys", add, methods=["POST"]),
        Route("/api/passkeys", listed, methods=["GET"]),
        Route("/api/passkeys/sign-in/options", sign_in_options, methods=["POST"]),
        Route("/api/passkeys/sign-in", sign_in, methods=["POST"]),
        Route("/api/passkeys/{passkey}", remove, methods=["DELETE"]),
    ]


def _own_page(request: Request) -> None:
    if not is_same_site(request.headers):
        raise NotAllowed("Another site's page cannot sign in.")


def _host(request: Request) -> str:
    return request.headers.get("host", "").lower()


def _json(content: bytes | str) -> Response:
    return Response(content, media_type="application/json", headers={"Cache-Control": "no-store"})
