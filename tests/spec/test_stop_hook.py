"""Spec 2, hook system: the Stop hook and its forwarder as an agent CLI runs them, in tmux and out of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.promises import promise
from tests.spec.stop_hook import FULL, QUIET, impatient, line, run, text, variables, write
from tests.spec.team import Team
from tests.spec.test_http import known

from farhand.hooks import send_to_telegram
from farhand.hooks.send_to_telegram import (
    PAUSE_SECONDS,
    TRIES,
    answer_on_screen,
    decide,
    last_answer,
    lines_backwards,
    read_config,
)
from farhand.testing.sdk_env import until

pytestmark = pytest.mark.anyio
# --- whose session it is


@promise("hook.4", "security.3", "protocol.3")
@pytest.mark.parametrize("missing", [("TMUX_PREFIX",), ("SESSIONS_DIR",), ("BRIDGE_URL", "PORT")])
def test_without_its_variables_the_hook_is_silent(missing: tuple[str, ...]) -> None:
    full = {name: FULL.get(name, "") for name in send_to_telegram.NAMES}
    assert decide("claude-test-ann", full) is not None
    assert decide("claude-test-ann", {**full, **dict.fromkeys(missing, "")}) is None


@promise("hook.4", "security.3", "protocol.3")
@pytest.mark.parametrize(
    "name", ["claude-prod-ann", "work", "", "claude-test-", "claude-test-../../etc", "x-claude-test-ann"]
)
def test_a_session_of_another_node_is_none_of_ours(name: str) -> None:
    assert decide(name, {name: FULL.get(name, "") for name in send_to_telegram.NAMES}) is None


@promise("env.19", "hook.8", "protocol.4")
def test_where_answers_are_posted() -> None:
    full = {name: FULL.get(name, "") for name in send_to_telegram.NAMES}
    by_address, by_port = decide("claude-test-ann", full), decide("claude-test-ann", {**full, "BRIDGE_URL": ""})
    assert by_address is not None
    assert by_port is not None
    assert (by_address.worker, by_address.folder) == ("ann", Path("/s/ann"))
    assert by_address.endpoint == "http://here/response"
    assert by_port.endpoint == "http://localhost:1/response"


@promise("env.22", "hook.3", "protocol.3")
def test_what_tmux_says_comes_before_what_the_shell_says() -> None:
    shown = "PORT=1\n-SESSIONS_DIR\nTMUX_PREFIX=claude-test-\nODD\n"
    config = read_config(shown, {"PORT": "2", "SESSIONS_DIR": "/shell", "TMUX_PREFIX": "claude-other-"})
    assert (config["PORT"], config["SESSIONS_DIR"], config["TMUX_PREFIX"]) == ("1", "/shell", "claude-test-")


# --- the transcript


@promise("hook.5", "protocol.5")
def test_the_text_after_the_last_user_message(transcript: Path) -> None:
    assert last_answer(transcript, QUIET) == ("**Two** files.\n\nAll `done` & good", "u-2")


@promise("hook.5")
def test_an_answer_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    path = write(tmp_path, line("user", "now", uuid="u"), line("assistant", [{"type": "tool_use", "name": "Bash"}]))
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            with path.open("a") as file:
                # Half a line first: it counts once it is whole.
                file.write(line("assistant", text("late"))[:20])
        if len(waits) == 4:
            with path.open("a") as file:
                file.write(line("assistant", text("late"))[20:] + "\n")

    assert last_answer(path, wait) == ("late", "u")
    assert waits == [PAUSE_SECONDS] * 4


@promise("hook.5", "protocol.5")
def test_it_is_waited_for_five_seconds_and_no_longer(tmp_path: Path) -> None:
    path = write(tmp_path, line("user", "now", uuid="u"))
    waits: list[float] = []
    assert last_answer(path, waits.append) == ("", "u")
    assert sum(waits) == TRIES * PAUSE_SECONDS == 5.0


@promise("hook.5")
def test_odd_lines_cost_themselves_alone(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        line("user", "now", uuid="u"),
        "not json",
        "[]",
        line("assistant", "a string"),
        line("assistant", [None, {"type": "text"}, {"type": "text", "text": 3}, *text("kept")]),
        line("user", "a subagent's", isSidechain=True),
        line("assistant", text("a subagent says"), isSidechain=True),
        json.dumps({"type": "assistant", "message": None}),
    )
    assert last_answer(path, QUIET) == ("kept", "u")


@given(st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")), max_size=20), st.integers(1, 9))
def test_a_file_is_read_backwards_whatever_its_blocks_are(tmp_path_factory: Any, lines: list[bytes], size: int) -> None:
    path = tmp_path_factory.getbasetemp() / "backwards"
    path.write_bytes(b"\n".join(lines))
    before, send_to_telegram.BLOCK_BYTES = send_to_telegram.BLOCK_BYTES, size
    try:
        assert list(lines_backwards(path)) == [one for one in reversed(lines) if one.strip()]
    finally:
        send_to_telegram.BLOCK_BYTES = before


@promise("hook.1", "hook.5", "protocol.1", "protocol.5")
async def test_no_transcript_and_no_user_message(tmp_path: Path) -> None:
    sessions = tmp_path / "sessions"
    (sessions / "ann").mkdir(parents=True)
    pending = sessions / "ann" / "pending"
    environ = {
        "TMUX_PREFIX": "claude-test-",
        "SESSIONS_DIR": str(sessions),
        "PORT": "1",
        "BRIDGE_SESSION": "ann",
    }
    for payload in (b"", b"no json", {}, {"transcript_path": 7}):
        pending.write_text("1")
        await run(environ, payload)
        assert pending.exists(), payload
    waits: list[float] = []
    send_to_telegram.main(json.dumps({"transcript_path": str(tmp_path / "none.jsonl")}).encode(), environ, waits.append)
    assert pending.exists()
    assert sum(waits) == TRIES * PAUSE_SECONDS
    nobody = write(tmp_path, line("assistant", text("to nobody")))
    send_to_telegram.main(json.dumps({"transcript_path": str(nobody)}).encode(), environ, QUIET)
    assert not pending.exists()
    assert not (sessions / "ann" / "answers").exists()


@promise("hook.5")
@pytest.mark.parametrize("begun", [False, True], ids=["no transcript", "no user message"])
def test_a_transcript_that_is_late_is_waited_for(tmp_path: Path, begun: bool) -> None:
    """A busy agent calls the hook first and writes its transcript afterwards."""
    path = tmp_path / "transcript.jsonl"
    if begun:
        path.write_text('{"type": "mode"}\n')

    def wait(_: float) -> None:
        write(tmp_path, line("user", "now", uuid="u"), line("assistant", text("late")))

    assert last_answer(path, wait) == ("late", "u")


@promise("hook.5")
async def test_an_answer_that_never_comes_to_the_transcript_is_told_by_the_agent(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "ann"
    folder.mkdir(parents=True)
    environ = {**FULL, "SESSIONS_DIR": str(folder.parent), "BRIDGE_URL": "", "BRIDGE_SESSION": "ann"}
    payload = {"transcript_path": str(write(tmp_path, line("user", "now"))), "last_assistant_message": "said"}
    await run(environ, payload, impatient(tmp_path))
    await until(lambda: bool(list((folder / "answers").glob("*.json"))))
    (left,) = (folder / "answers").glob("*.json")
    assert json.loads(left.read_bytes())["text"] == "said"


# --- the screen


SCREEN = """❯ hello
● An old answer

❯ now
● The answer: a · b
  its second line

  analysis:
  ⎿  Ran something
  · a marker
  ✻ Cooked for 3s
  Tip: press a key
  1 stop hook ran
  - a list

✶ Whirring… (2s)
───────────────
❯
───────────────
  ⏵⏵ auto mode on
"""
ANSWER = "The answer: a · b\nits second line\n\n- a list"


@promise("hook.6", "protocol.6")
def test_an_answer_is_read_off_the_screen() -> None:
    assert answer_on_screen(SCREEN) == ANSWER


@promise("hook.6", "protocol.6")
@pytest.mark.parametrize("between", ["", "───\n", "❯ \n"])
def test_a_question_about_the_session_is_no_answer(between: str) -> None:
    asked = f"● The answer\n{between}● How is Claude doing this session? (optional)\n  1: Bad 2: Fine\n───\n❯\n"
    assert answer_on_screen(asked) == "The answer"


@promise("hook.6")
def test_a_screen_without_an_answer() -> None:
    assert answer_on_screen("") == answer_on_screen("❯ hello\n  text\n") == answer_on_screen("● Whirring\n❯\n") == ""


@given(st.text())
def test_any_screen_is_read(screen: str) -> None:
    answer_on_screen(screen)


@pytest.fixture
def pane(tmux_server: tuple[str, ...], tmp_path: Path) -> dict[str, str]:
    """A pane of a worker's session that shows an answer; what a hook in it finds in its environment."""
    screen = tmp_path / "screen.txt"
    screen.write_text(SCREEN)
    show = f"cat {screen}; tmux wait-for -S drawn; cat"
    subprocess.run(
        [*tmux_server, "new-session", "-d", "-s", "claude-test-ann", "-x", "100", "-y", "40", f"sh -c '{show}'"],
        check=True,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
    )
    subprocess.run([*tmux_server, "wait-for", "drawn"], check=True, timeout=240)
    found = subprocess.run(
        [*tmux_server, "display-message", "-p", "-t", "claude-test-ann", "#{socket_path},#{pid},0 #{pane_id}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    return {"TMUX": found[0], "TMUX_PANE": found[1], "LANG": "C.UTF-8"}


def tell_tmux(server: tuple[str, ...], **known: str) -> None:
    """What a session's environment says."""
    for name, value in known.items():
        subprocess.run([*server, "set-environment", "-t", "claude-test-ann", name, value], check=True)


@promise("env.20", "hook.2", "hook.3", "hook.6", "hook.7", "hook.8", "protocol.2", "protocol.3", "protocol.6")
async def test_in_tmux_the_screen_is_the_last_resort(
    team: Team, tmux_server: tuple[str, ...], pane: dict[str, str], tmp_path: Path
) -> None:
    """The whole program in a real pane; only its patience is taken off, in a copy."""
    await known(team)
    copy = impatient(tmp_path)
    given = variables(team)
    given.pop("BRIDGE_SESSION")
    # The shell has another node's settings: the session's own count.
    tell_tmux(tmux_server, **given)
    environ = {**pane, "TMUX_PREFIX": "claude-other-", "SESSIONS_DIR": "/nowhere", "PORT": "1"}
    nothing = write(tmp_path, line("user", "now", uuid="u"))
    await run({**environ, "TMUX_FALLBACK": "0"}, {"transcript_path": str(nothing)}, copy)
    await run(environ, {"transcript_path": str(nothing)}, copy)
    answer = await team.manager.reads("The answer")
    assert answer.text == f"ann:\n{ANSWER}\n\n⚠️ May be incomplete. Retry if needed."
    assert len([one for one in await team.bot.messages(4242) if "The answer" in one.text]) == 1


@promise("hook.2", "security.3", "protocol.2")
async def test_out_of_tmux_nobody_elses_session_is_taken_for_ours(team: Team, transcript: Path) -> None:
    await known(team)
    given = variables(team)
    given.pop("BRIDGE_SESSION")
    await run(given, {"transcript_path": str(transcript)})
    await run({**variables(team), "BRIDGE_SESSION": "nobody"}, {"transcript_path": str(transcript)})
    await run({**variables(team), "FARHAND_HOOKS": "session"}, {"transcript_path": str(transcript)})
    assert not list(team.settings.sessions.rglob("answers"))
