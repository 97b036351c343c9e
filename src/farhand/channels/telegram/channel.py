"""Telegram as a channel: hears the manager, obeys, follows the journal, and keeps the chat true."""

import sys
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.abc
import structlog
from starlette.routing import BaseRoute
from telegram import BotCommand
from telegram.error import TelegramError

from farhand.channels.kit import texts
from farhand.channels.kit.bot import Bot
from farhand.channels.kit.card import cards
from farhand.channels.kit.follow import JournalFollower
from farhand.channels.kit.outbox import Dispatcher, SendRefused
from farhand.channels.kit.pace import Pace
from farhand.channels.kit.shown_files import ShownFiles
from farhand.channels.kit.tags import parted
from farhand.channels.kit.texts import About, redacted
from farhand.channels.telegram.admin import Admin, Pairing
from farhand.channels.telegram.gateway import Gateway
from farhand.channels.telegram.health import Health, Tell, keep_quiet
from farhand.channels.telegram.media import Inbox, NotFetched, sent_with
from farhand.channels.telegram.parse import heard, message_command_id, to_wish
from farhand.channels.telegram.progress import Progress
from farhand.channels.telegram.receive import PollingReceiver, WebhookReceiver
from farhand.channels.telegram.render import notice, render
from farhand.channels.telegram.replies import menu
from farhand.channels.telegram.stored import TelegramStored
from farhand.channels.telegram.taps import Taps
from farhand.channels.telegram.typing import TypingIndicator
from farhand.channels.telegram.words import (
    Amend,
    CallbackQuery,
    Heard,
    Post,
    React,
    Remove,
    Show,
    TelegramMessage,
    unseal,
)
from farhand.model import grammar
from farhand.model.compat import BACKENDS
from farhand.model.errors import FarhandError, StoreError
from farhand.model.facts import Ended, Event, Hired, TurnStarted
from farhand.model.ports import Clock, Hub, Outbox, Parcel, Waiting
from farhand.model.view import TurnView
from farhand.model.words import Sender

log = structlog.get_logger("telegram")
NAME = "telegram"
MENU_PAUSE_SECONDS = 0.5
MOST_FAILURES = 3
LONGEST_MENU_PAUSE_SECONDS = 300.0


def show_on_terminal(text: str) -> None:
    """Shows something to the person at the desk, and to nobody else: not even to the log."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


async def nobody_waits() -> None:
    """Nobody wants to know that the manager is known."""


@dataclass(frozen=True)
class TelegramOptions:
    """What the channel needs to know; the limits are Telegram's own advice."""

    token: str = field(repr=False)
    folder: Path
    api_url: str = "https://api.telegram.org"
    admin_chat_id: str = ""
    # A public address of this node means webhook; without one, polling.
    public_url: str = ""
    webhook_secret: str = field(default="", repr=False)
    edit_seconds: float = 1.0
    chat_per_second: float = 1.0
    chat_burst: int = 8
    per_second: float = 30.0
    answer_seconds: float = 20.0
    poll_seconds: int = 50
    # For `/settings` and `/progress`.
    version: str = ""
    terminals: frozenset[str] = frozenset()
    # Kinds of workers that take a word in mid-turn.
    steers: frozenset[str] = frozenset()
    backends: frozenset[str] = frozenset(BACKENDS)
    # Where a worker's files from Telegram go; pictures that workers show come from there or the working directory.
    sessions: Path | None = None
    working_directory: Path | None = None
    inbox: Callable[[str], Path] | None = None
    # The first who writes must send a code, which is shown on the node's terminal.
    pairing: bool = False
    show: Callable[[str], None] = show_on_terminal


class TelegramChannel:
    """One bot, one manager, the whole team."""

    name = NAME

    def __init__(
        self, options: TelegramOptions, hub: Hub, outbox: Outbox, clock: Clock, tell: Tell = keep_quiet
    ) -> None:
        self._hub = hub
        # A bot's number is the first part of its token. What was said to one bot is not looked for at another.
        self._bot = options.token.partition(":")[0]
        self._box = f"{NAME}:{self._bot}"
        self._outbox = outbox
        self._clock = clock
        self._options = options
        self._kept = TelegramStored(options.folder)
        self._admin = Admin(self._kept, options.admin_chat_id, Pairing(options.show) if options.pairing else None)
        self._clerk = Bot(hub, self._about)
        self._taps = Taps(hub, self._clerk, self._put, self._slot_of, NAME, self._bot, options.steers)
        self._greeted = False
        # Called when the manager's chat becomes known.
        self.learned: Callable[[], Awaitable[None]] = nobody_waits
        self._health = Health(clock, tell)
        self._gateway = Gateway(
            options.token,
            options.api_url,
            shown=ShownFiles(options.sessions, options.working_directory, node=options.folder),
            directory=self._directory,
            answer_seconds=options.answer_seconds,
            poll_seconds=options.poll_seconds,
        )
        self._inbox = Inbox(options.inbox or self._own_inbox, self._gateway, clock)
        pace = Pace(clock, per_chat=options.chat_per_second, burst=options.chat_burst, overall=options.per_second)
        self._dispatcher = Dispatcher(
            self._box, outbox, self._send, clock, pace=pace, weighs=is_message, given_up=self._given_up
        )
        self._follower = JournalFollower(self._box, hub, outbox, self._compose, self._dispatcher.wake, clock)
        self._progress = Progress(self._follower.turns, pace, clock, options.edit_seconds, self._put_progress)
        self._typing = TypingIndicator(self._gateway, self._follower.turns, clock, lambda: self._admin.chat)
        self._team_changed = anyio.Event()
        self._team_changed.set()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._failures: Counter[int] = Counter()
        self._first_heard: dict[int, int] = {}
        self._ears: PollingReceiver | WebhookReceiver
        secret = self._kept.webhook_secret(options.webhook_secret)
        self._post = WebhookReceiver(
            self._gateway, self.take, self._health, clock, self._kept, options.public_url, secret
        )
        if options.public_url:
            self._ears = self._post
        else:
            self._ears = PollingReceiver(self._gateway, self.take, self._health, clock, self._kept)

    @property
    def health(self) -> str:
        """How the channel stands, in one line for `status`."""
        return self._health.line()

    def routes(self) -> list[BaseRoute]:
        """What the node's HTTP listener serves for us."""
        return [self._post.route()]

    @property
    def chat(self) -> str:
        """The manager's chat; empty while nobody is known."""
        return "" if self._admin.chat is None else str(self._admin.chat)

    def _own_inbox(self, worker: str) -> Path:
        folder = self._options.folder / "inbox" / worker
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def _about(self) -> About:
        options = self._options
        secret = options.webhook_secret or (self._kept.webhook_secret("") if options.public_url else "")
        return About(
            version=options.version,
            token=redacted(options.token),
            admin=self.chat,
            webhook_secret=redacted(secret) if secret else "",
            storage=str((options.sessions or options.folder / "sessions").parent),
            terminals=options.terminals,
        )

    async def run(self) -> None:
        """Serves until it is cancelled."""
        async with self._gateway.open(), anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._follower.run, name="telegram follow")
            tasks.start_soon(self._dispatcher.run, name="telegram outbox")
            tasks.start_soon(self._progress.run, name="telegram progress")
            tasks.start_soon(self._typing.run, name="telegram typing")
            tasks.start_soon(self._keep_menu, name="telegram menu")
            self._admin.announce_code()
            await self._greet()
            await self._ears.run()

    async def _greet(self) -> None:
        """Says that the node is there: at its start, or to the manager as soon as there is one."""
        if self._admin.chat is not None and not self._greeted:
            self._greeted = True
            text = texts.online(await self._hub.look())
            try:
                await self._put(notice(f"online:{self._clock.now()}", self._admin.chat, text, silent=True))
            except StoreError as error:
                log.error("not greeted", error=error.text)

    async def drain(self) -> None:
        """Sends everything that waits, and then says that the node goes."""
        await self._dispatcher.drain()
        await self._say_goodbye()

    async def _say_goodbye(self) -> None:
        """Said at once or never: nobody wants to read it after the node is back."""
        if self._admin.chat is None or self._health.problem:
            return
        try:
            await self._gateway.bot.send_message(self._admin.chat, texts.OFFLINE, disable_notification=True)
        except TelegramError as error:
            log.info("goodbye not said", error=self._gateway.redacted(error))

    async def announce(self, text: str) -> None:
        """Tells the manager something that another part of the node has to say."""
        if self._admin.chat is not None and not self._health.problem:
            await self._put(notice(f"announce:{self._clock.now()}", self._admin.chat, text))

    async def notify(self, text: str) -> None:
        """Brings something to every chat that is known, which is the manager's, as soon as Telegram can be reached."""
        if self._admin.chat is not None:
            await self._put(notice(f"notify:{uuid.uuid4().hex}", self._admin.chat, text))

    # --- what comes in

    async def take(self, update: bytes) -> None:
        """Obeys one update; returns when it is written down. One that trips an error of ours is given up after a few
        tries and told, for it would come again and again and nothing after it would be heard."""
        number, what = heard(update)
        # What is obeyed before a new channel knows where to begin would never be answered.
        await self._follower.placed.wait()
        try:
            await self._take(number, what)
        except FarhandError:
            raise
        except Exception as error:
            self._failures[number] += 1
            if self._failures[number] < MOST_FAILURES:
                raise
            log.exception("update given up", update=number, error=type(error).__name__)
            await self.announce("One of your messages tripped an error in farhand and was not obeyed. The log has it.")
        self._failures.pop(number, None)

    async def _take(self, number: int, what: Heard) -> None:
        """Strangers and unknown kinds are passed over."""
        if isinstance(what, TelegramMessage):
            known = self._admin.chat
            if self._admin.may(what.chat, what.sender, what.text):
                if known is None:
                    await self.learned()
                await self._greet()
                await self._take_message(what)
                return
        elif isinstance(what, CallbackQuery) and what.message and self._admin.may(what.message.chat, what.sender):
            await self._take_tap(what, what.message.chat.id)
            return
        log.info("update passed over", update=number, kind=type(what).__name__)

    async def _take_message(self, message: TelegramMessage) -> None:
        self._first_heard.setdefault(message.chat.id, message.message_id)
        present = await self._hub.look()
        wish = to_wish(message, present, NAME, self._bot)
        sender = Sender(via=NAME, who=message.sender.first_name[:64] if message.sender else "")
        text = await self._taps.words(message, sender)
        if text is not None:
            pass
        elif (
            sent_with(message) is not None
            and not message.edit_date
            and (wish is None or isinstance(wish, grammar.Tell))
        ):
            text = await self._take_file(message, wish, sender)
        elif isinstance(wish, grammar.Listing):
            for parcel in render(await self._clerk.listed(wish), message.chat.id, NAME, self._bot):
                await self._put(parcel)
        elif wish is not None:
            text = await self._clerk.obey(wish, sender)
        if text:
            key = f"reply:{message_command_id(message, self._bot)}"
            await self._put(notice(key, message.chat.id, text, reply_to=message.message_id))

    async def _take_file(self, message: TelegramMessage, wish: grammar.Tell | None, sender: Sender) -> str:
        """A photo or a file, into the inbox of whoever is meant; its caption says who, and comes along."""
        tell = wish or grammar.Tell(id=message_command_id(message, self._bot), text="")
        targets = self._clerk.targets(tell, await self._hub.look())
        try:
            files = await self._inbox.fetch(message, targets, tell.text)
        except NotFetched as error:
            return error.text
        return await self._clerk.tell(tell, sender, files)

    async def _take_tap(self, query: CallbackQuery, chat: int) -> None:
        text = await self._taps.take(query, chat)
        if self._tasks:
            self._tasks.start_soon(self._answer_tap, query.id, text or "✓", name="telegram tap")

    async def _answer_tap(self, query: str, text: str) -> None:
        """Ends the button's little clock. Too late is no error: the command is written down all the same."""
        try:
            await self._gateway.bot.answer_callback_query(query, text[:200])
        except TelegramError as error:
            log.info("tap not answered", error=self._gateway.redacted(error))

    # --- what goes out

    def _compose(self, event: Event, turn: TurnView | None) -> Sequence[Parcel]:
        if isinstance(event.fact, Hired | Ended):
            self._team_changed.set()
        if isinstance(event.fact, TurnStarted):
            self._typing.wake()
        self._progress.stir(event, turn)
        chat = self._admin.chat
        if chat is None:
            return ()
        waited = self._follower.turns.waited(event)
        shown = [part for card in cards(event, turn, waited=waited) for part in parted(card)]
        return [parcel for card in shown for parcel in render(card, chat, NAME, self._bot)]

    async def _directory(self, worker: str) -> Path | None:
        """Where that worker works."""
        known = (await self._hub.look()).workers.get(worker)
        return Path(known.directory) if known and known.directory else None

    async def _slot_of(self, chat: int, message: int) -> str:
        """The slot of one of our messages, also of one that was answered before its sending was marked."""
        if known := await self._outbox.slot(self._box, str(chat), str(message)):
            return known
        await self._dispatcher.settled(str(chat))
        return await self._outbox.slot(self._box, str(chat), str(message))

    async def _put(self, parcel: Parcel) -> None:
        await self._outbox.put(self._box, (parcel,))
        self._dispatcher.wake()

    async def _put_progress(self, turn: TurnView, now: float) -> None:
        if self._admin.chat is not None:
            for parcel in render(self._progress.card(turn, now), self._admin.chat, NAME, self._bot):
                await self._put(parcel)

    async def _send(self, waiting: Waiting) -> str:
        letter = unseal(waiting.parcel.body)
        reference, reply_to = "", None
        match letter:
            case Amend(slot=slot) | Remove(slot=slot):
                reference = await self._outbox.reference(self._box, slot)
            case Post():
                slot = letter.reply_to_slot
                known = await self._outbox.reference(self._box, slot) if slot else ""
                reply_to = int(known) if known else letter.reply_to
            case React() | Show():
                pass
            case None:
                raise SendRefused("another version of farhand wrote it")
        sent = await self._gateway.send(letter, reference, reply_to)
        if waiting.doubtful and isinstance(letter, Post) and self._tasks:
            self._tasks.start_soon(self._remove_twin, letter, int(sent), name="telegram twin")
        return sent

    async def _remove_twin(self, letter: Post, newest: int) -> None:
        """A message was sent again because its answer never came: if it had arrived, the first copy goes."""
        known = [int(one) for one in await self._outbox.references(self._box, str(letter.chat), 20) if one.isdigit()]
        try:
            # With nothing of ours known, only what came after the first word we heard can be ours.
            floor = self._first_heard.get(letter.chat, newest)
            before = max((one for one in known if one < newest), default=floor)
            gone = await self._gateway.remove_twin(letter, newest, before)
            log.info("sent again after no answer", chat=letter.chat, message=newest, twin_removed=gone)
        except TelegramError as error:
            log.info("twin not removed", error=self._gateway.redacted(error))

    def _given_up(self, waiting: Waiting, why: str) -> Parcel | None:
        """What the manager is told when a message did not get through: never nothing, and never in a circle."""
        letter = unseal(waiting.parcel.body)
        if waiting.parcel.key.startswith("lost:") or not isinstance(letter, Post | Show):
            return None
        if isinstance(letter, Show):
            kind = "Image" if letter.photo else "File"
            return notice(
                f"lost:{waiting.parcel.key}", letter.chat, f"{letter.worker}: [{kind} failed: {letter.file.path}]"
            )
        begins = " ".join(letter.plain.split())[:80]
        fate = "may not have reached you" if waiting.doubtful else "could not be sent"
        text = f"⚠ A message {fate} ({why}). It begins: {begins}"
        return notice(f"lost:{waiting.parcel.key}", letter.chat, text)

    async def _keep_menu(self) -> None:
        """Keeps Telegram's menu of commands as the team is."""
        pause = MENU_PAUSE_SECONDS
        while True:
            await self._team_changed.wait()
            self._team_changed = anyio.Event()
            try:
                me = await self._gateway.bot.get_me()
                self._kept.keep_bot(me.id, me.username or "")
                if self._health.bot != f"@{me.username}":
                    self._health.bot = f"@{me.username}"
                    self._admin.announce_code(me.username or "")
                entries = menu(await self._hub.look())
                await self._gateway.bot.set_my_commands([BotCommand(name, text) for name, text in entries])
                pause = MENU_PAUSE_SECONDS
            except TelegramError as error:
                log.info("menu not set", error=self._gateway.redacted(error))
                self._team_changed.set()
                await self._clock.sleep(pause)
                pause = min(pause * 2, LONGEST_MENU_PAUSE_SECONDS)


def is_message(parcel: Parcel) -> bool:
    """Whether Telegram counts it: what is sent and edited, not what is taken away or reacted to."""
    return not isinstance(unseal(parcel.body), Remove | React)
