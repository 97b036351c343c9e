"""The node's door takes anything that can be thrown at it and answers in a sentence."""

import json
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farhand.cli import say
from farhand.client.door import SocketHub, connect
from farhand.model import errors
from farhand.model.commands import Say, Withdraw
from farhand.model.facts import HandedOver, Said, TurnEnded
from farhand.model.frames import LONGEST
from farhand.model.words import HowEnded, Sender
from farhand.testing.house import House, open_house, settings_in

pytestmark = pytest.mark.anyio


def ask(path: Path, data: bytes) -> dict[str, object]:
    """What the door answers to these bytes."""
    with connect(path) as link:
        link.setblocking(True)
        link.settimeout(240)
        link.sendall(data)
        answer = b""
        while not answer.endswith(b"\n"):
            piece = link.recv(65536)
            if not piece:
                break
            answer += piece
    return dict(json.loads(answer))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
COMMANDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["say", "hire", "end", "focus", "answer", "interrupt", "relaunch", "tune", "withdraw"])},
    optional={
        name: st.text(max_size=12) | JSON
        for name in ("id", "text", "worker", "backend", "ask", "choice", "message", "mode", "model", "directory")
    },
)
REQUESTS = st.fixed_dictionaries(
    {"do": st.sampled_from(["send", "look", "status", "dance"])}, optional={"id": JSON, "after": JSON}
)
FRAMES = st.one_of(
    st.binary(max_size=200).map(lambda data: data.replace(b"\n", b"")),
    JSON.map(lambda value: json.dumps(value).encode()),
    COMMANDS.map(lambda value: json.dumps({"id": 1, "do": "send", "command": value}).encode()),
    REQUESTS.map(lambda value: json.dumps(value).encode()),
)


async def test_every_frame_gets_a_clear_reply(house: House) -> None:
    path = house.node.settings.door

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(FRAMES)
    def throw(frame: bytes) -> None:
        answer = ask(path, frame + b"\n")
        error = answer.get("error")
        if error is not None:
            assert isinstance(error, dict)
            assert error["text"]
            assert error["code"] != "error", error
        else:
            assert {"accepted", "present", "status", "watching"} & set(answer)

    await anyio.to_thread.run_sync(throw)
    assert (await house.hub.look()).seq >= 0


async def test_fifty_megabytes_without_an_end_are_refused(house: House) -> None:
    path = house.node.settings.door

    def flood() -> dict[str, object]:
        with connect(path) as link:
            link.setblocking(True)
            link.settimeout(240)
            try:
                for _ in range(50):
                    link.sendall(b"x" * 1024 * 1024)
            except OSError:
                pass
            return dict(json.loads(link.recv(65536)))

    error = (await anyio.to_thread.run_sync(flood))["error"]
    assert isinstance(error, dict)
    assert error["code"] == "too_large"
    assert str(f"{LONGEST:,}") in error["text"]
    await house.hire()


async def test_visitors_that_hang_or_vanish_harm_nobody(house: House) -> None:
    path = house.node.settings.door
    hanging = [connect(path) for _ in range(20)]
    try:
        for link in hanging:
            link.setblocking(True)
            link.sendall(b'{"do":"watch","after":0}\n{"do":"se')
        for link in hanging[:10]:
            link.close()
        await house.hire()
        accepted = await house.say("hello")
        async with SocketHub(path) as hub:
            async for event in hub.watch(after=0):
                if event.turn == accepted.message:
                    break
    finally:
        for link in hanging:
            link.close()


async def test_only_the_owner_can_open_the_door(house: House) -> None:
    assert stat.S_IMODE(house.node.settings.door.stat().st_mode) == 0o600
    assert stat.S_IMODE(house.node.settings.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(house.node.settings.key.stat().st_mode) == 0o600
    assert stat.S_IMODE(house.node.settings.store.stat().st_mode) == 0o600


async def test_the_path_of_the_door_may_be_long(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 100) / ("b" * 100)
    async with open_house(folder) as house, SocketHub(house.node.settings.door) as hub:
        assert (await hub.look()).seq == 0


@pytest.fixture
def client(house: House) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=f"http://127.0.0.1:{house.node.port}", trust_env=False) as opened:
        yield opened


async def test_http_needs_the_key_for_everything_but_health(house: House, client: httpx2.Client) -> None:
    def look() -> list[int]:
        calls = [
            client.get("/healthz"),
            client.get("/api/hub/present"),
            client.get("/api/hub/events"),
            client.get("/api/hub/status", headers={"Authorization": "Bearer wrong"}),
            client.post("/api/hub/commands", content=b"{}"),
            client.get("/nothing"),
        ]
        return [call.status_code for call in calls]

    assert await anyio.to_thread.run_sync(look) == [200, 403, 403, 403, 403, 404]


async def test_http_bodies_are_bounded_and_checked(house: House, client: httpx2.Client) -> None:
    key = {"Authorization": f"Bearer {house.node.settings.key.read_text()}"}

    def post(body: bytes) -> tuple[int, str]:
        answer = client.post("/api/hub/commands", content=body, headers=key, timeout=240)
        return answer.status_code, answer.json()["error"]["code"]

    assert await anyio.to_thread.run_sync(post, b"x" * (LONGEST + 1)) == (413, "too_large")
    assert await anyio.to_thread.run_sync(post, b"{broken") == (400, "bad_input")
    assert await anyio.to_thread.run_sync(post, b'{"type":"say","id":"x","text":5}') == (400, "bad_input")


async def test_a_second_node_of_the_name_is_refused(house: House, tmp_path: Path) -> None:
    with pytest.raises(errors.NodeRunning, match="Node 'test' is already running"):
        async with open_house(tmp_path):
            pytest.fail("it must not open")
    await house.hire()


async def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    from dataclasses import replace

    from farhand.app import node

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(errors.PortTaken, match=f"Port {port} is already in use"):
            async with node(replace(settings_in(tmp_path), port=port), {}, lambda _: []):
                pytest.fail("it must not open")


async def test_a_client_of_a_node_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(errors.NodeNotRunning):
        async with SocketHub(tmp_path / "nowhere" / "hub.sock") as hub:
            await hub.send(Say(id="a", text="b"), Sender(via="test"))


async def test_a_request_that_was_given_up_leaves_its_answer_to_nobody(house: House) -> None:
    await house.hire()
    async with SocketHub(house.node.settings.door) as hub:
        with anyio.move_on_after(0):
            await hub.look()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hub.look)
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        accepted = await hub.send(Say(id="one", worker="ann", text="hello"), Sender(via="test"))
        assert accepted.id == "one"
        with pytest.raises(errors.UnknownWorker):
            await hub.send(Say(id="two", worker="nobody-here", text="hello"), Sender(via="test"))


async def test_a_journal_that_cannot_be_read_costs_one_visitor(house: House) -> None:
    await house.hire()
    database = house.node.journal._database

    def hide(old: str, new: str) -> None:
        database._reader._connection.execute(f"ALTER TABLE {old} RENAME TO {new}")

    async with SocketHub(house.node.settings.door) as hub:
        house.hub._tail.first = house.hub.present.seq + 1
        await database.read(lambda _: hide("events", "hidden"))
        with pytest.raises(errors.NodeUnreachable):
            async for _ in hub.watch(after=0):
                pass
        await database.read(lambda _: hide("hidden", "events"))
        assert "ann" in (await hub.look()).workers


async def test_waiting_for_an_answer_ends_when_there_will_be_none(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    await house.hire()
    house.agent.plays(Said(text="at it"))
    await house.say("first", "ann")
    await house.event(Said)
    async with SocketHub(house.node.settings.door) as hub, anyio.create_task_group() as tasks:
        for number in ("taken back", "let go"):
            tasks.start_soon(say.wait_for, hub, Say(id=number, worker="ann", text=number))
        await house.until(lambda present: len(present.workers["ann"].queue) == 2)
        await house.send(Withdraw(id=house.id(), message="cli:taken back"))
        await house.end("ann")
    told = capsys.readouterr().err
    assert "taken back" in told
    assert "let go" in told


async def test_waiting_for_what_was_put_into_a_running_turn_follows_that_turn(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    await house.hire()
    house.agent.plays(Said(text="at it, "))
    first = await house.say("first", "ann")
    await house.event(Said)
    async with SocketHub(house.node.settings.door) as hub, anyio.create_task_group() as tasks:
        tasks.start_soon(say.wait_for, hub, Say(id="second", worker="ann", text="and this", steer=True))
        await house.event(HandedOver, lambda event: event.fact == HandedOver(message="cli:second"))
        await house.agent.links["ann"].say(Said(text="with this"), turn=first.message)
        await house.agent.links["ann"].say(TurnEnded(how=HowEnded.COMPLETED), turn=first.message)
    assert "with this" in capsys.readouterr().out
