"""The first start: guided at a terminal, unattended by flags, and the demo; on a Telegram of the test's own."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import anyio.to_thread
import pytest
from tests.live.nodes import Home
from tests.live.test_doctor import program
from tests.live.test_terminal import Desk

from farhand.channels.kit.who_may_speak import as_qr
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    """A home of somebody who has never used farhand."""
    made = Home(tmp_path)
    yield made
    await farhand(made, "stop", "--all", "--force")
    await anyio.to_thread.run_sync(made.end_agents)


async def farhand(home: Home, *words: str) -> tuple[int, str]:
    done = await anyio.to_thread.run_sync(lambda: home.farhand(*words))
    return done.returncode, done.stdout + done.stderr


def env(home: Home, node: str = "prod") -> dict[str, str]:
    """What the env file of that node says; nobody else may read it."""
    path = home.node_folder(node) / "env"
    assert path.stat().st_mode & 0o777 == 0o600
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


async def test_a_person_is_led_from_the_token_to_the_first_message(home: Home, bot: FakeBot) -> None:
    home.environment |= {"TELEGRAM_API_URL": bot.address}
    person = bot.person(77, "Mo")
    await person.says("anybody here?")
    desk = Desk(home, "setup", "-p", "0")
    see = desk.see

    async def sees(text: str) -> None:
        await anyio.to_thread.run_sync(see, text)

    try:
        await sees("The token that it gave you (you will not see it): ")
        shown = [line.rstrip("\r") for line in desk.shown.splitlines()]
        drawn = as_qr("https://t.me/BotFather").splitlines()
        assert len(drawn) > 10
        assert shown[shown.index(drawn[0]) :][: len(drawn)] == drawn
        assert "   https://t.me/BotFather" in shown
        desk.type("1:wrong\r")
        await sees("Telegram does not know that token. Once more:")
        await anyio.to_thread.run_sync(desk.wait, lambda: desk.shown.count("not see it): ") == 2, "the second question")
        desk.type(f"{bot.token}\r")
        await sees(f"@{bot.username} is your bot.")
        await sees("this code: ")
        await sees("\n")
        code = re.search(r"this code: (\w{8})", desk.shown)
        assert code is not None
        await person.says("ABCDEFGH")
        await person.says(f"/start {code[1]}")
        await sees("Paired with Mo.")
        await sees("1-4 [default]: ")
        desk.type("maybe\r")
        await sees("A number from 1 to 4, or one of: default, auto_edit, plan, yolo")
        desk.type("\r")
        await sees("The folder that they begin in")
        desk.type("/none/such\r")
        await sees("There is no folder /none/such.")
        desk.type("\r")
        await sees("The node has written to you on Telegram.")
        assert await anyio.to_thread.run_sync(desk.leave) == 0
        assert bot.token not in desk.shown
        await person.reads("I'm online and ready.")
        assert env(home)["ADMIN_PAIRING"] == "required"
        assert (home.node_folder("prod") / "last_chat_id").read_text() == "77"
        await person.says("/team")
        await person.reads("No team members yet")
    finally:
        await anyio.to_thread.run_sync(desk.close)


async def test_every_step_is_a_flag_so_that_nobody_need_be_asked(home: Home, bot: FakeBot) -> None:
    token = home.folder / "token"
    token.write_text(bot.token + "\n")
    (home.folder / "work").mkdir()
    home.environment |= {"TELEGRAM_API_URL": bot.address}
    person = bot.person(78, "Mo")
    await person.says("hi")
    words = "setup -n dev -p 0 --headless --admin 78 --mode plan --adapter demo --dir work".split()
    code, told = await farhand(home, *words, "--token-file", str(token))
    assert code == 0, told
    assert bot.token not in told
    assert env(home, "dev") == {
        "TELEGRAM_BOT_TOKEN": bot.token,
        "FARHAND_HIRE_BACKEND": "demo",
        "FARHAND_HIRE_MODE": "plan",
        "FARHAND_DIRECTORY": str(home.folder / "work"),
        "FARHAND_REACH": "none",
        "PORT": "0",
        "TELEGRAM_API_URL": bot.address,
        "ADMIN_PAIRING": "required",
        "FARHAND_HOST": "127.0.0.1",
        "FARHAND_KEYLESS": "unix",
    }
    assert json.loads((home.node_folder("dev") / "run.json").read_text())["directory"] == str(home.folder / "work")
    await person.says("/hire ann")
    await person.reads("Ann is added and assigned.")
    code, told = await farhand(home, *words)
    assert (code, "farhand stop --node dev" in told) == (1, True)


async def test_a_person_chooses_among_the_agents_and_the_ways_in_that_are_here(home: Home, bot: FakeBot) -> None:
    programs = home.folder / "programs"
    for name, said in (("codex", "codex-cli 0.166.0"), ("gemini", "0.49.0"), ("cloudflared", "cloudflared 2026")):
        program(programs, name, said)
    (home.folder / ".codex").mkdir()
    (home.folder / ".codex" / "auth.json").write_text("{}")
    home.environment |= {
        "PATH": f"{programs}:/usr/bin:/bin",
        "TELEGRAM_API_URL": bot.address,
        "TELEGRAM_BOT_TOKEN": bot.token,
    }
    desk = Desk(home, "setup", "-p", "0", "--admin", "77", "--no-start")

    async def answers(question: str, *typed: str) -> None:
        await anyio.to_thread.run_sync(desk.see, question)
        for one in typed:
            desk.type(f"{one}\r")

    try:
        # Who is logged in comes first, and is what Enter means.
        await answers("1) codex")
        await answers("2) gemini  not logged in yet")
        await answers("1-2 [codex]: ", "3")
        await answers("A number from 1 to 2, or one of: codex, gemini", "2")
        await answers("1-4 [default]: ", "auto_edit")
        await answers("The folder that they begin in", "")
        await answers("How is this node reached from outside?")
        await answers("1) cloudflared  by anybody who knows the address")
        await answers("1-2 [none]: ", "cloudflared")
        await answers("Your mail address", "nobody")
        await answers("FARHAND_PUSH_CONTACT", "me@example.org")
        await answers("Start it with: farhand run --node prod")
        assert await anyio.to_thread.run_sync(desk.leave) == 0
    finally:
        await anyio.to_thread.run_sync(desk.close)
    written = env(home)
    chosen = {name: written[name] for name in ("FARHAND_HIRE_BACKEND", "FARHAND_HIRE_MODE", "FARHAND_REACH")}
    assert chosen == {
        "FARHAND_HIRE_BACKEND": "gemini",
        "FARHAND_HIRE_MODE": "auto_edit",
        "FARHAND_REACH": "cloudflared",
    }
    assert "me@example.org" in written["FARHAND_PUSH_CONTACT"]


@pytest.mark.parametrize(
    ("words", "variables", "code", "sentence"),
    [
        ("setup --headless", {}, 3, "error: TELEGRAM_BOT_TOKEN not set"),
        ("setup --headless", {"TELEGRAM_BOT_TOKEN": "1:no"}, 3, "error: Telegram refuses the bot token."),
        ("setup --headless --admin me", {"TELEGRAM_BOT_TOKEN": "{token}"}, 2, "error: ADMIN_CHAT_ID must be a number"),
        ("setup --demo --headless --dir /none/such", {}, 3, "error: There is no folder /none/such."),
        ("setup --headless --token-file /none", {}, 3, "error: The token file /none cannot be read."),
        ("setup --demo --headless --backend claud", {}, 2, "error: No backend called 'claud'. Known: amp, "),
        ("setup --demo --headless --adapter claud", {}, 2, "→ did you mean: claude?"),
        ("setup --demo --headless --backend acp", {}, 2, "error: No backend called 'acp'."),
        ("setup --demo --headless", {"PATH": "/none"}, 0, ""),
        ("setup --headless", {"PATH": "/none", "TELEGRAM_BOT_TOKEN": "1:no"}, 4, "error: tmux not installed"),
    ],
)
async def test_what_is_missing_is_one_sentence_and_nothing_is_written(
    home: Home, bot: FakeBot, words: str, variables: dict[str, str], code: int, sentence: str
) -> None:
    home.environment |= {"TELEGRAM_API_URL": bot.address, "PORT": "0"}
    home.environment |= {name: value.format(token=bot.token) for name, value in variables.items()}
    found, told = await farhand(home, *words.split())
    assert found == code, told
    assert sentence in told
    assert (home.node_folder("prod") / "env").exists() == (code == 0)


async def test_a_phone_that_is_paired_later_is_shown_the_code(home: Home, bot: FakeBot) -> None:
    home.environment |= {"TELEGRAM_API_URL": bot.address, "TELEGRAM_BOT_TOKEN": bot.token, "PORT": "0"}
    code, told = await farhand(home, *"setup --headless --no-pair --adapter demo".split())
    assert (code, "has written to you" in told) == (0, False), told
    found = re.search(r"To become the manager, send this code to the bot: (\w{8})\n", told)
    assert found is not None, told
    person = bot.person(79, "Mo")
    await person.says(found[1])
    await person.reads("I'm online and ready.")


async def test_what_is_set_up_and_not_started_is_run_as_it_was_told(home: Home) -> None:
    home.environment |= {"PORT": "0"}
    (home.folder / "work").mkdir()
    code, told = await farhand(home, *"setup --demo --headless --no-start -n first --dir work".split())
    words = re.search(r"Start it with: farhand (.*)\n", told)
    assert (code, words is not None) == (0, True), told
    assert words is not None
    code, told = await farhand(home, *words[1].split(), "--detach")
    assert (code, "Node 'first' is running on port" in told) == (0, True), told
    assert json.loads((home.node_folder("first") / "run.json").read_text())["directory"] == str(home.folder / "work")


async def test_the_demo_needs_nothing(home: Home) -> None:
    home.environment |= {"PORT": "0"}
    code, told = await farhand(home, "setup", "--demo", "--headless", "-n", "first")
    assert (code, "Node 'first' is running on port" in told) == (0, True), told
    assert f"demo, mode default, in {home.folder}" in told
    assert (await farhand(home, "say", "--wait", "one two"))[0] == 0
    code, told = await farhand(home, "doctor", "--json")
    assert json.loads(told)["node"] == "first"
