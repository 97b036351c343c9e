"""From messages and taps to commands: checks who speaks, reads what is meant, has it done, and replies."""

import anyio
import anyio.to_thread

from farhand.channels.kit import texts
from farhand.channels.kit.background import BackgroundJobs
from farhand.channels.kit.bot import Bot
from farhand.channels.kit.card import Card, plain_notice
from farhand.channels.kit.hiring import HireButtons
from farhand.channels.kit.inbox import ChatInbox
from farhand.channels.kit.mode_cards import ModeCards
from farhand.channels.kit.outbound import Outbound
from farhand.channels.kit.patience import FetchPatience
from farhand.channels.kit.pending_files import PendingFiles
from farhand.channels.kit.reply_buttons import team_buttons, with_buttons
from farhand.channels.kit.surface import ChatMessage, ChatSurface, ChatTap, NotFetched, is_command
from farhand.channels.kit.tap_data import held_choice, typed_command, voice_choice
from farhand.channels.kit.taps import Taps
from farhand.channels.kit.topic_wishes import named_command, with_worker
from farhand.channels.kit.voice_notes import DROPPED, FORGOTTEN, SEND, SENT, HeardMessage, SpokenMessages
from farhand.channels.kit.who_may_speak import WhoMaySpeak
from farhand.channels.kit.word_answers import WordAnswers, message_or_order, words_of
from farhand.model import commands, grammar
from farhand.model.channel_ports import ChannelContext
from farhand.model.errors import StoreError
from farhand.model.grammar import CHAT
from farhand.model.logger import get_logger
from farhand.model.present import Present
from farhand.model.slash import Surface
from farhand.model.wishes import InfoRequest, Tell, Unsure, Wish
from farhand.model.words import Sender, replace

log = get_logger("chat")
LONGEST_NAME = 64


class Inbound:
    """Obeys the manager; everybody else is passed over."""

    def __init__(
        self,
        surface: ChatSurface,
        context: ChannelContext,
        members: WhoMaySpeak,
        bot: Bot,
        outbound: Outbound,
        background: BackgroundJobs,
        slashes: Surface,
        *,
        greets: bool = True,
        team_buttons: bool = False,
    ) -> None:
        self._surface = surface
        self._context = context
        self._members = members
        self._bot = bot
        self._outbound = outbound
        self._queue = outbound.queue
        self._background = background
        self._slashes = slashes
        self._hiring = HireButtons(context.hub, bot, outbound.queue, context.agents, context.working_directory)
        self._taps = Taps(context.hub, bot, outbound.queue, context.steers, self._hiring)
        self._answers = WordAnswers(context.hub, bot, outbound.queue, background)
        outbound.observe(self._answers)
        outbound.observe(ModeCards(context.hub, outbound.queue, background, context.models))
        self._inbox = ChatInbox(surface, context.peers)
        self._pending = PendingFiles(context.folder / "fetching" / surface.name)
        self._spoken = SpokenMessages(surface, outbound.queue, context.voice)
        self._patience = FetchPatience()
        self._greeted = not greets
        self._team_buttons = team_buttons
        # What the greeting adds for whoever has just become the manager; said once.
        self._first_words = ""

    async def take(self, said: ChatMessage | ChatTap) -> bool:
        """Obeys a message or a tap, and returns once that is written down: only then may the surface be told that we
        have it. False for what did not come from the manager. Taken twice, it is obeyed once."""
        await self._outbound.wait_for_cursor()
        is_first = not self._members.chat
        if not self._members.may(said):
            return False
        if isinstance(said, ChatTap):
            await self._take_tap(said)
            return True
        if is_first:
            await self._welcome(said)
        # The answer to `/start` is a greeting itself.
        self._greeted = self._greeted or is_command(said, "start")
        await self.greet()
        if said.id != self._members.code_message or is_command(said, "start"):
            await self._take_message(said)
        return True

    async def _welcome(self, said: ChatMessage) -> None:
        """Somebody has become the manager: all channels are told, this one by its greeting."""
        await self._context.peers.manager_chat_changed()
        manager, greets = self._members.manager, not self._greeted or is_command(said, "start")
        await self._context.peers.announce(texts.new_manager(manager), but=self._surface.name if greets else "")
        if greets:
            self._first_words = texts.first_words(manager)

    def _explained(self, greeting: str, present: Present) -> str:
        """The greeting, with what this is and what to do next, and for a new manager that they are."""
        added, self._first_words = self._first_words, ""
        what = texts.what_this_is(present, agents=bool(self._hiring.offer()))
        return "\n\n".join(filter(None, (greeting, what, added)))

    async def greet(self) -> None:
        """Says that the node is there: at its start, or to the manager as soon as there is one."""
        if self._members.chat and not self._greeted:
            self._greeted = True
            present = await self._context.hub.look()
            words = texts.online(present, self._context.sandbox)
            words = self._explained(words, present) if self._first_words else words
            greeting = plain_notice(f"online:{self._context.clock.now()}", words, silent=True)
            try:
                await self._queue.show(self._offering(greeting, offers=not present.workers))
            except StoreError as error:
                log.error("not greeted", error=error.text)

    async def _take_message(self, message: ChatMessage) -> None:
        if message.spoken and not message.edits:
            await (self._beside(message, None) if self._spoken.can_hear(message) else self._spoken.refuse(message))
            return
        if heard := await self._spoken.corrected(message):
            await self._take_heard(heard)
            return
        present = await self._context.hub.look()
        wish = read_message(message, present, self._slashes)
        sender = self._sender(message.who)
        text = await self._taps.words(message, sender)
        if text is None:
            text = await self._answers.take(message, wish, sender)
        if text is not None:
            pass
        elif message.file is not None and not message.edits and (wish is None or isinstance(wish, Tell)):
            await self._beside(message, wish)
        elif isinstance(wish, grammar.Listing):
            await self._queue.show(await self._bot.listed(wish), message.chat)
        elif isinstance(wish, commands.Steer):
            text = await self._taps.steer(wish, sender)
        elif isinstance(wish, Unsure):
            await self._queue.show(message_or_order(message, wish), message.chat)
        elif wish is not None:
            text = await self._bot.obey(wish, sender)
        if text and isinstance(wish, InfoRequest) and wish.about == "start":
            text = self._explained(text, present)
        # An edit is seen in the card of the message that waits.
        if text and not (message.edits and text == texts.REWORDED):
            offers = _may_want_to_hire(message, text) or _asks_for_team(wish, present)
            card = self._offering(_reply_card(message, text), offers=offers)
            card, models, steers = self._with_team(card, wish, present), self._context.models, self._context.steers
            card = with_buttons(card, message, wish, present, models, steers)
            await self._queue.show(card, message.chat)

    def _with_team(self, card: Card, wish: Wish | None, present: Present) -> Card:
        """The card, where it shows the team with a button for each worker, if the surface wants them."""
        shows_team = self._team_buttons and isinstance(wish, InfoRequest) and wish.about == "team"
        return replace(card, buttons=team_buttons(present)) if shows_team and present.workers else card

    def _offering(self, card: Card, *, offers: bool) -> Card:
        """The card, where somebody may want to hire with a button for each agent that is here."""
        return replace(card, buttons=self._hiring.offer()) if offers else card

    async def _reply(self, message: ChatMessage, text: str) -> None:
        await self._queue.show(_reply_card(message, text), message.chat)

    async def fetch_left_behind(self) -> None:
        """Goes on with the files that were being fetched when the node ended."""
        present = await self._context.hub.look()
        for message in await anyio.to_thread.run_sync(self._pending.waiting):
            wish = None if message.spoken else read_message(message, present, self._slashes)
            self._background.start("chat file", self._fetch, message, wish, anyio.Event())

    async def _beside(self, message: ChatMessage, wish: Wish | None) -> None:
        """Fetches a file or a recording; one that takes long lets pass what comes after it."""
        await anyio.to_thread.run_sync(self._pending.keep, message)
        fetched = anyio.Event()
        self._background.start("chat file", self._fetch, message, wish, fetched)
        await self._patience.wait(fetched)

    async def _fetch(self, message: ChatMessage, wish: Wish | None, fetched: anyio.Event) -> None:
        try:
            await (self._take_recording(message) if message.spoken else self._take_file(message, wish))
        except StoreError as error:
            # It is still on the disk, and fetched at the next start.
            log.error("file waits for the store", error=error.text)
            return
        finally:
            fetched.set()
        await anyio.to_thread.run_sync(self._pending.done, message)

    async def _take_recording(self, message: ChatMessage) -> None:
        if written := await self._spoken.hear(message):
            await self._take_message(written)

    async def _take_heard(self, heard: HeardMessage) -> None:
        await self._take_message(heard.message)
        await self._spoken.settle(heard)

    async def _take_file(self, message: ChatMessage, wish: Wish | None) -> None:
        if text := await self._bring_file(message, wish):
            await self._reply(message, text)

    async def _bring_file(self, message: ChatMessage, wish: Wish | None) -> str:
        """A photo or a file, into the inbox of whoever is meant; its caption says who, and comes along."""
        tell = wish if isinstance(wish, Tell) else Tell(id=message.id, text="")
        present = await self._context.hub.look()
        targets = tuple(name for name in self._bot.targets(tell, present) if name in present.workers)
        try:
            files = await self._inbox.fetch(message, targets, tell.text)
        except NotFetched as error:
            return error.text
        return await self._bot.tell(tell, self._sender(message.who), files)

    async def _take_tap(self, tap: ChatTap) -> None:
        held = held_choice(tap)
        sender = self._sender(tap.who)
        if typed := typed_command(tap) or await self._answers.typed(tap, held):
            text = ""
            await self._type(tap, typed)
            await self._answers.drop(tap)
        elif heard := voice_choice(tap):
            text = await self._take_voice_tap(tap, heard)
        else:
            text = await (self._answers.take_tap(tap, held, sender) if held else self._taps.take(tap, sender))
        name = f"{self._surface.name} tap"
        self._background.start(name, self._surface.answer_tap, tap.id, text or "✓")

    async def _take_voice_tap(self, tap: ChatTap, what: str) -> str:
        """Sends what was heard, or drops it."""
        heard = await self._spoken.held(tap.chat, tap.reference)
        if heard is None:
            return FORGOTTEN
        if what == SEND:
            await self._take_heard(heard)
            return SENT
        await self._spoken.settle(heard)
        return DROPPED

    async def _type(self, tap: ChatTap, command: str) -> None:
        """Obeys a command that a button types, as if the person had; one with a worker's name, in that one's part."""
        name = command.partition(" ")[2]
        topic = name if name in (await self._context.hub.look()).workers else ""
        typed = ChatMessage(id=f"t:{tap.id}", chat=tap.chat, text=command, who=tap.who, person=tap.person, topic=topic)
        await self._take_message(typed)

    def _sender(self, who: str) -> Sender:
        return Sender(via=self._surface.name, who=who[:LONGEST_NAME])


def _may_want_to_hire(message: ChatMessage, text: str) -> bool:
    """Whether the buttons of the agents here are of use below that answer: `/hire` by itself, or not understood."""
    usage = is_command(message, "hire") and text.startswith("Usage: ")
    return usage or is_command(message, "hire", alone=True) or text == texts.EMPTY_TEAM


def _reply_card(message: ChatMessage, text: str) -> Card:
    notice = plain_notice(f"reply:{message.id}", text, answers_reference=message.reference)
    return replace(notice, topic=message.topic)


def _asks_for_team(wish: Wish | None, present: Present) -> bool:
    """Whether somebody looks at a team that has nobody yet."""
    return isinstance(wish, InfoRequest) and wish.about in {"start", "team"} and not present.workers


def read_message(message: ChatMessage, present: Present, surface: Surface = CHAT) -> Wish | None:
    """What a message asks for; nothing when it says nothing that we understand. An edit rewords a message to a
    worker, and nothing else."""
    wish = _read_text(message, present, surface)
    if not message.edits:
        return wish
    if not isinstance(wish, Tell) or message.file is not None:
        return None
    return commands.Reword(id=message.id, message=message.edits, text=wish.text)


def _read_text(message: ChatMessage, present: Present, surface: Surface) -> Wish | None:
    topic = message.topic if message.topic in present.workers else ""
    # What is counted and not named is that worker's, too.
    here = replace(present, focus=topic) if topic else present
    wish = _read_bare(message, here, surface, topic)
    wish = with_worker(wish, topic) if wish is not None and topic else wish
    if message.foreign or message.edits or message.file or not isinstance(wish, Tell):
        return wish
    return grammar.meant(wish, words_of(message, wish), replace(here, focus=_shown_worker(message, here)), surface)


def _read_bare(message: ChatMessage, present: Present, surface: Surface, topic: str) -> Wish | None:
    text = message.text or message.caption
    if message.foreign:
        # Behind a line of ours, for an agent's own commands begin a text, too.
        return Tell(id=message.id, text=f"{grammar.FORWARDED}\n{text}", needs_focus=True) if text.strip() else None
    wish = grammar.read(message.id, named_command(text, topic, surface) if topic else text, present, surface)
    context = message.quoted.text if message.quoted else ""
    is_bare = isinstance(wish, Tell) and not wish.worker and not wish.everybody and not text.startswith("/")
    if not is_bare or message.quoted is None or not context.strip():
        return wish
    return grammar.read_reply(
        message.id, text, context, present, ours=message.quoted.ours, foreign=message.quoted.foreign
    )


def _shown_worker(message: ChatMessage, present: Present) -> str:
    """The worker that the message of ours is about that somebody replies to; else the focused one."""
    quoted = message.quoted.text.split(maxsplit=1)[:1] if message.quoted and message.quoted.ours else []
    name = quoted[0].rstrip(":").lower() if quoted else ""
    return name if name in present.workers else present.focus
