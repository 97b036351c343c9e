"""The hook program as an agent CLI runs it, against a real socket: nothing is lost, and no answer is a no."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette

from farhand.drivers.wires.hooks.command import hook_command
from farhand.drivers.wires.hooks.endpoint import HookAsk, HookEndpoint
from farhand.drivers.wires.hooks.spool import read_spool
from farhand.hooks.install import interpreter, place_program
from farhand.server.http import serve
from farhand.server.sockets import listen
from farhand.testing.http import local_client
from farhand.testing.models.server import served

pytestmark = pytest.mark.anyio
SOURCE = Path(__file__).parents[2] / "src/farhand/hooks/program.py"
ALLOW: dict[str, Any] = {
    "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
}


@asynccontextmanager
async def door(desk: HookEndpoint, socket: Path) -> AsyncIterator[None]:
    """The node's socket, for as long as the node lives."""
    config = uvicorn.Config(
        Starlette(routes=list(desk.routes())),
        uds=str(socket),
        log_level="error",
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server._serve)
        with anyio.fail_after(240):
            while not server.started:  # noqa: ASYNC110
                await anyio.sleep(0.01)
        yield
        server.should_exit = True


def variables(folder: Path, **more: str) -> dict[str, str]:
    """What a worker's session carries."""
    socket, spool = str(folder / "s"), str(folder / "spool")
    return {"FARHAND_SOCKET": socket, "FARHAND_WORKER": "ann", "FARHAND_SPOOL": spool, **more}


def placed(environment: Mapping[str, str]) -> Path:
    """The program as a node puts it into its folder."""
    return place_program(Path(environment["FARHAND_SPOOL"]).parent / "hooks")


async def run(mode: str, payload: bytes, environment: Mapping[str, str], event: str = "PermissionRequest") -> bytes:
    """Runs the program to its end, which must be a good one; what it printed."""
    command = [interpreter(), "-I", "-S", str(placed(environment)), mode, event]
    with anyio.fail_after(240):
        done = await anyio.run_process(command, input=payload, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


async def test_a_report_is_left_whole(short_folder: Path) -> None:
    payload = json.dumps({"text": "é\n" * 100_000}).encode()
    environment = variables(short_folder, FARHAND_PID_FROM="OWN_PID", OWN_PID="4321")
    assert await run("report", payload, environment, "Stop") == b""
    (left,) = read_spool(short_folder / "spool")
    assert (left.event, left.payload, left.agent) == ("Stop", payload, 4321)
    assert left.spooled is not None
    assert stat.S_IMODE(left.spooled.stat().st_mode) == 0o600
    assert [one.name for one in (short_folder / "spool").iterdir()] == [left.spooled.name]


async def test_reports_are_found_in_order(short_folder: Path) -> None:
    for number in range(3):
        assert await run("report", b'{"n":%d}' % number, variables(short_folder), "Stop") == b""
    assert [one.payload for one in read_spool(short_folder / "spool")] == [b'{"n":0}', b'{"n":1}', b'{"n":2}']


@pytest.mark.parametrize("strange", ["", "../../x", "12.34"])
async def test_only_a_number_is_taken_for_a_process(short_folder: Path, strange: str) -> None:
    environment = variables(short_folder, FARHAND_PID_FROM="OWN_PID", OWN_PID=strange)
    await run("report", b"{}", environment, "Stop")
    (left,) = read_spool(short_folder / "spool")
    assert (left.event, left.agent) == ("Stop", os.getpid())


async def test_what_is_no_report_holds_up_none(short_folder: Path) -> None:
    """An agent may put anything there: a pipe would be waited for, and what cannot be removed stays for ever."""
    spool = short_folder / "spool"
    for number in range(4):
        await run("report", b'{"n":%d}' % number, variables(short_folder), "Stop")
    _, second, third, _ = sorted(spool.iterdir())
    for one in (second, third):
        one.unlink()
    second.mkdir()
    os.mkfifo(third)
    for _ in range(2):
        assert [one.payload for one in read_spool(spool)] == [b'{"n":0}', b'{"n":3}']


async def test_a_report_that_cannot_be_left_disturbs_nobody(short_folder: Path) -> None:
    (short_folder / "spool").write_text("not a folder")
    assert await run("report", b"{}", variables(short_folder), "Stop") == b""


@pytest.mark.parametrize("missing", ["FARHAND_SOCKET", "FARHAND_WORKER"])
@pytest.mark.parametrize("mode", ["report", "ask"])
async def test_a_session_that_is_not_ours_hears_nothing(short_folder: Path, missing: str, mode: str) -> None:
    environment = {key: value for key, value in variables(short_folder).items() if key != missing}
    assert await run(mode, b"{}", environment) == b""
    assert not (short_folder / "spool").exists()


async def answering(desk: HookEndpoint, answer: dict[str, Any] | None) -> None:
    """Answers the next ask of ann."""
    with desk.listening("ann") as arrivals:
        asked = await arrivals.receive()
        assert isinstance(asked, HookAsk)
        asked.answer(answer)
        assert await asked.closed()


async def test_an_ask_waits_for_its_answer(short_folder: Path) -> None:
    desk = HookEndpoint()
    async with door(desk, short_folder / "s"), anyio.create_task_group() as tasks:
        tasks.start_soon(answering, desk, ALLOW)
        assert json.loads(await run("ask", b"{}", variables(short_folder))) == ALLOW


async def test_a_node_in_a_deep_folder_is_reached(short_folder: Path) -> None:
    deep = short_folder / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    desk = HookEndpoint()
    app = Starlette(routes=list(desk.routes()))
    async with anyio.create_task_group() as tasks:
        await tasks.start(serve, app, listen(deep / "s"))
        tasks.start_soon(answering, desk, ALLOW)
        assert json.loads(await run("ask", b"{}", variables(deep))) == ALLOW
        tasks.cancel_scope.cancel()


async def test_an_ask_that_is_over_elsewhere_ends_without_a_word(short_folder: Path) -> None:
    desk = HookEndpoint()
    async with door(desk, short_folder / "s"), anyio.create_task_group() as tasks:
        tasks.start_soon(answering, desk, None)
        assert await run("ask", b"{}", variables(short_folder)) == b""


async def test_an_ask_asks_again_after_the_node_was_killed(short_folder: Path) -> None:
    first, second, ids = HookEndpoint(), HookEndpoint(), []
    printed: list[bytes] = []

    async def ask() -> None:
        printed.append(await run("ask", b"{}", variables(short_folder)))

    async with anyio.create_task_group() as tasks:
        async with door(first, short_folder / "s"):
            with first.listening("ann") as arrivals:
                tasks.start_soon(ask)
                asked = await arrivals.receive()
                ids.append(asked.report.id if isinstance(asked, HookAsk) else "")
        (short_folder / "s").unlink(missing_ok=True)
        async with door(second, short_folder / "s"):
            with second.listening("ann") as arrivals:
                asked = await arrivals.receive()
                assert isinstance(asked, HookAsk)
                ids.append(asked.report.id)
                asked.answer(ALLOW)
                assert await asked.closed()
    assert ids[0] == ids[1]
    assert json.loads(printed[0]) == ALLOW


async def test_a_question_is_asked_again_when_its_listener_gives_way_to_another(short_folder: Path) -> None:
    """A link that was opened anew in the same life of the node hears what the one before it was asked."""
    desk, printed, ids = HookEndpoint(), [], []

    async def ask() -> None:
        printed.append(await run("ask", b"{}", variables(short_folder)))

    async with door(desk, short_folder / "s"), anyio.create_task_group() as tasks:
        with desk.listening("ann") as arrivals:
            tasks.start_soon(ask)
            first = await arrivals.receive()
            assert isinstance(first, HookAsk)
            ids.append(first.report.id)
        with desk.listening("ann") as arrivals:
            second = await arrivals.receive()
            assert isinstance(second, HookAsk)
            ids.append(second.report.id)
            # The one before has nothing to say any more.
            first.answer({"wrong": True})
            second.answer(ALLOW)
            assert await second.closed()
    assert ids[0] == ids[1]
    assert json.loads(printed[0]) == ALLOW


async def test_half_an_answer_is_none(short_folder: Path) -> None:
    served: list[int] = []

    async def cut(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            served.append(1)
            body = json.dumps(ALLOW).encode()
            length = len(body) if len(served) > 1 else len(body) + 1
            await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length + body)

    async with await anyio.create_unix_listener(short_folder / "s") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, cut)
        printed = await run("ask", b"{}", variables(short_folder))
        tasks.cancel_scope.cancel()
    assert len(served) == 2
    assert json.loads(printed) == ALLOW


async def test_a_hook_that_is_killed_is_noticed_and_prints_nothing(short_folder: Path) -> None:
    desk = HookEndpoint()
    async with door(desk, short_folder / "s"):
        with desk.listening("ann") as arrivals:
            environment = variables(short_folder)
            command = [interpreter(), "-I", "-S", str(placed(environment)), "ask", "PermissionRequest"]
            async with await anyio.open_process(command, env=environment) as process:
                assert process.stdin is not None
                await process.stdin.send(b"{}")
                await process.stdin.aclose()
                asked = await arrivals.receive()
                process.kill()
                assert isinstance(asked, HookAsk)
                with anyio.fail_after(240):
                    assert not await asked.closed()
                assert process.stdout is not None
                with pytest.raises(anyio.EndOfStream):
                    await process.stdout.receive()


async def test_without_an_answer_in_time_the_answer_is_no(short_folder: Path) -> None:
    """The grace is taken off in a copy, so that the test need not wait for it."""
    copy = short_folder / "program.py"
    copy.write_text(SOURCE.read_text().replace("GRACE_SECONDS = 15.0", "GRACE_SECONDS = 0.0"))
    command = [interpreter(), "-I", "-S", str(copy), "ask", "PermissionRequest"]
    environment = variables(short_folder, FARHAND_ASK_SECONDS="0.5")
    with anyio.fail_after(240):
        done = await anyio.run_process(command, input=b"{}", env=environment)
    assert json.loads(done.stdout)["hookSpecificOutput"]["decision"]["behavior"] == "deny"


async def test_the_program_needs_nothing_but_the_standard_library() -> None:
    script = (
        f"import sys; exec(open({str(SOURCE)!r}).read().split('if __name__')[0]); "
        "main('report', 'Stop'); print(sorted(sys.modules))"
    )
    done = await anyio.run_process([sys.executable, "-I", "-S", "-c", script], input=b"{}", env={})
    loaded = done.stdout.decode()
    assert "'json'" not in loaded
    assert "'socket'" not in loaded
    assert "'farhand'" not in loaded


@asynccontextmanager
async def listener(desk: HookEndpoint) -> AsyncIterator[httpx2.AsyncClient]:
    """The node's HTTP listener, where sessions post by themselves."""
    app = Starlette(routes=list(desk.open_routes()))
    async with served(app) as address, local_client(base_url=address) as client:
        yield client


async def test_a_session_posts_with_its_key(short_folder: Path) -> None:
    desk = HookEndpoint()
    async with listener(desk) as client:
        with desk.listening("ann", "secret") as arrivals:
            answer = await client.post("/hooks/of/ann", content=b"{}", headers={"X-Farhand-Key": "secret"})
            assert (answer.status_code, answer.json()) == (200, {})
            arrived = arrivals.receive_nowait()
    assert not isinstance(arrived, HookAsk)
    assert arrived.keyed


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Farhand-Key": ""},
        {"X-Farhand-Key": "guess"},
        {"X-Farhand-Key": "secret", "X-Forwarded-For": "203.0.113.9"},
        {"X-Farhand-Key": "secret", "CF-Connecting-IP": "203.0.113.9"},
    ],
    ids=["no key", "empty key", "wrong key", "through a proxy", "through a tunnel"],
)
async def test_nobody_else_can_post(headers: dict[str, str]) -> None:
    desk = HookEndpoint()
    async with listener(desk) as client:
        with desk.listening("ann", "secret") as arrivals:
            assert (await client.post("/hooks/of/ann", content=b"{}", headers=headers)).status_code == 403
            assert (await client.post("/hooks/of/bob", content=b"{}", headers=headers)).status_code == 403
            with pytest.raises(anyio.WouldBlock):
                arrivals.receive_nowait()


async def test_a_worker_without_a_key_takes_no_posts() -> None:
    desk = HookEndpoint()
    async with listener(desk) as client:
        with desk.listening("ann"):
            answer = await client.post("/hooks/of/ann", content=b"{}", headers={"X-Farhand-Key": ""})
    assert answer.status_code == 403


@pytest.mark.parametrize("missing", [True, False], ids=["is not there", "is there"])
async def test_a_program_that_is_not_there_is_no_answer(short_folder: Path, missing: bool) -> None:
    # Status 2, with which Python ends then, is a no to every agent's CLI: nobody would be asked.
    environment = variables(short_folder, PATH=os.defpath)
    program = short_folder / "it's hooks/none.pyc" if missing else placed(environment)
    command = hook_command(interpreter(), program, "report", "Stop")
    done = await anyio.run_process(["sh", "-c", command], stdin=subprocess.DEVNULL, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [one.event for one in read_spool(short_folder / "spool")] == ([] if missing else ["Stop"])


async def test_the_shell_makes_room_for_the_program(short_folder: Path) -> None:
    # The program looks for its parent, which must be the agent and no shell.
    environment = variables(short_folder, PATH=os.defpath)
    command = hook_command(interpreter(), placed(environment), "report", "Stop")
    await anyio.run_process(["sh", "-c", command], input=b"{}", env=environment)
    assert [one.agent for one in read_spool(short_folder / "spool")] == [os.getpid()]
