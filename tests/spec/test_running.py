"""Spec 2, operational behaviour: long answers, the end of the node, and what nobody may see."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spec.promises import promise
from tests.spec.team import Team, team_house

from farhand.channels.kit.card import Card
from farhand.channels.telegram.render import render
from farhand.channels.telegram.words import Post, decode_outgoing
from farhand.model.facts import Said, TurnEnded
from farhand.model.split import split_html, utf16_length
from farhand.model.words import HowEnded
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


def chunks(text: str, name: str = "ann", html: str = "") -> list[str]:
    """The messages that show an answer, without the name before each."""
    card = Card(key="k", worker=name, markdown=text, html=html)
    letters = [decode_outgoing(parcel.body) for parcel in render(card, 1, "telegram", "7")]
    shown = [letter.html for letter in letters if isinstance(letter, Post)]
    assert all(one.startswith(f"<b>{name}:</b>\n") for one in shown)
    return [one.removeprefix(f"<b>{name}:</b>\n") for one in shown]


LIMIT = 4096 - len("ann") - 30


@promise("texts.15", "running.12")
@pytest.mark.parametrize(
    ("text", "first"),
    [
        # A blank line past the half comes before a line's end behind it, and that before a space.
        ("a" * 2500 + "\n\n" + "b" * 500 + "\n" + "c c" * 900, "a" * 2500),
        ("a" * 1000 + "\n\n" + "b" * 2000 + "\n" + "c c" * 900, "a" * 1000 + "\n\n" + "b" * 2000),
        ("a" * 1000 + "\n" + "b" * 2000 + " " + "c" * 3000, "a" * 1000 + "\n" + "b" * 2000),
        ("a" * 1000 + " " + "b" * 5000, "a" * 1000 + " " + "b" * (LIMIT - 1001)),
        ("a" * 5000, "a" * LIMIT),
    ],
)
def test_where_a_long_answer_is_cut(text: str, first: str) -> None:
    assert chunks(text)[0] == first
    assert chunks("", html=text)[0] == first


@promise("texts.15", "texts.16")
def test_an_answer_that_fits_is_one_message_and_no_number_is_added() -> None:
    assert chunks("b" * LIMIT) == ["b" * LIMIT]
    two = chunks("b" * (LIMIT + 1))
    assert two == ["b" * LIMIT, "b"]


@promise("texts.15")
@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["word", " ", "\n", "\n\n", "x" * 700, "😀", "&lt;", "<b>bold</b>"]), max_size=400))
def test_nothing_is_lost_and_every_chunk_fits(parts: list[str]) -> None:
    text = "".join(parts)
    if not text.strip():
        return
    from farhand.model.split import shown

    pieces = split_html(text, LIMIT)
    assert all(utf16_length(shown(piece)) <= LIMIT for piece in pieces)
    assert "".join("".join(map(shown, pieces)).split()) == "".join(shown(text).split())


@promise("texts.16", "running.12", "running.13")
async def test_chunks_answer_one_another(team: Team) -> None:
    await team.hire("ann")
    team.claude.plays(Said(text=("word " * 100 + "\n") * 30), TurnEnded(how=HowEnded.COMPLETED))
    await team.manager.says("long")
    await team.until_told("long")
    await team.house.until(lambda present: present.workers["ann"].turn is None)
    await team.manager.sees(lambda chat: sum(one.text.startswith("ann:\nword") for one in chat) == 4)
    pages = [one for one in await team.bot.messages(4242) if one.text.startswith("ann:\nword") and not one.deleted]
    assert len(pages) == 4
    assert [page.reply_to for page in pages[1:]] == [page.message_id for page in pages[:-1]]
    assert all(one.entities[0] == {"type": "bold", "offset": 0, "length": 4} for one in pages)


NODE = [sys.executable, "-m", "farhand", "run", "--headless", "--demo", "--port", "0", "--node", "spec", "--no-tunnel"]


def environment(home: Path, bot: FakeBot) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "FARHAND_HOST": "127.0.0.1",
        "TELEGRAM_BOT_TOKEN": bot.token,
        "TELEGRAM_WEBHOOK_SECRET": "webhook-secret-of-mine",
        "TELEGRAM_API_URL": bot.address,
        "FARHAND_TEMPORARY": str(home / "temporary"),
    }


def everything_of(process: int) -> list[int]:
    """The process and all that came of it, by their parents and by their sessions' environment."""
    found = [process]
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                if int((one / "stat").read_text().rpartition(")")[2].split()[1]) in found:
                    found.append(int(one.name))
            except (OSError, ValueError):
                continue
    return found


@promise("running.9", "flows.4", "texts.18", "security.1")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_end_is_told_and_the_token_is_nowhere(tmp_path: Path, bot: FakeBot, number: signal.Signals) -> None:
    log = tmp_path / "out"
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: ASYNC220
            NODE, cwd=tmp_path, env=environment(tmp_path, bot), stdout=out, stderr=out
        )
    try:
        manager = bot.person(4242, "Mo")
        await manager.says("/settings")
        settings_shown = await manager.reads("Bot token:")
        await manager.says("hello demo")
        await bot.until_calls(lambda calls: any("demo:" in str(c.parameters.get("text")) for c in calls), "sendMessage")
        alive: set[int] = set()
        # The node and the holder of its worker, who may just be starting.
        while len(alive) < 2:
            alive = {*everything_of(process.pid), *_mentioning(tmp_path)}
            await anyio.sleep(0.02)
        for one in alive:
            assert bot.token.encode() not in _read(Path(f"/proc/{one}/cmdline"))
            assert bot.token.encode() not in _read(Path(f"/proc/{one}/environ"))
            assert b"webhook-secret-of-mine" not in _read(Path(f"/proc/{one}/environ"))
        process.send_signal(number)
        assert await anyio.to_thread.run_sync(process.wait, 240) == 0
        assert (await manager.reads("Going offline")).text == "Going offline briefly. Your team stays the same."
        assert "(Docker" not in settings_shown.text
        kept = [one for one in tmp_path.rglob("*") if one.is_file() and not one.is_symlink()]
        assert kept
        for path in kept:
            assert bot.token.encode() not in _read(path), path
        for shown in await bot.messages(4242):
            assert bot.token not in shown.text
    finally:
        process.kill()
        process.wait()
        await _end_children(tmp_path)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _mentioning(folder: Path) -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit() and _mentions(one, folder)]


def _mentions(process: Path, folder: Path) -> bool:
    return str(folder).encode() in _read(process / "cmdline")


async def _end_children(folder: Path) -> None:
    """Ends the holders that this test's node left alive, as it must."""
    for one in Path("/proc").iterdir():
        if one.name.isdigit() and int(one.name) != os.getpid() and _mentions(one, folder):
            try:
                os.kill(int(one.name), signal.SIGKILL)
            except ProcessLookupError:
                continue


@promise("running.9")
async def test_nothing_is_said_after_the_node_is_back_about_its_going(tmp_path: Path, bot: FakeBot) -> None:
    from farhand.run import drain

    async with team_house(tmp_path, bot) as team:
        await team.asks("/team")
        await bot.fault("sendMessage", "status", code=502, description="Bad Gateway", contains="Going offline")
        await drain(team.house.node)
    async with team_house(tmp_path, bot) as team:
        await team.asks("/team")
        assert not [one for one in await bot.messages(4242) if "Going offline" in one.text]
