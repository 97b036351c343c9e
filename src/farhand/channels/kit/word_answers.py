"""Takes words for answers in a chat: a reply to a question, a label, yes or no, a number, `@ann 2`.

What is no answer while a question waits is asked back, and stays in the slot of the card that asks: it reaches the
agent only when the manager says so."""

from farhand.channels.kit.ask_cards import LABEL_CHARACTERS
from farhand.channels.kit.background import BackgroundJobs
from farhand.channels.kit.bot import Bot
from farhand.channels.kit.card import AnswerTap, Button, Card, HeldTap, disarmed, removal, shortened
from farhand.channels.kit.held_texts import (
    AFTER,
    ANSWER,
    DENY,
    HELD,
    HERE,
    OTHER,
    STOP,
    HeldText,
    held_in,
    not_said,
    say_it,
    slot_of,
    slots_of,
)
from farhand.channels.kit.hiring import FindsSlots
from farhand.channels.kit.overview import open_asks_of
from farhand.channels.kit.surface import ChatMessage, ChatTap
from farhand.model import commands
from farhand.model.answers import Answered, OutOfRange, denial, is_like_an_answer, meant_yes, read_answer
from farhand.model.errors import StoreError
from farhand.model.facts import AskSettled, Event
from farhand.model.logger import get_logger
from farhand.model.ports import Hub
from farhand.model.present import Ask, Present, Worker
from farhand.model.view import TurnView
from farhand.model.visible import visible
from farhand.model.wishes import Tell, Unsure, Wish
from farhand.model.words import AskKind, Sender

log = get_logger("chat")
ASK = "ask:"
CLOSED = "That question is closed already; this went nowhere."
WHICH = "{worker} has {count} questions open. Reply to the one that you mean, or tap its button."
WHOSE = "Whose question is that for? {names} wait: say it as @name, or reply to the question."
FOR_WHOM = (
    "“{said}” was said to nobody yet. {worker} asks: {question}\n"
    "Reply to that question, tap its button, or write @{worker} {said}. For {focus}: @{focus} {said}."
)
FORGOTTEN = "I no longer know what that was. Send it again, please."


class WordAnswers:
    """The answers of one chat that are given in words."""

    def __init__(self, hub: Hub, bot: Bot, chat: FindsSlots, background: BackgroundJobs) -> None:
        self._hub = hub
        self._bot = bot
        self._chat = chat
        self._background = background
        # The held texts that somebody is deciding about now.
        self._decided: set[str] = set()

    def see(self, event: Event, _: TurnView | None) -> None:
        """A question that is closed waits for nobody: what was held for it says so."""
        if isinstance(event.fact, AskSettled):
            self._background.start("held texts", self._close, event.worker, event.fact.ask)

    async def _close(self, worker: str, ask: str) -> None:
        try:
            for slot in await self._chat.slots(slots_of(worker, ask)):
                if slot not in self._decided:
                    await self._chat.show(not_said(slot))
        except StoreError as error:
            log.error("what was held still says that it waits", error=error.text)

    async def take(self, message: ChatMessage, wish: Wish | None, sender: Sender) -> str | None:
        """What there is to say about a text that was an answer, or that was asked back; None for any other text."""
        if not isinstance(wish, Tell) or wish.everybody or message.edits or message.foreign or message.file:
            return None
        present = await self._hub.look()
        asked = await self._replied_to(message)
        if asked:
            return await self._take_reply(message, wish, present.ask(asked), sender)
        if _is_known(message.id, present):
            return None
        given = words_of(message, wish)
        worker = present.workers.get(wish.worker or present.focus)
        waiting = open_asks_of(worker) if worker else []
        if worker is None or not waiting:
            return None if wish.worker else await self._take_for_others(message, given, present, sender)
        if len(waiting) > 1 and is_like_an_answer(given):
            return WHICH.format(worker=worker.name, count=len(waiting))
        return await self._answer(message, wish, given, waiting[0], sender, addressed=bool(wish.worker))

    async def _replied_to(self, message: ChatMessage) -> str:
        """The id of the ask whose card the message replies to."""
        if message.quoted is None:
            return ""
        slot = await self._chat.slot_of(message.chat, message.quoted.reference)
        return slot.removeprefix(ASK) if slot.startswith(ASK) else ""

    async def _take_reply(self, message: ChatMessage, wish: Tell, ask: Ask | None, sender: Sender) -> str | None:
        if ask is None:
            return CLOSED if is_like_an_answer(message.text) else None
        if ask.settled is not None:
            # The hub says who was first, and knows a repeat of the very answer.
            late = read_answer(message.text, ask, addressed=True)
            return await self._send(message, ask, late, sender) if isinstance(late, Answered) else None
        return await self._answer(message, wish, message.text, ask, sender, addressed=True)

    async def _take_for_others(self, message: ChatMessage, given: str, present: Present, sender: Sender) -> str | None:
        """A plain yes, no or number while somebody else than the focused worker asks: it may as well be meant for the
        focused one, so that it never allows anything."""
        asks = [ask for worker in present.workers.values() for ask in open_asks_of(worker)]
        refuses = len(asks) == 1 and isinstance(read_answer(given, asks[0]), Answered)
        if not asks or not (refuses or is_like_an_answer(given)):
            return None
        if len(asks) > 1:
            return WHOSE.format(names=", ".join(dict.fromkeys(f"@{ask.worker}" for ask in asks)))
        ask, said = asks[0], shortened(given, 80)
        if present.focus in present.workers:
            question = shortened(" ".join(ask.question.split()), 120)
            return FOR_WHOM.format(said=said, worker=ask.worker, question=question, focus=present.focus)
        read = read_answer(given, ask)
        return read.text if isinstance(read, OutOfRange) else await self._send(message, ask, read, sender)

    async def _answer(
        self, message: ChatMessage, wish: Tell, given: str, ask: Ask, sender: Sender, *, addressed: bool
    ) -> str:
        match read_answer(given, ask, addressed=addressed):
            case Answered() as read:
                return await self._send(message, ask, read, sender) or ""
            case OutOfRange() as read:
                return read.text
            case None:
                await self._chat.show(asked_back(message, ask, wish.text, given), message.chat)
                return ""

    async def _send(self, message: ChatMessage, ask: Ask, read: Answered | None, sender: Sender) -> str | None:
        if read is None:
            return None
        answer = commands.Answer(id=message.id, ask=ask.id, choice=read.choice, note=read.note)
        return await self._bot.obey(answer, sender)

    async def take_tap(self, tap: ChatTap, what: str, sender: Sender) -> str:
        """Does with a held text what the button says."""
        slot = await self._chat.slot_of(tap.chat, tap.reference)
        if not slot.startswith(HELD):
            return FORGOTTEN
        self._decided.add(slot)
        try:
            return await self._decide(tap, slot, what, sender)
        finally:
            self._decided.discard(slot)

    async def typed(self, tap: ChatTap, what: str) -> str:
        """The command that does here what the held text says; empty for any other tap."""
        slot = await self._chat.slot_of(tap.chat, tap.reference) if what == HERE else ""
        command = held_in(slot).command if slot.startswith(HELD) else ""
        return f"/{command}" if command else ""

    async def drop(self, tap: ChatTap) -> None:
        """Takes away the card whose button did something else with the text that it holds."""
        slot = await self._chat.slot_of(tap.chat, tap.reference)
        if slot.startswith(HELD):
            await self._chat.show(removal(slot), tap.chat)

    async def _decide(self, tap: ChatTap, slot: str, what: str, sender: Sender) -> str:
        held = held_in(slot)
        if held.back:
            return await self._say_back(tap, slot, held, sender)
        ask = (await self._hub.look()).ask(held.ask)
        if what == STOP:
            stop = commands.Interrupt(id=f"{held.message}:{what}", worker=held.worker, withdraw=True)
            said = await self._bot.obey(stop, sender)
        elif what == AFTER:
            said = await self._bot.obey(Tell(id=held.message, text=held.text, worker=held.worker), sender)
        elif what == OTHER:
            said = await self._bot.obey(Tell(id=held.message, text=held.other_text, worker=held.other), sender)
        elif ask is None or ask.settled is not None:
            return CLOSED
        else:
            choice = denial(ask) if what == DENY else _free_choice(ask)
            said = await self._bot.obey(
                commands.Answer(id=f"{held.message}:{what}", ask=ask.id, choice=choice, note=held.given or held.text),
                sender,
            )
        await self._chat.show(removal(slot), tap.chat)
        return said

    async def _say_back(self, tap: ChatTap, slot: str, held: HeldText, sender: Sender) -> str:
        """Says what a stop took back, in its order; tapped twice, it is said once."""
        replies = []
        for place, one in enumerate(held.back):
            say = commands.Say(
                id=f"{held.message}:{place}", worker=held.worker, text=one.text, attachments=one.attachments
            )
            replies.append(await self._bot.obey(say, sender))
        refused = "\n".join(dict.fromkeys(filter(None, replies)))
        if not refused:
            await self._chat.show(disarmed(slot), tap.chat)
        return refused


def words_of(message: ChatMessage, wish: Tell) -> str:
    """What was said, without the name of whom it is said to, and without what a reply quotes."""
    return wish.text if wish.worker and message.quoted is None else message.text


def _is_known(message: str, present: Present) -> bool:
    """Whether the message was taken before and its worker is at it: it came once more, and is no answer."""
    return any(_has(worker, message) for worker in present.workers.values())


def _has(worker: Worker, message: str) -> bool:
    running = (worker.turn.message,) if worker.turn and worker.turn.message else ()
    return any(one.id.partition(":")[2].partition("~")[0] == message for one in (*running, *worker.queue))


def _free_choice(ask: Ask) -> str:
    """The choice that is made by words."""
    return next((choice.id for choice in ask.choices if choice.allows and choice.words), "")


def asked_back(message: ChatMessage, ask: Ask, text: str, given: str) -> Card:
    """Asks what shall become of a text that is no answer; its slot keeps the text."""
    held = HeldText(worker=ask.worker, ask=ask.id, message=message.id, text=text, given=given if given != text else "")
    slot = slot_of(held)
    after = Button(label="Say it after", tap=HeldTap(what=AFTER))
    buttons = [after]
    if ask.about is AskKind.CHOICE and _free_choice(ask):
        buttons.insert(0, Button(label="Answer with this", tap=HeldTap(what=ANSWER)))
    elif denial(ask):
        buttons.insert(0, Button(label="Deny with this", tap=HeldTap(what=DENY)))
    allow = []
    if allowing := meant_yes(given, ask):
        # Once that is tapped, the card says what was not said to the worker, as after every other answer.
        label = shortened(visible(allowing.label), LABEL_CHARACTERS)
        allow = [(Button(label=label, tap=AnswerTap(ask=ask.id, place=ask.choices.index(allowing))),)]
    return Card(
        key=f"{HELD}{message.id}",
        slot=slot,
        worker=ask.worker,
        topic=ask.worker,
        head=f"{ask.worker} waits for your answer above. “{shortened(given, 80)}” is none of its choices.",
        buttons=(*allow, tuple(buttons)),
        # Whoever believes to have answered must learn that the worker still waits.
        answers_reference=message.reference,
    )


def message_or_order(message: ChatMessage, unsure: Unsure) -> Card:
    """Asks whether words are meant for the worker, where there is nothing that they order or they may be for somebody
    else; its slot keeps them."""
    other, told = unsure.other, unsure.other_text
    held = HeldText(
        worker=unsure.worker,
        ask="",
        message=message.id,
        text=unsure.text,
        other=other,
        other_text=told,
        command=unsure.command,
    )
    first = [Button(label="Stop it", tap=HeldTap(what=STOP))] if unsure.can_stop else []
    if unsure.command:
        first = [Button(label=unsure.label, tap=HeldTap(what=HERE))]
    elif other:
        first = [say_it(other, OTHER)]
    return Card(
        key=f"{HELD}{message.id}",
        slot=slot_of(held),
        worker=unsure.worker,
        topic=message.topic,
        head=unsure.question,
        buttons=((*first, say_it(unsure.worker)),),
        answers_reference=message.reference,
        silent=True,
    )
