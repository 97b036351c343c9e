"""Telegram as a channel: wires the bot's gateway, its surface and its receivers to the chat of the kit."""

import dataclasses
from collections.abc import Sequence
from functools import partial

import anyio
from starlette.routing import BaseRoute

from farhand.channels.kit.background import BackgroundJobs
from farhand.channels.kit.chat import Chat, ChatParts, about_chat
from farhand.channels.kit.chat_channel import ChatChannel
from farhand.channels.kit.health import ChatHealth
from farhand.channels.kit.sendable_files import SendableFiles
from farhand.channels.kit.surface import KnowsManager
from farhand.channels.kit.texts import About, redacted
from farhand.channels.kit.who_may_speak import Pairing, StoredManager, WhoMaySpeak
from farhand.channels.kit.worker_folders import WorkerFolders
from farhand.channels.telegram.gateway import Gateway
from farhand.channels.telegram.inbound import TelegramInbound
from farhand.channels.telegram.menu import TelegramMenu
from farhand.channels.telegram.outbound import NAME, TelegramSurface
from farhand.channels.telegram.receive import PollingReceiver, WebhookReceiver
from farhand.channels.telegram.settings import TelegramSettings, group_limit, manager_of, read_settings
from farhand.channels.telegram.sign_in import MiniAppSignIn
from farhand.channels.telegram.state_files import TelegramStored
from farhand.channels.telegram.switch import SwitchingReceiver
from farhand.channels.telegram.topics import WorkerTopics
from farhand.model.channel_ports import Channel, ChannelContext
from farhand.model.errors import NotAllowed
from farhand.model.grammar import CHAT
from farhand.model.known_secrets import KnownSecrets
from farhand.model.words import replace


def build(context: ChannelContext) -> list[Channel]:
    """The channel of the bot whose token is set, if one is."""
    settings = read_settings(context.variables)
    return [TelegramChannel(settings, context)] if settings else []


class TelegramChannel(ChatChannel):
    """One bot, one manager, the whole team. While the node has a public address, the bot has a webhook there; else it
    polls."""

    name = NAME

    def __init__(self, settings: TelegramSettings, context: ChannelContext) -> None:
        stored = TelegramStored(context.folder)
        secret = stored.webhook_secret(settings.webhook_secret)
        show = context.peers.show_at_terminal
        pairing = Pairing(show) if settings.pairing else None
        preset = manager_of(settings.admin_chat_id) if settings.admin_chat_id else None
        known = StoredManager(context.managers, NAME, preset, stored)
        members = WhoMaySpeak(known, pairing, settings.people, context.clock.now())
        health = ChatHealth(TelegramSurface.title, context.clock, context.peers)
        self._gateway = Gateway(
            settings.token,
            settings.api_url,
            files=SendableFiles(
                context.sessions,
                context.working_directory,
                node=context.folder,
                secrets=partial(secrets_in_use, context, settings.token, secret),
            ),
            folder=WorkerFolders(context.hub, context.sees).of,
            answer_seconds=settings.answer_seconds,
            poll_seconds=settings.poll_seconds,
        )
        background = BackgroundJobs()
        self._topics = WorkerTopics(self._gateway, context.hub, context.clock, stored)
        surface = TelegramSurface(self._gateway, settings.bot, context.outbox, context.clock, background, self._topics)
        self._tunnel = context.tunnel if settings.mini_app and not context.public_url else None
        app_url = partial(app_address, settings, context)
        self._menu = TelegramMenu(self._gateway, context.hub, context.clock, stored, health, members, show, app_url)
        about = partial(about_bot, settings, context, stored, members)
        parts = ChatParts(
            surface,
            members,
            health,
            dataclasses.replace(settings.limits, own_limit=group_limit),
            about,
            background,
            (self._menu, self._topics),
            settings.answers,
            link_follows=True,
            slashes=CHAT,
        )
        super().__init__(Chat(parts, context))
        self._sign_in = MiniAppSignIn(settings.token, context.clock, members.is_manager) if settings.mini_app else None
        inbound = TelegramInbound(self._chat, surface, settings.bot, self._topics)
        self._webhook = WebhookReceiver(self._gateway, inbound, health, context.clock, stored, secret)
        polling = PollingReceiver(self._gateway, inbound, health, context.clock, stored)
        self._receiver = SwitchingReceiver(polling, self._webhook, context.public_url, context.tunnel, context.peers)

    async def run(self) -> None:
        """Serves until it is cancelled."""
        async with self._gateway.open(), self._chat.opened(), anyio.create_task_group() as tasks:
            tasks.start_soon(self._menu.run, name="telegram menu")
            tasks.start_soon(self._topics.run, name="telegram topics")
            tasks.start_soon(self._follow_address, name="telegram app address")
            await self._receiver.run()

    async def _follow_address(self) -> None:
        """The button that opens the app leads to wherever the node is now."""
        while self._tunnel is not None:
            await self._tunnel.changed(self._tunnel.url)
            self._menu.wake()

    def public_routes(self) -> Sequence[BaseRoute]:
        """The webhook, which asks for its secret."""
        return [self._webhook.route()]

    def signed_in(self, proof: str) -> str:
        """Whoever opened the bot's Mini App, if it is the manager and the settings allow it."""
        if self._sign_in is None:
            raise NotAllowed("This node has no Mini App: TELEGRAM_MINI_APP is not set.")
        return self._sign_in.person(proof)


def address_of(context: ChannelContext) -> str:
    """Where Telegram can call the node now."""
    return context.way_in


def app_address(settings: TelegramSettings, context: ChannelContext) -> str:
    """Where Telegram's own app can open the phone app; only over https, and where that is wanted."""
    url = address_of(context)
    return f"{url.rstrip('/')}/app/" if settings.mini_app and url.startswith("https://") else ""


def secrets_in_use(context: ChannelContext, token: str, webhook_secret: str) -> KnownSecrets:
    """What no file that is sent may hold: the bot's own secrets, the token also without its number, and the node's."""
    own = {webhook_secret: "the webhook's secret", token.partition(":")[2]: "the bot's token", token: "the bot's token"}
    return context.secrets_in_use().and_also(own)


def about_bot(settings: TelegramSettings, context: ChannelContext, stored: TelegramStored, who: KnowsManager) -> About:
    """What `/settings` says of the bot; its secrets are cut short."""
    secret = settings.webhook_secret or (stored.webhook_secret("") if address_of(context) else "")
    told = about_chat(context, who)
    return replace(told, token=redacted(settings.token), webhook_secret=redacted(secret) if secret else "")
