"""One business phone number as a channel: wires its gateway, surface, window and webhook to the chat of the kit."""

from collections.abc import Sequence
from functools import partial

from starlette.routing import BaseRoute

from farhand.channels.kit.background import BackgroundJobs
from farhand.channels.kit.chat import Chat, ChatParts, about_chat
from farhand.channels.kit.chat_channel import ChatChannel
from farhand.channels.kit.health import ChatHealth
from farhand.channels.kit.long_answers import AnswerLimits
from farhand.channels.kit.sendable_files import SendableFiles
from farhand.channels.kit.surface import KnowsManager
from farhand.channels.kit.texts import About, redacted
from farhand.channels.kit.who_may_speak import Pairing, StoredManager, WhoMaySpeak
from farhand.channels.kit.worker_folders import WorkerFolders
from farhand.channels.whatsapp.gateway import WhatsAppGateway
from farhand.channels.whatsapp.inbound import WhatsAppInbound
from farhand.channels.whatsapp.people import WhatsAppPeople
from farhand.channels.whatsapp.receive import WhatsAppWebhook
from farhand.channels.whatsapp.registration import WebhookRegistration
from farhand.channels.whatsapp.settings import WhatsAppSettings, manager_of
from farhand.channels.whatsapp.state_files import WhatsAppStored
from farhand.channels.whatsapp.surface import NAME, WhatsAppSurface
from farhand.channels.whatsapp.window import MessagingWindow
from farhand.model.channel_ports import ChannelContext
from farhand.model.known_secrets import KnownSecrets
from farhand.model.words import replace

# A long answer is one file of a message with its beginning; it is never cut into pages.
LONGEST_ANSWER = 1_000_000


class WhatsAppChannel(ChatChannel):
    """One phone number, one manager, the whole team."""

    name = NAME

    def __init__(self, settings: WhatsAppSettings, context: ChannelContext) -> None:
        stored = WhatsAppStored(context.folder)
        verify_token = stored.verify_token(settings.verify_token)
        # Anybody can find a business number: nobody becomes the manager there by writing first.
        pairing = Pairing(context.peers.show_at_terminal)
        known = StoredManager(context.managers, NAME, manager_of(settings.manager))
        members = WhoMaySpeak(known, pairing, (), context.clock.now())
        health = ChatHealth(WhatsAppSurface.title, context.clock, context.peers)
        self._gateway = WhatsAppGateway(
            settings,
            files=SendableFiles(
                context.sessions,
                context.working_directory,
                node=context.folder,
                secrets=partial(secrets_in_use, context, settings, verify_token),
            ),
            folder=WorkerFolders(context.hub, context.sees).of,
        )
        background = BackgroundJobs()
        window = MessagingWindow(stored, context.clock)
        surface = WhatsAppSurface(self._gateway, settings, context.outbox, window, context.clock, background)
        limits = AnswerLimits(characters=LONGEST_ANSWER, most_characters=LONGEST_ANSWER)
        parts = ChatParts(
            surface,
            members,
            health,
            settings.limits,
            partial(about_number, settings, context, members),
            background,
            answers=limits,
            quiet=True,
            team_buttons=True,
        )
        super().__init__(Chat(parts, context))
        people = WhatsAppPeople(settings.manager, members, stored)
        inbound = WhatsAppInbound(self._chat, surface, people, window, settings.phone_id)
        self._webhook = WhatsAppWebhook(inbound, health, settings.phone_id, settings.app_secret, verify_token)
        self._registration = WebhookRegistration(
            self._gateway, health, context.clock, settings.phone_id, verify_token, context.public_url, context.tunnel
        )

    async def run(self) -> None:
        """Serves until it is cancelled."""
        async with self._gateway.open(), self._chat.opened():
            await self._registration.run()

    def public_routes(self) -> Sequence[BaseRoute]:
        """The webhook, which wants Meta's signature."""
        return self._webhook.routes()


def secrets_in_use(context: ChannelContext, settings: WhatsAppSettings, verify_token: str) -> KnownSecrets:
    """What no file that is sent may hold: the number's own secrets, and the node's."""
    own = {
        settings.token: "WhatsApp's token",
        settings.app_secret: "the app's secret",
        verify_token: "the webhook's token",
    }
    return context.secrets_in_use().and_also(own)


def about_number(settings: WhatsAppSettings, context: ChannelContext, who: KnowsManager) -> About:
    """What `/settings` says of the number; its secrets are cut short."""
    told = about_chat(context, who)
    return replace(told, token=redacted(settings.token), webhook_secret=redacted(settings.app_secret))
