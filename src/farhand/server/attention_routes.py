"""The routes of attention and push for devices: what happened meanwhile, subscriptions, the test, taps on buttons."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.attention_ports import AttentionView
from farhand.model.body_limits import read_bounded
from farhand.model.devices import Device
from farhand.model.errors import CannotDo
from farhand.model.ports import Clock
from farhand.model.push import PushAnswer, PushKeys, PushSubscription, ServesPush
from farhand.model.wire import encode
from farhand.model.words import LANGUAGES
from farhand.server.callers import Caller, Callers
from farhand.server.json_bodies import read_json

LONGEST_REQUEST = 8 * 1024


class SubscribeRequest(msgspec.Struct, frozen=True):
    """What a browser knows of its subscription, and where its app is."""

    endpoint: str
    keys: PushKeys
    origin: str
    # A service worker that renews a subscription by itself knows none.
    language: str = ""


def attention_routes(
    callers: Callers, attention: AttentionView, push: ServesPush | None, clock: Clock
) -> list[BaseRoute]:
    """`GET /api/digest`; `/api/push`: look, subscribe, end, test, and the buttons of notifications."""

    async def sent(request: Request, *, writes: bool = False) -> tuple[Device, bytes]:
        await callers.check(request, writes=writes)
        body = await read_bounded(request.stream(), LONGEST_REQUEST)
        # Who sent it may have been revoked while the rest of it came.
        return _device(await callers.check(request, writes=writes)), body

    async def read_digest(request: Request) -> Response:
        await callers.check(request)
        return _json({"digest": attention.digest()})

    async def look(request: Request) -> Response:
        device = _device(await callers.check(request))
        served = _served(push)
        return _json(
            {
                "key": served.public_key(),
                "subscribed": served.subscribed(device.id),
                "problem": served.problem(device.id),
            }
        )

    async def subscribe(request: Request) -> Response:
        device, body = await sent(request)
        asked = read_json(body, SubscribeRequest, "That cannot be read")
        served = _served(push)
        spoken = (asked.language, served.language(device.id), *_spoken(request.headers.get("accept-language", "")))
        language = next((one for one in spoken if one in LANGUAGES), LANGUAGES[0])
        await served.subscribe(
            PushSubscription(
                device=device.id,
                endpoint=asked.endpoint,
                keys=asked.keys,
                origin=asked.origin,
                language=language,
                at=clock.now(),
                read_only=device.read_only,
            )
        )
        return _json({"subscribed": True})

    async def unsubscribe(request: Request) -> Response:
        device = _device(await callers.check(request))
        await _served(push).unsubscribe(device.id)
        return _json({"subscribed": False})

    async def test(request: Request) -> Response:
        device = _device(await callers.check(request))
        return _json({"test": await _served(push).test(device.id)})

    async def answer(request: Request) -> Response:
        device, body = await sent(request, writes=True)
        given = read_json(body, PushAnswer, "That cannot be read")
        await _served(push).answer(given, device)
        return _json({"answered": given.ask})

    return [
        Route("/api/digest", read_digest, methods=["GET"]),
        Route("/api/push", look, methods=["GET"]),
        Route("/api/push", subscribe, methods=["POST"]),
        Route("/api/push", unsubscribe, methods=["DELETE"]),
        Route("/api/push/test", test, methods=["POST"]),
        Route("/api/push/answer", answer, methods=["POST"]),
    ]


def _spoken(accepted: str) -> list[str]:
    """The languages of an `Accept-Language`, without their countries; a browser has the best one first."""
    return [one.partition(";")[0].partition("-")[0].strip().lower() for one in accepted.split(",")]


def _device(caller: Caller) -> Device:
    if caller.device is None:
        raise CannotDo("Only a paired device can be reached by push.")
    return caller.device


def _served(push: ServesPush | None) -> ServesPush:
    if push is None:
        raise CannotDo("This node sends no push messages.")
    return push


def _json(value: object) -> Response:
    return Response(encode(value), media_type="application/json", headers={"Cache-Control": "no-store"})
