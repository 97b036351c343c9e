"""In plan mode an agent writes its plans, in the session's own folder for them, and no other file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import PolicyError, Question, SessionContext, tool
from farhand.sdk.agent import Agent
from farhand.sdk.projects import project_folder
from farhand.sdk.session import Session
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = pytest.mark.anyio


def plans_of(session: Session, home: Path, project: Path) -> Path:
    """Where the Gemini CLI keeps the plans of that session."""
    return project_folder(project, home) / session.id / "plans"


async def written(fake: FakeGemini, agent: Agent, session: Session, path: object, text: str = "x") -> dict[str, Any]:
    """What the model is told when it writes that file."""
    fake.expect(calls("write_file", {"file_path": path, "content": text}), says("ok"))
    await session.send("plan it")
    part = fake.last["contents"][-1]["parts"][0]
    response: dict[str, Any] = part["functionResponse"]["response"]
    return response


async def test_a_plan_is_written_read_and_changed(
    fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path
) -> None:
    agent = make_agent(mode="plan", builtin_tools=True)
    session = agent.session()
    plan = plans_of(session, home, project) / "the-plan.md"
    assert "error" not in await written(fake, agent, session, str(plan), "# One\n")
    assert plan.read_text() == "# One\n"
    change = {"file_path": str(plan), "instruction": "i", "old_string": "One", "new_string": "Two"}
    fake.expect(calls("replace", change), calls("read_file", {"file_path": str(plan)}), says("ok"))
    await session.send("again")
    assert plan.read_text() == "# Two\n"
    assert "# Two" in fake.last["contents"][-1]["parts"][0]["functionResponse"]["response"]["output"]


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "./README.md",
        "plan.md",
        "plans/first.md",
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        "docs/first.md",
        "linked.md",
        ".gemini/tmp/project/plans/a.md",
        ".gemini/tmp/project/session/plans/a.md",
        "~/.gemini/tmp/project/plans/a.md",
        "~/.gemini/GEMINI.md",
        "{plans}/../../../../GEMINI.md",
        "{plans}/../a.md",
        "{plans}/deeper/a.md",
        "{plans}/a.txt",
        "{plans}/.md",
        "{plans}/a b.md",
        "{plans}/link.md",
        "{plans}/a.md/b.md",
        "{plans}/a.md\0",
        "{other}/a.md",
        "",
        "{plans}",
        17,
        None,
        ["{plans}/a.md"],
    ],
)
async def test_no_other_file_is_written(
    fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path, path: object
) -> None:
    asked: list[Question] = []

    def asker(question: Question, context: SessionContext) -> bool:
        asked.append(question)
        return True

    agent = make_agent(mode="plan", builtin_tools=True, asker=asker)
    session = agent.session()
    plans = plans_of(session, home, project)
    plans.mkdir(parents=True)
    (project / "README.md").write_text("mine")
    (plans / "link.md").symlink_to(project / "README.md")
    (project / "linked.md").symlink_to(plans / "a.md")
    other = plans.parent.parent / "another-session" / "plans"
    named = path.format(plans=plans, other=other) if isinstance(path, str) else path
    before = set(home.parent.rglob("*.md"))
    response = await written(fake, agent, session, named)
    assert "error" in response
    assert set(home.parent.rglob("*.md")) == before
    assert (project / "README.md").read_text() == "mine"
    assert asked == []
    if isinstance(path, str) and path.endswith("README.md"):
        # Whoever is refused is told where.
        assert (
            f"write them as .md files into the folder for plans, and nothing else. It is {plans}." in response["error"]
        )


async def test_a_folder_for_plans_that_is_a_link_holds_no_plans(
    fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path
) -> None:
    agent = make_agent(mode="plan", builtin_tools=True)
    session = agent.session()
    plans = plans_of(session, home, project)
    plans.parent.mkdir(parents=True)
    plans.symlink_to(project)
    assert "error" in await written(fake, agent, session, str(plans / "README.md"))
    assert "error" in await written(fake, agent, session, str(project / "README.md"))
    assert not (project / "README.md").exists()


async def test_a_home_that_is_reached_by_a_link_is_a_home(
    fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    linked.symlink_to(home)
    agent = make_agent(mode="plan", builtin_tools=True, home=linked)
    session = agent.session()
    plan = plans_of(session, linked, project) / "a.md"
    assert "error" not in await written(fake, agent, session, str(plan))
    assert plan.exists()


async def test_an_agent_that_records_nothing_has_a_folder_for_plans(fake: FakeGemini, make_agent: MakeAgent) -> None:
    agent = make_agent(mode="plan", builtin_tools=True, records=False)
    session = agent.session()
    plan = session.context.plans_folder / "a.md"
    assert "error" not in await written(fake, agent, session, str(plan))
    assert plan.exists()


async def test_a_session_whose_name_is_a_path_stays_in_its_folder(make_agent: MakeAgent) -> None:
    session = Session(make_agent(records=False), "../../..")
    assert session.context.plans_folder == session.folder / "unnamed" / "plans"


async def test_in_the_other_modes_a_plan_is_a_file_like_others(
    fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path
) -> None:
    agent = make_agent(mode="default", builtin_tools=True, asker=lambda *_: False)
    session = agent.session()
    assert "error" in await written(fake, agent, session, str(plans_of(session, home, project) / "a.md"))


async def test_what_a_tool_does_itself_is_held_to_it_too(
    fake: FakeGemini, make_agent: MakeAgent, project: Path
) -> None:
    done: list[str] = []

    @tool(kind="read")
    async def look(context: SessionContext) -> str:
        """Looks, it says."""
        for path in ("README.md", str(context.session.context.plans_folder / "a.md")):
            try:
                await context.fs.write(path, "x")
            except PolicyError:
                done.append("refused")
            else:
                done.append("written")
        return ""

    fake.expect(calls("look", {}), says("ok"))
    await make_agent(tools=[look], mode="plan").send("go")
    assert done == ["refused", "written"]
