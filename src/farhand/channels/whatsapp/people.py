"""Whose messages these are: the manager's by number or by BSUID, whichever WhatsApp shows, or a stranger's."""

from farhand.channels.kit.surface import KnowsManager
from farhand.channels.whatsapp.settings import WhatsAppIdentity
from farhand.channels.whatsapp.state_files import WhatsAppState, WhatsAppStored
from farhand.model.logger import get_logger
from farhand.model.words import replace

log = get_logger("whatsapp")


def is_same(known: WhatsAppIdentity, who: WhatsAppIdentity) -> bool:
    """Whether it is the same person. A number can be given to somebody else, a BSUID cannot: where both are known, it
    decides. Pure."""
    if known.bsuid and who.bsuid:
        return known.bsuid == who.bsuid
    return bool(known.number) and known.number == who.number


class WhatsAppPeople:
    """Knows the manager's number and BSUID: those that are set, and the other one once both were seen together."""

    def __init__(self, preset: WhatsAppIdentity, manager: KnowsManager, stored: WhatsAppStored) -> None:
        self._preset = preset
        self._manager = manager
        self._stored = stored

    def chat_of(self, who: WhatsAppIdentity) -> str:
        """The chat of that person: the manager's own, or a stranger's."""
        chat = self._manager.chat
        return chat if chat and is_same(self._known(chat), who) else (who.bsuid or who.number)

    def note(self, who: WhatsAppIdentity) -> None:
        """The manager wrote under this number and BSUID: what was not known of them is from now on."""
        chat = self._manager.chat
        state, known = self._stored.state(chat), self._known(chat)
        number, bsuid = known.number or who.number, known.bsuid or who.bsuid
        if (number, bsuid) != (state.number, state.bsuid):
            log.info("manager known by", number=bool(number), bsuid=bool(bsuid))
            self._stored.keep(replace(state, number=number, bsuid=bsuid))

    def _known(self, chat: str) -> WhatsAppIdentity:
        state: WhatsAppState = self._stored.state(chat)
        preset = self._preset if self._preset.chat == chat else WhatsAppIdentity()
        own = WhatsAppIdentity(number=chat) if chat.isdigit() else WhatsAppIdentity(bsuid=chat)
        return WhatsAppIdentity(
            number=preset.number or state.number or own.number, bsuid=preset.bsuid or state.bsuid or own.bsuid
        )
