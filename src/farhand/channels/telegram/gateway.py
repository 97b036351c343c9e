"""The Bot API as we use it: python-telegram-bot's `Bot`, raw updates, and errors sorted by what they prove."""

import asyncio
import logging
import os
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from farhand.channels.kit.certificates import trusted
from farhand.channels.kit.outbox import SendLater, SendRefused, SendUncertain
from farhand.channels.kit.sendable_files import NotSendable, SendableFiles
from farhand.channels.kit.worker_folders import WorkerFolder, nowhere
from farhand.channels.telegram.settings import ANSWER_SECONDS, POLL_SECONDS
from farhand.channels.telegram.words import Amend, Disarm, Key, Outgoing, Post, React, Remove, Show
from farhand.model.errors import ChannelError
from farhand.model.lean_imports import remember_missing, without

# httpx would load its command line, and the bot's library what decrypts passports.
with without("httpx._main", "cryptography"):
    import httpx
    from telegram import (
        Bot,
        ForceReply,
        InlineKeyboardButton,
        InlineKeyboardMarkup,
        LinkPreviewOptions,
        Message,
        ReplyParameters,
    )
    from telegram.error import (
        BadRequest,
        ChatMigrated,
        Conflict,
        Forbidden,
        InvalidToken,
        NetworkError,
        RetryAfter,
        TelegramError,
    )
    from telegram.request import HTTPXRequest

# The HTTP client tries to import it several times for each request.
remember_missing("sniffio")
# The library's newer manner of telling a time; without it, every 429 comes with a warning.
os.environ.setdefault("PTB_TIMEDELTA", "true")
ALLOWED_UPDATES = ("message", "edited_message", "callback_query")
SLACK_SECONDS = 10.0
CONNECT_SECONDS = 10.0
# How far back the duplicate of a message that was sent twice is looked for.
MOST_CANDIDATES = 12
# The message is as we want it, or it is gone and nothing of ours can be done to it.
SETTLED = ("message is not modified", "message to edit not found", "message to delete not found", "message can't be")
# A request that failed with these never left the machine.
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)


class ReceiveFailed(ChannelError):
    """Telegram does not tell us what people say; `why` names the reason for a program."""

    code = "deaf"

    def __init__(self, text: str, why: str) -> None:
        super().__init__(text, why=why)
        self.why = why


class _ApiAnswer(msgspec.Struct):
    ok: bool
    result: list[msgspec.Raw] = []
    description: str = ""


class Gateway:
    """One bot's connection to Telegram."""

    def __init__(
        self,
        token: str,
        api_url: str,
        *,
        files: SendableFiles | None = None,
        folder: Callable[[str], Awaitable[WorkerFolder | None]] = nowhere,
        answer_seconds: float = ANSWER_SECONDS,
        poll_seconds: int = POLL_SECONDS,
    ) -> None:
        # The HTTP client would log every address, and the token is part of it.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._token = token
        self._files = files or SendableFiles()
        self._folder = folder
        self._poll_seconds = poll_seconds
        verified = {"verify": trusted()}
        self._requests = HTTPXRequest(
            connection_pool_size=16,
            read_timeout=answer_seconds,
            write_timeout=answer_seconds,
            connect_timeout=CONNECT_SECONDS,
            pool_timeout=CONNECT_SECONDS,
            httpx_kwargs=verified,
        )
        self._polls = HTTPXRequest(connection_pool_size=2, connect_timeout=CONNECT_SECONDS, httpx_kwargs=verified)
        self.bot = Bot(
            token,
            base_url=f"{api_url}/bot",
            base_file_url=f"{api_url}/file/bot",
            request=self._requests,
            get_updates_request=self._polls,
        )
        self._address = f"{api_url}/bot{token}"

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Gateway"]:
        """The connections live as long as the block."""
        try:
            yield self
        finally:
            # Bounded, so that a dead network cannot hold up the node's end.
            async with asyncio.timeout(2):
                await self._requests.shutdown()
                await self._polls.shutdown()

    def poll_looks(self, every_seconds: float) -> int:
        """How many looks at that distance a poll may take before it has surely failed."""
        return int((self._poll_seconds + SLACK_SECONDS) // every_seconds)

    async def updates(self, offset: int | None, *, at_once: bool = False) -> list[msgspec.Raw]:
        """Waits for updates, each as it came, or asks for those that are there. An offset confirms all before it."""
        query = {
            "timeout": str(0 if at_once else self._poll_seconds),
            "allowed_updates": msgspec.json.encode(ALLOWED_UPDATES).decode(),
        }
        if offset is not None:
            query["offset"] = str(offset)
        address = f"{self._address}/getUpdates?{urllib.parse.urlencode(query)}"
        try:
            patience = self._poll_seconds + min(SLACK_SECONDS, self._poll_seconds)
            # The client has its own limits; this one holds whatever it does, for a poll that hangs receives nothing.
            async with asyncio.timeout(patience + 3 * CONNECT_SECONDS):
                code, payload = await self._polls.do_request(address, "POST", read_timeout=patience)
        except TelegramError as error:
            raise ReceiveFailed(f"Telegram cannot be reached: {self.redacted(error)}", "unreachable") from None
        except TimeoutError:
            raise ReceiveFailed("Telegram cannot be reached: no answer in time", "unreachable") from None
        try:
            answer = msgspec.json.decode(payload, type=_ApiAnswer)
        except msgspec.MsgspecError:
            raise ReceiveFailed(f"Telegram's answer cannot be read (status {code}).", "garbage") from None
        if answer.ok:
            return answer.result
        raise _receive_failure(code, answer.description)

    def redacted(self, error: object) -> str:
        """The error as a sentence that may be logged."""
        return str(error).replace(self._token, "<token>")

    async def send(self, outgoing: Outgoing, reference: str, reply_to: int | None) -> str:
        """Brings one outgoing to Telegram; the number that it has there. Raises what the outbox understands."""
        try:
            return await self._send(outgoing, reference, reply_to)
        except TelegramError as error:
            raise self.verdict(error, again=not isinstance(outgoing, Post | Show)) from None

    async def _send(self, outgoing: Outgoing, reference: str, reply_to: int | None) -> str:
        match outgoing:
            case Post():
                return await self._post(outgoing, reply_to)
            case Show():
                return await self._show(outgoing)
            case Amend():
                return await self._amend(outgoing, reference)
            case Disarm():
                if reference:
                    change = self.bot.edit_message_reply_markup(outgoing.chat, int(reference), reply_markup=None)
                    await _settle(change)
                return reference
            case Remove():
                if reference:
                    await _settle(self.bot.delete_message(outgoing.chat, int(reference)))
                return reference
            case React():
                await _settle(self.bot.set_message_reaction(outgoing.chat, outgoing.message, outgoing.emoji))
                return ""

    async def _post(self, outgoing: Post, reply_to: int | None) -> str:
        async def post(text: str, mode: str | None) -> Message:
            answered = ReplyParameters(reply_to, allow_sending_without_reply=True) if reply_to else None
            return await self.bot.send_message(
                outgoing.chat,
                text,
                parse_mode=mode,
                reply_markup=ForceReply() if outgoing.wants_reply else _markup(outgoing.keys),
                disable_notification=outgoing.silent,
                message_thread_id=outgoing.thread,
                reply_parameters=answered,
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )

        if not outgoing.html:
            return str((await post(outgoing.plain, None)).message_id)
        try:
            return str((await post(outgoing.html, "HTML")).message_id)
        except BadRequest as error:
            if _is_about_chat(error):
                raise
            return str((await post(outgoing.plain, None)).message_id)

    async def _amend(self, outgoing: Amend, reference: str) -> str:
        async def amend(text: str, mode: str | None) -> None:
            await self.bot.edit_message_text(
                text,
                chat_id=outgoing.chat,
                message_id=int(reference),
                parse_mode=mode,
                reply_markup=_markup(outgoing.keys),
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )

        if not reference:
            return ""
        try:
            await amend(outgoing.html, "HTML")
        except BadRequest as error:
            if not _is_settled(error):
                await _settle(amend(outgoing.plain, None))
        return reference

    async def _show(self, outgoing: Show) -> str:
        content = outgoing.text.encode()
        if not content:
            folder = await self._folder(outgoing.worker)
            try:
                content = await asyncio.to_thread(
                    self._files.read, outgoing.file.path, picture=outgoing.photo, folder=folder
                )
            except NotSendable as error:
                raise SendRefused(error.text) from None

        async def show(photo: bool) -> str:
            send = self.bot.send_photo if photo else self.bot.send_document
            sent = await send(
                outgoing.chat,
                content,
                filename=outgoing.file.name or Path(outgoing.file.path).name,
                caption=outgoing.caption or None,
                disable_notification=outgoing.silent,
                message_thread_id=outgoing.thread,
            )
            return str(sent.message_id)

        try:
            return await show(outgoing.photo)
        except BadRequest as error:
            if not outgoing.photo or _is_about_chat(error):
                raise
            # A picture that Telegram cannot draw is still a file.
            return await show(False)

    async def remove_duplicates(self, outgoing: Post, candidates: Sequence[int]) -> int:
        """Takes away the first copy of a message that was sent twice because nobody knew. How many messages went.

        It is among the candidates, newest first. An edit to the very same text finds it: Telegram refuses that for the
        copy alone with the words that it is not modified. Another one that can be edited is a copy, too: every message
        of ours that is none is known, and no candidate."""
        gone = 0
        for candidate in candidates:
            found = False
            try:
                await self.bot.edit_message_text(
                    outgoing.html or outgoing.plain,
                    chat_id=outgoing.chat,
                    message_id=candidate,
                    parse_mode="HTML" if outgoing.html else None,
                    reply_markup=_markup(outgoing.keys),
                    link_preview_options=LinkPreviewOptions(is_disabled=True),
                )
            except BadRequest as error:
                found = "not modified" in str(error).lower()
                if not found:
                    continue
            await _settle(self.bot.delete_message(outgoing.chat, candidate))
            gone += 1
            if found:
                break
        return gone

    def verdict(self, error: TelegramError, *, again: bool) -> ChannelError:
        """What an error proves: refused for good, certainly not taken, or unknown. `again`: a repeat does no harm."""
        if isinstance(error, RetryAfter):
            return SendLater("Telegram asks for patience.", retry_seconds(error))
        if isinstance(error, BadRequest):
            return SendRefused(f"Telegram refused it: {self.redacted(error)}")
        if isinstance(error, ChatMigrated):
            return SendRefused(f"the group has a new number: set ADMIN_CHAT_ID to {error.new_chat_id}")
        if isinstance(error, Forbidden):
            return SendLater(f"Telegram forbids it: {self.redacted(error)}")
        if isinstance(error, InvalidToken):
            return SendLater("Telegram refuses the bot's token.")
        cause = error.__cause__
        # With a status there was an answer; without one, only a request that never left is certainly not taken.
        answered = isinstance(error, Conflict) or (isinstance(error, NetworkError) and not _is_transport(cause))
        if again or answered or isinstance(cause, UNSENT):
            return SendLater(self.redacted(error))
        return SendUncertain(self.redacted(error))


def _is_transport(cause: BaseException | None) -> bool:
    return isinstance(cause, httpx.HTTPError | OSError)


def retry_seconds(error: RetryAfter) -> float:
    """How long Telegram wants us to wait."""
    given = error.retry_after
    return float(given) if isinstance(given, int) else given.total_seconds()


def _receive_failure(code: int, description: str) -> ReceiveFailed:
    if code == 409 and "webhook" in description:
        return ReceiveFailed("A webhook is set for this bot, so polling hears nothing.", "webhook")
    if code == 409:
        return ReceiveFailed("Another program polls this bot: stop it, or give this node a bot of its own.", "conflict")
    if code in {401, 404}:
        return ReceiveFailed("Telegram refuses the bot token: set TELEGRAM_BOT_TOKEN to a valid one.", "token")
    return ReceiveFailed(f"Telegram answers {code}: {description}", "status")


def _is_settled(error: BadRequest) -> bool:
    return any(one in str(error).lower() for one in SETTLED)


def _is_about_chat(error: BadRequest) -> bool:
    """Whether the fault is with the chat and not with the text, so that plain text would not help."""
    return any(one in str(error).lower() for one in ("chat not found", "thread not found", "have no rights"))


async def _settle(call: Awaitable[object]) -> None:
    """Makes a call for which it is no error that things are so already, or cannot be any more."""
    try:
        await call
    except BadRequest as error:
        if not _is_settled(error) and "not found" not in str(error).lower() and "REACTION" not in str(error).upper():
            raise


def _markup(keys: tuple[tuple[Key, ...], ...]) -> InlineKeyboardMarkup | None:
    if not keys:
        return None
    return InlineKeyboardMarkup(
        [[InlineKeyboardButton(key.text, callback_data=key.data) for key in row] for row in keys]
    )
