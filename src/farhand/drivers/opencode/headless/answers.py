"""Brings persons' answers to the requests of a session, and lets go on what needs no answer any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from farhand.drivers.opencode import asks, modes
from farhand.drivers.opencode.headless.api import Api, ApiError
from farhand.drivers.opencode.headless.cursor import OpenCodePosition
from farhand.drivers.opencode.headless.kept import OpenCodeLog
from farhand.drivers.opencode.headless.state import without_request
from farhand.drivers.opencode.schema import OpenCodePermission
from farhand.drivers.wires.asks.build import CHANGED, DENIED, GONE, asked_of, step_id
from farhand.model.facts import AskRaised
from farhand.model.ports import Heard, NotTaken, Outcome, Taken
from farhand.model.present import Ask
from farhand.model.words import Mode


class Answering:
    """The requests of one link."""

    def __init__(self, api: Api, kept: OpenCodeLog, place: OpenCodePosition) -> None:
        self._api = api
        self._kept = kept
        self._place = place

    async def settle(self, ask: Ask) -> Outcome:
        """Brings an answer; one that was brought is not brought twice."""
        name, settled = asked_of(ask.id), ask.settled
        request = await self._waiting(name)
        if request is None or settled is None:
            return Taken() if self._kept.answered(name) else NotTaken(why=GONE)
        if ask.digest != asks.digest(request):
            await self._refuse(request)
            return NotTaken(why=CHANGED)
        if isinstance(request, OpenCodePermission):
            return await self._reply(request, asks.reply(request, settled))
        self._kept.settle(settled)
        all_settled = self._kept.settled()
        steps = [all_settled.get(step_id(name, step)) for step in range(asks.steps(request))]
        answers = asks.answers(request, steps)
        if answers is None:
            return Taken()
        return await self._send(name, lambda: self._api.answer(name, answers.labels))

    def part(self, heard: list[Heard]) -> tuple[list[Heard], tuple[OpenCodePermission, ...]]:
        """Parts what a person must hear from what was allowed before; a worker that need not ask is allowed all."""
        rest: list[Heard] = []
        granted: list[OpenCodePermission] = []
        for one in heard:
            wanted = self._place.state.permissions.get(one.fact.ask) if isinstance(one.fact, AskRaised) else None
            if wanted is not None and self._may(wanted):
                # Until it is let go on, it counts as unheard of: the next look would find it again.
                self._place.become(without_request(self._place.state, wanted.id))
                granted.append(wanted)
            else:
                rest.append(one)
        return rest, tuple(granted)

    async def let_go_on(self, granted: tuple[OpenCodePermission, ...]) -> None:
        """What was allowed before goes on at once."""
        for wanted in granted:
            await self._reply(wanted, asks.OpenCodeReply(reply="once"))

    def _may(self, wanted: OpenCodePermission) -> bool:
        if self._place.tuning.mode is Mode.YOLO:
            return True
        every = [(wanted.permission, pattern) for pattern in wanted.always]
        return bool(every) and all(one in self._place.state.granted for one in every)

    async def _waiting(self, name: str) -> asks.Request | None:
        """The request of that name, if it waits. One that we set out to answer may not have heard of it."""
        state = self._place.state
        known = state.permissions.get(name) or state.questions.get(name)
        if known is not None or not self._kept.answered(name):
            return known
        waiting: list[asks.Request] = [*await self._api.permissions(), *await self._api.questions()]
        return next((one for one in waiting if one.id == name), None)

    async def _refuse(self, request: asks.Request) -> None:
        if isinstance(request, OpenCodePermission):
            await self._reply(request, asks.OpenCodeReply(reply="reject", message=DENIED))
        else:
            await self._send(request.id, lambda: self._api.answer(request.id, None))

    async def _reply(self, wanted: OpenCodePermission, reply: asks.OpenCodeReply) -> Outcome:
        if reply.lasting:
            lasting = [modes.rule(wanted.permission, pattern, "allow") for pattern in reply.lasting]
            await self._api.add_rules(wanted.sessionID, lasting)
            granted = tuple((wanted.permission, pattern) for pattern in reply.lasting)
            self._place.change(granted=(*self._place.state.granted, *granted))
        return await self._send(wanted.id, lambda: self._api.reply(wanted.id, reply.reply, reply.message))

    async def _send(self, request: str, send: Callable[[], Awaitable[None]]) -> Outcome:
        before = self._kept.answered(request)
        self._kept.answer(request)
        self._place.become(without_request(self._place.state, request))
        try:
            await send()
        except ApiError as error:
            if not 400 <= error.status < 500:
                # It may still wait: only a refusal says that it does not.
                raise
            return Taken() if before else NotTaken(why=GONE)
        return Taken()
