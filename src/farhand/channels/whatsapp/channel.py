"""WhatsApp as a channel: builds it where a token is set, and loads the library of its API only then."""

from farhand.channels.whatsapp.settings import read_settings
from farhand.model.channel_ports import Channel, ChannelContext


def build(context: ChannelContext) -> list[Channel]:
    """The channel of the phone number whose token is set, if one is."""
    settings = read_settings(context.variables)
    if settings is None:
        return []
    # Half a second and twenty megabytes, which a node without WhatsApp does not pay.
    from farhand.channels.whatsapp.phone_number import WhatsAppChannel

    return [WhatsAppChannel(settings, context)]
