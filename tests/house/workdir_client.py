"""A client of a house's API, and a git repository for its worker: what tests of workers' folders share."""

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from farhand.model.commands import Hire
from farhand.model.facts import CameOnline
from farhand.testing.house import SAFETY_SECONDS, House
from farhand.testing.http import local_client

_AS_SOMEBODY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    """Runs git in the folder, as a person would, without that person's own settings."""
    given = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), *_AS_SOMEBODY, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=given).stdout


def repository(folder: Path) -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.txt").write_text("b\n")
    (folder / ".gitignore").write_text("ignored/\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "The first")
    return folder


async def hired_in(house: House, folder: Path, worker: str = "ann") -> None:
    """A worker in that folder, who can be spoken to."""
    accepted = await house.send(Hire(id=house.id(), worker=worker, backend="scripted", directory=str(folder)))
    await house.fact(CameOnline, lambda event: event.worker == worker, after=accepted.seq - 1)


class Api:
    """Asks the node, with its key."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client

    async def get(self, path: str, /, **query: str) -> Any:
        """The answer as JSON, whether or not it is an error."""
        return (await self.client.get(path, params=query)).json()

    async def error(self, path: str, /, **query: str) -> str:
        """The code of the error that is the answer."""
        answer = await self.client.get(path, params=query)
        assert 400 <= answer.status_code < 500, answer.text
        return str(answer.json()["error"]["code"])


@asynccontextmanager
async def api(house: House) -> AsyncIterator[Api]:
    """A client with the node's key."""
    headers = {"Authorization": f"Bearer {house.node.settings.key.read_text()}"}
    address = f"http://127.0.0.1:{house.node.port}"
    async with local_client(base_url=address, headers=headers, timeout=SAFETY_SECONDS) as client:
        yield Api(client)
