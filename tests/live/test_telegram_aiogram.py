"""The second client: aiogram, whose import takes seconds, goes its round on the fake Telegram as well."""

from __future__ import annotations

import warnings

import pytest

from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


async def test_a_round_of_calls_by_aiogram(bot: FakeBot) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import aiogram
        from aiogram.client.session.aiohttp import AiohttpSession
        from aiogram.client.telegram import TelegramAPIServer
        from aiogram.exceptions import TelegramBadRequest
        from aiogram.types import BotCommand as Command
        from aiogram.types import BufferedInputFile, ReactionTypeEmoji
        from aiogram.types import InlineKeyboardButton as Button
        from aiogram.types import InlineKeyboardMarkup as Keyboard

    session = AiohttpSession(api=TelegramAPIServer.from_base(bot.address))
    client = aiogram.Bot(bot.token, session=session)
    try:
        manager = bot.person(12, "Mo")
        spoken = await manager.says("hello")
        assert (await client.get_me()).username == bot.username
        updates = await client.get_updates(timeout=5)
        assert [one.message.text for one in updates if one.message] == ["hello"]
        keyboard = Keyboard(inline_keyboard=[[Button(text="Yes", callback_data="y")]])
        sent = await client.send_message(12, "<i>Well</i>?", parse_mode="HTML", reply_markup=keyboard)
        assert sent.text == "Well?"
        assert sent.html_text == "<i>Well</i>?"
        edited = await client.edit_message_text("so", chat_id=12, message_id=sent.message_id, reply_markup=keyboard)
        assert not isinstance(edited, bool)
        assert edited.text == "so"
        await manager.taps((await bot.messages(12))[-1], "Yes")
        taps = await client.get_updates(offset=updates[-1].update_id + 1, timeout=5)
        assert taps[0].callback_query is not None
        assert await client.answer_callback_query(taps[0].callback_query.id)
        photo = await client.send_photo(12, BufferedInputFile(PNG, "a.png"), caption="p")
        assert photo.photo
        document = await client.send_document(12, BufferedInputFile(b"text", "a.txt"))
        assert document.document
        downloaded = await client.download(document.document)
        assert downloaded is not None
        assert downloaded.read() == b"text"
        assert await client.set_message_reaction(12, spoken.message_id, [ReactionTypeEmoji(emoji="👍")])
        assert await client.send_chat_action(12, "typing")
        assert await client.set_my_commands([Command(command="team", description="who is here")])
        assert await client.delete_message(12, sent.message_id)
        with pytest.raises(TelegramBadRequest, match="can't parse entities"):
            await client.send_message(12, "<b>half", parse_mode="HTML")
        await bot.group(-100500, topics={})
        topic = await client.create_forum_topic(-100500, "Ann")
        within = await client.send_message(-100500, "here", message_thread_id=topic.message_thread_id)
        assert within.message_thread_id == topic.message_thread_id
        assert await client.close_forum_topic(-100500, topic.message_thread_id)
        assert (await bot.topics(-100500))[topic.message_thread_id].closed
        assert await client.reopen_forum_topic(-100500, topic.message_thread_id)
        assert not (await client.get_me()).has_topics_enabled
        await bot.private_topics()
        assert (await client.get_me()).has_topics_enabled
        own = await client.create_forum_topic(12, "Ann")
        assert (await bot.topics(12))[own.message_thread_id].name == "Ann"
        assert await client.set_webhook(f"{bot.address}/nowhere", secret_token="s")
        assert (await client.get_webhook_info()).pending_update_count == 1
        assert await client.delete_webhook()
    finally:
        await session.close()
