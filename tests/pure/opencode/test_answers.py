"""What OpenCode is told, and what is read of its own data: ids that rise, rules, answers, limits, sessions."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from farhand.drivers.opencode import asks, launch, sessions
from farhand.drivers.opencode.edits import stays_inside
from farhand.drivers.opencode.headless.state import (
    OpenCodeExpected,
    OpenCodeLog,
    OpenCodeStart,
    message_id,
    part_id,
)
from farhand.drivers.opencode.limits import limit, retry_limit
from farhand.drivers.opencode.schema import (
    OpenCodeError,
    OpenCodeOption,
    OpenCodePermission,
    OpenCodeQuestion,
    OpenCodeQuestions,
    OpenCodeStatus,
)
from farhand.model.errors import DriverError
from farhand.model.facts import AskSettled
from farhand.model.present import Worker
from farhand.model.words import HowSettled, Mode

NOW = 1794790853.42
WANTED = OpenCodePermission(
    id="per_1",
    sessionID="ses_1",
    permission="bash",
    patterns=["touch a"],
    metadata={"command": "touch a"},
    always=["touch *"],
)


def settled(choice: str, how: HowSettled = HowSettled.ANSWERED, note: str = "") -> AskSettled:
    return AskSettled(ask="per_1", how=how, choice=choice, note=note)


# --- ids


def test_an_id_stands_where_opencode_would_put_it() -> None:
    made = message_id("m1", NOW, "")
    assert made.startswith("msg_1e1df0b2c")
    assert len(made) == len("msg_1e1df0a96001farhandAAAAAAA")
    assert part_id(made, 0) == part_id(made, 0) != part_id(made, 1)


@given(some.floats(NOW - 1e6, NOW + 1e6), some.floats(NOW - 1e6, NOW + 1e6), some.text())
def test_a_later_message_has_a_higher_id_even_when_the_clock_was_set_back(
    first: float, second: float, name: str
) -> None:
    newest = message_id("one", first, "")
    assert message_id(name, second, newest) > newest


# --- modes


def test_only_yolo_lets_a_command_run_unasked() -> None:
    for mode in Mode:
        allowed = launch.permissions(mode)
        assert (allowed["bash"] == "allow") is (mode is Mode.YOLO)
        assert (allowed["*"] == "allow") is (mode is Mode.YOLO)
    assert launch.permissions(Mode.AUTO_EDIT)["edit"] == "allow"
    assert launch.permissions(Mode.PLAN)["edit"] == "deny"


def test_a_session_obeys_the_last_whole_set_of_its_rules() -> None:
    lasting = launch.rule("bash", "touch *", "allow")
    asking, free = launch.rules(Mode.DEFAULT), launch.rules(Mode.YOLO)
    assert launch.has_rules(asking, Mode.DEFAULT)
    assert launch.has_rules([*free, *asking, lasting], Mode.DEFAULT)
    assert not launch.has_rules([*asking, *free], Mode.DEFAULT)
    assert not launch.has_rules([*asking[:-1]], Mode.DEFAULT)
    assert not launch.has_rules([], Mode.DEFAULT)


def test_what_passes_to_the_agent_is_chosen() -> None:
    own = {"OPENAI_API_KEY": "k", "TELEGRAM_BOT_TOKEN": "t", "OPENCODE_CONFIG": "c", "SSH_AUTH_SOCK": "s"}
    assert set(launch.passed_on(own)) == {"OPENAI_API_KEY", "OPENCODE_CONFIG"}


# --- answers


@pytest.mark.parametrize("choice", ["", "deny", "always", "yes", "allow", "ONCE"])
def test_whatever_is_unclear_denies(choice: str) -> None:
    assert asks.reply(WANTED, settled(choice)).reply == "reject"


def test_leave_is_given_once_or_for_the_session_and_never_late() -> None:
    assert asks.reply(WANTED, settled("once")) == asks.OpenCodeReply(reply="once")
    assert asks.reply(WANTED, settled("session")) == asks.OpenCodeReply(reply="once", lasting=("touch *",))
    assert asks.reply(WANTED, settled("once", HowSettled.EXPIRED)).reply == "reject"
    assert asks.reply(WANTED, settled("deny", note="later")).message == "later"


def test_an_ask_shows_all_of_it_and_is_bound_to_it() -> None:
    (raised,) = asks.raised(WANTED, 60.0)
    assert raised.detail == "touch a"
    hidden = msgspec.structs.replace(WANTED, metadata={"command": "touch a", "env": {"X": "1"}})
    assert '"X": "1"' in asks.raised(hidden, None)[0].detail
    other = msgspec.structs.replace(WANTED, metadata={"command": "touch  a"})
    assert asks.digest(WANTED) != asks.digest(other)


def test_answers_wait_for_all_questions_and_one_refusal_refuses_all() -> None:
    colours = [OpenCodeOption(label="red"), OpenCodeOption(label="blue")]
    asked = OpenCodeQuestions(
        id="que_1",
        sessionID="s",
        questions=[OpenCodeQuestion(question="?", options=colours), OpenCodeQuestion(question="why?")],
    )
    assert asks.answers(asked, [settled("2"), None]) is None
    whole = asks.answers(asked, [settled("1,2"), settled("other", note="so")])
    assert whole == asks.QuestionAnswers(labels=(("red", "blue"), ("so",)))
    assert asks.answers(asked, [settled("deny"), None]) == asks.QuestionAnswers(labels=None)
    assert asks.answers(asked, [settled("1", HowSettled.EXPIRED), None]) == asks.QuestionAnswers(labels=None)


# --- limits


def test_limits_are_told_with_their_time() -> None:
    headers = {"retry-after": "7200"}
    found = limit(
        OpenCodeError(name="APIError", data={"message": "quota", "statusCode": 429, "responseHeaders": headers}), NOW
    )
    assert found is not None
    assert found.until == NOW + 7200
    assert limit(OpenCodeError(name="APIError", data={"message": "no such key", "statusCode": 401}), NOW) is None
    long = OpenCodeStatus(type="retry", message="quota", next=(NOW + 7200) * 1000)
    told = retry_limit(long, NOW)
    assert told is not None
    assert told.until == pytest.approx(NOW + 7200)
    assert retry_limit(OpenCodeStatus(type="retry", next=(NOW + 5) * 1000), NOW) is None


# --- what is kept and found


def test_what_is_kept_outlives_a_torn_line(tmp_path: Path) -> None:
    log = OpenCodeLog(tmp_path / "ann-1")
    assert log.start() is None
    log.write_start(OpenCodeStart(session="ses_1", after="msg_1"))
    log.add_delivery(OpenCodeExpected(id="msg_2", message="m2", turn=""))
    log.add_delivery(OpenCodeExpected(id="msg_2", message="m2", turn="t2"))
    log.add_answer("per_1")
    with (tmp_path / "ann-1" / "given").open("ab") as file:
        file.write(b'{"given":{"id":"msg')
    again = OpenCodeLog(tmp_path / "ann-1")
    assert again.start() == OpenCodeStart(session="ses_1", after="msg_1")
    assert again.deliveries() == (OpenCodeExpected(id="msg_2", message="m2", turn="t2"),)
    assert again.may_be_answered("per_1")
    assert not again.may_be_answered("per_2")
    assert (tmp_path / "ann-1" / "session").stat().st_mode & 0o777 == 0o600


def test_the_way_back_to_the_desk_is_a_command() -> None:
    worker = Worker(name="ann", since=1, backend="opencode", directory="/a b", session="ses_1")
    assert sessions.resume_command(worker) == "cd '/a b' && opencode --session ses_1"


# --- command lines


def test_a_session_is_resumed_where_there_is_one_and_pictures_come_last() -> None:
    assert launch.terminal_line("opencode", 7, "")[-2:] == ["--port", "7"]
    assert launch.terminal_line("opencode", 7, "ses_1")[-2:] == ["--session", "ses_1"]
    assert launch.turn_arguments(Mode.DEFAULT, "", "", []) == ["run", "--format", "json", "--thinking"]
    planned = launch.turn_arguments(Mode.PLAN, "a/b", "ses_1", ["x.png", "y.png"])
    assert planned[4:] == ["--model", "a/b", "--agent", "plan", "--session", "ses_1", "--file", "x.png", "y.png"]


def test_the_environment_has_the_mode_and_a_password_only_for_a_server() -> None:
    free = launch.variables(Mode.YOLO, {})
    assert msgspec.json.decode(free["OPENCODE_PERMISSION"]) == launch.permissions(Mode.YOLO)
    assert "OPENCODE_SERVER_PASSWORD" not in free
    assert launch.variables(Mode.DEFAULT, {}, "secret")["OPENCODE_SERVER_PASSWORD"] == "secret"


def test_the_mode_stands_above_what_the_person_lets_a_single_agent_do() -> None:
    own = {"model": "mine", "agent": {"general": {"permission": {"bash": "allow"}, "prompt": "p"}, "mine": {"x": 1}}}
    variables = {"OPENCODE_CONFIG_CONTENT": json.dumps(own)}
    content = json.loads(launch.variables(Mode.DEFAULT, variables)["OPENCODE_CONFIG_CONTENT"])
    asks_first = {"permission": launch.permissions(Mode.DEFAULT)}
    usual = dict.fromkeys(("build", "plan", "explore"), asks_first)
    agents = {**usual, "general": {**asks_first, "prompt": "p"}, "mine": {"x": 1}}
    assert content == {"model": "mine", "snapshot": False, "agent": agents}
    # Whoever may do everything is held by nothing, and runs no git of OpenCode's own either.
    free = json.loads(
        launch.variables(Mode.YOLO, {"OPENCODE_CONFIG_CONTENT": json.dumps({**own, "snapshot": True})})[
            "OPENCODE_CONFIG_CONTENT"
        ]
    )
    assert free == {**own, "snapshot": False}
    with pytest.raises(DriverError, match="cannot be read"):
        launch.variables(Mode.DEFAULT, {"OPENCODE_CONFIG_CONTENT": "[]"})


# --- edits


@pytest.mark.parametrize(
    ("metadata", "inside"),
    [
        ({"filepath": "{root}/src/new.py"}, True),
        ({"filepath": "{root}/out/new.py"}, False),
        ({"filepath": "{root}/../new.py"}, False),
        ({"filepath": "src/new.py"}, False),
        ({"filepath": "{root}/.git/config"}, False),
        ({"filepath": "{root}/sub/opencode.json"}, False),
        ({"filepath": "{root}/tui.json"}, False),
        ({}, False),
        (
            {"filepath": "x", "files": [{"filePath": "{root}/a"}, {"filePath": "{root}/b", "movePath": "{root}/c"}]},
            True,
        ),
        ({"filepath": "x", "files": [{"filePath": "{root}/a"}, {"filePath": "{root}/out/b"}]}, False),
        ({"filepath": "x", "files": [{"filePath": "{root}/a", "movePath": "{root}/out/b"}]}, False),
        ({"filepath": "x", "files": [{"filePath": "{root}/a"}, {}]}, False),
        ({"filepath": "x", "files": []}, False),
    ],
)
def test_an_edit_that_auto_edit_allows_lies_in_the_folder_where_its_path_leads(
    tmp_path: Path, metadata: dict[str, object], inside: bool
) -> None:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    told = json.loads(json.dumps(metadata).replace("{root}", str(root)))
    wanted = OpenCodePermission(id="p", sessionID="s", permission="edit", patterns=["a"], metadata=told)
    assert stays_inside(wanted, str(root)) is inside
    assert not stays_inside(msgspec.structs.replace(wanted, permission="bash"), str(root))
    assert not stays_inside(wanted, "")
