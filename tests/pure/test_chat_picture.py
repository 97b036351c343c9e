"""A chat drawn as a page shows what a phone shows: who said what, what buzzed, and the buttons."""

from farhand.testing.telegram import ShownButton, ShownMessage
from farhand.testing.telegram.picture import page, with_entities


def shown(text: str, number: int = 1, **more: object) -> ShownMessage:
    return ShownMessage(chat_id=1, message_id=number, from_bot=True, sender="bot", text=text, **more)  # type: ignore[arg-type]


def test_a_page_has_words_buttons_quotes_and_the_buzz() -> None:
    asked = shown("May it run?", buttons=((ShownButton(text="Allow"), ShownButton(text="Deny")),))
    reply = shown("ann:\nDone", 2, reply_to=1, silent=True)
    drawn_page = page([asked, reply, shown("taken away", 3, deleted=True)])
    assert "<span>Allow</span><span>Deny</span>" in drawn_page
    assert "<div class=quote>May it run?</div>ann:" in drawn_page
    assert drawn_page.count("buzz") == 1
    assert "taken away" not in drawn_page
    assert "taken away" in page([shown("taken away", 3, deleted=True)], deleted=True)


def test_entities_are_counted_as_telegram_counts_and_markup_is_text() -> None:
    text = "😀 <b>x</b> bold"
    entity = {"type": "bold", "offset": 12, "length": 4}
    assert with_entities(text, (entity,)) == "😀 &lt;b&gt;x&lt;/b&gt; <b>bold</b>"
