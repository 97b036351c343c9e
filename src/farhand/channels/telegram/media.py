"""Fetches what the manager sends beside text: photos and files, into a folder that workers can read."""

from pathlib import Path

import anyio
import structlog
from telegram.error import BadRequest, TelegramError

from farhand.channels.kit.media import keep, safe_suffix
from farhand.channels.telegram.gateway import Gateway
from farhand.channels.telegram.words import Message
from farhand.model.errors import ChannelError
from farhand.model.ports import Clock
from farhand.model.words import Attachment

log = structlog.get_logger("telegram")
LARGEST_BYTES = 20_000_000
# Some twenty seconds in all: a wobble of the network passes, and what comes after does not wait for ever.
TRIES = 8
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0


class NotFetched(ChannelError):
    """The file could not be had; the sentence is for the manager."""

    code = "not_fetched"


class Inbox:
    """The folder of what came in."""

    def __init__(self, folder: Path, gateway: Gateway, clock: Clock) -> None:
        self._folder = folder
        self._gateway = gateway
        self._clock = clock

    async def fetch(self, message: Message) -> tuple[Attachment, ...]:
        """The message's photo or file, downloaded; raises NotFetched after a few tries."""
        wanted = _wanted(message)
        if wanted is None:
            return ()
        file_id, name, media_type, size = wanted
        image = media_type.startswith("image/")
        if size > LARGEST_BYTES:
            raise NotFetched(f"{name} is larger than 20 MB, more than Telegram hands to a bot.")
        content = await self._download(file_id, image)
        path = self._folder / f"{message.chat.id}-{message.message_id}{safe_suffix(name, media_type)}"
        await anyio.to_thread.run_sync(keep, path, content)
        return (Attachment(path=str(path), name=name, media_type=media_type),)

    async def _download(self, file_id: str, image: bool) -> bytes:
        pause = FIRST_PAUSE_SECONDS
        for _ in range(TRIES):
            try:
                file = await self._gateway.bot.get_file(file_id)
                return bytes(await file.download_as_bytearray())
            except BadRequest:
                break
            except TelegramError as error:
                log.info("download failed", error=self._gateway.redacted(error))
                await self._clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        what = "image. Try again or send as file." if image else "file. Try again."
        raise NotFetched(f"Needs decision - Could not download {what}")


def _wanted(message: Message) -> tuple[str, str, str, int] | None:
    if message.photo:
        largest = max(message.photo, key=lambda size: (size.file_size, size.width))
        return largest.file_id, "photo.jpg", "image/jpeg", largest.file_size
    document = message.document
    if document is None:
        return None
    return (
        document.file_id,
        document.file_name or "file",
        document.mime_type or "application/octet-stream",
        document.file_size,
    )
