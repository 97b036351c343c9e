"""A person's own agent as a worker: hired from the phone, asked for permission, killed, resumed, and changed."""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.house.telegram_house import TelegramHouse, telegram_house

from farhand.drivers.native.driver import NativeDriver, model_variables
from farhand.model import facts
from farhand.sandbox.environment import child_environment
from farhand.sandbox.folder import Folder
from farhand.sandbox.holders import LocalHolders
from farhand.testing.models.gemini import FakeGemini, calls, says
from farhand.testing.telegram import FakeBot
from farhand.testing.telegram.words import ShownMessage

pytestmark = pytest.mark.anyio

OWN = '''
from pathlib import Path

import os

from farhand.sdk import Agent, BeforeToolInput, BeforeToolOutput, deny, extension, hook, subagent, tool


@tool
def deploy(place: str) -> str:
    """Deploys."""
    with Path("deployed.txt").open("a") as file:
        file.write(place + "\\n")
    return "VERSION"


@tool(kind="read")
def crash() -> str:
    """Takes the whole process with it."""
    os._exit(3)


@tool(kind="read")
def secret() -> str:
    """Tells a secret."""
    return "a secret"


@tool(kind="read")
def look() -> str:
    """Looks."""
    return "all is quiet"


@hook("BeforeTool", "^deploy$")
def guard(event: BeforeToolInput) -> BeforeToolOutput:
    if event.tool_input["place"] == "moon":
        return BeforeToolOutput(decision="deny", reason="too far away", system_message="The guard said no.")
    if event.tool_input["place"] == "mars":
        return BeforeToolOutput(tool_input={"place": "venus"})
    return BeforeToolOutput()


@hook("BeforeTool", "^look$")
def asks(event: BeforeToolInput) -> BeforeToolOutput:
    return BeforeToolOutput(decision="ask", reason="It may be private.")


agent = Agent(
    tools=[deploy, crash, secret, look],
    hooks=[guard, asks],
    policies=[deny("secret")],
    instructions="You deploy.",
    builtin_tools=False,
    subagents=[subagent(name="helper", description="Helps.", instructions="You help.")],
    extensions=[extension(name="rounds", commands={"tour": "Deploy to {{args}}, please."})],
)
'''


@pytest.fixture
def fake() -> Iterator[FakeGemini]:
    with FakeGemini() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "mine.py").write_text(OWN.replace("VERSION", "first"))
    return folder


@pytest.fixture
def driver(tmp_path: Path, fake: FakeGemini) -> NativeDriver:
    own = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        **fake.environ(),
    }
    environment = child_environment(own, model_variables(own))
    return NativeDriver(LocalHolders(tmp_path / "holders"), python=sys.executable, environment=environment)


def child_of(holders: Path, telegram: TelegramHouse) -> int:
    """The process of the worker's agent."""
    hiring = telegram.house.worker("ann").hiring_id
    folder = Folder(next(holders.glob(f"{hiring}*")))
    try:
        life = folder.life()
    finally:
        folder.close()
    assert life is not None
    return life.child


async def permission(telegram: TelegramHouse, tool: str = "deploy") -> ShownMessage:
    """The question that can still be answered."""
    chat = await telegram.manager.sees(lambda chat: any("Allow once" in one.labels for one in chat))
    found = next(one for one in chat if "Allow once" in one.labels)
    assert f"Use {tool}" in found.text
    return found


@asynccontextmanager
async def on_the_phone(tmp_path: Path, bot: FakeBot, driver: NativeDriver) -> AsyncIterator[TelegramHouse]:
    """A node with native workers, whose manager is on the phone; nothing of it is left."""
    try:
        async with telegram_house(tmp_path, bot, drivers={"native": driver}) as telegram:
            yield telegram
    finally:
        holders = LocalHolders(tmp_path / "holders")
        for name in await holders.names():
            await holders.forget(name)


async def test_hired_from_the_phone_asked_killed_and_resumed(
    tmp_path: Path, bot: FakeBot, driver: NativeDriver, fake: FakeGemini, project: Path
) -> None:
    fake.expect(
        calls("deploy", {"place": "home"}),
        says("It is deployed."),
        calls("deploy", {"place": "away"}),
        says("There, too."),
    )
    async with on_the_phone(tmp_path, bot, driver) as telegram:
        await telegram.manager.says(f"/hire ann --agent mine:agent --ask --dir {project}")
        await telegram.house.fact(facts.SessionKnown)
        session = telegram.house.worker("ann").session
        await telegram.manager.says("deploy it")
        asked = await permission(telegram)
        assert not (project / "deployed.txt").exists()
        await telegram.manager.taps(asked, "Allow once")
        await telegram.manager.reads("It is deployed.")
        assert fake.last["contents"][-1]["parts"][0]["functionResponse"]["response"]["output"] == "first"
        # A kill costs this worker alone; the next life has the session, and the code as it is now.
        (project / "mine.py").write_text(OWN.replace("VERSION", "second"))
        os.kill(child_of(tmp_path / "holders", telegram), 9)
        await telegram.house.fact(facts.WentOffline)
        await telegram.manager.says("/relaunch ann")
        await telegram.manager.says("and away")
        asked = await permission(telegram)
        await telegram.manager.taps(asked, "Allow once")
        await telegram.manager.reads("There, too.")
        assert telegram.house.worker("ann").session == session
        await telegram.house.end("ann")
        await telegram.house.fact(facts.Ended)
    assert (project / "deployed.txt").read_text() == "home\naway\n"
    assert fake.last["contents"][-1]["parts"][0]["functionResponse"]["response"]["output"] == "second"


async def test_killed_while_it_asks_it_asks_again_and_nothing_runs_twice(
    tmp_path: Path, bot: FakeBot, driver: NativeDriver, fake: FakeGemini, project: Path
) -> None:
    fake.expect(calls("deploy", {"place": "home"}), says("It is deployed."))
    async with on_the_phone(tmp_path, bot, driver) as telegram:
        await telegram.manager.says(f"/hire ann --agent mine:agent --ask --dir {project}")
        await telegram.manager.says("deploy it")
        await permission(telegram)
        os.kill(child_of(tmp_path / "holders", telegram), 9)
        await telegram.house.fact(facts.WentOffline)
        # Nobody waits for an answer to this one any more.
        await telegram.manager.sees(lambda chat: not any("Allow once" in one.labels for one in chat))
        await telegram.manager.says("/relaunch ann")
        await telegram.manager.says("go on")
        asked = await permission(telegram)
        assert not (project / "deployed.txt").exists()
        await telegram.manager.taps(asked, "Allow once")
        await telegram.manager.reads("It is deployed.")
    assert (project / "deployed.txt").read_text() == "home\n"


async def test_its_command_its_subagent_and_its_rules_hold_and_a_crash_costs_it_alone(
    tmp_path: Path, bot: FakeBot, driver: NativeDriver, fake: FakeGemini, project: Path
) -> None:
    fake.expect(
        calls("secret", {}),
        calls("invoke_agent", {"agent_name": "helper", "prompt": "be helpful"}),
        says("The tour is done."),
        prompt="Deploy to Rome, please.",
    )
    fake.expect(calls("deploy", {"place": "Rome"}), says("I did."), prompt="be helpful")
    fake.expect(calls("crash", {}), prompt="now crash")
    fake.expect(says("Bob is well."), prompt="how are you?")
    async with on_the_phone(tmp_path, bot, driver) as telegram:
        await telegram.manager.says(f"/hire bob --agent mine:agent --ask --dir {project}")
        await telegram.manager.says(f"/hire ann --agent mine:agent --ask --dir {project}")
        await telegram.manager.says("/focus ann")
        await telegram.manager.says("/tour Rome")
        asked = await permission(telegram)
        assert "helper: Use deploy" in asked.text
        await telegram.manager.taps(asked, "Allow once")
        await telegram.manager.reads("The tour is done.")
        assert "a secret" not in str([request.body["contents"] for request in fake.requests])
        await telegram.manager.says("now crash")
        await telegram.house.fact(facts.WentOffline)
        await telegram.manager.says("/bob how are you?")
        await telegram.manager.reads("Bob is well.")
    assert (project / "deployed.txt").read_text() == "Rome\n"


async def test_its_hooks_refuse_change_and_ask_on_the_phone(
    tmp_path: Path, bot: FakeBot, driver: NativeDriver, fake: FakeGemini, project: Path
) -> None:
    fake.expect(calls("deploy", {"place": "moon"}), says("It is too far."), prompt="to the moon")
    fake.expect(calls("look", {}), says("I looked."), prompt="look around")
    fake.expect(calls("deploy", {"place": "mars"}), says("It is deployed."), prompt="deploy it")
    async with on_the_phone(tmp_path, bot, driver) as telegram:
        await telegram.manager.says(f"/hire ann --agent mine:agent --ask --dir {project}")
        # Refused without a question, and the person is told by the hook itself.
        await telegram.manager.says("to the moon")
        chat = await telegram.manager.sees(lambda chat: any("It is too far." in one.text for one in chat))
        assert any("The guard said no." in one.text for one in chat)
        assert not any(one.labels for one in chat if "Use deploy" in one.text)
        assert "too far away" in str(fake.last["contents"][-1])
        # A tool that only reads runs unasked, unless a hook wants somebody to be asked.
        await telegram.manager.says("look around")
        asked = await permission(telegram, "look")
        assert "It may be private." in asked.text
        await telegram.manager.taps(asked, "Allow once")
        await telegram.manager.reads("I looked.")
        # What a hook changed is what runs.
        await telegram.manager.says("deploy it")
        await telegram.manager.taps(await permission(telegram), "Allow once")
        await telegram.manager.reads("It is deployed.")
    assert (project / "deployed.txt").read_text() == "venus\n"
