"""The tmux wire against a real tmux: nothing a desk user does harms it, and no death goes unnoticed."""

from __future__ import annotations

import os
import signal
import sys
from itertools import chain
from pathlib import Path

import anyio
import pytest
from tests.live.tmux.typed import BOX, ENVIRONMENT, read_box, submitted, until

from farhand.cli.remote_terminal import end_server
from farhand.disk.processes import is_alive
from farhand.drivers.wires.tmux import Pane, Tmux, TmuxGone, TmuxMissing, TmuxRefused, TmuxUnreachable
from farhand.drivers.wires.tmux.submit import submit

pytestmark = pytest.mark.anyio


async def test_renaming_splitting_and_resizing_harm_nothing(
    tmux: Tmux, typist: Pane, short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    for words in (
        ["rename-session", "-t", "claude-test-ann", "my own name"],
        ["split-window", "-t", typist.id, "cat"],
        ["new-window", "-t", "my own name:", "cat"],
        ["resize-window", "-t", typist.id, "-x", "40", "-y", "12"],
        ["rename-window", "-t", typist.id, "w"],
    ):
        await anyio.run_process([*tmux_server, *words])
    await submit(tmux, typist, "still here", BOX)
    await until(lambda: bool(submitted(short_folder)))
    assert submitted(short_folder) == ["still here"]


async def test_sessions_are_found_again_by_their_prefix(tmux: Tmux, typist: Pane, short_folder: Path) -> None:
    await tmux.start("claude-other-bob", ["cat", "-"], short_folder, {})
    assert await tmux.find("claude-test-") == {"claude-test-ann": typist}


async def test_another_client_adopts_what_a_killed_node_left(
    tmux: Tmux, typist: Pane, short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    client = (await tmux.command("display-message", "-p", "#{client_pid}"))[0]
    os.kill(int(client), signal.SIGKILL)
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as second:
        pane = (await second.find("claude-test-"))["claude-test-ann"]
        await submit(second, pane, "adopted", BOX)
    await until(lambda: bool(submitted(short_folder)))
    assert pane == typist
    assert submitted(short_folder) == ["adopted"]


async def test_a_terminal_of_its_own_ends_with_its_client_whatever_its_program_ignores(
    short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    """Also a program that hears neither the end of its terminal nor a polite word; one that has ended stays unharmed,
    for its number may be another's by now."""
    ready = short_folder / "ready"
    deaf = f"trap '' HUP TERM INT; touch {ready}; while :; do sleep 0.1; done"
    async with Tmux(tmux_server, "door", ENVIRONMENT, ends_with_us=True).opened() as own:
        await own.start("ended", ["sh", "-c", "exit 0"], short_folder, {})
        pane = await own.start("deaf", ["sh", "-c", deaf], short_folder, {})
        await until(ready.exists)
        client = (await own.command("display-message", "-p", "#{client_pid}"))[0]
        os.kill(int(client), signal.SIGKILL)
        await until(lambda: not is_alive(pane.pid))


OWNER = """
import os, sys, anyio
from pathlib import Path
from farhand.drivers.wires.tmux import Tmux

async def own(server):
    async with Tmux(server, "door", os.environ, ends_with_us=True).opened() as tmux:
        pane = await tmux.start("left", ["cat", "-"], Path.cwd(), {})
        print(pane.pid, *await tmux.command("display-message", "-p", "#{client_pid}"), flush=True)
        await anyio.sleep_forever()

anyio.run(own, tuple(sys.argv[1:]))
"""


async def test_a_terminal_ends_with_a_killed_owner_whom_tmux_still_had_something_to_tell(
    tmux_server: tuple[str, ...],
) -> None:
    """tmux 3.3a keeps such a client for ever, and would keep the terminal."""
    words = [sys.executable, "-c", OWNER, *tmux_server]
    async with await anyio.open_process(words, stderr=None, env=ENVIRONMENT) as owner:
        assert owner.stdout is not None
        pane, client = map(int, (await owner.stdout.receive()).split())
        owner.send_signal(signal.SIGSTOP)
        # More than a pipe holds.
        for _ in range(12):
            names = [("rename-window", "-t", "=door:", f"{number}" * 75, ";") for number in range(10, 70)]
            await anyio.run_process([*tmux_server, *chain.from_iterable(names)])
        owner.kill()
        await until(lambda: not is_alive(pane) and not is_alive(client))


async def test_a_service_whose_processes_are_all_ended_ends_in_order(tmux_server: tuple[str, ...]) -> None:
    """Whoever watches for our end is then gone before us."""
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as tmux:
        client = (await tmux.command("display-message", "-p", "#{client_pid}"))[0]
        watching = await anyio.run_process(["pgrep", "-P", str(os.getpid()), "-f", f"sh {client}$"])
        os.kill(int(watching.stdout), signal.SIGTERM)
        await until(lambda: not is_alive(int(watching.stdout)))


@pytest.mark.parametrize("ends_with_us", [False, True])
async def test_the_end_of_a_terminal_of_its_own_kills_what_takes_no_notice(
    short_folder: Path, tmux_server: tuple[str, ...], ends_with_us: bool
) -> None:
    """Whether its client still speaks to tmux or has just left, and tmux's own shell for this was ended by that end."""
    ready = short_folder / "ready"
    deaf = f"trap '' HUP TERM INT; touch {ready}; while :; do sleep 0.1; done"
    async with Tmux(tmux_server, "door", ENVIRONMENT, ends_with_us=ends_with_us).opened() as own:
        await own.start("ended", ["sh", "-c", "exit 0"], short_folder, {})
        pane = await own.start("deaf", ["sh", "-c", deaf], short_folder, {})
        await until(ready.exists)
        if not ends_with_us:
            await end_server(tmux_server)
            await until(lambda: not is_alive(pane.pid))
    await end_server(tmux_server)
    await until(lambda: not is_alive(pane.pid))


async def test_the_session_has_the_variables_and_the_directory(tmux: Tmux, short_folder: Path) -> None:
    out = short_folder / "out"
    script = f'printf "%s|%s" "$PWD" "$NODE_WORD" > {out}.new; mv {out}.new {out}; cat'
    pane = await tmux.start("v", ["sh", "-c", script], short_folder, {"NODE_WORD": "a b;'\"$x"})
    await until(out.exists)
    assert out.read_text() == f"{short_folder}|a b;'\"$x"
    assert await tmux.variable(pane, "NODE_WORD") == "a b;'\"$x"
    assert await tmux.variable(pane, "NO_SUCH") is None


async def test_a_death_is_told_with_its_status_and_last_words(tmux: Tmux, short_folder: Path) -> None:
    # tmux may lose what is written in the very moment of the end.
    pane = await tmux.start("d", ["sh", "-c", "stty -echo; echo cannot start; read go; exit 3"], short_folder, {})
    with anyio.fail_after(240):
        while "cannot start" not in await tmux.capture(pane):
            pass
        await tmux.press(pane, "Enter")
        death = await tmux.died(pane)
    assert death.status == 3
    assert death.screen == "cannot start"
    await tmux.kill(pane)
    await tmux.kill(pane)
    assert await tmux.find("d") == {"door": (await tmux.find("door"))["door"]}


async def test_a_paste_into_a_pane_whose_agent_is_over_harms_nobody(
    tmux: Tmux, typist: Pane, short_folder: Path
) -> None:
    # tmux 3.3a itself dies of one, and with it every session that it has.
    pane = await tmux.start("d", ["sh", "-c", "exit 3"], short_folder, {})
    with anyio.fail_after(240):
        assert (await tmux.died(pane)).status == 3
    await tmux.paste(pane, "too late", "Enter")
    assert await tmux.command("list-buffers") == ()
    await tmux.paste(typist, "in time", "Enter")
    await until((short_folder / "submitted").exists)


async def test_a_session_that_is_killed_is_a_death(tmux: Tmux, typist: Pane) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tmux.kill, typist)
        with anyio.fail_after(240):
            assert (await tmux.died(typist)).status is None


async def test_a_killed_server_is_noticed_and_a_new_one_can_be_started(
    tmux: Tmux, typist: Pane, short_folder: Path
) -> None:
    server = int((await tmux.command("display-message", "-p", "#{pid}"))[0])
    told = anyio.Event()

    async def wait() -> None:
        with pytest.raises(TmuxGone):
            await tmux.died(typist)
        told.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await tmux.command("list-sessions")
        os.kill(server, signal.SIGKILL)
        with anyio.fail_after(240):
            await told.wait()
    pane = await tmux.start("claude-test-ann", ["cat", "-"], short_folder, {})
    assert await tmux.find("claude-test-") == {"claude-test-ann": pane}


async def test_what_tmux_refuses_is_a_sentence_and_the_wire_goes_on(tmux: Tmux, typist: Pane) -> None:
    with pytest.raises(TmuxRefused, match="no-such-command"):
        await tmux.command("no-such-command")
    with pytest.raises(TmuxRefused, match="duplicate session"):
        await tmux.start("claude-test-ann", ["cat", "-"], Path("/"), {})
    assert await tmux.capture(typist)


async def test_many_commands_at_once_get_their_own_replies(tmux: Tmux, typist: Pane) -> None:
    replies: dict[int, str] = {}

    async def ask(number: int) -> None:
        replies[number] = (await tmux.command("display-message", "-p", f"number {number}"))[0]

    async with anyio.create_task_group() as tasks:
        for number in range(200):
            tasks.start_soon(ask, number)
    assert replies == {number: f"number {number}" for number in range(200)}


async def test_a_watcher_sees_the_screen_change(tmux: Tmux, typist: Pane) -> None:
    with anyio.fail_after(240):
        async with tmux.watched(typist) as watch:
            assert read_box(await watch.screen()) == ""
            await tmux.type(typist, "watched")
            while "watched" not in await watch.screen():
                pass


async def test_titles_are_told_as_they_change_each_to_its_own(tmux: Tmux, short_folder: Path) -> None:
    script = 'printf "\\033]0;first $1\\007"; read word; printf "\\033]0;%s  $1\\007" "$word"; sleep 1000'
    panes = [await tmux.start(name, ["sh", "-c", script, "sh", name], short_folder, {}) for name in ("ann", "bob")]
    told: dict[str, list[str]] = {"ann": [], "bob": []}
    async with tmux.titled(panes[0], told["ann"].append), tmux.titled(panes[1], told["bob"].append):
        await until(lambda: "first ann" in told["ann"] and "first bob" in told["bob"])
        await tmux.type(panes[1], "✋")
        await tmux.press(panes[1], "Enter")
        await until(lambda: "✋  bob" in told["bob"])
    assert not any("bob" in title for title in told["ann"])


async def detached(tmux: Tmux) -> None:
    """Somebody at the desk throws our client out; returns when it is gone."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tmux.gone)
        await tmux.command("display-message", "-p", "here")
        await anyio.run_process([*tmux.server, "detach-client", "-s", "door"])


async def test_the_door_ends_with_its_client_and_the_workers_stay(
    short_folder: Path, tmux_server: tuple[str, ...]
) -> None:
    async with Tmux(tmux_server, "door", ENVIRONMENT).opened() as wire:
        await wire.start("ann", ["cat", "-"], short_folder, {})
        os.kill(int((await wire.command("display-message", "-p", "#{client_pid}"))[0]), signal.SIGKILL)
        with anyio.fail_after(240):
            while await _sessions(tmux_server) != ["ann"]:
                pass


async def _sessions(server: tuple[str, ...]) -> list[str]:
    return (await anyio.run_process([*server, "list-sessions", "-F", "#S"])).stdout.decode().split()


async def test_tmux_outlives_our_client_however_often_it_is_thrown_out(tmux: Tmux, typist: Pane) -> None:
    for _ in range(20):
        await detached(tmux)
    assert await tmux.find("claude-test-") == {"claude-test-ann": typist}


async def test_a_client_that_was_thrown_out_is_not_the_death_of_tmux(tmux: Tmux, short_folder: Path) -> None:
    pane = await tmux.start("d", ["sh", "-c", "read word; exit 0"], short_folder, {})
    deaths: list[int | None] = []

    async def wait() -> None:
        deaths.append((await tmux.died(pane)).status)

    with anyio.fail_after(240):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await detached(tmux)
            await tmux.press(pane, "Enter")
    assert deaths == [0]


async def test_a_client_that_is_thrown_out_while_a_death_is_looked_into_harms_nothing(
    tmux: Tmux, short_folder: Path
) -> None:
    pane = await tmux.start("d", ["sh", "-c", "exit 3"], short_folder, {})
    with anyio.fail_after(240):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(detached, tmux)
            assert (await tmux.died(pane)).status == 3


async def test_a_tmux_that_does_not_answer_holds_up_nobody_who_stops_listening_for_titles(
    tmux: Tmux, typist: Pane
) -> None:
    server = int((await tmux.command("display-message", "-p", "#{pid}"))[0])
    rescued = False

    async def rescue() -> None:
        nonlocal rescued
        await anyio.sleep(30)
        rescued = True
        os.kill(server, signal.SIGCONT)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rescue)
        async with tmux.titled(typist, lambda _: None):
            os.kill(server, signal.SIGSTOP)
        tasks.cancel_scope.cancel()
    os.kill(server, signal.SIGCONT)
    assert not rescued
    assert await tmux.capture(typist)


async def test_titles_are_told_after_our_client_was_thrown_out(tmux: Tmux, short_folder: Path) -> None:
    script = 'printf "\\033]0;first\\007"; read word; printf "\\033]0;$word\\007"; sleep 1000'
    pane = await tmux.start("ann", ["sh", "-c", script], short_folder, {})
    told: list[str] = []
    async with tmux.titled(pane, told.append):
        await until(lambda: "first" in told)
        await detached(tmux)
        await tmux.type(pane, "second")
        await tmux.press(pane, "Enter")
        await until(lambda: "second" in told)


async def test_titles_are_told_though_nobody_sends_a_command_after_our_client_was_thrown_out(
    tmux: Tmux, short_folder: Path
) -> None:
    go = short_folder / "go"
    script = f'printf "\\033]0;first\\007"; until test -e {go}; do sleep 0.1; done; printf "\\033]0;second\\007"; cat'
    pane = await tmux.start("ann", ["sh", "-c", script], short_folder, {})
    told: list[str] = []
    async with tmux.titled(pane, told.append):
        await until(lambda: "first" in told)
        await detached(tmux)
        go.touch()
        await until(lambda: "second" in told)


async def test_whoever_stops_listening_for_titles_starts_no_tmux_for_it(tmux: Tmux, typist: Pane) -> None:
    async with tmux.titled(typist, lambda _: None), anyio.create_task_group() as tasks:
        tasks.start_soon(tmux.gone)
        await tmux.command("display-message", "-p", "here")
        await anyio.run_process([*tmux.server, "kill-server"])
    assert (await anyio.run_process([*tmux.server, "list-sessions"], check=False)).returncode != 0


async def test_a_tmux_that_lets_nobody_in_is_gone_and_nothing_worse(short_folder: Path) -> None:
    async with Tmux(("false",), "door", ENVIRONMENT).opened() as wire:
        with pytest.raises(TmuxGone):
            await wire.find("claude-")


async def test_without_tmux_the_sentence_says_what_to_install(short_folder: Path) -> None:
    async with Tmux(["/no/such/tmux"], "door", ENVIRONMENT).opened() as wire:
        with pytest.raises(TmuxMissing, match="install the package tmux"):
            await wire.find("x")


async def test_a_socket_without_rights_is_told_and_taken_for_no_end_of_tmux(short_folder: Path) -> None:
    folder = short_folder / "closed"
    folder.mkdir()
    folder.chmod(0)
    # For root there is no such folder: somebody else has to try.
    another = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
    server = (*another, "tmux", "-f", "/dev/null", "-S", str(folder / "tmux"))
    async with Tmux(server, "door", {**ENVIRONMENT, "HOME": "/"}).opened() as tmux:
        with pytest.raises(TmuxUnreachable) as told:
            await tmux.command("list-sessions")
    folder.chmod(0o700)
    assert f"{folder / 'tmux'} (Permission denied). " in str(told.value)
    assert "FARHAND_TMUX_SOCKET" in str(told.value)
    assert "has ended" not in str(told.value)


async def test_two_who_start_one_server_at_once_are_both_let_in(tmux_server: tuple[str, ...]) -> None:
    async def come_and_go(door: str) -> None:
        async with Tmux(tmux_server, door, ENVIRONMENT).opened() as wire:
            assert await wire.find("claude-") == {}

    for _ in range(10):
        async with anyio.create_task_group() as tasks:
            for door in ("one", "other"):
                tasks.start_soon(come_and_go, door)
