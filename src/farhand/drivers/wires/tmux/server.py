"""A node's tmux: sessions started, found, written to, watched and ended, all over one control client."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import cast

import anyio
import msgspec

from farhand.drivers.wires.tmux.control import Listener, TmuxControl, control
from farhand.drivers.wires.tmux.death import ended
from farhand.drivers.wires.tmux.errors import TmuxError, TmuxGone, TmuxRefused, TmuxUnreachable
from farhand.drivers.wires.tmux.protocol import TmuxNotice, pictured

PANE_FIELDS = (
    "#{session_id}\t#{pane_id}\t#{pane_pid}\t#{pane_dead}\t#{pane_dead_status}\t#{pane_dead_signal}\t#{session_name}"
)

# A control client may subscribe to its own session alone: so it asks for the titles of all panes of all sessions.
TITLES = "titles"
SUBSCRIBE = ("refresh-client", "-B", f"{TITLES}::#{{S:#{{W:#{{P:#{{pane_id}} #{{pane_title}}\t}}}}}}")
# tmux lets its clients go a moment before it ends itself; one that does not answer is not waited for longer.
TIMEOUT_SECONDS = 2.0
BYTES_AT_ONCE = 500
START_TRIES = 10
# Not the same for everybody: clients that come at one moment end a tmux 3.3a that is just starting.
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 0.4
# How a server of one's own ends. A shell ends the server, and three seconds later whatever took no notice of the end of
# its terminal; what it leaves in the background ignores the signals that an ending tmux sends. The number of a program
# that has ended may be another's by now. A newer tmux has a person's own shell read these words, which may know others.
_ALIVE = "#{S:#{W:#{P:#{?pane_dead,,-#{pane_pid} }}}}"
_KILL_LATER = f"(sleep 3; kill -s KILL -- {_ALIVE}) < /dev/null > /dev/null 2>&1 &"
_END_BY_SHELL = rf'run-shell -b "exec /bin/sh -c \"trap \\\"\\\" HUP TERM; {_KILL_LATER} kill -s TERM #{{pid}}\""'
# Where no shell can be started, tmux sees to its own end.
END_ALL = ("run-shell -b -d 10 -C kill-server", _END_BY_SHELL)


class Pane(msgspec.Struct, frozen=True):
    """Where an agent runs. tmux never gives these ids to another pane, whatever the desk user renames or moves."""

    session: str
    id: str
    pid: int


class Death(msgspec.Struct, frozen=True):
    """How a pane's process ended, and what its screen last said."""

    status: int | None
    screen: str


class Size(msgspec.Struct, frozen=True):
    """The size of a pane that nobody looks at."""

    columns: int = 160
    rows: int = 50


class _State(msgspec.Struct, frozen=True):
    dead: bool
    # Whether tmux has heard how the process ended.
    known: bool
    status: int | None


class Watch:
    """Somebody who looks at a pane."""

    def __init__(self, pane: Pane) -> None:
        self._pane = pane
        self._changed = anyio.Event()
        self._changed.set()
        self.client: TmuxControl | None = None

    async def on_notice(self, notice: TmuxNotice) -> None:
        """The pane wrote something, or has another shape."""
        if notice.name in ("output", "extended-output", "layout-change", "exit"):
            self._changed.set()

    async def screen(self, *, colours: bool = True) -> str:
        """The screen, with its colours if wanted, as soon as it may have changed since the last look."""
        await self._changed.wait()
        self._changed = anyio.Event()
        if self.client is None:
            raise TmuxGone
        words = ("capture-pane", "-p", *(("-e",) if colours else ()), "-t", self._pane.id)
        return "\n".join(await self.client.command(*words))


class Tmux:
    """One tmux server, as a node uses it. The control client is opened when it is first needed, and again when lost."""

    def __init__(
        self, server: Sequence[str], control_session: str, environment: Mapping[str, str], *, ends_with_us: bool = False
    ) -> None:
        self._server = tuple(server)
        # Whether the whole server ends with our client, however that ends: else the agents live on.
        self._ends_with_us = ends_with_us
        self._control_session = control_session
        self._environment = environment
        self._opening = anyio.Lock()
        self._control: TmuxControl | None = None
        self._changed = anyio.Event()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._titles: dict[str, Callable[[str], None]] = {}
        self._typing: dict[str, anyio.Lock] = {}

    @property
    def server(self) -> tuple[str, ...]:
        """The words that reach this server from a shell, for a person who wants to sit down at it."""
        return self._server

    async def start(
        self,
        name: str,
        command: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        size: Size | None = None,
        tag: str = "",
    ) -> Pane:
        """Starts the command in a new session of that name. The session keeps its screen when the command ends."""
        size = size or Size()
        variables = [word for key, value in environment.items() for word in ("-e", f"{key}={value}")]
        where = ("-s", name, "-c", str(directory), "-x", str(size.columns), "-y", str(size.rows))
        # More than one word: tmux runs it as it is, without a shell.
        words = command if len(command) > 1 else ["env", *command]
        new = ("new-session", "-d", "-P", "-F", PANE_FIELDS, *where, *variables, "--", *words)
        # In one line: the command could end before a second line came.
        keep = ("set-option", "-w", "-t", f"={name}:", "remain-on-exit", "on")
        mark = ("set-option", "-p", "-t", f"={name}:", "@farhand", tag)
        made, _, _ = await (await self._client()).commands(new, keep, mark)
        return _pane(made[0])[0]

    async def find(self, prefix: str) -> dict[str, Pane]:
        """The sessions whose names begin so, each with the pane that its agent runs in: the oldest of its session."""
        found: dict[str, Pane] = {}
        for line in await self.command("list-panes", "-a", "-F", PANE_FIELDS):
            pane, name = _pane(line)
            if name.startswith(prefix) and name not in found:
                found[name] = pane
        return found

    async def tagged(self, tag: str) -> Pane | None:
        """The pane that was started under this tag, whatever its session is called by now."""
        for line in await self.command("list-panes", "-a", "-F", f"{PANE_FIELDS}\t#{{@farhand}}"):
            fields, _, found = line.rpartition("\t")
            if found == tag:
                return _pane(fields)[0]
        return None

    async def told(self, pane: Pane, wanted: str) -> str:
        """What tmux says of the pane, in its own format."""
        lines = await self.command("display-message", "-p", "-t", pane.id, wanted)
        return lines[0] if lines else ""

    async def paste(self, pane: Pane, text: str, *keys: str) -> None:
        """Puts the text into the pane as one bracketed paste: its line ends are no Enter. Keys may follow at once."""
        buffer = f"farhand-{pane.id[1:]}"
        put = ("set-buffer", "-b", buffer, "--", pictured(text))
        paste = f"paste-buffer -p -r -d -b {buffer} -t {pane.id}"
        # tmux 3.3a dies, with all its sessions, of a paste into a pane whose process has ended.
        check = ("if-shell", "-F", "-t", pane.id, "#{pane_dead}", f"delete-buffer -b {buffer}", paste)
        press = [("send-keys", "-t", pane.id, *keys)] if keys else []
        # In one line: nothing that somebody types can come between them.
        await (await self._client()).commands(put, check, *press)

    async def type(self, pane: Pane, text: str) -> None:
        """Types the text as a person would, key by key; for slash commands."""
        await self.command("send-keys", "-t", pane.id, "-l", "--", pictured(text).replace("\n", " "))

    async def write(self, pane: Pane, data: bytes) -> None:
        """Gives the pane's program these bytes as a terminal would: an escape sequence stays one."""
        for start in range(0, len(data), BYTES_AT_ONCE):
            words = [f"{byte:02x}" for byte in data[start : start + BYTES_AT_ONCE]]
            await self.command("send-keys", "-t", pane.id, "-H", *words)

    async def press(self, pane: Pane, *keys: str) -> None:
        """Presses keys by their names: Enter, Escape, C-s."""
        await self.command("send-keys", "-t", pane.id, *keys)

    async def capture(self, pane: Pane, *, colours: bool = False, history: int = 0) -> str:
        """What the pane shows, with its colours as escape sequences if wanted, and some lines of what has gone."""
        options = (["-e"] if colours else []) + (["-S", str(-history)] if history else [])
        return "\n".join(await self.command("capture-pane", "-p", *options, "-t", pane.id))

    async def variable(self, pane: Pane, name: str) -> str | None:
        """A variable of the pane's session, if it is set there."""
        try:
            lines = await self.command("show-environment", "-t", pane.session, name)
        except TmuxRefused:
            return None
        return lines[0].partition("=")[2] if lines and not lines[0].startswith("-") else None

    async def kill(self, pane: Pane) -> None:
        """Ends the pane's whole session. Done twice, it does nothing more."""
        try:
            await self.command("kill-session", "-t", pane.session)
        except (TmuxRefused, TmuxGone):
            return

    async def died(self, pane: Pane) -> Death:
        """Returns when the pane's process has ended, with its last words; raises TmuxGone when tmux itself ended."""
        client = await self._client()
        server = client.server
        await ended(pane.pid)
        while client.server == server:
            try:
                return await _last_words(client, pane)
            except TmuxGone:
                if not await _outlived(client):
                    raise
            # Somebody has thrown our client out; tmux lives.
            client = await self._client()
        raise TmuxGone

    @asynccontextmanager
    async def watched(self, pane: Pane) -> AsyncIterator[Watch]:
        """The pane's screen, again whenever it has changed, for as long as somebody looks."""
        look = Watch(pane)
        attach = ("attach-session", "-f", "ignore-size,read-only", "-t", pane.session)
        async with control(self._server, attach, self._environment, look.on_notice) as client:
            look.client = client
            yield look

    @asynccontextmanager
    async def streamed(self, pane: Pane, listener: Listener) -> AsyncIterator[TmuxControl]:
        """A client of its own that hears all that is written in the pane's session, byte for byte."""
        attach = ("attach-session", "-f", "ignore-size,read-only", "-t", pane.session)
        async with control(self._server, attach, self._environment, listener, "surrogateescape") as client:
            yield client

    def typing_lock(self, pane: Pane) -> anyio.Lock:
        """Whoever types into the pane holds it: nobody types into another's text."""
        return self._typing.setdefault(pane.id, anyio.Lock())

    async def command(self, *words: str) -> tuple[str, ...]:
        """Any tmux command, over the control client."""
        return await (await self._client()).command(*words)

    async def gone(self) -> None:
        """Returns when the control client that is open now has ended: tmux was killed, or cut us off."""
        await (await self._client()).ended.wait()

    async def _client(self) -> TmuxControl:
        async with self._opening:
            if self._control is None or self._control.ended.is_set():
                if self._tasks is None:
                    raise TmuxGone
                self._control = await self._started(self._tasks)
            return self._control

    async def _started(self, tasks: anyio.abc.TaskGroup) -> TmuxControl:
        """A new client; where the server ends in this moment, or ended because two started it at once, another one."""
        for _ in range(START_TRIES - 1):
            try:
                return cast("TmuxControl", await tasks.start(self._run))
            except TmuxUnreachable:
                raise
            except TmuxGone:
                await anyio.sleep(random.uniform(SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS))
        return cast("TmuxControl", await tasks.start(self._run))

    async def _run(self, *, task_status: anyio.abc.TaskStatus[TmuxControl] = anyio.TASK_STATUS_IGNORED) -> None:
        # The session ends with its client: a killed node leaves nothing of it behind, and its workers' sessions stay.
        attach = (
            "new-session",
            "-A",
            "-s",
            self._control_session,
            "-f",
            "no-output,ignore-size",
            "-x",
            "80",
            "-y",
            "24",
            "cat",
        )
        async with control(self._server, attach, self._environment, self._on_notice) as client:
            # Should tmux end at this very moment, whoever asks for something next hears of it.
            with suppress(TmuxGone):
                await self._settle_in(client)
            task_status.started(client)
            await client.ended.wait()
        if self._titles and self._tasks is not None and await _outlived(client):
            # Nobody may need a command for a long time, but titles are waited for.
            self._tasks.start_soon(self._reopen)

    async def _settle_in(self, client: TmuxControl) -> None:
        # Not by `destroy-unattached`: tmux itself may crash of it when two clients leave at once.
        ends = END_ALL if self._ends_with_us else (f"kill-session -t ={self._control_session}",)
        alone = f"if-shell -F -t '={self._control_session}:' '#{{?session_attached,,1}}'"
        hook = ("set-hook", "-t", f"={self._control_session}:")
        close = [(*hook, f"client-detached[{place}]", f"{alone} '{end}'") for place, end in enumerate(ends)]
        *_, said = await client.commands(*close, ("display-message", "-p", "#{pid}"))
        client.server = int(said[0])
        if self._titles:
            # The client before this one has taken its subscription along.
            with suppress(TmuxRefused):
                await client.command(*SUBSCRIBE)

    async def _reopen(self) -> None:
        with suppress(TmuxError):
            await self._client()

    async def title(self, pane: Pane) -> str:
        """What the pane's program calls its window now."""
        return await self.told(pane, "#{pane_title}")

    @asynccontextmanager
    async def titled(self, pane: Pane, changed: Callable[[str], None]) -> AsyncIterator[None]:
        """Every title that the pane's program gives its window, while the block is open; tmux looks once a second."""
        self._titles[pane.id] = changed
        try:
            await self.command(*SUBSCRIBE)
            changed(await self.title(pane))
            yield
        finally:
            self._titles.pop(pane.id, None)
            client = self._control
            if not self._titles and client is not None:
                with anyio.move_on_after(TIMEOUT_SECONDS, shield=True), suppress(TmuxGone, TmuxRefused):
                    await client.command("refresh-client", "-B", TITLES)

    async def _on_notice(self, notice: TmuxNotice) -> None:
        if notice.name == "subscription-changed" and ":" in notice.arguments:
            self._tell_titles(" ".join(notice.arguments[notice.arguments.index(":") + 1 :]))
        if notice.name in ("sessions-changed", "session-renamed", "unlinked-window-close", "exit"):
            self._changed.set()
            self._changed = anyio.Event()

    def _tell_titles(self, titles: str) -> None:
        for one in titles.split("\t"):
            name, _, title = one.partition(" ")
            changed = self._titles.get(name)
            if changed is not None:
                changed(title)

    async def changed(self) -> None:
        """Returns at the next notice that sessions came, went or were renamed."""
        await self._changed.wait()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Tmux]:
        """The server's client lives inside this block."""
        async with AsyncExitStack() as stack:
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            try:
                yield self
            finally:
                self._tasks.cancel_scope.cancel()
                self._tasks = None


def _pane(line: str) -> tuple[Pane, str]:
    session, pane, pid, _dead, _status, _signal, name = line.split("\t", 6)
    return Pane(session, pane, int(pid)), name


async def _outlived(client: TmuxControl) -> bool:
    """Whether the server goes on, though it has lost this client."""
    with anyio.move_on_after(TIMEOUT_SECONDS):
        await ended(client.server)
        return False
    return bool(client.server)


async def _last_words(client: TmuxControl, pane: Pane) -> Death:
    screen = ""
    for attempt in range(100):
        state = await _dead_state(client, pane)
        if state is None:
            break
        lines = await client.command("capture-pane", "-p", "-S", "-50", "-t", pane.id)
        screen = "\n".join(line for line in lines if not line.startswith("Pane is dead")).strip()
        if state.dead and state.known and (screen or attempt > 20):
            return Death(state.status, screen)
        if attempt % 20 == 10:
            # tmux may miss a child's end until another child ends.
            await client.command("run-shell", "-b", "true")
        # The kernel told us before tmux knew.
        await anyio.sleep(0.02)
    return Death(None, screen)


async def _dead_state(client: TmuxControl, pane: Pane) -> _State | None:
    try:
        lines = await client.command("display-message", "-p", "-t", pane.id, PANE_FIELDS)
    except TmuxRefused:
        return None
    fields = lines[0].split("\t")
    if fields[1] != pane.id:
        return None
    return _State(fields[3] == "1", bool(fields[4] or fields[5]), int(fields[4]) if fields[4] else None)
