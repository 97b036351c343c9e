"""An extension, a skill and rules that were written for the real Gemini CLI mean the same there and here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.live.test_gemini_interchange import GEMINI, House
from tests.live.test_gemini_loading import blocks, both, system_texts, user_texts, write

from farhand.sdk.policies import Judge, Surroundings, read_policies
from farhand.sdk.policies.load import load_rules
from farhand.sdk.protocols import ToolCall
from farhand.sdk.settings import AgentSettings
from farhand.testing.models.gemini import FakeGemini, calls, calls_all, says

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not GEMINI.exists(), reason="the Gemini CLI is not installed: sh scripts/setup-tests.sh"),
]
EXTENSION = "../.gemini/extensions/box"
SKILL = "---\nname: packing\ndescription: How to pack boxes for the post.\n---\n\n# Packing\n\nRead sizes.txt first.\n"
HOOK = {
    "hooks": {
        "BeforeAgent": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "name": "told",
                        "command": 'echo \'{"hookSpecificOutput": {"additionalContext": "see ${extensionPath}"}}\'',
                    }
                ]
            }
        ]
    }
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with FakeGemini() as fake:
        yield House(tmp_path, fake)


def declared(body: dict[str, Any]) -> set[str]:
    return {each["name"] for group in body["tools"] for each in group.get("functionDeclarations", ())}


def output(body: dict[str, Any]) -> str:
    responses = [part["functionResponse"] for part in body["contents"][-1]["parts"] if "functionResponse" in part]
    return str(responses[-1]["response"].get("output", responses[-1]["response"].get("error")))


async def test_an_extension_is_the_same_in_both(house: House) -> None:
    manifest = {"name": "box", "version": "1.0.0", "contextFileName": "BOX.md", "excludeTools": ["glob"]}
    write(
        house,
        {
            f"{EXTENSION}/gemini-extension.json": json.dumps(manifest),
            f"{EXTENSION}/BOX.md": "Boxes are brown.\n",
            f"{EXTENSION}/hooks/hooks.json": json.dumps(HOOK),
            f"{EXTENSION}/skills/packing/SKILL.md": SKILL,
            f"{EXTENSION}/agents/packer.md": "---\nname: packer\ndescription: Packs what it is given.\n---\nPack it.\n",
            f"{EXTENSION}/policies/mine.toml": "[[rule]]\ntoolName='list_directory'\ndecision='deny'\npriority=100\n",
            "GEMINI.md": "The project.\n",
        },
    )
    theirs, ours = await both(house)
    folder = house.home / ".gemini" / "extensions" / "box"
    for body in (theirs, ours):
        assert (str(folder / "BOX.md"), "Boxes are brown.") in blocks(user_texts(body))
        assert f"see {folder}" in " ".join(user_texts(body))
        assert "How to pack boxes for the post." in " ".join(system_texts(body)) + json.dumps(body["tools"])
        assert "Packs what it is given." in " ".join(system_texts(body)) + json.dumps(body["tools"])
        assert not {"glob", "list_directory"} & declared(body)
        assert "invoke_agent" in declared(body)
    assert blocks(user_texts(ours)) == blocks(user_texts(theirs))


async def test_a_skill_is_the_same_in_both(house: House) -> None:
    write(house, {".gemini/skills/packing/SKILL.md": SKILL, ".gemini/skills/packing/sizes.txt": "small, large\n"})
    told = []
    for who in ("cli", "sdk"):
        sizes = str(house.project / ".gemini" / "skills" / "packing" / "sizes.txt")
        house.fake.expect(
            calls("activate_skill", {"name": "packing"}), calls("read_file", {"file_path": sizes}), says("ok")
        )
        await (house.gemini("--yolo", "-p", "hi") if who == "cli" else house.agent(mode="yolo").send("hi"))
        told.append([output(request.body) for request in house.fake.requests[-2:]])
    for activated, read in told:
        assert activated.startswith('<activated_skill name="packing">')
        assert "Read sizes.txt first." in activated
        assert "sizes.txt" in activated.split("<available_resources>")[1]
        assert "small, large" in read
    said = [activated.partition("<available_resources>")[0] for activated, _ in told]
    assert said[0] == said[1]


POLICY = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["echo", "git", "true"]
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "git push"
decision = "deny"
priority = 200

[[rule]]
toolName = "write_file"
argsPattern = '"file_path":"[^"]*allowed'
decision = "allow"
priority = 100
"""
# `ls` alone is not among them: what is known to only read runs unasked with us, and asks there.
COMMANDS = [
    "echo hi",
    "echo hi && true",
    "git --version",
    "git push",
    "echo hi; git push",
    "echo $(git push)",
    "echo hi > redirected.txt",
    "echo hi && ls",
    "echo 'unclosed",
    "bash -c 'echo hi'",
]


async def test_the_cli_does_what_its_engine_decides_and_so_do_we(house: House) -> None:
    """The recorded decisions come from the CLI's engine alone; here the whole CLI acts on some of them."""
    write(house, {"../.gemini/policies/mine.toml": POLICY})
    wanted: list[tuple[str, dict[str, Any], str]] = [
        ("run_shell_command", {"command": command}, f"s{number}") for number, command in enumerate(COMMANDS)
    ]
    wanted += [
        ("write_file", {"file_path": "allowed.txt", "content": "x"}, "w1"),
        ("write_file", {"file_path": "other.txt", "content": "x"}, "w2"),
    ]
    house.fake.expect(calls_all(*wanted), says("ok"))
    lines = await house.gemini("-p", "hi")
    ran = {line["tool_id"]: line["status"] == "success" for line in lines if line["type"] == "tool_result"}
    theirs = [ran[next(each for each in ran if each.endswith(call_id))] for _, _, call_id in wanted]
    rules = load_rules(AgentSettings(), house.home).rules
    assert read_policies([house.home / ".gemini" / "policies"], "user").complaints == ()
    around = Surroundings(interactive=False, cwd=house.project)
    judged = [Judge(rules).decide(ToolCall(call_id, name, args), around) for name, args, call_id in wanted]
    assert [ruling.decision == "allow" for ruling in judged] == theirs
    assert True in theirs
    assert False in theirs
