"""Push in the person's language: of a device as it subscribed, of one that renews, and of several matters as one."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.house.push_house import PushHouse, asks, push_house

from farhand.channels.push.notification import open_payload
from farhand.model.action import Action, ActionKind, call, files, headline, run
from farhand.model.attention import AttentionKind, LockScreen
from farhand.model.attention_rules import Buzz, Matter
from farhand.model.facts import TurnEnded
from farhand.model.phrases import phrase
from farhand.model.push import PushKeys, PushSubscription
from farhand.model.words import HowEnded

pytestmark = pytest.mark.anyio


@pytest.fixture
async def push(tmp_path: Path) -> AsyncIterator[PushHouse]:
    async with push_house(tmp_path) as opened:
        yield opened


async def test_failures_and_the_persons_language(push: PushHouse) -> None:
    phone = await push.pair()
    assert (await phone.post("/api/push", phone.browser.subscription(language="de"))).status_code == 200
    await push.plays(TurnEnded(how=HowEnded.FAILED, error="no network"))
    shown = phone.reads((await push.service.receives(1))[0])["notification"]
    assert (shown["title"], shown["body"], shown["lang"]) == ("ann ist gescheitert", "no network", "de")


async def test_a_renewed_subscription_keeps_the_language_of_its_device(push: PushHouse) -> None:
    phone = await push.pair()
    assert (await phone.post("/api/push", phone.browser.subscription(language="de"))).status_code == 200
    # A service worker renews it alone, and knows no language.
    renewed = {key: value for key, value in phone.browser.subscription().items() if key != "language"}
    assert (await phone.post("/api/push", renewed)).status_code == 200
    await push.plays(TurnEnded(how=HowEnded.FAILED, error="no network"))
    assert phone.reads((await push.service.receives(1))[0])["notification"]["lang"] == "de"


@pytest.mark.parametrize(("says", "spoken"), [("tlh, fr-FR;q=0.8, en;q=0.5", "fr"), ("tlh", "en"), ("", "en")])
async def test_what_the_node_forgot_the_browser_says(push: PushHouse, says: str, spoken: str) -> None:
    phone = await push.pair()
    assert (await phone.client.delete("/api/push")).status_code == 200
    renewed = {**phone.browser.subscription(), "language": ""}
    headers = {"Accept-Language": says}
    assert (await phone.client.post("/api/push", json=renewed, headers=headers)).status_code == 200
    await push.plays(TurnEnded(how=HowEnded.FAILED, error="no network"))
    assert phone.reads((await push.service.receives(1))[0])["notification"]["lang"] == spoken


async def test_a_question_names_its_risks_in_the_persons_language(push: PushHouse) -> None:
    phone = await push.pair()
    assert (await phone.post("/api/push", phone.browser.subscription(language="fr"))).status_code == 200
    await push.plays(asks(risk_phrases=(phrase("risk_network"),)))
    shown = phone.reads((await push.service.receives(1))[0])["notification"]
    assert shown["body"] == "Run: make deploy\nDans : /srv/app\n⚠ utilise le réseau"


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (run("make deploy"), "Ausführen: make deploy"),
        (files(ActionKind.DELETE, "notes.md"), "notes.md löschen"),
        (files(ActionKind.WRITE, "{worker}.md"), "{worker}.md schreiben"),
        (call("deploy", "{}"), "Use deploy: {}"),
    ],
)
async def test_what_would_be_done_is_said_in_the_persons_language(push: PushHouse, action: Action, words: str) -> None:
    phone = await push.pair()
    assert (await phone.post("/api/push", phone.browser.subscription(language="de"))).status_code == 200
    await push.plays(asks(question=headline(action), action=action, detail=action.target, risks=()))
    shown = phone.reads((await push.service.receives(1))[0])["notification"]
    assert shown["body"].splitlines()[0] == words


def test_several_matters_are_told_in_the_persons_language() -> None:
    done = [Matter(key=f"turn:{n}", kind=AttentionKind.FINISHED, at=n, worker="ann", text="done") for n in (1, 2)]
    buzz = Buzz(place="web-d", matters=(*done, Matter(key="l", kind=AttentionKind.LIMIT, at=3, worker="bob")))
    keys = PushKeys(p256dh="", auth="")
    to = PushSubscription(device="d", endpoint="https://x.invalid", keys=keys, origin="https://x", language="de")
    sent = open_payload(buzz, to, None, badge=0, shows=LockScreen.ALL, sign=lambda *_: "")
    assert json.loads(sent)["notification"]["body"] == "bob ist am Nutzungslimit\nann ist fertig ×2: done"
