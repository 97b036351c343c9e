"""The fake Telegram is Telegram's and not ours: a foreign client uses it, and it refuses what Telegram refuses."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import httpx2
import pytest
import telegram
import telegram.error
import telegram.request
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from telegram import (
    BotCommand,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputFile,
    LinkPreviewOptions,
    ReplyParameters,
)
from tests.spec.promises import promise

from farhand.testing.telegram import FakeBot, drawn
from farhand.testing.telegram.cuttable_server import listening
from farhand.testing.telegram.words import FaultKind

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


@pytest.fixture
async def ptb(bot: FakeBot) -> AsyncIterator[telegram.Bot]:
    client = telegram.Bot(bot.token, base_url=f"{bot.address}/bot", base_file_url=f"{bot.address}/file/bot")
    async with client:
        yield client


async def test_a_round_of_calls_by_python_telegram_bot(bot: FakeBot, ptb: telegram.Bot) -> None:
    manager = bot.person(11, "Mo")
    spoken = await manager.says("/start now")
    updates = await ptb.get_updates(timeout=5, allowed_updates=["message", "callback_query"])
    assert [update.update_id for update in updates] == [spoken.update_id]
    message = updates[0].message
    assert message is not None
    assert (message.text, message.chat.id, message.message_id) == ("/start now", 11, spoken.message_id)
    assert await ptb.get_updates(offset=spoken.update_id + 1) == ()

    keyboard = InlineKeyboardMarkup(
        [[InlineKeyboardButton("Yes", callback_data="y"), InlineKeyboardButton("No", callback_data="n")]]
    )
    sent = await ptb.send_message(
        11,
        "<b>Hi</b> &lt;you&gt; 😀 <code>x</code>",
        parse_mode="HTML",
        reply_markup=keyboard,
        disable_notification=True,
        reply_parameters=ReplyParameters(spoken.message_id),
        link_preview_options=LinkPreviewOptions(is_disabled=True),
    )
    assert sent.text == "Hi <you> 😀 x"
    assert sent.parse_entities() == dict(zip(sent.entities, ["Hi", "x"], strict=True))
    edited = await ptb.edit_message_text("done", chat_id=11, message_id=sent.message_id)
    assert isinstance(edited, telegram.Message)
    assert edited.text == "done"
    with pytest.raises(telegram.error.BadRequest, match="essage is not modified"):
        await ptb.edit_message_text("done", chat_id=11, message_id=sent.message_id)

    photo = await ptb.send_photo(11, InputFile(PNG, "a.png"), caption="a photo")
    document = await ptb.send_document(11, b"hello", filename="a.txt", reply_markup=ForceReply())
    assert photo.caption == "a photo"
    assert document.document is not None
    kept = await ptb.get_file(document.document.file_id)
    assert await kept.download_as_bytearray() == b"hello"
    assert await ptb.set_message_reaction(11, spoken.message_id, "👀")
    assert await ptb.send_chat_action(11, "typing")
    assert await ptb.set_my_commands([BotCommand("team", "who is here")])
    assert [one.command for one in await ptb.get_my_commands()] == ["team"]
    assert await ptb.delete_message(11, sent.message_id)
    chat = await bot.messages(11)
    assert [one.deleted for one in chat] == [False, True, False, False]
    assert chat[0].reactions == ("👀",)
    assert chat[1].silent
    assert "deleted" in drawn(chat)

    asked = await ptb.send_message(11, "Well?", reply_markup=keyboard)
    shown = (await bot.messages(11))[-1]
    tapped = await manager.taps(shown, "Yes")
    query = (await ptb.get_updates(timeout=5))[0].callback_query
    assert query is not None
    assert (query.id, query.data, query.message and query.message.message_id) == (
        tapped.query_id,
        "y",
        asked.message_id,
    )
    assert await ptb.answer_callback_query(query.id, "noted")
    assert (await bot.standing()).answered_queries == {query.id: "noted"}

    assert await ptb.set_webhook(f"{bot.address}/nowhere", secret_token="s_-1", max_connections=1)
    assert (await ptb.get_webhook_info()).url.endswith("/nowhere")
    with pytest.raises(telegram.error.Conflict, match="webhook is active"):
        await ptb.get_updates()
    assert await ptb.delete_webhook()


REFUSED = [
    ("sendMessage", {"chat_id": 1, "text": "x"}, "Bad Request: chat not found"),
    ("sendMessage", {"text": "x"}, "Bad Request: chat_id is empty"),
    ("sendMessage", {"chat_id": 13}, "Bad Request: message text is empty"),
    ("sendMessage", {"chat_id": 13, "text": "   "}, "Bad Request: message text is empty"),
    ("sendMessage", {"chat_id": 13, "text": "<b></b>", "parse_mode": "HTML"}, "Bad Request: message text is empty"),
    ("sendMessage", {"chat_id": 13, "text": "😀" * 2049}, "Bad Request: message is too long"),
    (
        "sendMessage",
        {"chat_id": 13, "text": "a <tr> b", "parse_mode": "HTML"},
        'Bad Request: can\'t parse entities: Unsupported start tag "tr" at byte offset 2',
    ),
    (
        "sendMessage",
        {"chat_id": 13, "text": "é<b>a</i>", "parse_mode": "HTML"},
        'Bad Request: can\'t parse entities: Unmatched end tag at byte offset 6, expected "</b>", found "</i>"',
    ),
    (
        "sendMessage",
        {
            "chat_id": 13,
            "text": "x",
            "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": "é" * 33}]]},
        },
        "Bad Request: BUTTON_DATA_INVALID",
    ),
    (
        "sendMessage",
        {"chat_id": 13, "text": "x", "reply_parameters": {"message_id": 99}},
        "Bad Request: message to be replied not found",
    ),
    ("sendMessage", {"chat_id": 13, "text": "x", "message_thread_id": 5}, "Bad Request: message thread not found"),
    ("sendMessage", {"chat_id": 13, "text": "x", "txet": "y"}, "Bad Request: the Bot API has no field txet"),
    ("editMessageText", {"chat_id": 13, "message_id": 99, "text": "x"}, "Bad Request: message to edit not found"),
    ("editMessageText", {"chat_id": 13, "message_id": 1, "text": "x"}, "Bad Request: message can't be edited"),
    ("deleteMessage", {"chat_id": 13, "message_id": 99}, "Bad Request: message to delete not found"),
    (
        "setMessageReaction",
        {"chat_id": 13, "message_id": 1, "reaction": [{"type": "emoji", "emoji": "🐌"}]},
        "Bad Request: REACTION_INVALID",
    ),
    (
        "setMyCommands",
        {"commands": [{"command": "no-dash", "description": "x"}]},
        "Bad Request: BOT_COMMAND_INVALID",
    ),
    (
        "setMyCommands",
        {"commands": [{"command": f"c{n}", "description": "x"} for n in range(101)]},
        "Bad Request: BOT_COMMANDS_TOO_MUCH",
    ),
    (
        "answerCallbackQuery",
        {"callback_query_id": "5"},
        "Bad Request: query is too old and response timeout expired or query ID is invalid",
    ),
    (
        "setWebhook",
        {"url": "http://example.com/"},
        "Bad Request: bad webhook: An HTTPS URL must be provided for webhook",
    ),
    (
        "setWebhook",
        {"url": "https://example.com/", "secret_token": "a b"},
        "Bad Request: secret token contains unallowed characters",
    ),
    ("getFile", {"file_id": "x"}, "Bad Request: wrong file_id or the file is temporarily unavailable"),
    ("sendMesage", {}, "Not Found"),
]


@promise("env.23", "env.24")
@pytest.mark.parametrize(("method", "parameters", "sentence"), REFUSED)
async def test_it_refuses_what_telegram_refuses(
    bot: FakeBot, method: str, parameters: dict[str, object], sentence: str
) -> None:
    await bot.person(13).says("hello")
    answer = await bot.http.post(f"/bot{bot.token}/{method}", json=parameters)
    assert answer.json()["description"] == sentence
    assert answer.status_code == answer.json()["error_code"] == (404 if sentence == "Not Found" else 400)


async def test_lengths_are_counted_on_what_people_see(bot: FakeBot) -> None:
    await bot.person(13).says("hello")
    text = "<b>" + "&lt;" * 4096 + "</b>"
    answer = await bot.http.post(
        f"/bot{bot.token}/sendMessage", json={"chat_id": 13, "text": text, "parse_mode": "HTML"}
    )
    assert answer.json()["result"]["text"] == "<" * 4096


async def test_a_token_that_is_unknown_or_revoked_is_refused(bot: FakeBot) -> None:
    assert (await bot.http.post("/bot1:nobody/getMe")).json()["description"] == "Unauthorized"
    await bot.revoke()
    answer = await bot.http.post(f"/bot{bot.token}/getMe")
    assert (answer.status_code, answer.json()["error_code"]) == (401, 401)


async def test_the_second_poller_ends_the_first(bot: FakeBot) -> None:
    first: list[httpx2.Response] = []

    async def poll() -> None:
        first.append(await bot.http.post(f"/bot{bot.token}/getUpdates", json={"timeout": 50}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(poll)
        await bot.until_standing(lambda standing: standing.polling)
        second = await bot.http.post(f"/bot{bot.token}/getUpdates", json={"timeout": 0})
    assert first[0].status_code == 409
    assert "terminated by other getUpdates request" in first[0].json()["description"]
    assert second.json() == {"ok": True, "result": []}


async def test_a_poller_that_has_gone_is_forgotten(bot: FakeBot) -> None:
    with anyio.move_on_after(0.2):
        await bot.http.post(f"/bot{bot.token}/getUpdates", json={"timeout": 50})
    await bot.until_standing(lambda standing: not standing.polling)
    await bot.person(13).says("still here")
    assert (await bot.standing()).pending == 1


async def test_updates_stay_until_they_are_confirmed_and_the_wish_for_kinds_is_remembered(bot: FakeBot) -> None:
    manager = bot.person(13)
    poll = f"/bot{bot.token}/getUpdates"
    await bot.http.post(poll, json={"allowed_updates": ["message"]})
    first = await manager.says("one")
    await manager.edits(first.message_id, "uno")
    second = await manager.says("two")
    for _ in range(2):
        updates = (await bot.http.post(poll)).json()["result"]
        assert [one["update_id"] for one in updates] == [first.update_id, second.update_id]
    updates = (await bot.http.post(poll, json={"offset": second.update_id})).json()["result"]
    assert [one["message"]["text"] for one in updates] == ["two"]


@pytest.mark.parametrize("after_effect", [False, True])
@pytest.mark.parametrize("kind", ["cut", "hang", "status", "garbage"])
async def test_faults_come_as_ordered_and_only_then(bot: FakeBot, kind: FaultKind, after_effect: bool) -> None:
    await bot.person(13).says("hello")
    await bot.fault("sendMessage", kind, after_effect=after_effect, seconds=0.05)
    send = f"/bot{bot.token}/sendMessage"
    if kind in {"cut", "hang"}:
        with pytest.raises(httpx2.TransportError):
            await bot.http.post(send, json={"chat_id": 13, "text": "once"})
    else:
        assert (await bot.http.post(send, json={"chat_id": 13, "text": "once"})).status_code == 502
    assert len(await bot.messages(13)) == 1 + after_effect
    assert (await bot.http.post(send, json={"chat_id": 13, "text": "again"})).status_code == 200
    assert [call.had_effect for call in await bot.calls("sendMessage")] == [after_effect, True]


async def test_a_webhook_gets_updates_in_order_with_its_secret_and_again_until_taken(bot: FakeBot) -> None:
    got: list[tuple[str, str]] = []

    async def hook(request: Request) -> Response:
        update = await request.json()
        got.append((update["message"]["text"], request.headers["x-telegram-bot-api-secret-token"]))
        return Response(status_code=500 if len(got) in {2, 3} else 200)

    async with listening(Starlette(routes=[Route("/hook", hook, methods=["POST"])])) as address:
        order = {"url": f"{address}/hook", "secret_token": "s3cret", "max_connections": 1}
        assert (await bot.http.post(f"/bot{bot.token}/setWebhook", json=order)).json()["result"] is True
        for word in ("one", "two", "three"):
            await bot.person(13).says(word)
        await bot.until_standing(lambda standing: standing.pending == 0)
        assert got == [(word, "s3cret") for word in ("one", "two", "two", "two", "three")]
        info = (await bot.http.post(f"/bot{bot.token}/getWebhookInfo")).json()["result"]
        assert info["last_error_message"] == "Wrong response from the webhook: 500 Internal Server Error"


async def test_too_many_messages_are_refused_when_rates_are_on(bot: FakeBot) -> None:
    await bot.person(13).says("hello")
    await bot.rates(per_chat=1, burst=2)
    answers = [
        (await bot.http.post(f"/bot{bot.token}/sendMessage", json={"chat_id": 13, "text": str(n)})).json()
        for n in range(3)
    ]
    assert [one["ok"] for one in answers] == [True, True, False]
    assert answers[2]["parameters"] == {"retry_after": 1}
