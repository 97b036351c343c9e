"""Pushes updates to webhooks as Telegram does: in order, with the secret, and again until they are taken."""

from __future__ import annotations

import time
from typing import Any

import anyio
import httpx2

from farhand.testing.http import local_client
from farhand.testing.telegram.bell import Bell
from farhand.testing.telegram.world import FakeWebhook, World

FIRST_PAUSE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 1.0
ANSWER_SECONDS = 30.0
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"


async def push_once(client: httpx2.AsyncClient, webhook: FakeWebhook, update: dict[str, Any]) -> int:
    """Delivers one update; the status that came back, or 0 when nothing did."""
    headers = {SECRET_HEADER: webhook.secret} if webhook.secret else {}
    try:
        answer = await client.post(webhook.url, json=update, headers=headers)
    except httpx2.HTTPError as error:
        webhook.last_error, webhook.last_error_date = str(error) or type(error).__name__, int(time.time())
        return 0
    if not 200 <= answer.status_code < 300:
        webhook.last_error = f"Wrong response from the webhook: {answer.status_code} {answer.reason_phrase}"
        webhook.last_error_date = int(time.time())
    return answer.status_code


async def push_for_ever(worlds: dict[str, World], new_world: Bell) -> None:
    """Watches every bot there is or will be, and pushes for those that have a webhook."""
    watched: set[str] = set()
    async with local_client(timeout=ANSWER_SECONDS) as client, anyio.create_task_group() as tasks:
        while True:
            seen = new_world.count
            for token in worlds.keys() - watched:
                watched.add(token)
                tasks.start_soon(_push_for, client, worlds[token])
            await new_world.wait(seen, 3600)


async def _push_for(client: httpx2.AsyncClient, world: World) -> None:
    pause = FIRST_PAUSE_SECONDS
    while True:
        seen, webhook = world.bell.count, world.webhook
        if webhook is None or not world.pending or world.revoked:
            await world.bell.wait(seen, 3600)
            continue
        batch = list(world.pending)[: webhook.max_connections]
        if await _push_batch(client, world, webhook, batch):
            pause = FIRST_PAUSE_SECONDS
        else:
            await anyio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


async def _push_batch(
    client: httpx2.AsyncClient, world: World, webhook: FakeWebhook, batch: list[dict[str, Any]]
) -> bool:
    """As many at once as the webhook allows; what was taken is forgotten. False when one was not."""
    taken: list[dict[str, Any]] = []

    async def push(update: dict[str, Any]) -> None:
        if 200 <= await push_once(client, webhook, update) < 300:
            taken.append(update)

    async with anyio.create_task_group() as tasks:
        for update in batch:
            tasks.start_soon(push, update)
    for update in taken:
        for place, pending in enumerate(world.pending):
            if pending is update:
                del world.pending[place]
                break
    world.bell.ring()
    return len(taken) == len(batch)
