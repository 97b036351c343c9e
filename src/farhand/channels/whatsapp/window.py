"""The 24-hour window: WhatsApp takes ordinary messages for a day after the person wrote last, and templates alone after
that."""

from farhand.channels.whatsapp.state_files import WhatsAppStored
from farhand.model.ports import Clock
from farhand.model.words import replace

WINDOW_SECONDS = 24 * 3600.0
# A message that is under way when the window closes would be refused.
MARGIN_SECONDS = 60.0


def is_open(heard_at: float, now: float) -> bool:
    """Whether a message may go now. Pure."""
    return now < heard_at + WINDOW_SECONDS - MARGIN_SECONDS


class MessagingWindow:
    """When the manager wrote last, over restarts."""

    def __init__(self, stored: WhatsAppStored, clock: Clock) -> None:
        self._stored = stored
        self._clock = clock

    def heard(self, chat: str, at: float) -> None:
        """The person wrote then, or now where nobody says when; a message that comes late closes nothing."""
        state = self._stored.state(chat)
        # WhatsApp tells whole seconds.
        when = float(int(min(at or self._clock.now(), self._clock.now() + MARGIN_SECONDS)))
        if when > state.heard_at or (state.closed and when >= state.heard_at):
            self._stored.keep(replace(state, heard_at=when, closed=False))

    def refused(self, chat: str) -> None:
        """WhatsApp says that it is closed."""
        self._stored.keep(replace(self._stored.state(chat), closed=True))

    def is_open(self, chat: str) -> bool:
        """Whether a message to that chat may go now."""
        state = self._stored.state(chat)
        return not state.closed and is_open(state.heard_at, self._clock.now())

    def name(self, chat: str) -> str:
        """Names this window, open or closed: the next message of the person begins another one."""
        return f"{self._stored.state(chat).heard_at:.0f}"
