"""Hears Telegram over the webhook while the node has a public address, and by polling while it has none."""

from typing import Protocol

import anyio

from farhand.channels.kit.health import TakesNews
from farhand.channels.telegram.receive import host
from farhand.model.channel_ports import Tunnel
from farhand.model.logger import get_logger

log = get_logger("telegram")


class Polls(Protocol):
    """The long poll."""

    async def run(self) -> None:
        """Polls until it is cancelled."""
        ...


class KeepsWebhook(Protocol):
    """The webhook."""

    async def run(self, url: str) -> str:
        """Keeps it at that address until it is cancelled; returns why when Telegram does not get there."""
        ...


class SwitchingReceiver:
    """Whatever becomes of the address, Telegram is heard: an address that Telegram cannot reach is given up."""

    def __init__(
        self, polling: Polls, webhook: KeepsWebhook, public_url: str, tunnel: Tunnel | None, news: TakesNews
    ) -> None:
        self._polling = polling
        self._webhook = webhook
        self._public_url = public_url
        self._tunnel = None if public_url else tunnel
        self._news = news

    async def run(self) -> None:
        """Receives until it is cancelled."""
        if self._tunnel is None:
            await self._receive(self._public_url)
            return
        while True:
            url = self._tunnel.url
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._receive, url)
                await self._tunnel.changed(url)
                tasks.cancel_scope.cancel()

    async def _receive(self, url: str) -> None:
        if url:
            why = await self._webhook.run(url)
            log.warning("webhook given up", host=host(url), why=why)
            if self._tunnel is not None:
                self._tunnel.report_unreachable(url, why)
            else:
                await self._news.announce(f"{why} ({host(url)}). Telegram is polled instead.")
        await self._polling.run()
