"""The Cloud API as we use it: pywa's client to send and to set up, and errors sorted by what they prove."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from mimetypes import guess_type
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from farhand.channels.kit.certificates import trusted
from farhand.channels.kit.outbox import SendLater, SendRefused, SendUncertain
from farhand.channels.kit.sendable_files import NotSendable, SendableFiles
from farhand.channels.kit.surface import NotFetched, SentFile
from farhand.channels.kit.worker_folders import WorkerFolder, nowhere
from farhand.channels.whatsapp.render import is_list
from farhand.channels.whatsapp.settings import WhatsAppSettings
from farhand.channels.whatsapp.templates import sent_template
from farhand.channels.whatsapp.words import WhatsAppKey, WhatsAppReact, WhatsAppReopen, WhatsAppSend, WhatsAppShow
from farhand.model.body_limits import read_bounded
from farhand.model.errors import ChannelError, TooLarge
from farhand.model.lean_imports import remember_missing, without

# httpx would load its command line.
with without("httpx._main"):
    import httpx
    from pywa.errors import (
        AuthorizationError,
        InvalidParameter,
        ReEngagementMessage,
        ThrottlingError,
        WhatsAppError,
    )
    from pywa.types.callback import Button, Section, SectionList, SectionRow
    from pywa_async.client import WhatsApp

# The HTTP client tries to import it several times for each request.
remember_missing("sniffio")
CONNECT_SECONDS = 10.0
# What WhatsApp takes at most, by what it is sent as.
LARGEST_PICTURE = 5 * 1024 * 1024
PICTURE_TYPES = frozenset({"image/jpeg", "image/png"})
LIST_TITLE = "Choose"
# A request that failed with these never left the machine.
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
# Faults of theirs that pass: unknown, service, overloaded, maintenance.
PASSING = frozenset({1, 2, 131000, 131016, 131057, 133004})
THROTTLED_SECONDS = 6.0
Made = TypeVar("Made")


class WindowClosed(SendLater):
    """WhatsApp takes templates alone for this person now."""

    code = "window_closed"


class WhatsAppCallFailed(ChannelError):
    """A call that is no send did not succeed; `why` names the reason for a program."""

    code = "whatsapp"

    def __init__(self, text: str, why: str) -> None:
        super().__init__(text, why=why)
        self.why = why


class WhatsAppGateway:
    """One phone number's connection to WhatsApp."""

    def __init__(
        self,
        settings: WhatsAppSettings,
        *,
        files: SendableFiles | None = None,
        folder: Callable[[str], Awaitable[WorkerFolder | None]] = nowhere,
    ) -> None:
        # The library would log what is said, and to whom.
        logging.getLogger("pywa").setLevel(logging.CRITICAL)
        logging.getLogger("pywa_async").setLevel(logging.CRITICAL)
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._settings = settings
        self._files = files or SendableFiles()
        self._folder = folder
        timeout = httpx.Timeout(settings.answer_seconds, connect=CONNECT_SECONDS)
        self._session = httpx.AsyncClient(timeout=timeout, verify=trusted())
        self.client = WhatsApp(
            phone_id=settings.phone_id,
            token=settings.token,
            session=self._session,
            waba_id=settings.waba_id or None,
        )
        # The library knows Meta's own address alone.
        version = str(self._session.base_url.path).strip("/")
        self._session.base_url = httpx.URL(f"{settings.api_url}/{version}")

    @asynccontextmanager
    async def open(self) -> AsyncIterator["WhatsAppGateway"]:
        """The connections live as long as the block."""
        try:
            yield self
        finally:
            # Bounded, so that a dead network cannot hold up the node's end.
            async with asyncio.timeout(2):
                await self._session.aclose()

    async def call(self, work: Awaitable[Made]) -> Made:
        """Makes a call that is no send; raises WhatsAppCallFailed."""
        try:
            return await work
        except WhatsAppError as error:
            why = "token" if isinstance(error, AuthorizationError) else "refused"
            raise WhatsAppCallFailed(f"WhatsApp refuses it: {self.redacted(error)}", why) from None
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise WhatsAppCallFailed(f"WhatsApp cannot be reached: {_named(error)}", "unreachable") from None

    def redacted(self, error: WhatsAppError) -> str:
        """The error as a sentence that may be logged and shown."""
        said = error.details or error.user_msg or error.message
        return f"{' '.join(str(said).split())[:300]} (#{error.code})".replace(self._settings.token, "<token>")

    # --- sends: each returns what WhatsApp calls the message, and raises what the outbox understands

    async def send(self, outgoing: WhatsAppSend, reply_to: str) -> str:
        """A text, with buttons or a list."""
        client = self.client
        keys: Any = _keys(outgoing.keys)

        async def post(answered: str) -> str:
            sent = await client.send_message(
                outgoing.chat, outgoing.text, buttons=keys, reply_to_message_id=answered or None
            )
            return sent.id

        return await self._send(post, reply_to)

    async def react(self, outgoing: WhatsAppReact) -> str:
        """A reaction; sent twice, it is the same."""
        return await self._sure(self.client.send_reaction(outgoing.chat, outgoing.emoji, outgoing.message), again=True)

    async def reopen(self, outgoing: WhatsAppReopen) -> str:
        """The template that asks the manager to write."""
        settings = self._settings
        payload = sent_template(settings.template, settings.language)
        sending = self.client.api.send_message(
            sender=settings.phone_id, **recipient(outgoing.chat), typ="template", msg=payload
        )
        return await self._sure(sending)

    async def show(self, outgoing: WhatsAppShow) -> str:
        """A picture or a document; what cannot be shown as a picture is a document."""
        content = await self._content(outgoing)
        name = outgoing.file.name or Path(outgoing.file.path).name
        kind = picture_type(content)
        as_picture = outgoing.picture and kind in PICTURE_TYPES and len(content) <= LARGEST_PICTURE
        media_type = kind if as_picture else outgoing.file.media_type or document_type(name, content)

        async def post(answered: str) -> str:
            caption, quoted = outgoing.caption or None, answered or None
            if as_picture:
                sent = await self.client.send_image(
                    outgoing.chat, content, caption=caption, mime_type=media_type, reply_to_message_id=quoted
                )
            else:
                sent = await self.client.send_document(
                    outgoing.chat,
                    content,
                    filename=name,
                    caption=caption,
                    mime_type=media_type,
                    reply_to_message_id=quoted,
                )
            return sent.id

        return await self._send(post, outgoing.reply_to)

    async def _content(self, outgoing: WhatsAppShow) -> bytes:
        if outgoing.text:
            return outgoing.text.encode()
        folder = await self._folder(outgoing.worker)
        try:
            return await asyncio.to_thread(
                self._files.read, outgoing.file.path, picture=outgoing.picture, folder=folder
            )
        except NotSendable as error:
            raise SendRefused(error.text) from None

    async def _send(self, post: Callable[[str], Awaitable[str]], reply_to: str) -> str:
        """Sends; a message that can be quoted no more is no reason not to answer."""
        try:
            return await self._sure(post(reply_to))
        except SendRefused as error:
            if not reply_to or not isinstance(error.__cause__, InvalidParameter):
                raise
        return await self._sure(post(""))

    async def _sure(self, sending: Awaitable[Any], *, again: bool = False) -> str:
        try:
            sent = await sending
            return sent if isinstance(sent, str) else _reference(sent)
        except WhatsAppError as error:
            raise self.verdict(error) from error
        except UNSENT as error:
            raise SendLater(f"WhatsApp cannot be reached: {_named(error)}") from None
        except (httpx.HTTPError, ValueError, KeyError, TypeError, IndexError) as error:
            told = f"WhatsApp's answer never came: {_named(error)}"
            raise SendLater(told) if again else SendUncertain(told) from None

    def verdict(self, error: WhatsAppError) -> ChannelError:
        """What an answer with an error proves: it was not taken, for now or for good."""
        sentence = self.redacted(error)
        status = error.status_code or 0
        if isinstance(error, ReEngagementMessage):
            return WindowClosed(sentence)
        if isinstance(error, ThrottlingError) or status == 429:
            return SendLater(sentence, THROTTLED_SECONDS)
        if isinstance(error, AuthorizationError) or status >= 500 or error.code in PASSING or error.is_transient:
            return SendLater(sentence)
        return SendRefused(f"WhatsApp refused it: {sentence}")

    # --- what comes in

    async def download(self, file: SentFile, largest: int) -> bytes:
        """The content of a file that came in; raises NotFetched. The token goes to Meta's own hosts alone."""
        try:
            found = await self.client.get_media_url(file.reference)
            if not is_trusted(found.url, self._settings.api_url) or found.file_size > largest:
                raise NotFetched("It is larger than is taken, or at no address of WhatsApp's.")
            async with self._session.stream("GET", found.url) as answer:
                answer.raise_for_status()
                return await read_bounded(answer.aiter_bytes(), largest)
        except WhatsAppError as error:
            raise NotFetched(self.redacted(error)) from None
        except TooLarge as error:
            raise NotFetched(error.text) from None
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise NotFetched(_named(error)) from None


def _named(error: Exception) -> str:
    return f"{type(error).__name__} {error}".strip()[:200]


def _reference(sent: Any) -> str:
    if isinstance(sent, Mapping):
        return str(sent["messages"][0]["id"])
    return str(sent.id)


def recipient(chat: str) -> dict[str, Any]:
    """Who gets it, as the API has it: numbers and BSUIDs are told apart."""
    by_number = chat.isdigit()
    return {
        "to": chat if by_number else None,
        "recipient": None if by_number else chat,
        "recipient_type": "individual",
    }


def _keys(keys: tuple[WhatsAppKey, ...]) -> list[Button] | SectionList | None:
    if not keys:
        return None
    if not is_list(keys):
        return [Button(title=key.text, callback_data=key.data) for key in keys]
    rows = [SectionRow(title=key.text, callback_data=key.data, description=key.more or None) for key in keys]
    return SectionList(button_title=LIST_TITLE, sections=[Section(title=LIST_TITLE, rows=rows)])


def is_trusted(url: str, api_url: str) -> bool:
    """Whether the token may go to that address: Meta's own hosts over TLS, or wherever the API itself is."""
    asked, own = urlsplit(url), urlsplit(api_url)
    if (asked.scheme, asked.netloc) == (own.scheme, own.netloc):
        return True
    host = asked.hostname or ""
    return asked.scheme == "https" and host.endswith((".fbsbx.com", ".facebook.com", ".fbcdn.net", ".whatsapp.net"))


def picture_type(content: bytes) -> str:
    """The type of a picture that WhatsApp shows as one, by its bytes; empty for any other."""
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    return "image/png" if content.startswith(b"\x89PNG\r\n\x1a\n") else ""


def document_type(name: str, content: bytes) -> str:
    """What a document is sent as: WhatsApp shows text and PDF, and hands on everything else.

    What is text is told by its bytes, for tables of endings take source code for other things."""
    ending = Path(name).suffix.lower()
    if content.startswith(b"%PDF-"):
        return "application/pdf"
    if _is_text(content):
        shown = {".json": "application/json", ".csv": "text/csv", ".html": "text/html"}
        return shown.get(ending, "text/plain")
    guessed, packed = ("image/webp", None) if ending == ".webp" else guess_type(f"file{ending}")
    return "application/octet-stream" if packed or not guessed or guessed.startswith("text/") else guessed


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
