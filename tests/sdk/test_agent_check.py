"""Whatever is wrong with an agent is a sentence when it is made: never later, and never silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import Budget, SdkError, allow, ask, deny, extension, hook, skill_dir, subagent, tool
from farhand.sdk.agent_check_names import BUILTIN_NAMES
from farhand.sdk.hooks import BeforeToolInput, PreCompressInput, SessionStartInput
from farhand.sdk.tools.builtin import BUILTIN_TOOLS


def named(name: str) -> Any:
    def work() -> str:
        """Works."""
        return "done"

    return tool(name=name)(work)


def guard(matcher: str) -> Any:
    @hook("BeforeTool", matcher)
    def heard(event: BeforeToolInput) -> None: ...

    return heard


def started(matcher: str) -> Any:
    @hook("SessionStart", matcher)
    def heard(event: SessionStartInput) -> None: ...

    return heard


def compressed(matcher: str) -> Any:
    @hook("PreCompress", matcher)
    def heard(event: PreCompressInput) -> None: ...

    return heard


def helper(**options: Any) -> Any:
    return subagent(**{"name": "reviewer", "description": "Reviews.", "instructions": "Review.", **options})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        # paths
        ({"cwd": "/nowhere/at/all"}, "no folder"),
        ({"skills": [skill_dir("nowhere")]}, "nowhere is no folder"),
        # models
        ({"model": "gpt-5"}, "openai:gpt-5"),
        ({"model": "claude-sonnet-5"}, "anthropic:claude-sonnet-5"),
        ({"model": "mistral:large"}, "no vendor 'mistral'"),
        ({"model": "openai:"}, "no name of a model"),
        ({"model": " "}, "no name of a model"),
        ({"model": 3}, "no model"),
        # modes
        ({"mode": "yolo!"}, "no mode 'yolo!'"),
        # names
        ({"builtin_tools": ["read_fil"]}, "no built-in tool 'read_fil'"),
        ({"builtin_tools": "read_file"}, "list of names"),
        ({"builtin_tools": 3}, "list of names"),
        ({"tools": [named("has space")]}, "no name for a tool"),
        ({"tools": [named("final_result")]}, "another name"),
        ({"policies": [deny("run_shel_command")]}, "Is 'run_shell_command' meant"),
        ({"policies": [allow("wrk")], "tools": [named("work")]}, "Is 'work' meant"),
        ({"policies": [allow(subagent="reviewr")], "subagents": [helper()]}, "Is 'reviewer' meant"),
        ({"hooks": [guard("writ_file")]}, "Is 'write_file' meant"),
        ({"hooks": [started("startip")]}, "never comes. Known: startup"),
        ({"hooks": [compressed("never")]}, "Known: manual, auto"),
        ({"subagents": [helper(tools=["read_fil"])]}, "'reviewer' names the tool 'read_fil'. Is 'read_file' meant"),
        # duplicates
        ({"tools": [named("a"), named("a")]}, "Two tools are called 'a'"),
        ({"tools": [named("a")], "extensions": [extension(name="x", tools=[named("a")])]}, "one of them in an ext"),
        ({"subagents": [helper(), helper()]}, "Two subagents are called 'reviewer'"),
        ({"extensions": [extension(name="x"), extension(name="x")]}, "Two extensions are called 'x'"),
        # things of another kind
        ({"skills": ["./x"]}, r"skill_dir\("),
        ({"policies": ["read_file"]}, r"allow\("),
        ({"subagents": ["reviewer"]}, r"subagent\("),
        ({"extensions": ["mine"]}, r"extension\("),
        ({"hooks": [print]}, "@hook"),
        ({"tools": [3]}, "no tool"),
        ({"extenders": [object()]}, "no tools, instructions, close"),
        ({"approver": 3}, "approve"),
        ({"asker": "me"}, "ask"),
        ({"instructions": 3}, "instructions is 3"),
        ({"system_prompt": 3}, "system_prompt is 3"),
        ({"budget": 3}, r"Budget\("),
        ({"prices": {"gemini-2.5-flash": 3}}, r"Price\("),
        ({"loads": "no"}, "True or False"),
        # one where a list is due
        ({"tools": named("a")}, "tools is .*give a list"),
        ({"hooks": guard("write_file")}, "hooks is .*give a list"),
        ({"policies": allow("read_file")}, "policies is .*give a list"),
        ({"policies": "read_file"}, "policies is .*give a list"),
        ({"subagents": helper()}, "subagents is .*give a list"),
        ({"generation": "hot"}, "generation is 'hot': give a dict"),
        ({"prices": 3}, "prices is 3: give a dict"),
        # numbers and settings
        ({"max_turns": 0}, "one turn"),
        ({"max_turns": "5"}, "max_turns is '5'"),
        ({"tool_timeout_seconds": -1}, "some time"),
        ({"generation": {"temprature": 1}}, "temprature"),
        ({"generation": {"temperature": "hot"}}, "'hot' for temperature"),
    ],
)
def test_what_is_wrong_is_told_when_the_agent_is_made(
    make_agent: MakeAgent, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SdkError, match=sentence):
        make_agent(**options)
    with pytest.raises(SdkError, match=sentence):
        make_agent().with_changes(**options)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: allow("read_file", command="("), "cannot be used"),
        (lambda: deny(arguments="(a+)+"), "for ever"),
        (lambda: ask("read_file", modes="often"), "no mode 'often'"),  # type: ignore[arg-type]
        (lambda: allow("read_file", priority=1000), "0 to 999"),
        (lambda: allow(""), "needs the name of a tool"),
        (lambda: helper(name="a b"), "letters, digits"),
        (lambda: helper(agent="me", instructions=None), r"give Agent\("),
        (lambda: helper(tools="read_file"), "list of names"),
        (lambda: helper(model="gpt-5"), "openai:gpt-5"),
        (lambda: helper(max_turns=0), "at least one turn"),
        (lambda: extension(name=" "), "needs a name"),
        (lambda: extension(name="x", skills=["./s"]), r"'x': skills has './s'.*skill_dir\("),  # type: ignore[list-item]
        (lambda: extension(name="x", hooks=[print]), "'x': hooks"),  # type: ignore[list-item]
        (lambda: extension(name="x", subagents=["a"]), "'x': subagents"),  # type: ignore[list-item]
        (lambda: extension(name="x", policies=["a"]), "'x': policies"),  # type: ignore[list-item]
        (lambda: extension(name="x", mcp_servers={"s": {}}), "MCP server 's' needs a command"),
        (lambda: Budget(turns=0), "lets nothing run"),
    ],
)
def test_what_is_wrong_with_a_part_is_told_when_it_is_made(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(SdkError, match=sentence):
        make()


def test_names_that_only_a_session_knows_are_taken(make_agent: MakeAgent) -> None:
    rules = [deny("mcp_files_read_fil"), allow("deploy"), ask("read_files*"), allow("*"), deny("search_file_content")]
    make_agent(policies=rules, hooks=[guard("write"), guard("write_file|replace"), guard("*"), started("resume")])


def test_the_names_of_built_in_tools_are_all_there() -> None:
    assert set(BUILTIN_NAMES) == set(BUILTIN_TOOLS)


def test_a_name_that_is_not_geminis_is_refused_from_the_environment_too(make_agent: MakeAgent) -> None:
    agent = make_agent(model=None, environ={"GEMINI_MODEL": "gpt-5"})
    with pytest.raises(SdkError, match="openai:gpt-5"):
        agent.open_model(agent.load_settings())
