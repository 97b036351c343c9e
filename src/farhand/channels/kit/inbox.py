"""Fetches what the manager sends beside text: photos and files, into the inbox of the worker that is meant."""

import uuid
from pathlib import Path

import anyio
import anyio.to_thread

from farhand.channels.kit import texts
from farhand.channels.kit.media import keep, safe_suffix
from farhand.channels.kit.sendable_files import LARGEST_BYTES
from farhand.channels.kit.surface import ChatMessage, ChatSurface, NotFetched, SentFile
from farhand.model.channel_ports import KeepsInboxes
from farhand.model.errors import NodeError
from farhand.model.logger import get_logger
from farhand.model.words import Attachment

log = get_logger("chat")
_NAMES = uuid.UUID("6f0e6d3c-6a8f-4a55-9a83-2f4c8d1b7e90")


class ChatInbox:
    """Downloads files into the workers' inboxes."""

    def __init__(self, surface: ChatSurface, inboxes: KeepsInboxes) -> None:
        self._surface = surface
        self._inboxes = inboxes

    async def fetch(
        self, message: ChatMessage, workers: tuple[str, ...], caption: str
    ) -> dict[str, tuple[str, Attachment]]:
        """For each of the workers, what it reads of the message's file and the file; raises NotFetched with a
        sentence for the manager."""
        sent = message.file
        if sent is None or not workers:
            return {}
        if sent.size > LARGEST_BYTES:
            raise NotFetched(f"{sent.name} is larger than 20 MB, more than {self._surface.title} hands to a bot.")
        content = await self._download(sent)
        # The same message is the same file, however often it comes.
        name = f"{uuid.uuid5(_NAMES, f'{message.chat}:{message.reference}')}{safe_suffix(sent.name, sent.media_type)}"
        fetched: dict[str, tuple[str, Attachment]] = {}
        for worker in workers:
            try:
                path = self._inboxes.inbox(worker) / name
                await anyio.to_thread.run_sync(keep, path, content)
            except (OSError, NodeError) as error:
                log.error("file not kept", worker=worker, error=str(error))
                raise NotFetched(_failure(sent)) from None
            attachment = Attachment(path=str(path), name=sent.name, media_type=sent.media_type)
            fetched[worker] = (description(sent, caption, path, len(content)), attachment)
        return fetched

    async def _download(self, sent: SentFile) -> bytes:
        try:
            content = await self._surface.download(sent)
        except NotFetched:
            raise NotFetched(_failure(sent)) from None
        if len(content) > LARGEST_BYTES:
            raise NotFetched(_failure(sent))
        return content


def description(sent: SentFile, caption: str, path: Path, size: int) -> str:
    """What a worker reads of a file."""
    if sent.is_image:
        lines = f"Manager sent image: {path}"
    else:
        lines = f"Manager sent file: {sent.name} ({as_size(size)}, {sent.media_type})\nPath: {path}"
    return f"{caption}\n\n{lines}" if caption else lines


def _failure(sent: SentFile) -> str:
    return texts.NO_IMAGE if sent.is_image else texts.NO_FILE


def as_size(size: int) -> str:
    """A size as people say it."""
    if size < 1024:
        return f"{size} B"
    return f"{size / 1024:.1f} KB" if size < 1024 * 1024 else f"{size / (1024 * 1024):.1f} MB"
