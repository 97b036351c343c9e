"""Cards as WhatsApp can show them: within its limits, with its marks, and without what only shows a passing state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand.channels.kit.card import AnswerTap, Button, Card, removal
from farhand.channels.whatsapp.gateway import is_trusted
from farhand.channels.whatsapp.markup import styled, to_marks
from farhand.channels.whatsapp.people import is_same
from farhand.channels.whatsapp.receive import is_signed
from farhand.channels.whatsapp.render import BODY_CHARACTERS, CAPTION_CHARACTERS, is_list, keys_of, render
from farhand.channels.whatsapp.settings import WhatsAppIdentity, identity
from farhand.channels.whatsapp.words import WhatsAppOutgoing, WhatsAppReact, WhatsAppSend, WhatsAppShow, decode_outgoing
from farhand.model.split import utf16_length
from farhand.testing.whatsapp.limits import check_interactive

MO = "4915100000001"


def shown(card: Card) -> list[WhatsAppOutgoing]:
    parcels = render(card, MO, "whatsapp", "77")
    return [one for one in (decode_outgoing(parcel.body) for parcel in parcels) if one is not None]


def test_what_passes_is_not_shown() -> None:
    for card in (
        Card(key="progress:ann:t", slot="progress:ann:t", head="ann is working"),
        removal("progress:ann:t"),
        Card(key="said:7", head="at the desk → ann: hello", silent=True),
        Card(key="sprint:s:9", slot="sprint:s", head="ann · sprint 2/6", edit=True),
    ):
        assert shown(card) == []


def test_reactions_are_receipts_on_messages_of_this_number_alone() -> None:
    taken = Card(key="taken:m", answers="whatsapp:m:77:wamid.A==", reaction="👀")
    assert shown(taken) == [WhatsAppReact(chat=MO, message="wamid.A==", emoji="👀")]
    assert render(taken, MO, "whatsapp", "77", reactions=False) == []
    assert shown(Card(key="taken:m", answers="telegram:m:1:2:3", reaction="👀")) == []


@pytest.mark.parametrize(
    ("markdown", "marks"),
    [
        ("**bold** and *italic* and ~~gone~~", "*bold* and _italic_ and ~gone~"),
        ("`code *here*`", "`code *here*`"),
        ("```py\nx = 1\n```", "```\nx = 1\n```"),
        ("[docs](https://x.example/a)", "docs (https://x.example/a)"),
    ],
)
def test_markdown_has_whatsapps_marks(markdown: str, marks: str) -> None:
    assert to_marks(styled(markdown)).strip() == marks


@given(st.text(max_size=6000), st.text(max_size=6000), st.lists(st.text(max_size=90), max_size=14))
def test_whatever_a_card_says_whatsapp_takes_it(head: str, verbatim: str, labels: list[str]) -> None:
    rows = tuple((Button(label=label, tap=AnswerTap(ask="a", place=place)),) for place, label in enumerate(labels))
    for one in shown(Card(key="ask:a", slot="ask:a", worker="ann", head=head, verbatim=verbatim, buttons=rows)):
        match one:
            case WhatsAppSend(text=text, keys=keys):
                assert 0 < utf16_length(text) <= (BODY_CHARACTERS if keys else 4096)
                assert not keys or checked(keys_of(rows))
            case WhatsAppShow(caption=caption):
                assert utf16_length(caption) <= CAPTION_CHARACTERS
            case _:
                raise AssertionError(one)


def checked(keys: tuple[object, ...]) -> bool:
    """Whether the fake, which knows the API's limits, takes these keys."""
    found = keys_as_sent(keys)
    return bool(check_interactive({"body": {"text": "x"}, **found}))


def keys_as_sent(keys: tuple[object, ...]) -> dict[str, object]:
    from farhand.channels.whatsapp.words import WhatsAppKey

    real = tuple(one for one in keys if isinstance(one, WhatsAppKey))
    if is_list(real):
        rows = [{"id": one.data, "title": one.text, "description": one.more} for one in real]
        return {"type": "list", "action": {"button": "b", "sections": [{"title": "s", "rows": rows}]}}
    buttons = [{"type": "reply", "reply": {"id": one.data, "title": one.text}} for one in real]
    return {"type": "button", "action": {"buttons": buttons}}


def test_a_number_is_known_however_it_is_written_and_a_bsuid_decides() -> None:
    assert identity("+49 (151) 000-00001, DE.8001") == WhatsAppIdentity("4915100000001", "DE.8001")
    assert identity("") == WhatsAppIdentity()
    assert is_same(WhatsAppIdentity(MO), WhatsAppIdentity(MO, "DE.1"))
    assert not is_same(WhatsAppIdentity(MO, "DE.2"), WhatsAppIdentity(MO, "DE.1"))
    assert not is_same(WhatsAppIdentity(), WhatsAppIdentity())


def test_the_token_goes_to_metas_hosts_alone() -> None:
    api = "https://graph.facebook.com"
    assert is_trusted("https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1", api)
    for url in (
        "http://lookaside.fbsbx.com/x",
        "https://evil.example/x",
        "https://fbsbx.com.evil.example/",
        "file:///etc",
    ):
        assert not is_trusted(url, api)


def test_nobody_signs_without_the_secret() -> None:
    assert not is_signed(b"{}", "", "secret")
    assert not is_signed(b"{}", "sha256=é", "secret")
    assert not is_signed(b"{}", "sha256=b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad", "")
