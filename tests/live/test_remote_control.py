"""The document's checks on five conversations alike: `farhand tui`, and the real Gemini CLI, Claude Code, Codex and
OpenCode behind `farhand remote`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from tests.conftest import PROGRAMS

from farhand.testing.ports import lasting_port
from farhand.testing.remote_targets import TARGETS, RemoteTarget, open_target
from farhand.testing.tmux import SAFETY_SECONDS, Screen, terminal

pytestmark = pytest.mark.anyio
KEY = "secret-of-the-test"
ROOT = Path(__file__).resolve().parents[2]
# Every look is a start of curl.
LOOK_SECONDS = 0.2


class Outside:
    """A person before a terminal, and a program beside it."""

    def __init__(self, target: RemoteTarget, screen: Screen, port: int, key: str) -> None:
        self.target, self._screen, self.port, self._key = target, screen, port, key

    async def curl(self, path: str, *arguments: str, check: bool = True) -> str:
        """What curl prints."""
        key = ("-H", f"Authorization: Bearer {self._key}") if self._key else ()
        order = ["curl", "-sS", "--noproxy", "*", *key, *arguments, f"http://localhost:{self.port}{path}"]
        done = await anyio.to_thread.run_sync(
            partial(subprocess.run, order, check=check, capture_output=True, text=True, timeout=SAFETY_SECONDS)
        )
        return str(done.stdout)

    async def get(self, path: str) -> Any:
        return json.loads(await self.curl(path))

    async def post(self, path: str, body: object) -> Any:
        kind = ("-H", "Content-Type: application/json")
        return json.loads(await self.curl(path, "-X", "POST", *kind, "-d", json.dumps(body)))

    async def sees(self, text: str) -> str:
        """Waits until the terminal shows it."""
        return await anyio.to_thread.run_sync(self._screen.wait, lambda shown: text in shown, repr(text))

    async def sees_no_more(self, text: str) -> None:
        """Waits until the terminal does not show it."""
        await anyio.to_thread.run_sync(self._screen.wait, lambda shown: text not in shown, f"no {text!r}")

    async def types(self, text: str, until: str) -> None:
        """The person types it and presses Enter until that is shown: an Enter that comes at once is a line of a paste
        to some, and none is lost by one more."""
        await anyio.to_thread.run_sync(self._screen.press, text)
        await self.sees(text)
        with anyio.fail_after(SAFETY_SECONDS):
            while until not in await anyio.to_thread.run_sync(self._screen.text):
                await anyio.to_thread.run_sync(self._screen.press, "Enter")
                await anyio.sleep(1)

    async def until(self, path: str, true: Callable[[Any], bool]) -> Any:
        """Asks until the answer is so."""
        found: Any = None
        with anyio.move_on_after(SAFETY_SECONDS):
            while not true(found := await self.get(path)):  # noqa: ASYNC110
                await anyio.sleep(LOOK_SECONDS)
        assert true(found), f"{path} tells {found}; the screen shows:\n{self._screen.text()}"
        return found

    async def events_until(self, *wanted: str) -> str:
        """What whoever follows from now on is told, until all of that is in it."""
        key = ("-H", f"Authorization: Bearer {self._key}") if self._key else ()
        order = ["curl", "-sSN", "--noproxy", "*", *key, f"http://localhost:{self.port}/events"]
        told = ""
        async with await anyio.open_process(order, stdin=subprocess.DEVNULL) as curl:
            assert curl.stdout is not None
            with anyio.fail_after(SAFETY_SECONDS):
                while not all(one in told for one in wanted):
                    told += (await curl.stdout.receive()).decode(errors="replace")
            curl.kill()
        return told

    async def ready(self) -> None:
        """Waits until something can be said."""
        with anyio.fail_after(SAFETY_SECONDS):
            while '"ready":true' not in (await self.curl("/status", check=False)).replace(" ", ""):  # noqa: ASYNC110
                await anyio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def outside(name: str, folder: Path, server: tuple[str, ...], key: str = "") -> AsyncIterator[Outside]:
    """The target runs in a terminal with its remote control; it was left again when the context ends."""
    if name != "tui" and not (PROGRAMS / name).exists():
        pytest.skip("the agent CLIs are not installed: sh scripts/setup-tests.sh")
    port = lasting_port()
    async with open_target(name, folder, server, ROOT) as target:
        environment = {**target.environment(folder), **({"FARHAND_REMOTE_KEY": key} if key else {})}
        with terminal(folder, environment, columns=110, rows=40) as screen:
            one = Outside(target, screen, port, key)
            await one.sees("$")
            cd, set_port = f"cd {target.cli_env.project}", f"GEMINI_CLI_REMOTE_PORT={port}"
            line = f"clear; {cd}; {set_port} {target.command}; echo left with $?"
            await anyio.to_thread.run_sync(screen.type, line)
            await one.ready()
            yield one
            await one.types(target.leave, "left with 0")
            # It has gone with the app.
            assert await one.curl("/status", check=False) == ""
        await target.cli_env.tidy()


@pytest.mark.parametrize("name", ["tui", "gemini"])
async def test_the_manual_check_of_the_document(name: str, short_folder: Path, tmux_server: tuple[str, ...]) -> None:
    """As the document has it, without a key."""
    async with outside(name, short_folder, tmux_server) as person:
        await the_manual_check_of_the_document(person)


@pytest.mark.parametrize("name", TARGETS)
async def test_a_person_and_a_program_that_has_the_key(
    name: str, short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    """One after the other on one start of the agent, which is what costs."""
    async with outside(name, short_folder, tmux_server, KEY) as person:
        await the_manual_check_of_the_document(person)
        await a_program_waits_asks_stops_and_follows(person, keys=name != "tui")


async def the_manual_check_of_the_document(person: Outside) -> None:
    person.target.script.answers("zz-list", "There are three files.")
    person.target.script.answers("zz-typed", "You typed that.")
    said = await person.post("/message", {"message": "zz-list files"})
    assert said["ok"] is True
    assert {"role": "user", "text": "zz-list files"} in await person.get("/history")
    await person.sees("zz-list files")
    await person.sees("There are three files.")
    await person.until("/status", lambda status: status["status"] == "stable")
    await person.types("zz-typed by a person", "You typed that.")
    wanted = [
        {"role": "user", "text": "zz-list files"},
        {"role": "model", "text": "There are three files."},
        {"role": "user", "text": "zz-typed by a person"},
        {"role": "model", "text": "You typed that."},
    ]
    await person.until("/history", lambda history: history == wanted)
    assert await person.get("/history?limit=1") == [{"role": "model", "text": "You typed that."}]
    await person.until("/status", lambda status: status["status"] == "stable")


async def a_program_waits_asks_stops_and_follows(person: Outside, *, keys: bool) -> None:
    """`keys` says whether there is a terminal of the agent's own."""
    script = person.target.script
    release = script.holds("zz-first", "It begins", " and it ends.")
    script.answers("zz-second", "The second answer.")
    ran = script.asks("zz-make", "It is made.")
    stuck = script.holds("zz-stuck", "It hangs.\n\n", "For ever.")
    # agentapi's own form, and a message that waits for the turn before it.
    assert (await person.post("/message", {"content": "zz-first", "type": "user"}))["ok"] is True
    await script.began("zz-first")
    queued = await person.post("/message", {"message": "zz-second"})
    assert queued["state"] == "queued"
    assert (await person.get("/status"))["queued"] == 1
    release()
    wanted = [
        ("user", "zz-first"),
        ("agent", "It begins and it ends."),
        ("user", "zz-second"),
        ("agent", "The second answer."),
    ]
    # An answer is there from its first word on.
    await person.until(
        "/messages", lambda found: [(one["role"], one["content"]) for one in found["messages"]][-4:] == wanted
    )
    await person.until("/status", lambda status: status["status"] == "stable")
    # A question is answered from outside, and only then is something done.
    await person.post("/message", {"message": "zz-make it"})
    [ask] = (await person.until("/asks", lambda found: len(found["asks"]) == 1))["asks"]
    assert "touch zz-make.txt" in f"{ask['question']} {ask['detail']}"
    assert not ran()
    allow = next(choice["id"] for choice in ask["choices"] if choice["allows"])
    assert await person.post(f"/asks/{ask['id']}", {"choice": allow}) == {"ok": True}
    await person.sees("It is made.")
    await person.until("/status", lambda status: status["status"] == "stable")
    assert ran()
    # A turn is stopped from outside.
    await person.post("/message", {"message": "zz-stuck"})
    # Not before its first paragraph is shown: Claude Code puts what is stopped before that back into its input, in
    # its own time, and what the person types then to leave would stand behind it.
    await person.sees("It hangs.")
    await person.until("/status", lambda status: status["status"] == "running")
    assert (await person.post("/interrupt", {}))["interrupted"] is True
    await person.until("/status", lambda status: status["status"] == "stable")
    stuck()
    # Keys go into the agent's own terminal as they are, where there is one; they are nothing that was said.
    raw = await person.post("/message", {"content": "zz-keys", "type": "raw"})
    if not keys:
        assert raw["status"] == 409
    else:
        assert raw == {"ok": True}
        await person.sees("zz-keys")
        await person.post("/message", {"content": "\x7f" * len("zz-keys"), "type": "raw"})
        await person.sees_no_more("zz-keys")
        assert "zz-keys" not in json.dumps(await person.get("/messages"))
    # Whoever follows from the beginning has all of it.
    screen = ("event: screen_update",) if keys else ()
    events = await person.events_until("It begins and it ends.", "event: status_change", *screen)
    assert events.startswith("event: resume\n")
