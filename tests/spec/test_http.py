"""Spec 2, HTTP endpoints: what each route takes and answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.spec.promises import promise
from tests.spec.team import Team, team_house

from farhand.testing.http import local_client
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


async def known(team: Team, name: str = "ann", backend: str = "claude") -> None:
    """A worker whose manager is known."""
    await team.asks("/team")
    await team.hire(name, backend)
    await until((team.session(name) / "chat_id").exists)


@promise("http.1")
async def test_the_banner(team: Team) -> None:
    answer = await team.get("/")
    assert (answer.status_code, answer.text) == (200, "Claude-Telegram Multi-Session Bridge")


@promise("env.3", "env.14")
@promise("http.2", "http.3", "http.4", "security.2")
async def test_the_webhook(tmp_path: Path, bot: FakeBot) -> None:
    async with team_house(tmp_path, bot, webhook_secret="right-secret", admin_chat_id="4242") as team:
        await bot.person(4242).says("/team")
        await team.hire("ann")
        chat, sender = {"id": 4242, "type": "private"}, {"id": 4242, "is_bot": False, "first_name": "Mo"}
        message = {"message_id": 700, "date": 1, "chat": chat, "from": sender, "text": "by hand"}
        update = {"update_id": 5, "message": message}
        header = "X-Telegram-Bot-Api-Secret-Token"
        for wrong in ({}, {header: "wrong"}, {header: ""}, {header: "right-secre"}):
            assert (await team.post("/", update, headers=wrong)).status_code == 403
        assert team.told() == []
        answers = [await team.post("/", update, headers={header: "right-secret"}) for _ in range(3)]
        assert [(one.status_code, one.text) for one in answers] == [(200, "OK")] * 3
        await team.manager.reads("answer to by hand")
        assert team.told() == ["by hand"]
        strange: list[Any] = [[], {"update_id": 6}, {"update_id": 7, "message": {"text": 5}}, "x"]
        for odd in strange:
            assert (await team.post("/", odd, headers={header: "right-secret"})).status_code == 200


@promise("http.5", "http.9", "flows.2", "running.13", "texts.2")
async def test_an_answer_by_post(team: Team) -> None:
    await known(team)
    answer = await team.post("/response", {"session": "ann", "text": "<b>Done</b> &amp; dusted"})
    assert (answer.status_code, answer.text) == (200, "OK")
    shown = await team.manager.reads("Done & dusted")
    assert shown.text == "ann:\nDone & dusted"
    assert [one["type"] for one in shown.entities] == ["bold", "bold"]
    call = next(c for c in await team.bot.calls("sendMessage") if "dusted" in c.parameters["text"])
    assert call.parameters["text"] == "<b>ann:</b>\n<b>Done</b> &amp; dusted"
    assert call.parameters["parse_mode"] == "HTML"


@promise("http.6", "http.10")
@pytest.mark.parametrize(
    "more",
    [{"escape": True}, {"source": "codex"}, {"source": "gemini", "escape": True}, {"source": "codex", "escape": False}],
)
async def test_text_that_is_no_html(team: Team, more: dict[str, object]) -> None:
    await known(team, "bob", "codex")
    await team.post("/response", {"session": "bob", "text": "if a < b && c: <b>", **more})
    assert (await team.manager.reads("if a")).text == "bob:\nif a < b && c: <b>"


@promise("http.6")
async def test_other_sources_bring_html_of_their_own(team: Team) -> None:
    await known(team, "bob", "codex")
    await team.post("/response", {"session": "bob", "text": "<i>so it is</i>", "source": "opencode"})
    assert (await team.manager.reads("so it is")).text == "bob:\nso it is"


async def test_html_that_telegram_will_not_read_arrives_as_text(team: Team) -> None:
    await known(team)
    await team.post("/response", {"session": "ann", "text": "<nonsense>all <b>the same"})
    assert "all the same" in (await team.manager.reads("all the same")).text


@promise("http.7")
@pytest.mark.parametrize(
    "body",
    [{}, {"session": "ann"}, {"text": "x"}, {"session": "", "text": "x"}, {"session": "ann", "text": ""}, [], "x", 5,
     {"session": 5, "text": "x"}, {"session": "ann", "text": ["x"]}, {"session": "ann", "text": None}],
)  # fmt: skip
async def test_what_is_missing_is_told(team: Team, body: object) -> None:
    assert (await team.post("/response", body)).status_code == 400


@promise("http.8")
async def test_a_session_that_nobody_listens_to(team: Team) -> None:
    await team.hire("ann")
    # Nobody has spoken to the bot yet, so there is no chat.
    assert (await team.post("/response", {"session": "ann", "text": "x"})).status_code == 404
    await team.asks("/team")
    await until((team.session() / "chat_id").exists)
    for name in ("eve", "../ann", "ann/../ann", "ANN", "/etc", ".", "ann\u0000"):
        assert (await team.post("/response", {"session": name, "text": "x"})).status_code == 404
    assert (await team.post("/response", {"session": "ann", "text": "x"})).status_code == 200


async def test_a_repeat_with_the_same_id_is_not_a_second_answer(team: Team) -> None:
    await known(team)
    body = {"session": "ann", "text": "only once", "id": "turn-7"}
    assert [(await team.post("/response", body)).status_code for _ in range(3)] == [200, 200, 200]
    await team.post("/response", {"session": "ann", "text": "the last one", "id": 8})
    chat = await team.manager.sees(lambda chat: any("the last one" in one.text for one in chat))
    assert sum("only once" in one.text for one in chat) == 1


@promise("http.11", "media.7", "media.10", "texts.3", "texts.17")
async def test_files_that_an_answer_names(team: Team, tmp_path: Path) -> None:
    await known(team)
    picture, notes = tmp_path / "a b & c.png", tmp_path / "notes.md"
    picture.write_bytes(DOT)
    notes.write_text("# notes")
    text = f"Look:\n[[image:{str(picture).replace('&', '&amp;')}|the plot]]\n\n[[file:{notes}]]\nbye"
    await team.post("/response", {"session": "ann", "text": text})
    chat = await team.manager.sees(lambda chat: any(one.document for one in chat) and any(one.photo for one in chat))
    assert next(one.text for one in chat if "Look" in one.text) == "ann:\nLook:\n\nbye"
    assert next(one.text for one in chat if one.photo) == "ann: the plot"
    assert next((one.text, one.document) for one in chat if one.document) == ("ann:", "notes.md")
    for method in ("sendPhoto", "sendDocument"):
        assert all("parse_mode" not in call.parameters for call in await team.bot.calls(method))


@promise("http.12", "http.13", "http.14")
async def test_notify(team: Team) -> None:
    await team.asks("/team")
    assert (await team.post("/notify", {"text": "The tunnel is <down>"})).status_code == 200
    assert (await team.manager.reads("The tunnel")).text == "The tunnel is <down>"
    wrong: list[Any] = [{}, {"text": ""}, {"text": 5}, []]
    for body in wrong:
        assert (await team.post("/notify", body)).status_code == 400


@promise("http.15", "http.16", "http.17", "workers.1", "workers.6", "backend.7")
async def test_workers(team: Team) -> None:
    assert (await team.get("/workers")).json() == {"workers": []}
    await team.hire("ann")
    await team.hire("bob", "codex")
    ann, bob = (await team.get("/workers")).json()["workers"]
    assert (ann["name"], ann["protocol"], ann["address"]) == ("ann", "tmux", "claude-test-ann")
    # Keys in its terminal would be heard as the manager's.
    assert ann["send_example"] == f"echo 'your message' > {team.pipe('ann')}"
    assert (bob["name"], bob["protocol"], bob["address"]) == ("bob", "pipe", str(team.pipe("bob")))
    assert bob["send_example"] == f"echo 'your message' > {team.pipe('bob')}"


async def test_the_same_routes_on_the_nodes_own_socket(team: Team) -> None:
    transport = httpx2.AsyncHTTPTransport(uds=str(team.settings.http_socket))
    async with local_client(transport=transport, base_url="http://anything") as client:
        assert (await client.get("/workers")).json() == {"workers": []}
    assert team.settings.http_socket.stat().st_mode & 0o777 == 0o600


DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


@promise("http.12")
async def test_a_long_notice_comes_whole(team: Team) -> None:
    await team.asks("/team")
    text = "".join(f"line {number:05}\n" for number in range(500))
    assert (await team.post("/notify", {"text": text})).status_code == 200
    chat = await team.manager.sees(lambda chat: any("line 00499" in one.text for one in chat))
    said = "\n".join(one.text for one in chat)
    assert all(f"line {number:05}" in said for number in range(500))
    assert (await team.post("/notify", {"text": "x" * 50_000})).status_code == 200
    await team.manager.reads("30,000 characters more were cut.")
