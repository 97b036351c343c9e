"""Spec 2, hook system: the Stop hook and its forwarder as an agent CLI runs them, in tmux and out of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.promises import promise
from tests.spec.team import Team, team_house
from tests.spec.test_http import known

from farhand.channels.files.channel import LEFT_SECONDS
from farhand.channels.files.spooled_answers import YOUNG_SECONDS, read_spooled_answers
from farhand.core.clock import SystemClock
from farhand.hooks import forward_to_bridge, send_to_telegram
from farhand.hooks.send_to_telegram import (
    PAUSE_SECONDS,
    TRIES,
    answer_on_screen,
    decide,
    last_answer,
    lines_backwards,
    read_config,
)
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio
HOOK = Path(send_to_telegram.__file__)
FULL = {"TMUX_PREFIX": "claude-test-", "SESSIONS_DIR": "/s", "BRIDGE_URL": "http://here/", "PORT": "1"}
QUIET: Callable[[float], None] = lambda _: None  # noqa: E731


def line(kind: str, content: Any, **more: Any) -> str:
    return json.dumps({"type": kind, "message": {"role": kind, "content": content}, **more})


def text(*words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": word} for word in words]


def write(folder: Path, *lines: str) -> Path:
    path = folder / "transcript.jsonl"
    path.write_text("".join(f"{one}\n" for one in lines))
    return path


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A conversation with an answer in two pieces."""
    return write(
        tmp_path,
        line("user", "before"),
        line("assistant", text("an old answer")),
        line("user", "now", uuid="u-2"),
        line("assistant", [{"type": "thinking", "thinking": "hm"}, *text("**Two** files.")]),
        line("assistant", [{"type": "tool_use", "name": "Bash"}, *text("All `done` & good")]),
    )


async def run(environ: Mapping[str, str], payload: Any, program: Path = HOOK) -> None:
    """Runs the hook as Claude Code would; it always ends well and without a word."""
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    with anyio.fail_after(240):
        done = await anyio.run_process(
            [sys.executable, "-I", "-S", str(program)],
            input=given,
            env={"PATH": os.environ["PATH"], **environ},
            check=False,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def impatient(folder: Path) -> Path:
    """A copy of the hook and of its forwarder that waits for no transcript."""
    copy = folder / "send-to-telegram.py"
    copy.write_text(HOOK.read_text().replace("PAUSE_SECONDS = 0.5", "PAUSE_SECONDS = 0.0"))
    (folder / "forward-to-bridge.py").write_text(Path(forward_to_bridge.__file__).read_text())
    return copy


def variables(team: Team) -> dict[str, str]:
    """What a session of that team carries."""
    return {
        "TMUX_PREFIX": team.settings.tmux_prefix,
        "SESSIONS_DIR": str(team.settings.sessions),
        "BRIDGE_URL": team.url,
        "BRIDGE_SESSION": "ann",
    }


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


# --- the forwarder


@promise("hook.9", "protocol.8")
@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("plain", "plain"),
        ("a & b < c > d \"q\" 'r'", "a &amp; b &lt; c &gt; d \"q\" 'r'"),
        ("**bold** and *italic*", "<b>bold</b> and <i>italic</i>"),
        ("**a *b* c**", "<b>a <i>b</i> c</b>"),
        ("2 * 3 * 4", "2 <i> 3 </i> 4"),
        ("`a < b` and `**c**`", "<code>a &lt; b</code> and <code>**c**</code>"),
        ("```py\nif a < b:\n    `x`\n```", '<pre><code class="language-py">if a &lt; b:\n    `x`\n</code></pre>'),
        ("```\n**raw**\n```", "<pre>**raw**\n</pre>"),
        ("# Title\n- [link](http://x)", "# Title\n- [link](http://x)"),
        ("```\nnever closed", "```\nnever closed"),
        ("\x00B0\x00 `x`", "B0 <code>x</code>"),
    ],
)
def test_markdown_becomes_html(markdown: str, expected: str) -> None:
    assert forward_to_bridge.to_html(markdown) == expected


@given(st.text(alphabet=st.sampled_from("`*\n a<&>\0B0I1")))
def test_any_markdown_becomes_html(markdown: str) -> None:
    shown = forward_to_bridge.to_html(markdown)
    assert "\0" not in shown
    assert shown.replace("<pre>", "").count("<") == sum(
        shown.count(f"<{tag}") + shown.count(f"</{tag}") for tag in ("b>", "i>", "code", "pre")
    ) - shown.count("<pre>")


@promise("env.21", "hook.1", "hook.2", "hook.8", "hook.9", "hook.10", "protocol.1", "protocol.2")
async def test_an_answer_comes_as_html_once_and_nothing_is_pending(team: Team, transcript: Path) -> None:
    await known(team)
    pending = team.session() / "pending"
    pending.write_text("1")
    for _ in range(2):
        # The same end told twice, by two settings files say, is one answer.
        await run(variables(team), {"transcript_path": str(transcript), "hook_event_name": "Stop"})
        assert not pending.exists()
        await until(lambda: not list((team.session() / "answers").iterdir()))
    answer = await team.manager.reads("Two files.")
    assert answer.text == "ann:\nTwo files.\n\nAll done & good"
    posted = await team.bot.calls("sendMessage")
    assert posted[-1].parameters["text"].endswith("<b>Two</b> files.\n\nAll <code>done</code> &amp; good")
    await team.post("/response", {"session": "ann", "text": "the end"})
    await team.manager.reads("the end")
    assert len([one for one in await team.bot.messages(4242) if "Two files." in one.text]) == 1


@promise("hook.8", "hook.10", "protocol.9")
def test_what_is_posted() -> None:
    assert json.loads(forward_to_bridge.body("ann", "<b>x</b>", "n")) == {
        "session": "ann",
        "text": "<b>x</b>",
        "id": "n",
    }
    assert forward_to_bridge.LIMIT_SECONDS == 5


@promise("hook.8", "protocol.7")
async def test_a_bridge_that_hangs_is_left_after_five_seconds(tmp_path: Path) -> None:
    """The limit is made short in a copy; what was not taken stays in its file."""
    copy = tmp_path / "forward-to-bridge.py"
    short = Path(forward_to_bridge.__file__).read_text().replace("LIMIT_SECONDS = 5", "LIMIT_SECONDS = 1")
    copy.write_text(short)
    (tmp_path / "answer.md").write_text("*kept*")
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        command = [
            sys.executable,
            "-I",
            "-S",
            str(copy),
            str(tmp_path / "answer.md"),
            "ann",
            f"http://127.0.0.1:{port}/response",
        ]
        with anyio.fail_after(240):
            await anyio.run_process(command, check=False)
    assert json.loads((tmp_path / "answer.json").read_bytes())["text"] == "<i>kept</i>"
    assert not (tmp_path / "answer.md").exists()


@promise("hook.8", "protocol.7", "protocol.9")
async def test_the_agent_does_not_wait_for_the_bridge(tmp_path: Path, transcript: Path) -> None:
    folder = tmp_path / "sessions" / "ann"
    folder.mkdir(parents=True)
    (folder / "pending").write_text("1")
    asked, answered = anyio.Event(), anyio.Event()
    bodies: list[bytes] = []

    async def serve(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            received = b""
            while b"\r\n\r\n" not in received or not received.endswith(b"}"):
                received += await stream.receive()
            bodies.append(received.partition(b"\r\n\r\n")[2])
            asked.set()
            await answered.wait()
            await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        environ = {
            "TMUX_PREFIX": "claude-test-",
            "SESSIONS_DIR": str(folder.parent),
            "BRIDGE_URL": f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}",
            "BRIDGE_SESSION": "ann",
        }
        await run(environ, {"transcript_path": str(transcript)})
        # The hook is over, and the bridge has not answered.
        assert not (folder / "pending").exists()
        with anyio.fail_after(240):
            await asked.wait()
        (left,) = (folder / "answers").iterdir()
        answered.set()
        await until(lambda: not left.exists())
        tasks.cancel_scope.cancel()
    body = json.loads(bodies[0])
    assert (body["session"], body["text"]) == ("ann", "<b>Two</b> files.\n\nAll <code>done</code> &amp; good")
    assert body["id"] == left.stem


async def test_an_answer_while_the_node_is_down_is_told_when_it_is_back(
    tmp_path: Path, bot: FakeBot, transcript: Path
) -> None:
    agent = ScriptedDriver(backend="claude")
    async with team_house(tmp_path, bot, claude=agent) as team:
        await known(team)
        session, given = team.session(), variables(team)
    await run(given, {"transcript_path": str(transcript)})
    await until(lambda: [one.suffix for one in (session / "answers").iterdir()] == [".json"])
    async with team_house(tmp_path, bot, claude=agent) as team:
        answer = await team.manager.reads("Two files.")
        assert answer.text == "ann:\nTwo files.\n\nAll done & good"
        await until(lambda: not list((session / "answers").iterdir()))
        # A forwarder that never heard that it was taken posts again.
        await run(variables(team), {"transcript_path": str(transcript)})
        await team.post("/response", {"session": "ann", "text": "the end"})
        await team.manager.reads("the end")
        assert len([one for one in await team.bot.messages(4242) if "Two files." in one.text]) == 1


class EarlyClock(SystemClock):
    """Real time, but for the long pause between two looks at what was left."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(0.05 if seconds == LEFT_SECONDS else seconds)


async def test_an_answer_that_a_busy_node_did_not_take_in_time_is_told_all_the_same(
    tmp_path: Path, bot: FakeBot
) -> None:
    async with team_house(tmp_path, bot, clock=EarlyClock()) as team:
        await known(team)
        left = team.session() / "answers" / "a.json"
        left.parent.mkdir()
        left.with_suffix(".new").write_text('{"session":"ann","text":"<b>late</b>","id":"a"}')
        left.with_suffix(".new").rename(left)
        assert (await team.manager.reads("late")).text == "ann:\nlate"
        await until(lambda: not left.exists())


def test_what_a_killed_forwarder_left_is_found_once_it_is_old(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "a.md").write_text("bare words")
    (folder / "b.json").write_text('{"session":"ann","text":"<b>x</b>","id":"b"}')
    (folder / "c.json").write_text("{broken")
    (folder / "d.1.new").write_text("half")
    (folder / "e.json").symlink_to("/etc/passwd")
    now = (folder / "a.md").stat().st_mtime
    assert [(one.name, one.text, one.html) for one in read_spooled_answers(tmp_path, now)] == [("b", "<b>x</b>", True)]
    names = [(one.name, one.html) for one in read_spooled_answers(tmp_path, now + YOUNG_SECONDS)]
    assert names == [("a", False), ("b", True)]
    assert read_spooled_answers(tmp_path / "none", now) == []


def test_the_hook_needs_nothing_but_the_standard_library() -> None:
    for module in (send_to_telegram, forward_to_bridge):
        source = Path(str(module.__file__)).read_text()
        assert "import farhand" not in source
        assert "from farhand" not in source
