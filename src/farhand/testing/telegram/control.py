"""The other side of the fake: tests speak as people, tap buttons, order faults and read what the bot did."""

from __future__ import annotations

import base64
import itertools
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from farhand.testing.http import local_client
from farhand.testing.telegram.bell import Bell
from farhand.testing.telegram.messages import described, keep_file, photo_sizes
from farhand.testing.telegram.push import push_once
from farhand.testing.telegram.requests import Upload
from farhand.testing.telegram.words import ChangedMessages, Fault, Rates, RecordedCall, ShownTopic
from farhand.testing.telegram.world import FakeChat, FakeMessage, FakeQuery, World, spoken

Obey = Callable[[World, dict[str, Any]], Any]


class WrongOrder(Exception):
    """A test asked for something that cannot be."""


class FakeTelegramControl:
    """The routes on which tests give their orders."""

    def __init__(self, worlds: dict[str, World]) -> None:
        self.worlds = worlds
        self.new_world = Bell()
        self.bots = itertools.count(7_000_001)
        self.closed = False

    def close(self) -> None:
        self.closed = True

    def routes(self) -> list[Route]:
        routes = [
            Route("/control/bots", self.new_bot, methods=["POST"]),
            Route("/control/bots/{token}/push", self._route(self.push), methods=["POST"]),
            Route("/control/bots/{token}/wait", self._route(self.wait), methods=["POST"]),
            Route("/control/bots/{token}/changes", self._route(self.changes), methods=["POST"]),
        ]
        for name, obey in ORDERS.items():
            routes.append(Route(f"/control/bots/{{token}}/{name}", self._plain(obey), methods=["POST"]))
        return routes

    async def new_bot(self, request: Request) -> Response:
        order = msgspec.json.decode(await request.body() or b"{}", type=dict[str, Any])
        number = next(self.bots)
        token = str(order.get("token") or f"{number}:{secrets.token_urlsafe(24)}")
        world = World(token, str(order.get("username") or f"farhand_{number}_bot"))
        self.worlds[token] = world
        self.new_world.ring()
        return _answer(world.standing())

    def _route(
        self, obey: Callable[[World, dict[str, Any]], Awaitable[Any]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def opened(request: Request) -> Response:
            world = self.worlds.get(request.path_params["token"])
            if world is None:
                return JSONResponse({"error": "no such bot"}, 404)
            order = msgspec.json.decode(await request.body() or b"{}", type=dict[str, Any])
            try:
                return _answer(await obey(world, order))
            except (WrongOrder, KeyError) as error:
                return JSONResponse({"error": str(error)}, 400)

        return opened

    def _plain(self, obey: Obey) -> Callable[[Request], Awaitable[Response]]:
        async def opened(world: World, order: dict[str, Any]) -> Any:
            return obey(world, order)

        return self._route(opened)

    async def wait(self, world: World, order: dict[str, Any]) -> Any:
        """Answers when something has changed since the version that the test has seen."""
        await world.bell.wait(int(order["seen"]), 0.0 if self.closed else float(order["seconds"]))
        return world.standing()

    async def changes(self, world: World, order: dict[str, Any]) -> ChangedMessages:
        """What has changed in a chat since the change that the test has seen; waits until something has."""
        seen, deadline = int(order["seen"]), time.monotonic() + float(order["seconds"])
        while True:
            version = world.bell.count
            found = world.changed(_known(world, order), seen)
            left = deadline - time.monotonic()
            if found.messages or self.closed or left <= 0:
                return found
            await world.bell.wait(version, left)

    async def push(self, world: World, order: dict[str, Any]) -> list[int]:
        """Delivers one update to the webhook as many times as told, all at the same moment."""
        if world.webhook is None:
            raise WrongOrder("the bot has no webhook")
        update, webhook = world.past[int(order["update_id"])], world.webhook
        statuses: list[int] = []

        async def once() -> None:
            statuses.append(await push_once(client, webhook, update))

        async with local_client(timeout=30) as client, anyio.create_task_group() as tasks:
            for _ in range(int(order.get("copies", 2))):
                tasks.start_soon(once)
        return statuses


def _answer(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _chat(world: World, order: dict[str, Any]) -> FakeChat:
    chat_id = order.get("chat_id")
    if chat_id is None or chat_id == order.get("person", {}).get("id"):
        return world.private_chat(order["person"])
    if int(chat_id) not in world.chats:
        raise WrongOrder(f"no chat {chat_id}")
    return world.chats[int(chat_id)]


def _known(world: World, order: dict[str, Any]) -> FakeChat:
    """The chat, or an empty one if nobody has spoken there."""
    return world.chats.get(int(order["chat_id"]), FakeChat({}))


def _calls(world: World, order: dict[str, Any]) -> list[RecordedCall]:
    """The calls from that number on, or those of one method."""
    method = order.get("method", "")
    return [call for call in world.calls[int(order.get("after", 0)) :] if not method or call.method == method]


def _command_entities(text: str) -> dict[str, Any]:
    if not text.startswith("/") or len(text.split()) == 0:
        return {}
    return {"entities": [{"type": "bot_command", "offset": 0, "length": len(text.split(maxsplit=1)[0])}]}


def _around(chat: FakeChat, order: dict[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = {"from": {"is_bot": False, **order["person"]}}
    if reply := order.get("reply_to"):
        if int(reply) not in chat.messages:
            raise WrongOrder(f"no message {reply} to reply to")
        payload["reply_to_message"] = chat.messages[int(reply)].payload
    if thread := order.get("thread"):
        payload |= {"message_thread_id": int(thread), "is_topic_message": True}
    return payload


def say(world: World, order: dict[str, Any]) -> Any:
    """A person writes something."""
    chat = _chat(world, order)
    text = str(order["text"])
    message = world.put(
        chat, {**_around(chat, order), "text": text, **_command_entities(text), **order.get("more", {})}
    )
    return spoken(world.tell("message", message.payload), message)


def send_file(world: World, order: dict[str, Any]) -> Any:
    """A person sends a photo or a document."""
    chat = _chat(world, order)
    content = base64.b64decode(order["content"])
    kind = str(order["kind"])
    file_id = keep_file(world, Upload(str(order["name"]), content), kind)
    if size := order.get("claimed_size"):
        world.files[file_id].size = int(size)
    about = described(world, file_id)
    if kind == "photo":
        payload: dict[str, Any] = {"photo": photo_sizes(world, file_id)}
    elif kind == "voice":
        payload = {"voice": {**about, "duration": 1, "mime_type": "audio/ogg"}}
    else:
        payload = {"document": {**about, "file_name": order["name"], "mime_type": str(order["mime_type"])}}
    if caption := order.get("caption"):
        payload["caption"] = caption
    message = world.put(chat, {**_around(chat, order), **payload, **order.get("more", {})})
    return spoken(world.tell("message", message.payload), message)


def edit(world: World, order: dict[str, Any]) -> Any:
    """A person changes what they wrote."""
    chat = _chat(world, order)
    message = chat.messages[int(order["message_id"])]
    message.versions.append(message.text)
    message.payload = {**message.payload, "text": str(order["text"]), "edit_date": int(time.time())}
    return spoken(world.tell("edited_message", message.payload), message)


def tap(world: World, order: dict[str, Any]) -> Any:
    """A person taps a button, by its label or by the data it carries (a hostile client can send any)."""
    chat = _chat(world, order)
    message = chat.messages[int(order["message_id"])]
    data = order.get("data") or _data_of(message, str(order.get("label", "")))
    query_id = str(next(world.numbers) + 10**17)
    payload = {
        "id": query_id,
        "from": {"is_bot": False, **order["person"]},
        "message": message.payload,
        "chat_instance": str(chat.about["id"]),
        "data": data,
    }
    world.queries[query_id] = FakeQuery(payload, stale=bool(order.get("stale")))
    return spoken(world.tell("callback_query", payload), message, query_id)


def _data_of(message: FakeMessage, label: str) -> str:
    rows = message.payload.get("reply_markup", {}).get("inline_keyboard", [])
    for button in (one for row in rows for one in row):
        if button["text"] == label and "callback_data" in button:
            return str(button["callback_data"])
    raise WrongOrder(f"no button {label!r} under message {message.payload['message_id']}")


def raw_update(world: World, order: dict[str, Any]) -> int:
    """Any update at all, for what a test can think of and Telegram may one day send."""
    return world.tell(str(order["kind"]), order["what"])


def deliver_again(world: World, order: dict[str, Any]) -> bool:
    """Puts updates that were told before into the queue once more, under the same numbers."""
    for _ in range(int(order.get("copies", 1))):
        world.pending.append(world.past[int(order["update_id"])])
    world.bell.ring()
    return True


def new_chat(world: World, order: dict[str, Any]) -> bool:
    about = {key: value for key, value in order.items() if key not in {"topics", "makes_topics"}}
    topics = {int(key): str(one) for key, one in order["topics"].items()}
    made = FakeChat(about, topics=topics, makes_topics=bool(order.get("makes_topics", True)))
    world.chats[int(about["id"])] = made
    world.bell.ring()
    return True


def private_topics(world: World, order: dict[str, Any]) -> bool:
    """Private chats with the bot have topics from now on, or none."""
    world.private_topics = bool(order["on"])
    return True


def remove_topic(world: World, order: dict[str, Any]) -> bool:
    """A person takes a topic away, with all that was said in it."""
    chat = world.chats[int(order["chat_id"])]
    del chat.topics[int(order["thread"])]
    world.bell.ring()
    return True


def shown_topics(world: World, order: dict[str, Any]) -> dict[str, ShownTopic]:
    """The topics of a chat by their numbers."""
    chat = world.chats.get(int(order["chat_id"]), FakeChat({}))
    return {str(key): ShownTopic(name=name, closed=key in chat.closed) for key, name in chat.topics.items()}


def block(world: World, order: dict[str, Any]) -> bool:
    world.chats[int(order["chat_id"])].blocked = bool(order["blocked"])
    return True


def order_fault(world: World, order: dict[str, Any]) -> bool:
    world.faults.append(msgspec.convert(order, Fault))
    return True


def clear_faults(world: World, _: dict[str, Any]) -> bool:
    """Ends every fault, and lets go of the calls that hang."""
    world.faults.clear()
    world.released.ring()
    world.bell.ring()
    return True


def set_rates(world: World, order: dict[str, Any]) -> bool:
    world.rates = msgspec.convert(order, Rates)
    return True


def revoke(world: World, order: dict[str, Any]) -> bool:
    world.revoked = bool(order["revoked"])
    world.bell.ring()
    return True


def restart_update_ids(world: World, order: dict[str, Any]) -> bool:
    world.next_update_id = int(order["at"])
    return True


ORDERS: dict[str, Obey] = {
    "say": say,
    "file": send_file,
    "edit": edit,
    "tap": tap,
    "update": raw_update,
    "again": deliver_again,
    "chat": new_chat,
    "private-topics": private_topics,
    "remove-topic": remove_topic,
    "topics": shown_topics,
    "block": block,
    "fault": order_fault,
    "clear": clear_faults,
    "rates": set_rates,
    "revoke": revoke,
    "update-ids": restart_update_ids,
    "standing": lambda world, _: world.standing(),
    "messages": lambda world, order: world.shown(_known(world, order)),
    "calls": _calls,
    "faults": lambda world, _: world.faults,
}
