"""Fetches what the manager sends beside text: photos and files, into the inbox of the worker that is meant."""

import uuid
from collections.abc import Callable
from pathlib import Path

import anyio
import structlog
from telegram.error import BadRequest, TelegramError

from farhand.channels.kit import texts
from farhand.channels.kit.media import keep, safe_suffix
from farhand.channels.kit.shown_files import LARGEST_BYTES
from farhand.channels.telegram.gateway import Gateway
from farhand.channels.telegram.words import TelegramMessage
from farhand.model.errors import ChannelError, NodeError
from farhand.model.ports import Clock
from farhand.model.words import Attachment, Word

log = structlog.get_logger("telegram")
# Some twenty seconds in all: a wobble of the network passes, and what comes after does not wait for ever.
TRIES = 8
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0
_NAMES = uuid.UUID("6f0e6d3c-6a8f-4a55-9a83-2f4c8d1b7e90")


class NotFetched(ChannelError):
    """The file could not be had; the sentence is for the manager."""

    code = "not_fetched"


class Sent(Word):
    """A file that came with a message."""

    file_id: str
    name: str
    media_type: str
    size: int

    @property
    def is_image(self) -> bool:
        """Whether it is a picture, sent as one or as a file."""
        return self.media_type.startswith("image/")

    def told(self, caption: str, path: Path, size: int) -> str:
        """What the worker reads of it."""
        if self.is_image:
            lines = f"Manager sent image: {path}"
        else:
            lines = f"Manager sent file: {self.name} ({as_size(size)}, {self.media_type})\nPath: {path}"
        return f"{caption}\n\n{lines}" if caption else lines


class Inbox:
    """The folders of what came in, one for each worker."""

    def __init__(self, folder: Callable[[str], Path], gateway: Gateway, clock: Clock) -> None:
        self._folder = folder
        self._gateway = gateway
        self._clock = clock

    async def fetch(
        self, message: TelegramMessage, workers: tuple[str, ...], caption: str
    ) -> dict[str, tuple[str, Attachment]]:
        """For each of the workers, what it reads of the message's file and the file; raises NotFetched."""
        sent = sent_with(message)
        if sent is None or not workers:
            return {}
        if sent.size > LARGEST_BYTES:
            raise NotFetched(f"{sent.name} is larger than 20 MB, more than Telegram hands to a bot.")
        content = await self._download(sent)
        # The same message is the same file, however often it comes.
        name = (
            f"{uuid.uuid5(_NAMES, f'{message.chat.id}:{message.message_id}')}{safe_suffix(sent.name, sent.media_type)}"
        )
        fetched: dict[str, tuple[str, Attachment]] = {}
        for worker in workers:
            try:
                path = self._folder(worker) / name
                await anyio.to_thread.run_sync(keep, path, content)
            except (OSError, NodeError) as error:
                log.error("file not kept", worker=worker, error=str(error))
                raise NotFetched(_failure(sent)) from None
            attachment = Attachment(path=str(path), name=sent.name, media_type=sent.media_type)
            fetched[worker] = (sent.told(caption, path, len(content)), attachment)
        return fetched

    async def _download(self, sent: Sent) -> bytes:
        pause = FIRST_PAUSE_SECONDS
        for _ in range(TRIES):
            try:
                file = await self._gateway.bot.get_file(sent.file_id)
                content = bytes(await file.download_as_bytearray())
                if len(content) > LARGEST_BYTES:
                    break
                return content
            except BadRequest:
                break
            except TelegramError as error:
                log.info("download failed", error=self._gateway.redacted(error))
                await self._clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        raise NotFetched(_failure(sent))


def _failure(sent: Sent) -> str:
    return texts.NO_IMAGE if sent.is_image else texts.NO_FILE


def sent_with(message: TelegramMessage) -> Sent | None:
    """The file that came with the message; of a photo's sizes the largest."""
    if message.photo:
        largest = max(message.photo, key=lambda size: (size.file_size, size.width))
        return Sent(file_id=largest.file_id, name="photo.jpg", media_type="image/jpeg", size=largest.file_size)
    document = message.document
    if document is None:
        return None
    name = " ".join(document.file_name.split()) or "file"
    media_type = " ".join(document.mime_type.split()) or "application/octet-stream"
    return Sent(file_id=document.file_id, name=name, media_type=media_type, size=document.file_size)


def as_size(size: int) -> str:
    """A size as people say it."""
    if size < 1024:
        return f"{size} B"
    return f"{size / 1024:.1f} KB" if size < 1024 * 1024 else f"{size / (1024 * 1024):.1f} MB"
