"""What taps on buttons do: obeyed at once, drawn again, or followed by a request for words that settle the ask."""

from collections.abc import Collection

from farhand.channels.kit.ask_cards import open_ask
from farhand.channels.kit.bot import Bot
from farhand.channels.kit.card import Card, plain_notice, removal, shortened
from farhand.channels.kit.held_texts import say_after_all, taken_back
from farhand.channels.kit.hire_taps import HireTap
from farhand.channels.kit.hiring import FindsSlots, HireButtons, short_path
from farhand.channels.kit.queue_cards import (
    QUEUE,
    REPLY_TO_THIS,
    RewordRequest,
    queue_anew,
    request_for_rewording,
    reword_request,
)
from farhand.channels.kit.surface import ChatMessage, ChatTap, QuotedMessage
from farhand.channels.kit.tap_data import (
    ChoiceWantsWords,
    MessageWantsWords,
    TappedChoice,
    answer,
    is_about_queue,
    mask,
    places,
    tap_to_wish,
)
from farhand.channels.kit.texts import REWORDED, done, paused
from farhand.model import commands
from farhand.model.ports import Hub
from farhand.model.present import Ask, Present, Worker
from farhand.model.words import Sender, replace

WORDS = "words"
UNKNOWN_REQUEST = "I no longer know what this was asked for, so it went nowhere. Tap the button again, please."
WORDS_ONLY = "I can bring words alone to this question. Write them as a reply, please."
REWORDS_ONLY = "Only words can take the place of words. Write them as a reply, please."
TOO_LATE = "That message waits no more: it was begun or taken back, and this went nowhere."
WRITE = "Write it as a reply to my message."
NOT_NOW = "{worker} cannot be spoken to in mid-turn: your message waits for its own."
STEERED = "It goes into the running turn as soon as {worker} takes it."


class Taps:
    """The buttons of one chat. What somebody has ticked and not sent is in the buttons themselves: no state here."""

    def __init__(self, hub: Hub, bot: Bot, chat: FindsSlots, steers: Collection[str], hiring: HireButtons) -> None:
        self._hub = hub
        self._bot = bot
        self._chat = chat
        self._steers = steers
        self._hiring = hiring

    async def take(self, tap: ChatTap, sender: Sender) -> str:
        """Obeys a tap; the few words that the surface shows for it. A list of what waits follows what became of it."""
        slot = await self._chat.slot_of(tap.chat, tap.reference) if is_about_queue(tap) else ""
        said = await self._take(tap, slot, sender)
        await self._list_anew(slot, tap.id, tap.chat)
        return said

    async def _list_anew(self, slot: str, cause: str, chat: str) -> None:
        if slot.startswith(QUEUE):
            present = await self._hub.look()
            await self._chat.show(queue_anew(slot, f"{slot}:{cause}", present, self._steers), chat)

    async def _take(self, tap: ChatTap, slot: str, sender: Sender) -> str:
        present = await self._hub.look()
        match tap_to_wish(tap, present):
            case TappedChoice(ask=ask, chosen=chosen):
                await self._chat.show(open_ask(ask, chosen, f"ask:{ask.id}:picked:{tap.id}"), tap.chat)
                return "✓" if chosen else "Nothing is chosen."
            case ChoiceWantsWords(ask=ask, chosen=chosen):
                await self._chat.show(request_for_words(tap.id, ask, chosen), tap.chat)
                return WRITE
            case MessageWantsWords(worker=worker, message=message):
                await self._chat.show(request_for_rewording(tap.id, worker, message, slot), tap.chat)
                return WRITE
            case commands.Steer() as steer:
                return await self.steer(steer, sender)
            case commands.Interrupt() as stop:
                return await self._stop(tap, stop, present, sender)
            case commands.Relaunch() as relaunch:
                return await self._relaunch(relaunch, present.workers.get(relaunch.worker), sender)
            case HireTap() as chosen:
                return await self._hiring.take(tap, chosen, sender)
            case wish:
                return await self._bot.obey(wish, sender)

    async def _relaunch(self, relaunch: commands.Relaunch, worker: Worker | None, sender: Sender) -> str:
        """Starts an agent again, and says as what: nothing of its hiring is chosen anew."""
        said = await self._bot.obey(relaunch, sender)
        if worker is None or said != done(relaunch, worker.name):
            return said
        return f"Starting {worker.name} again: {worker.backend}, mode {worker.mode}, in {short_path(worker.directory)}"

    async def _stop(self, tap: ChatTap, stop: commands.Interrupt, before: Present, sender: Sender) -> str:
        """Stops a worker; what that takes back is named in a message, with a button that says it after all."""
        worker = before.workers.get(stop.worker)
        said = await self._bot.obey(stop, sender)
        first, _, rest = said.partition("\n")
        if first != paused(stop.worker):
            return said
        if taken_back(worker):
            card = replace(plain_notice(f"stop:{tap.id}", said, silent=True), topic=stop.worker)
            await self._chat.show(say_after_all(card, stop.id, worker), tap.chat)
        return rest

    async def steer(self, steer: commands.Steer, sender: Sender) -> str:
        """Puts a message that waits into the running turn, where the agent can; what there is to say about it."""
        workers = (await self._hub.look()).workers.values()
        waits = [one for one in workers if any(queued.id == steer.message for queued in one.queue)]
        if waits and waits[0].kind not in self._steers:
            return NOT_NOW.format(worker=waits[0].name)
        return await self._bot.obey(steer, sender) or STEERED.format(worker=waits[0].name if waits else "the worker")

    async def words(self, message: ChatMessage, sender: Sender) -> str | None:
        """Takes a reply to one of our requests for words; None when the message is no such reply."""
        quoted = message.quoted
        if quoted is None or message.edits or message.foreign:
            return None
        slot = await self._chat.slot_of(message.chat, quoted.reference)
        if not slot and _is_request(quoted):
            return UNKNOWN_REQUEST
        if request := reword_request(slot):
            return await self._reword(message, request, slot, sender)
        kind, _, rest = slot.partition(":")
        given, _, rest = rest.partition(":")
        ask = rest.partition(":")[2]
        chosen = places(given)
        if kind != WORDS or chosen is None:
            return None
        if not message.text.strip():
            return WORDS_ONLY
        reply = await self._settle(message.id, ask, chosen, message.text.strip(), sender)
        await self._chat.show(removal(slot), message.chat)
        return reply

    async def _reword(self, message: ChatMessage, request: RewordRequest, slot: str, sender: Sender) -> str:
        """Says a message that waits otherwise; what waits no more is not said a second time."""
        if not message.text.strip():
            return REWORDS_ONLY
        reword = commands.Reword(id=message.id, message=request.message, text=message.text.strip())
        said = await self._bot.obey(reword, sender)
        await self._chat.show(removal(slot), message.chat)
        await self._list_anew(request.shown_in, message.id, message.chat)
        waits = (one.id for worker in (await self._hub.look()).workers.values() for one in worker.queue)
        return said if said in {REWORDED, ""} or request.message in waits else TOO_LATE

    async def _settle(self, identity: str, ask: str, chosen: tuple[int, ...], note: str, sender: Sender) -> str:
        known = (await self._hub.look()).ask(ask)
        # One that is gone goes to the hub all the same: this may be a repeat of the very answer that settled it.
        wish = answer(identity, known, chosen, note) if known else commands.Answer(id=identity, ask=ask, choice="")
        return await self._bot.obey(wish, sender)


def _is_request(quoted: QuotedMessage) -> bool:
    """Whether it asked for words: what settles an ask is never taken for something said to a worker."""
    return quoted.ours and quoted.text.endswith(REPLY_TO_THIS)


def request_for_words(tap: str, ask: Ask, chosen: tuple[int, ...]) -> Card:
    """Asks for the words, as a message that the surface answers with a reply; its slot says what they settle."""
    made = ", ".join(ask.choices[place].label for place in chosen)
    text = f"{ask.worker}: write what goes with “{shortened(made, 200)}” {REPLY_TO_THIS}"
    slot = f"{WORDS}:{mask(chosen)}:{tap}:{ask.id}"
    return Card(
        key=slot, slot=slot, head=text, wants_reply=True, answers_slot=f"ask:{ask.id}", silent=True, topic=ask.worker
    )
