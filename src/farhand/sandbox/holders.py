"""Starts and finds held children, each in a folder of its own under one root."""

import errno
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import anyio

from farhand.model.errors import AgentMissing, BadName, DriverError
from farhand.model.lazy_pattern import lazy_pattern
from farhand.sandbox.feed_tap import FEEDS
from farhand.sandbox.folder import Folder
from farhand.sandbox.held_child import HeldChild

PROGRAM = Path(__file__).with_name("holder.py")
NAME = lazy_pattern(r"[a-z0-9][a-z0-9._-]{0,99}")
POLL_SECONDS = 0.01


class HeldSandbox(Protocol):
    """Wraps what is held, by its name, and hears when it is over."""

    async def wrap_held(
        self, name: str, argv: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[Sequence[str], Mapping[str, str]]:
        """What is run under that name instead, and with which variables."""
        ...

    async def held_ended(self, name: str) -> None:
        """What ran under that name was ended."""
        ...


# A user's number, its group's, and all its groups'.
HeldUser: TypeAlias = tuple[int, int, Sequence[int]]


def no_variables(_: str) -> Mapping[str, str]:
    """Nothing of its own for any child."""
    return {}


class LocalHolders:
    """Holders on this machine."""

    def __init__(
        self,
        root: Path,
        *,
        python: str = sys.executable,
        error_bytes: int = 256 * 1024,
        variables: Callable[[str], Mapping[str, str]] = no_variables,
        user: HeldUser | None = None,
        sandbox: HeldSandbox | None = None,
        owner: int | None = None,
    ) -> None:
        self._root = root
        self._python = python
        self._error_bytes = error_bytes
        # What a child of that name gets beside its environment.
        self._variables = variables
        # Whom children run as; the holder itself stays the node's own user.
        self._user = user
        self._sandbox = sandbox
        # The reading end of a pipe: children end when the last of those who can write to it is gone.
        self._owner = owner

    async def start(
        self, name: str, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str]
    ) -> AbstractAsyncContextManager[HeldChild]:
        """Starts a child in a new holder; raises AgentMissing when there is no such program."""
        path = self._path(name)
        # Parents that mkdir makes by itself would have the mode of the umask.
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        if self._sandbox is not None:
            argv, environment = await self._sandbox.wrap_held(name, argv, environment)
        variables = {**environment, **self._variables(name)}
        order = {
            "argv": [*argv],
            "cwd": str(cwd),
            "env": variables,
            "err_limit": self._error_bytes,
            "user": self._user,
            "owned": self._owner is not None,
        }
        with closing(Folder(path)) as folder:
            folder.write_order(order)
        _raise_if_refused(await self._launch(path), argv[0], cwd)
        return self._held(path)

    async def attach(self, name: str) -> AbstractAsyncContextManager[HeldChild] | None:
        """The held child of that name, alive or not; None if there never was one."""
        path = self._path(name)
        try:
            opened = Folder(path)
        except FileNotFoundError:
            return None
        with closing(opened) as folder:
            while folder.life() is None and folder.is_held():  # noqa: ASYNC110 (it is being started this very moment)
                await anyio.sleep(POLL_SECONDS)
            return None if folder.life() is None else self._held(path)

    async def attach_or_withdraw(self, name: str) -> AbstractAsyncContextManager[HeldChild] | None:
        """The same for whoever wants it ended: a child that nobody has started yet is never started."""
        while (found := await self.attach(name)) is None:
            with suppress(FileNotFoundError), closing(Folder(self._path(name))) as folder:
                if not folder.withdraw_order():
                    continue
            return None
        return found

    async def forget(self, name: str) -> None:
        """Ends what still runs under that name and removes its files."""
        found = await self.attach_or_withdraw(name)
        if found is not None:
            async with found as held:
                await held.end()
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(self._path(name), ignore_errors=True))

    async def names(self) -> list[str]:
        """Under which names there are held children, alive or not."""
        if not self._root.is_dir():
            return []
        return sorted(path.name for path in self._root.iterdir() if NAME.fullmatch(path.name) and path.is_dir())

    def listening(self, name: str, hear: Callable[[bytes], None]) -> AbstractContextManager[None]:
        """Calls it with what this process writes to the child of that name, until the context ends."""
        return FEEDS.listening(self._path(name), hear)

    @asynccontextmanager
    async def _held(self, path: Path) -> AsyncIterator[HeldChild]:
        with closing(Folder(path)) as folder:
            yield HeldChild(folder, partial(self._sandbox.held_ended, path.name) if self._sandbox else None)

    def _path(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise BadName(f"A held child cannot be called '{name}': letters a-z, digits, '.', '_' and '-' are allowed.")
        return self._root / name

    async def _launch(self, path: Path) -> dict[str, Any]:
        """Runs the program, which forks, reports and lets go; its environment is empty, and so holds no secret."""
        command = [self._python, "-I", "-S", "-X", "utf8", str(PROGRAM), str(path)]
        try:
            stdin = subprocess.DEVNULL if self._owner is None else self._owner
            done = await anyio.run_process(command, stdin=stdin, check=False, env={}, cwd="/")
        except OSError as error:
            raise DriverError(f"The holder cannot be started with {self._python}: {error.strerror}.") from None
        if not done.stdout:
            raise DriverError(f"The holder did not start: {done.stderr.decode(errors='replace').strip()}")
        said: dict[str, Any] = json.loads(done.stdout)
        return said


def _raise_if_refused(said: dict[str, Any], program: str, cwd: Path) -> None:
    """Raises an error with a sentence for a person when the holder reports one."""
    match said.get("error"):
        case None:
            return
        case "program" if said["errno"] == errno.ENOENT:
            raise AgentMissing(f"No program called '{program}' was found. Install it, or correct its name or PATH.")
        case "program":
            raise AgentMissing(f"The program '{program}' cannot be run: {said['why']}.")
        case "user":
            raise DriverError(f"The agent cannot run as another user: {said['why']}.")
        case "cwd":
            raise DriverError(f"The agent cannot work in {cwd}: {said['why']}.")
        case _:
            raise DriverError(f"The agent cannot be started: {said['why']}.")
