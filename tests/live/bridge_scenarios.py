"""What every CLI that can be bridged plays: an agent that somebody started by hand, a script that knows two files."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol

import anyio

from farhand.testing.cli_env import CliEnv
from farhand.testing.models.script import Hold, ModelScript, ScriptedReply, ScriptedText, say

SAFETY_SECONDS = 240.0
SESSION = "desk"


class Desk:
    """A terminal in which somebody started a CLI by hand, the bridge's hooks in the project's settings."""

    def __init__(self, cli_env: CliEnv) -> None:
        self.cli_env = cli_env

    async def install(self, backend: str) -> None:
        """`farhand bridge install`, as a person types it."""
        words = ["bridge", "install", "--project", str(self.cli_env.project), "--backend", backend]
        await anyio.run_process([sys.executable, "-m", "farhand", *words], env=self.cli_env.environment)

    async def start(self, command: Sequence[str], ready: str, **variables: str) -> None:
        """Starts the CLI and waits until it can be typed into."""
        given = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
        size = ("-x", "120", "-y", "50")
        place = ("-d", "-s", SESSION, "-c", str(self.cli_env.project), *size, *given)
        await self._tmux("new-session", *place, shlex.join(command))
        await self.shows(ready)

    async def types(self, text: str) -> None:
        """Types it; Enter only when it is on the screen, for an Enter in the midst of typing is a new line."""
        await self.writes(text)
        await anyio.sleep(0.2)
        await self.presses("Enter")

    async def writes(self, text: str) -> None:
        """Types it, and does not send it; the same may stand on the screen from before."""
        times = (await self._screen()).count(text)
        await self._tmux("send-keys", "-t", SESSION, "-l", text)
        await wait(self._screen, lambda screen: str(screen).count(text) > times, text)

    async def presses(self, key: str) -> None:
        """One key."""
        await self._tmux("send-keys", "-t", SESSION, key)

    async def shows(self, words: str) -> None:
        """Returns when the screen has these words."""
        await wait(self._screen, lambda screen: words in str(screen), words)

    async def _screen(self) -> str:
        return await self._tmux("capture-pane", "-p", "-t", SESSION)

    async def _tmux(self, *words: str) -> str:
        done = await anyio.run_process([*self.cli_env.server, *words], env=self.cli_env.environment)
        return done.stdout.decode()


async def wait(look: Callable[[], object], good: Callable[[object], bool], what: str) -> None:
    """Looks again until it is so."""
    shown: object = None
    with anyio.move_on_after(SAFETY_SECONDS):
        while True:
            found = look()
            shown = await found if isinstance(found, Awaitable) else found
            if good(shown):
                return
            await anyio.sleep(0.05)
    raise AssertionError(f"{what!r} never came; there is: {shown}")


class ForeignScript:
    """Knows the two files and how they are written, and nothing of farhand."""

    def __init__(self, project: Path) -> None:
        self._inbox, self._outbox = project / ".gemini/wa_inbox.json", project / ".gemini/wa_outbox.json"
        self._count = 0
        # The ids of what it has heard before it began anew.
        self._heard: set[str] = set()

    def writes(self, text: str) -> None:
        """A person's message."""
        self._count += 1
        message = {"id": f"msg_{self._count}", "timestamp": "2126-01-01T00:00:00Z", "from": "user", "text": text}
        self._puts(self._inbox, [*self._read(self._inbox), {**message, "read": False}])

    def begins_anew(self) -> None:
        """All that was written was read and sent, and is heard no more."""
        for path, done in ((self._inbox, "read"), (self._outbox, "sent")):
            self._puts(path, [{**one, done: True} for one in self._read(path)])
        self._heard = {str(one["id"]) for one in self._read(self._outbox)}

    def is_read(self) -> bool:
        """Whether everything that it wrote was read."""
        return all(one["read"] for one in self._read(self._inbox))

    def heard(self) -> list[str]:
        """What the agent said."""
        return [str(one["text"]) for one in self._read(self._outbox) if one["id"] not in self._heard]

    def fills(self, count: int) -> None:
        """A script that forgets nothing: so many more messages in both files, read and sent long since."""
        for path, done in ((self._inbox, "read"), (self._outbox, "sent")):
            old = [
                {"id": f"old_{n}", "timestamp": "2126-01-01T00:00:00Z", "from": "x", "text": f"old {n}", done: True}
                for n in range(count)
            ]
            filled = [*old, *({**one, done: True} for one in self._read(path))]
            self._puts(path, filled)

    def longest(self) -> int:
        """How many messages the fuller one of the files has."""
        return max(len(self._read(self._inbox)), len(self._read(self._outbox)))

    async def hears(self, *texts: str) -> None:
        """Returns when the outbox holds exactly these."""
        await wait(self.heard, lambda heard: heard == list(texts), " / ".join(texts))

    def _puts(self, path: Path, messages: Sequence[object]) -> None:
        temporary = path.with_name(f"{path.name}.tmp")
        temporary.write_text(json.dumps({"messages": messages}))
        temporary.rename(path)

    def _read(self, path: Path) -> list[dict[str, object]]:
        found = json.loads(path.read_text("utf-8"))["messages"] if path.exists() else []
        return list(found)


class PromptedModel(Protocol):
    """The fake models with a `ModelScript`, which keep what they were asked."""

    script: ModelScript

    def prompted(self, text: str) -> Sequence[object]: ...


async def a_sprint_goes_on_by_itself(desk: Desk, script: ForeignScript) -> None:
    """AC-4: two tasks, a report between them; the model answers "did one" to zz-one and "did two" to zz-two."""
    script.writes("/sprint start\n- zz-one\n- zz-two")
    await desk.types("begin with zz-one")
    await script.hears("did one", "✅ 1/2 done. Next: zz-two", "did two", "🏁 Sprint done: 2/2.")
    assert script.is_read()


async def stop_ends_a_sprint_with_its_turn(desk: Desk, script: ForeignScript, began: Callable[[], object]) -> None:
    """AC-5, up to where the model is to be released: a person says STOP in the midst of the first of three tasks."""
    script.writes("/sprint start\n- zz-held\n- zz-two\n- zz-three")
    await desk.types("begin with zz-held")
    await wait(began, bool, "the first task")
    script.writes("Stop")


async def nothing_goes_on_after_stop(desk: Desk, script: ForeignScript, later: str) -> None:
    """AC-5, from where the model is released: it answers "did one"; what is typed then it answers "as before"."""
    await script.hears("did one", "⛔ Sprint stopped at 1/3.")
    await desk.types(later)
    await script.hears("did one", "⛔ Sprint stopped at 1/3.", "as before")


async def a_sprint_goes_on_by_itself_and_stop_ends_the_next_one_with_its_turn(
    desk: Desk, script: ForeignScript, model: PromptedModel
) -> None:
    """AC-4, and then AC-5 on the same start of the CLI, where the fake model plays a `ModelScript`."""
    model.script.conversation("zz-one", say("did one"))
    model.script.conversation("zz-two", say("did two"))
    await a_sprint_goes_on_by_itself(desk, script)
    script.begins_anew()
    model.script.conversation("zz-held", ScriptedReply((Hold("go"), ScriptedText("did one"))))
    model.script.conversation("zz-later", say("as before"))
    await stop_ends_a_sprint_with_its_turn(desk, script, lambda: model.prompted("zz-held"))
    model.script.release("go")
    await nothing_goes_on_after_stop(desk, script, "zz-later")
