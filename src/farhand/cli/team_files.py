"""The files that a message to a team's worker names as `@path`: they go along, by their path or uploaded."""

from __future__ import annotations

from mimetypes import guess_type
from pathlib import Path
from typing import Protocol, runtime_checkable

import anyio.to_thread

from farhand.model.errors import BadInput, TooLarge
from farhand.model.ports import Hub
from farhand.model.present import Worker
from farhand.model.words import Attachment
from farhand.remote.mentions import mentioned_files
from farhand.remote.upload import LARGEST_BYTES


class TeamFiles(Protocol):
    """Where the files are that can be named, and how they get to the worker."""

    def folder(self, worker: Worker) -> Path:
        """Where a name begins that is no whole path."""
        ...

    async def attach(self, worker: Worker, path: Path) -> Attachment:
        """The file as the node has it. Raises FarhandError."""
        ...


@runtime_checkable
class TakesFiles(Protocol):
    """A hub on another machine, which has to be given a file."""

    async def upload(self, worker: str, name: str, content: bytes) -> str:
        """Puts the file where the worker looks; its path there. Raises FarhandError."""
        ...


class FilesHere:
    """The node is on this machine: a file is named from the worker's own folder, and stays where it is."""

    def folder(self, worker: Worker) -> Path:
        """The worker's own."""
        return Path(worker.directory)

    async def attach(self, worker: Worker, path: Path) -> Attachment:
        """The file by its path."""
        del worker
        return _attachment(str(path), path)


class FilesUploaded:
    """The node is elsewhere: the files are this machine's, and a copy is given to the worker."""

    def __init__(self, hub: TakesFiles, folder: Path) -> None:
        self._hub, self._folder = hub, folder

    def folder(self, worker: Worker) -> Path:
        """This terminal's, whoever is talked to."""
        del worker
        return self._folder

    async def attach(self, worker: Worker, path: Path) -> Attachment:
        """The file by its path in the worker's inbox."""
        content = await anyio.to_thread.run_sync(_content, path)
        return _attachment(await self._hub.upload(worker.name, path.name, content), path)


def files_of(hub: Hub) -> TeamFiles:
    """As the hub takes them."""
    return FilesUploaded(hub, Path.cwd()) if isinstance(hub, TakesFiles) else FilesHere()


async def named_files(text: str, worker: Worker, files: TeamFiles) -> tuple[Attachment, ...]:
    """What goes along with that message. Raises FarhandError."""
    found = await anyio.to_thread.run_sync(mentioned_files, text, files.folder(worker))
    return tuple([await files.attach(worker, path) for path in found])


def _attachment(path: str, named: Path) -> Attachment:
    return Attachment(path=path, name=named.name, media_type=guess_type(named.name)[0] or "")


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from None
    if len(content) > LARGEST_BYTES:
        raise TooLarge(path.name, LARGEST_BYTES)
    return content
