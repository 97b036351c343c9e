"""The fake Bot API over HTTP: calls, long polls, downloads, and everything that can go wrong with them."""

from __future__ import annotations

import contextlib
import mimetypes
import time
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from farhand.testing.telegram.control import FakeTelegramControl
from farhand.testing.telegram.cuttable_server import listening
from farhand.testing.telegram.errors import Refusal, bad_request, unauthorized
from farhand.testing.telegram.methods import DESCRIPTIONS, METHODS, remember_allowed
from farhand.testing.telegram.push import push_for_ever
from farhand.testing.telegram.requests import BotRequest, read_call
from farhand.testing.telegram.words import Fault
from farhand.testing.telegram.world import World

HANG_SECONDS = 600.0
LONGEST_POLL_SECONDS = 50
ELSEWHERE = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
HOOKED = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"


class Telegram:
    """Every bot's world, and the routes to them."""

    def __init__(self) -> None:
        self.worlds: dict[str, World] = {}
        self.control = FakeTelegramControl(self.worlds)

    def app(self) -> Starlette:
        routes = [
            Route("/bot{token}/{method}", self.call, methods=["GET", "POST"]),
            Route("/file/bot{token}/{path:path}", self.download, methods=["GET"]),
            *self.control.routes(),
        ]
        return Starlette(routes=routes)

    def world(self, request: Request) -> World:
        world = self.worlds.get(request.path_params["token"])
        if world is None or world.revoked:
            raise unauthorized()
        return world

    async def call(self, request: Request) -> Response:
        """One call of the Bot API, with whatever fault was ordered for it."""
        started = time.time()
        try:
            world = self.world(request)
        except Refusal as refusal:
            return JSONResponse(refusal.as_json(), refusal.code)
        method = str(request.path_params["method"])
        try:
            asked = await read_call(request, method)
        except Refusal as refusal:
            world.note(method, {}, f"{refusal.code} {refusal.description}", False, started)
            return JSONResponse(refusal.as_json(), refusal.code)
        fault = world.fault_for(asked.method, asked.parameters)
        if fault and not fault.after_effect:
            world.note(asked.method, asked.parameters, _outcome(fault), False, started)
            return await self.suffer(request, world, fault)
        return await self.perform(request, world, asked, fault, started)

    async def perform(
        self, request: Request, world: World, asked: BotRequest, fault: Fault | None, started: float
    ) -> Response:
        try:
            if asked.method == "getUpdates":
                result: Any = await self.get_updates(request, world, asked)
            else:
                result = self.effect(world, asked)
            answer: dict[str, Any] = {"ok": True, "result": result}
            if asked.method in DESCRIPTIONS:
                answer["description"] = DESCRIPTIONS[asked.method]
            outcome, code = "200", 200
        except Refusal as refusal:
            answer, code = refusal.as_json(), refusal.code
            outcome = f"{refusal.code} {refusal.description}"
        had_effect = code == 200
        world.note(asked.method, asked.parameters, _outcome(fault) if fault else outcome, had_effect, started)
        if fault:
            return await self.suffer(request, world, fault)
        return JSONResponse(answer, code)

    def effect(self, world: World, asked: BotRequest) -> Any:
        effect = METHODS.get(asked.method)
        if effect is None:
            raise Refusal(404, f"Not Found: this Telegram does not do {asked.method}")
        return effect(world, asked)

    async def suffer(self, request: Request, world: World, fault: Fault) -> Response:
        """Answers as the fault wants it, or not at all."""
        match fault.kind:
            case "status":
                refusal = Refusal(fault.code, fault.description, retry_after=fault.retry_after)
                return JSONResponse(refusal.as_json(), fault.code)
            case "garbage":
                return Response(b"<html><h1>502 Bad Gateway</h1></html>", 502, media_type="text/html")
            case "hang":
                seen = world.released.count
                waiting = world.released.wait(seen, fault.seconds or HANG_SECONDS)
                await until_gone(request, waiting)
            case "cut":
                pass
        request.state.transport.abort()
        return Response()

    async def get_updates(self, request: Request, world: World, asked: BotRequest) -> list[dict[str, Any]]:
        """The long poll: what was confirmed is forgotten, what is pending is told, a second poller ends the first."""
        if world.webhook:
            raise Refusal(409, HOOKED)
        given = asked.parameters
        remember_allowed(world, asked)
        limit = int(given.get("limit", 100))
        if not 1 <= limit <= 100:
            raise bad_request("wrong limit")
        if offset := int(given.get("offset", 0)):
            world.forget_before(offset)
        world.poll_number += 1
        mine = world.poll_number
        deadline = time.monotonic() + min(int(given.get("timeout", 0)), LONGEST_POLL_SECONDS)
        world.polling += 1
        world.bell.ring()
        try:
            await until_gone(request, self._pending(world, mine, deadline))
        finally:
            world.polling -= 1
            world.bell.ring()
        if world.poll_number != mine:
            raise Refusal(409, ELSEWHERE)
        if world.webhook:
            raise Refusal(409, HOOKED)
        return list(world.pending)[:limit]

    async def _pending(self, world: World, mine: int, deadline: float) -> None:
        while not world.pending and world.poll_number == mine and not world.webhook:
            left = deadline - time.monotonic()
            if left <= 0 or world.revoked:
                return
            await world.bell.wait(world.bell.count, left)

    async def download(self, request: Request) -> Response:
        try:
            world = self.world(request)
        except Refusal as refusal:
            return JSONResponse(refusal.as_json(), refusal.code)
        path, started = str(request.path_params["path"]), time.time()
        fault = world.fault_for("download", {})
        if fault:
            world.note("download", {"path": path}, _outcome(fault), fault.after_effect, started)
            return await self.suffer(request, world, fault)
        found = next((one for one in world.files.values() if one.path == path), None)
        world.note("download", {"path": path}, "200" if found else "404", bool(found), started)
        if found is None:
            return JSONResponse(Refusal(404, "Not Found").as_json(), 404)
        return Response(found.content, media_type=mimetypes.guess_type(path)[0] or "application/octet-stream")


def _outcome(fault: Fault) -> str:
    return f"{fault.code} {fault.description}" if fault.kind == "status" else fault.kind


async def until_gone(request: Request, waiting: Awaitable[object]) -> None:
    """Waits, but no longer than the caller does."""
    async with anyio.create_task_group() as tasks:

        async def gone() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(gone)
        await waiting
        tasks.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def serving(telegram: Telegram | None = None, *, port: int = 0) -> AsyncIterator[str]:
    """A fake Telegram on loopback for as long as the block lasts; yields its address."""
    telegram = telegram or Telegram()
    async with listening(telegram.app(), port=port) as address, anyio.create_task_group() as tasks:
        tasks.start_soon(push_for_ever, telegram.worlds, telegram.control.new_world)
        try:
            yield address
        finally:
            telegram.control.close()
            for world in telegram.worlds.values():
                world.revoked = True
                world.released.ring()
                world.bell.ring()
            tasks.cancel_scope.cancel()
