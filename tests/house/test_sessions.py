"""A conversation that an agent has on this machine is listed, taken up as a worker, and handed back to the desk."""

import os
import subprocess
from pathlib import Path

import anyio
import pytest
from tests.house.desk_folders import in_made_folders

from farhand.core.decide import decide
from farhand.core.hire_policy import HirePolicy
from farhand.model import errors
from farhand.model.commands import End, Hire
from farhand.model.facts import CameOnline, Ended, Focused, Hired, SessionKnown
from farhand.model.ports import Can, SessionFound
from farhand.model.present import Present
from farhand.model.welcome import welcome
from farhand.model.words import Mode, Sender, replace
from farhand.testing.house import House, open_house
from farhand.testing.scripted import ScriptedDriver

pytestmark = pytest.mark.anyio
OLD = SessionFound(id="aaaa-old", directory="shop", title="the shop", at=1.0, answer="It is done.", open=False)
NEW = SessionFound(id="bbbb-new", directory="shop", title="newer", at=2.0, open=True)
ELSEWHERE = SessionFound(id="bbbb-else", directory="garden", title="roses", at=3.0)


@pytest.fixture
def house_of_three(house: House, tmp_path: Path) -> House:
    house.agent.conversations = in_made_folders(tmp_path, OLD, NEW, ELSEWHERE)
    return house


def adopt(house: House, session: str, worker: str = "", **more: object) -> Hire:
    return Hire(id=house.id(), worker=worker, backend="scripted", session=session, **more)  # type: ignore[arg-type]


async def test_conversations_are_listed_newest_first_with_whoever_has_them(house_of_three: House) -> None:
    house = house_of_three
    await house.send(adopt(house, "aaaa-old", "ann"))
    listed = await house.hub.sessions()
    assert [(one.id, one.backend, one.worker) for one in listed] == [
        ("bbbb-else", "scripted", ""),
        ("bbbb-new", "scripted", ""),
        ("aaaa-old", "scripted", "ann"),
    ]
    assert [one.id for one in await house.hub.sessions("scripted", "garden")] == ["bbbb-else"]
    with pytest.raises(errors.UnknownBackend):
        await house.hub.sessions("nobody")


async def test_one_is_taken_up_where_it_was_held_and_its_last_answer_is_all_that_is_told(
    house_of_three: House, tmp_path: Path
) -> None:
    house = house_of_three
    accepted = await house.send(adopt(house, "aaaa", mode=Mode.PLAN))
    hired = await house.fact(Hired)
    assert (accepted.worker, hired.session, hired.directory) == ("shop", "aaaa-old", str(tmp_path / "shop"))
    assert (hired.answer, hired.note, hired.mode) == ("It is done.", "", Mode.PLAN)
    await house.fact(CameOnline)
    assert house.worker("shop").session == house.agent.links["shop"].worker.session == "aaaa-old"
    told = [type(event.fact) for event in await house.history()]
    assert told == [Hired, Focused, CameOnline]


async def test_a_workers_conversation_is_not_called_by_the_words_that_every_worker_gets(house: House) -> None:
    first = " ".join(welcome("shop", "http://localhost:1", "/tmp/shop", "[Message from ").split())[:78]
    house.agent.conversations = [replace(OLD, title=f"{first}…")]
    assert [one.title for one in await house.hub.sessions()] == ["shop, hired here"]


async def test_what_is_open_at_the_desk_is_not_doubled_silently(house_of_three: House) -> None:
    house = house_of_three
    with pytest.raises(errors.SessionTaken, match="still open at the desk"):
        await house.send(adopt(house, "bbbb-new"))
    assert house.hub.present.workers == {}
    assert (await house.send(adopt(house, "bbbb-new", "bob", anyway=True))).worker == "bob"
    with pytest.raises(errors.SessionTaken, match="bob has that conversation already"):
        await house.send(adopt(house, "bbbb-new", "eve", anyway=True))
    await house.send(adopt(house, "bbbb-else", "rose"))
    assert "Nobody can tell" in (await house.fact(Hired, lambda event: event.worker == "rose")).note


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not tell")
async def test_the_terminal_in_which_it_is_still_open_is_told_who_goes_on_with_it(house_of_three: House) -> None:
    house = house_of_three
    screen, side = os.openpty()
    # A program at the desk, which writes to a terminal; another one that has none.
    with open(screen, "rb", buffering=0), open(side, "wb", buffering=0) as terminal:  # noqa: PTH123 - terminals
        at_desk = await anyio.open_process(["cat"], stdin=subprocess.PIPE, stdout=terminal, stderr=terminal)
        without = await anyio.open_process(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        house.agent.at_desk["bbbb-new"] = [at_desk.pid, without.pid]
        async with at_desk, without:
            await house.send(adopt(house, "bbbb-new", "bob", anyway=True))
            told = os.read(screen, 4096).decode()
            for one in (at_desk, without):
                assert one.stdin is not None
                await one.stdin.aclose()
    assert "bob goes on with this conversation. Close it here; `farhand handback bob` brings it back." in told


async def test_a_conversation_that_is_not_there_or_not_meant_alone_is_refused(house_of_three: House) -> None:
    house = house_of_three
    for session, why in (("cccc", "has no conversation 'cccc'"), ("bbbb", "More than one"), ("a", "no conversation")):
        with pytest.raises(errors.UnknownSession, match=why):
            await house.send(adopt(house, session))
    # Its folder tells which of two is meant.
    assert (await house.send(adopt(house, "bbbb", directory="garden"))).worker == "garden"


async def test_a_name_is_found_where_the_folder_s_is_taken(house_of_three: House, tmp_path: Path) -> None:
    house = house_of_three
    house.agent.conversations += in_made_folders(tmp_path, replace(OLD, id="dddd", directory="team"))
    await house.hire("shop")
    assert (await house.send(adopt(house, "aaaa"))).worker == "shop-2"
    assert (await house.send(adopt(house, "dddd"))).worker == "team-1"


async def test_a_worker_is_handed_back_with_the_command_that_goes_on_at_the_desk(
    house_of_three: House, tmp_path: Path
) -> None:
    house = house_of_three
    await house.send(adopt(house, "aaaa", "ann"))
    await house.fact(CameOnline)
    await house.agent.links["ann"].say(SessionKnown(session="cleared"))
    await house.fact(SessionKnown)
    await house.send(End(id="back", worker="ann", hand_back=True))
    assert (await house.fact(Ended)).resume == f"cd {tmp_path}/shop && scripted --resume cleared"
    assert house.agent.ended == ["ann"]
    # One that is only let go leaves no such word.
    await house.hire("bob")
    await house.end("bob")
    assert (await house.fact(Ended, lambda event: event.worker == "bob")).resume == ""


async def test_what_cannot_be_handed_back_stays(tmp_path: Path) -> None:
    async with open_house(tmp_path, ScriptedDriver(Can())) as house:
        await house.hire("ann")
        with pytest.raises(errors.CannotDo, match="cannot be handed back"):
            await house.send(End(id="1", worker="ann", hand_back=True))
        with pytest.raises(errors.CannotDo, match="cannot be listed"):
            await house.hub.sessions("scripted")
        assert await house.hub.sessions() == []
    async with open_house(tmp_path / "other") as house:
        await house.hire("ann")
        with pytest.raises(errors.CannotDo, match="no conversation yet"):
            await house.send(End(id="1", worker="ann", hand_back=True))
        assert not house.worker().ending


async def test_an_id_that_would_be_an_option_is_none(house_of_three: House, tmp_path: Path) -> None:
    house = house_of_three
    hostile = "--dangerously-skip-permissions"
    house.agent.conversations += in_made_folders(tmp_path, replace(OLD, id=hostile, directory="team"))
    with pytest.raises(errors.UnknownSession):
        await house.send(adopt(house, hostile))
    await house.send(adopt(house, "aaaa", "ann"))
    await house.fact(CameOnline)
    link = house.agent.links["ann"]
    for told in (hostile, "../../elsewhere", "a b", "", "x" * 1000, "cleared"):
        await link.say(SessionKnown(session=told))
    assert (await house.fact(SessionKnown)).session == "cleared"
    assert house.worker("ann").session == "cleared"


@pytest.mark.parametrize(
    ("nodes", "had", "has"),
    [
        (Mode.DEFAULT, "yolo", Mode.DEFAULT),
        (Mode.AUTO_EDIT, "yolo", Mode.AUTO_EDIT),
        (Mode.DEFAULT, "plan", Mode.PLAN),
        (Mode.YOLO, "yolo", Mode.YOLO),
        (Mode.YOLO, "default", Mode.DEFAULT),
    ],
)
def test_a_stored_conversation_gets_no_more_than_the_nodes_own_mode(nodes: Mode, had: str, has: Mode) -> None:
    policy = HirePolicy(kinds=("scripted",), directory="/", mode=nodes)
    hire = Hire(id="1", worker="ann", backend="scripted", session="aaaa")
    (draft, *_) = decide(Present(), hire, Sender(via="web"), policy, replace(OLD, mode=had))
    assert isinstance(draft.fact, Hired)
    assert draft.fact.mode is has
