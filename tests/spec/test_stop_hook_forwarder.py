"""Spec 2, hook system: what the forwarder of the Stop hook posts, and what becomes of it when nobody takes it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.promises import promise
from tests.spec.stop_hook import run, variables
from tests.spec.team import Team, team_house
from tests.spec.test_http import known

from farhand.channels.files.channel import LEFT_SECONDS
from farhand.channels.files.spooled_answers import (
    MOST_AT_ONCE,
    YOUNG_SECONDS,
    read_spooled_answers,
    remove_spooled_answer,
)
from farhand.core.clock import SystemClock
from farhand.hooks import forward_to_bridge, send_to_telegram
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.sdk_env import until
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio


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


def test_no_answer_is_read_or_removed_through_a_link(tmp_path: Path) -> None:
    mine, notes = tmp_path / "ann", tmp_path / "notes"
    mine.mkdir()
    notes.mkdir()
    (notes / "diary.md").write_text("mine alone")
    (mine / "answers").symlink_to(notes)
    (tmp_path / "bob").symlink_to(mine)
    later = (notes / "diary.md").stat().st_mtime + YOUNG_SECONDS
    assert read_spooled_answers(mine, later) == []
    (mine / "answers").unlink()
    notes.rename(mine / "answers")
    assert read_spooled_answers(tmp_path / "bob", later) == []
    (answer,) = read_spooled_answers(mine, later)
    (mine / "answers").rename(notes)
    (mine / "answers").symlink_to(notes)
    remove_spooled_answer(mine, answer)
    assert (notes / "diary.md").exists()


def test_what_is_left_is_read_a_little_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    with (folder / "holes.json").open("wb") as file:
        file.truncate(1 << 40)
    os.mkfifo(folder / "pipe.json")
    for number in range(MOST_AT_ONCE + 1):
        (folder / f"{number}.json").write_text('{"text": "x"}')
    assert len(read_spooled_answers(tmp_path, 0.0)) == MOST_AT_ONCE


def test_the_hook_needs_nothing_but_the_standard_library() -> None:
    for module in (send_to_telegram, forward_to_bridge):
        source = Path(str(module.__file__)).read_text()
        assert "import farhand" not in source
        assert "from farhand" not in source
