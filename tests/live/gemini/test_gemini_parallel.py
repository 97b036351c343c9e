"""The real Gemini CLI calls several tools at once: each is asked about by itself, and a yes runs that one alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from farhand.model.facts import AnswerDelivered, AskRaised, Noted, TurnEnded
from farhand.model.words import Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.house import House
from farhand.testing.models.gemini import calls_all, says

pytestmark = pytest.mark.anyio
DELETE = "mcp_fs_delete_file"
# An MCP server that deletes nothing, and writes down what it was asked to delete.
SERVER = """
import json, sys
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
for line in sys.stdin:
    message = json.loads(line)
    number, result = message.get("id"), {}
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "fs", "version": "1"}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "delete_file", "description": "Deletes", "inputSchema": SCHEMA}]}
    elif message["method"] == "tools/call":
        with open(sys.argv[1], "a") as file:
            file.write(message["params"]["arguments"]["path"] + "\\n")
        result = {"content": [{"type": "text", "text": "deleted"}]}
    if number is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)
"""


async def hired(house: House, cli_env: GeminiEnv) -> None:
    asked = (cli_env.project / ".gemini").exists()
    place = cli_env.project
    await house.hire(backend="gemini", directory=place, mode=Mode.DEFAULT, wire="tmux", trust_folder=asked)


def deletes(path: str) -> tuple[str, dict[str, str], str]:
    return (DELETE, {"path": path}, "")


def runs(command: str) -> tuple[str, dict[str, str], str]:
    return ("run_shell_command", {"command": command, "description": "Something"}, "")


def with_deleter(cli_env: GeminiEnv) -> Path:
    """Gives the project an MCP server; where it writes down what it deleted."""
    program, deleted = cli_env.folder / "deleter.py", cli_env.folder / "deleted"
    program.write_text(SERVER)
    settings = cli_env.project / ".gemini" / "settings.json"
    settings.parent.mkdir()
    server = {"command": sys.executable, "args": [str(program), str(deleted)]}
    settings.write_text(json.dumps({"mcpServers": {"fs": server}}))
    return deleted


async def asked(house: House, after: int = 0) -> tuple[AskRaised, int]:
    """The next question, and when it was raised."""
    event = await house.event(AskRaised, after=after)
    assert isinstance(event.fact, AskRaised)
    return event.fact, event.seq


def allows(ask: AskRaised) -> list[str]:
    return [choice.id for choice in ask.choices if choice.allows]


async def a_yes_runs_the_call_that_was_shown_and_no_other(cli_env: GeminiEnv, house: House, deleted: Path) -> None:
    listing = ("list_directory", {"dir_path": str(cli_env.project)}, "")
    cli_env.model.expect(calls_all(deletes("/zz/thesis.tex"), listing), says("one"), prompt="zz-mixed")
    cli_env.model.expect(calls_all(deletes("/zz/a"), deletes("/zz/b")), says("two"), prompt="zz-pair")
    long = "/zz/" + "x" * 300
    cli_env.model.expect(calls_all(deletes(long + "1"), deletes(long + "2")), prompt="zz-alike")
    seq = house.hub.present.seq
    await house.say("zz-mixed")
    ask, seq = await asked(house, seq)
    assert "delete_file" in ask.question
    assert "/zz/thesis.tex" in ask.detail
    await house.answer(ask.ask, "allow")
    seq = (await house.event(TurnEnded, after=seq)).seq
    assert deleted.read_text() == "/zz/thesis.tex\n"
    # Two of the same tool: each is a question of its own.
    await house.say("zz-pair")
    ask, seq = await asked(house, seq)
    assert "/zz/a" in ask.detail
    await house.answer(ask.ask, "allow")
    assert (await house.fact(AnswerDelivered, after=seq)).problem == ""
    ask, seq = await asked(house, seq)
    assert "/zz/b" in ask.detail
    await house.answer(ask.ask, "deny")
    seq = (await house.event(TurnEnded, after=seq)).seq
    assert deleted.read_text() == "/zz/thesis.tex\n/zz/a\n"
    # What the dialog cannot tell apart is not allowed from afar.
    await house.say("zz-alike")
    ask, seq = await asked(house, seq)
    assert allows(ask) == []
    assert "at the desk" in ask.detail
    await house.interrupt()
    await house.event(TurnEnded, after=seq)
    assert deleted.read_text() == "/zz/thesis.tex\n/zz/a\n"
    assert not [event for event in await house.history() if isinstance(event.fact, Noted)]


async def test_every_one_of_several_questions_is_asked_and_one_yes_runs_one(cli_env: GeminiEnv) -> None:
    """On one start of the CLI: a call of an MCP server's tool beside others, then commands."""
    deleted = with_deleter(cli_env)
    made, line = cli_env.project / "zz.txt", "echo zz >> zz.txt"
    cli_env.model.expect(calls_all(runs("touch one.txt"), runs("touch two.txt")), says("made"), prompt="zz-both")
    cli_env.model.expect(calls_all(runs(line), runs(line)), says("written"), prompt="zz-twins")
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await a_yes_runs_the_call_that_was_shown_and_no_other(cli_env, house, deleted)
        begun = house.hub.present.seq
        await house.say("zz-both")
        first, seq = await asked(house, begun)
    # A question that nobody has seen yet outlives the node as well.
    async with cli_env.open() as house:
        await house.answer(first.ask, "allow")
        second, seq = await asked(house, seq)
        assert {first.detail, second.detail} == {"touch one.txt", "touch two.txt"}
        await house.answer(second.ask, "allow")
        seq = (await house.event(TurnEnded, after=seq)).seq
        assert {path.name for path in cli_env.project.glob("*.txt")} == {"one.txt", "two.txt"}
        # The same thing twice is asked twice.
        await house.say("zz-twins")
        ask, seq = await asked(house, seq)
        assert (ask.detail, allows(ask)) == (line, ["allow", "session"])
        await house.answer(ask.ask, "allow")
        again, seq = await asked(house, seq)
        assert (again.detail, allows(again)) == (line, ["allow", "session"])
        await house.answer(again.ask, "deny")
        await house.event(TurnEnded, after=seq)
        assert made.read_text() == "zz\n"
        later = [event.fact for event in await house.history() if event.seq > begun]
        assert [fact.problem for fact in later if isinstance(fact, AnswerDelivered)] == [""] * 4
        assert not [event for event in await house.history() if isinstance(event.fact, Noted)]
