"""Skills: where they are found, what the model is told of them, and what activating one opens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent
from tests.sdk.turning import collect

from farhand.sdk import Notice, skill_dir
from farhand.sdk.projects import project_folder, project_hash
from farhand.testing.models.gemini import FakeGemini, calls, says

pytestmark = pytest.mark.anyio


def write_skill(folder: Path, name: str, description: str = "Does things.", body: str = "Do it well.") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n")
    return folder


def system(fake: FakeGemini) -> str:
    return str(fake.last["systemInstruction"]["parts"][0]["text"])


def outputs(fake: FakeGemini) -> list[dict[str, Any]]:
    parts = fake.last["contents"][-1]["parts"]
    return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]


def declared(fake: FakeGemini) -> dict[str, Any]:
    return {each["name"]: each for group in fake.last.get("tools", []) for each in group["functionDeclarations"]}


async def test_one_skill_and_a_root_of_skills(fake: FakeGemini, make_agent: MakeAgent, tmp_path: Path) -> None:
    one = write_skill(tmp_path / "one", "one", "The first.")
    write_skill(tmp_path / "many" / "two", "two", "Use when: it has a colon.")
    write_skill(tmp_path / "many" / "three", "a/b", "A <tag>.")
    fake.expect(says("ok"))
    await make_agent(skills=[skill_dir(one), skill_dir(tmp_path / "many")]).send("hi")
    assert "<name>one</name><description>The first.</description>" in system(fake)
    assert "Use when: it has a colon." in system(fake)
    assert "A &lt;tag&gt;." in system(fake)
    assert declared(fake)["activate_skill"]["parametersJsonSchema"]["properties"]["name"]["enum"] == [
        "a-b",
        "one",
        "two",
    ]
    assert "Do it well." not in system(fake)


async def test_the_folders_of_skills_and_their_order(
    fake: FakeGemini, make_agent: MakeAgent, home: Path, project: Path
) -> None:
    roots = [home / ".gemini", home / ".agents", project / ".gemini", project / ".agents"]
    for number, root in enumerate(roots):
        for name in [f"s{each}" for each in range(number, 4)]:
            write_skill(root / "skills" / name, name, f"from {number}")
    fake.expect(says("ok"))
    await make_agent().send("hi")
    for number in range(4):
        assert f"<name>s{number}</name><description>from {number}</description>" in system(fake)


@pytest.mark.parametrize("options", [{"trusted": False}, {"loads": False}])
async def test_a_project_that_is_not_trusted_has_no_skills(
    fake: FakeGemini, make_agent: MakeAgent, project: Path, options: dict[str, Any]
) -> None:
    write_skill(project / ".gemini" / "skills" / "s", "s")
    fake.expect(says("ok"))
    await make_agent(**options).send("hi")
    assert declared(fake) == {}


async def test_settings_switch_skills_off(fake: FakeGemini, make_agent: MakeAgent, home: Path) -> None:
    write_skill(home / ".gemini" / "skills" / "a", "alpha")
    write_skill(home / ".gemini" / "skills" / "b", "beta")
    (home / ".gemini" / "settings.json").write_text('{"skills": {"disabled": ["Alpha"]}}')
    fake.expect(says("ok"))
    await make_agent().send("hi")
    assert "beta" in system(fake)
    assert "alpha" not in system(fake)


async def test_activating_gives_instructions_and_opens_the_folder(
    fake: FakeGemini, make_agent: MakeAgent, tmp_path: Path
) -> None:
    folder = write_skill(tmp_path / "s", "s", body="Read data.txt.")
    (folder / "data.txt").write_text("forty-two\n")
    fake.expect(
        calls("read_file", {"file_path": str(folder / "data.txt")}),
        calls("activate_skill", {"name": "s"}),
        calls("read_file", {"file_path": str(folder / "data.txt")}),
        calls("write_file", {"file_path": str(folder / "data.txt"), "content": "x"}),
        calls("activate_skill", {"name": "none"}),
        says("ok"),
    )
    session = make_agent(skills=[skill_dir(folder)], builtin_tools=True).session()
    await session.send("hi")
    told = [
        part["functionResponse"]["response"]
        for content in fake.last["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]
    assert "outside the workspace" in told[0]["error"]
    assert '<activated_skill name="s">' in told[1]["output"]
    assert "Read data.txt." in told[1]["output"]
    assert "data.txt" in told[1]["output"].split("<available_resources>")[1]
    assert "forty-two" in told[2]["output"]
    assert "outside the workspace" in told[3]["error"]
    assert "Known: s." in told[4]["error"]


async def test_the_tools_of_a_skill_come_with_it(fake: FakeGemini, make_agent: MakeAgent, tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "s", "s")
    (folder / "tools").mkdir()
    (folder / "tools" / "double.py").write_text(
        "from farhand.sdk import tool\n\n@tool\ndef double(number: int) -> int:\n"
        "    '''Doubles.'''\n    return 2 * number\n"
    )
    (folder / "tools" / "broken.py").write_text("raise RuntimeError('oops')\n")
    fake.expect(calls("activate_skill", {"name": "s"}), calls("double", {"number": 21}), says("ok"))
    await make_agent(skills=[skill_dir(folder)]).send("hi")
    assert "double" in declared(fake)
    assert outputs(fake)[0]["output"] == "42"
    activated = fake.last["contents"][-3]["parts"][0]["functionResponse"]["response"]["output"]
    assert "broken.py has no usable tools" in activated


@pytest.mark.parametrize(
    "text", ["no head", "---\nname: x\n---\n", "---\n- a\n---\n", "---\n: : :\n\t- x\n---\n", "\xff"]
)
async def test_a_broken_skill_costs_that_skill_and_is_told(
    fake: FakeGemini, make_agent: MakeAgent, tmp_path: Path, text: str
) -> None:
    write_skill(tmp_path / "root" / "good", "good")
    (tmp_path / "root" / "bad").mkdir()
    (tmp_path / "root" / "bad" / "SKILL.md").write_bytes(text.encode("latin-1"))
    fake.expect(says("ok"))
    agent = make_agent(skills=[skill_dir(tmp_path / "root")])
    events = await collect(agent.session().send_stream("hi"))
    told = [event.message for event in events if isinstance(event, Notice)]
    assert any("is no skill" in message for message in told)
    assert "good" in system(fake)


async def test_policies_ask_before_a_skill(fake: FakeGemini, make_agent: MakeAgent, tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "s", "s")
    fake.expect(calls("activate_skill", {"name": "s"}), says("ok"))
    await make_agent(skills=[skill_dir(folder)], mode="default", asker=lambda *_: False).send("hi")
    assert "denied" in outputs(fake)[0]["error"]


def taken_up(name: str, call_id: str, error: str = "") -> dict[str, Any]:
    """The record of a call that took up a skill, or was denied."""
    response = {"error": error} if error else {"output": "<activated_skill>"}
    told = {"id": call_id, "name": "activate_skill", "response": response}
    status = "cancelled" if error else "success"
    call = {"id": call_id, "name": "activate_skill", "args": {"name": name}, "status": status}
    return {**call, "result": [{"functionResponse": told}]}


@pytest.mark.parametrize(
    ("messages", "active"),
    [
        # Ids of their own, as we record them.
        ([[taken_up("good", "1"), taken_up("evil", "2", "denied")]], {"good_tool"}),
        # One id for two calls of one message: nobody can say whose answer it is.
        ([[taken_up("good", "1"), taken_up("evil", "1", "denied")]], set()),
        ([[taken_up("evil", "1", "denied"), taken_up("good", "1")]], set()),
        # Servers that count anew in each message: an answer is for the message before it.
        ([[taken_up("good", "1")], [taken_up("evil", "1", "denied")]], {"good_tool"}),
        ([[taken_up("evil", "1", "denied")], [taken_up("good", "1")]], {"good_tool"}),
    ],
)
async def test_a_denied_skill_is_never_active_in_a_resumed_session(
    fake: FakeGemini,
    make_agent: MakeAgent,
    home: Path,
    project: Path,
    messages: list[list[dict[str, Any]]],
    active: set[str],
) -> None:
    for name in ("good", "evil"):
        tools = write_skill(project / ".gemini" / "skills" / name, name) / "tools"
        tools.mkdir()
        body = f'@tool\ndef {name}_tool() -> str:\n    """Does."""\n    return ""\n'
        (tools / "made.py").write_text(f"from farhand.sdk import tool\n\n{body}")
    chats = project_folder(project, home) / "chats"
    chats.mkdir()
    told = [
        {"id": f"m{number}", "type": "gemini", "content": "", "toolCalls": records}
        for number, records in enumerate(messages)
    ]
    old = {"sessionId": "01234567-old", "projectHash": project_hash(project), "startTime": "2025"}
    whole = {**old, "messages": [{"id": "u", "type": "user", "content": "hello"}, *told]}
    (chats / "session-2025-01-01T00-00-01234567.json").write_text(json.dumps(whole))
    fake.expect(says("ok"))
    await (await make_agent().resume_session("01234567-old")).send("go on")
    assert set(declared(fake)) & {"good_tool", "evil_tool"} == active
