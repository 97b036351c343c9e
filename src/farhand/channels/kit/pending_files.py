"""Messages whose file is being fetched, kept on disk until that is done: a kill loses none of them."""

import hashlib
from pathlib import Path

import msgspec

from farhand.channels.kit.surface import ChatMessage
from farhand.disk.atomic import write_private
from farhand.model.logger import get_logger

log = get_logger("chat")


class PendingFiles:
    """One small file for each message."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, message: ChatMessage) -> None:
        """Writes the message down; raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._path(message), msgspec.json.encode(message), sync=True)

    def done(self, message: ChatMessage) -> None:
        """The message needs no more fetching."""
        self._path(message).unlink(missing_ok=True)

    def waiting(self) -> list[ChatMessage]:
        """Those that a node left behind, in the order of their coming."""
        found: list[ChatMessage] = []
        for path in sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []:
            try:
                found.append(msgspec.json.decode(path.read_bytes(), type=ChatMessage))
            except (OSError, msgspec.MsgspecError) as error:
                log.warning("pending file not read", file=path.name, error=str(error))
        return sorted(found, key=lambda message: (message.at, message.id))

    def _path(self, message: ChatMessage) -> Path:
        return self._folder / f"{hashlib.sha256(message.id.encode()).hexdigest()[:24]}.json"
