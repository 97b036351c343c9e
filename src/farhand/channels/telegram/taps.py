"""What taps on buttons do: obeyed at once, drawn again, or followed by a request for words that settle the ask."""

from collections.abc import Awaitable, Callable, Collection

from farhand.channels.kit.bot import Bot
from farhand.channels.kit.card import open_ask, shortened
from farhand.channels.telegram.markup import visible
from farhand.channels.telegram.parse import (
    TappedChoice,
    Wordless,
    answer,
    mask,
    message_command_id,
    places,
    tap_to_wish,
)
from farhand.channels.telegram.render import render
from farhand.channels.telegram.words import CallbackQuery, Post, Quoted, Remove, TelegramMessage, seal
from farhand.model import commands
from farhand.model.ports import Hub, Parcel
from farhand.model.present import Ask, Present
from farhand.model.words import Sender

WORDS = "words"
REPLY_TO_THIS = "as a reply to this message."
UNKNOWN_REQUEST = "I no longer know what this was asked for, so it went nowhere. Tap the button again, please."
WORDS_ONLY = "I can bring words alone to this question. Write them as a reply, please."
WRITE = "Write it as a reply to my message."
NOT_NOW = "{worker} cannot be spoken to in mid-turn: your message waits for its own."
STEERED = "It goes into the running turn as soon as {worker} takes it."


class Taps:
    """The buttons of one bot. What somebody has ticked and not sent is in the buttons themselves: nothing is kept."""

    def __init__(
        self,
        hub: Hub,
        clerk: Bot,
        put: Callable[[Parcel], Awaitable[None]],
        slot_of: Callable[[int, int], Awaitable[str]],
        name: str,
        bot: str,
        steers: Collection[str],
    ) -> None:
        self._hub = hub
        self._clerk = clerk
        self._put = put
        # The slot of one of our messages, by its chat and number.
        self._slot_of = slot_of
        self._name = name
        self._bot = bot
        self._steers = steers

    async def take(self, query: CallbackQuery, chat: int) -> str:
        """Obeys a tap; the few words that Telegram shows for it."""
        present = await self._hub.look()
        sender = Sender(via=self._name, who=query.sender.first_name[:64])
        match tap_to_wish(query, present):
            case TappedChoice(ask=ask, chosen=chosen):
                card = open_ask(ask, chosen, f"ask:{ask.id}:picked:{query.id}")
                for parcel in render(card, chat, self._name, self._bot):
                    await self._put(parcel)
                return "✓" if chosen else "Nothing is chosen."
            case Wordless(ask=ask, chosen=chosen):
                await self._put(_request(query, chat, ask, chosen))
                return WRITE
            case commands.Steer(message=message) as steer:
                return await self._steer(steer, message, present, sender)
            case wish:
                return await self._clerk.obey(wish, sender)

    async def _steer(self, steer: commands.Steer, message: str, present: Present, sender: Sender) -> str:
        waits = [one for one in present.workers.values() if any(queued.id == message for queued in one.queue)]
        if waits and waits[0].kind not in self._steers:
            return NOT_NOW.format(worker=waits[0].name)
        return await self._clerk.obey(steer, sender) or STEERED.format(worker=waits[0].name if waits else "the worker")

    async def words(self, message: TelegramMessage, sender: Sender) -> str | None:
        """Takes a reply to one of our requests for words; None when the message is no such reply."""
        quoted = message.reply_to_message
        if quoted is None or message.edit_date:
            return None
        slot = await self._slot_of(message.chat.id, quoted.message_id)
        if not slot and _is_request(quoted, self._bot):
            return UNKNOWN_REQUEST
        kind, _, rest = slot.partition(":")
        given, _, rest = rest.partition(":")
        ask = rest.partition(":")[2]
        chosen = places(given)
        if kind != WORDS or chosen is None:
            return None
        if not message.text.strip():
            return WORDS_ONLY
        said = await self._settle(message_command_id(message, self._bot), ask, chosen, message.text.strip(), sender)
        removed = seal(Remove(chat=message.chat.id, slot=slot))
        await self._put(Parcel(key=f"{slot}:gone", chat=str(message.chat.id), body=removed))
        return said

    async def _settle(self, identity: str, ask: str, chosen: tuple[int, ...], note: str, sender: Sender) -> str:
        known = (await self._hub.look()).ask(ask)
        # One that is gone goes to the hub all the same: this may be a repeat of the very answer that settled it.
        wish = answer(identity, known, chosen, note) if known else commands.Answer(id=identity, ask=ask, choice="")
        return await self._clerk.obey(wish, sender)


def _is_request(quoted: Quoted, bot: str) -> bool:
    """Whether it asked for words: what settles an ask is never taken for something said to a worker."""
    return quoted.sender is not None and str(quoted.sender.id) == bot and quoted.text.endswith(REPLY_TO_THIS)


def _request(query: CallbackQuery, chat: int, ask: Ask, chosen: tuple[int, ...]) -> Parcel:
    """Asks for the words, as a message that the phone answers with a reply; its slot says what they settle."""
    made = ", ".join(ask.choices[place].label for place in chosen)
    text = visible(f"{ask.worker}: write what goes with “{shortened(made, 200)}” {REPLY_TO_THIS}")
    slot = f"{WORDS}:{mask(chosen)}:{query.id}:{ask.id}"
    post = Post(chat=chat, html="", plain=text, wants_reply=True, reply_to_slot=f"ask:{ask.id}", silent=True)
    return Parcel(key=slot, chat=str(chat), body=seal(post), slot=slot)
