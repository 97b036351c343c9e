"""Keeps the webhook where the node is: its public address is told to Meta whenever it changes."""

import anyio

from farhand.channels.kit.health import ChatHealth
from farhand.channels.whatsapp.gateway import WhatsAppCallFailed, WhatsAppGateway
from farhand.model.channel_ports import Tunnel
from farhand.model.logger import get_logger
from farhand.model.ports import Clock

log = get_logger("whatsapp")
PATH = "/whatsapp"
FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 300.0
NO_ADDRESS = "WhatsApp needs a public address of this node: Meta posts every message there (docs/how-to/reach.md)."


class WebhookRegistration:
    """One phone number's own webhook (Meta calls it an override), which needs nothing but the token."""

    def __init__(
        self,
        gateway: WhatsAppGateway,
        health: ChatHealth,
        clock: Clock,
        phone_id: str,
        verify_token: str,
        public_url: str,
        tunnel: Tunnel | None,
    ) -> None:
        self._gateway = gateway
        self._health = health
        self._clock = clock
        self._phone_id = phone_id
        self._verify_token = verify_token
        self._public_url = public_url
        self._tunnel = None if public_url else tunnel

    async def run(self) -> None:
        """Registers until it is cancelled."""
        self._health.mode = "webhook"
        if self._tunnel is None:
            await self._keep(self._public_url)
            return
        while True:
            url = self._tunnel.url
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep, url)
                await self._tunnel.changed(url)
                tasks.cancel_scope.cancel()

    async def _keep(self, url: str) -> None:
        """Registers that address, however often Meta has to be asked."""
        if not url:
            await self._health.report_problem(NO_ADDRESS, "address")
            await anyio.sleep_forever()
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                await self._register(f"{url.rstrip('/')}{PATH}")
                await self._health.report_working()
                await anyio.sleep_forever()
            except WhatsAppCallFailed as error:
                await self._health.report_problem(f"The webhook cannot be registered: {error.text}", error.why)
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def _register(self, address: str) -> None:
        asked = self._gateway.client.api.set_phone_alternate_callback_url(
            override_callback_uri=address, verify_token=self._verify_token, phone_id=self._phone_id
        )
        await self._gateway.call(asked)
        log.info("webhook registered")
