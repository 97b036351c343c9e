"""The file bridge's hooks as a CLI runs them: exit 0, one JSON object, nothing lost, whatever the files look like."""

from __future__ import annotations

import os
import stat
import threading
from functools import partial
from pathlib import Path

import pytest
from tests.contract.bridge_hooks import HookedProject, read

from farhand.bridge.hook import rules
from farhand.bridge.hook.files import MessageFile, locked
from farhand.bridge.hook.rules import OUTBOX, READ, SENT, new_message

BACKENDS = ["gemini", "claude", "codex"]


@pytest.fixture(params=BACKENDS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> HookedProject:
    return HookedProject(tmp_path, request.param)


@pytest.fixture
def hooked(tmp_path: Path) -> HookedProject:
    return HookedProject(tmp_path, "gemini")


def aged(path: Path) -> None:
    """Nobody has written to it for a while."""
    os.utime(path, (1_000_000_000, 1_000_000_000))


def test_what_is_unread_is_told_once_and_marked(project: HookedProject) -> None:
    project.write("Run /startup", "and be quick")
    assert project.before() == {
        "hookSpecificOutput": {
            "hookEventName": project.hooks.before,
            "additionalContext": "WhatsApp messages:\nRun /startup\nand be quick",
        }
    }
    assert [one["read"] for one in read(project.inbox)] == [True, True]
    assert project.before() == {}


def test_what_the_agent_said_is_in_the_outbox(project: HookedProject) -> None:
    assert project.after("✅ Startup complete.") == {}
    (told,) = read(project.outbox)
    assert (told["from"], told["text"], told["sent"]) == ("agent", "✅ Startup complete.", False)
    assert stat.S_IMODE(project.outbox.stat().st_mode) == 0o600


def test_a_long_answer_is_summarised_and_kept_whole(hooked: HookedProject) -> None:
    whole = "word " * 400
    hooked.after(whole)
    (told,) = read(hooked.outbox)
    assert len(str(told["text"])) == 500
    kept = hooked.folder / str(told["whole"])
    assert kept.read_text() == whole.strip()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b'{"prompt_response": 5}', b"\xff", b"null"])
def test_a_payload_that_makes_no_sense_is_nobodys_trouble(project: HookedProject, payload: bytes) -> None:
    assert project.before(payload) == {}
    assert project.after(payload=payload or b" ") == {}
    assert read(project.outbox) == []


def test_without_an_inbox_nothing_is_said_and_nothing_made(project: HookedProject) -> None:
    assert project.before() == {}
    assert not project.inbox.exists()


def test_a_malformed_inbox_is_set_aside_and_told(project: HookedProject) -> None:
    project.inbox.write_text('{"messages": [')
    aged(project.inbox)
    assert project.before() == {}
    (aside,) = project.folder.glob("wa_inbox.json.malformed-*")
    assert aside.read_text() == '{"messages": ['
    assert "wa_inbox.json made no sense and was set aside" in project.said()[0]
    project.write("go on")
    assert project.context() == "WhatsApp messages:\ngo on"


def test_a_file_that_somebody_still_writes_is_left_alone(hooked: HookedProject) -> None:
    hooked.inbox.write_text('{"messages": [')
    assert hooked.before() == {}
    assert hooked.inbox.read_text() == '{"messages": ['


def test_a_folder_that_cannot_be_written_costs_the_agent_nothing(hooked: HookedProject) -> None:
    hooked.outbox.mkdir()
    assert hooked.after("done") == {}


def test_a_program_that_is_gone_does_not_stop_the_agent(project: HookedProject) -> None:
    project.write("hello")
    for program in project.folder.parent.glob("programs/*.py"):
        program.unlink()
    done = project.run(project.commands[0], b"{}")
    assert (done.returncode, done.stdout) == (0, b"")


def test_the_files_never_exceed_a_hundred_messages(hooked: HookedProject) -> None:
    hooked.write(*(f"m{number}" for number in range(150)))
    assert hooked.context().endswith("m149")
    assert len(read(hooked.inbox)) <= 100
    with locked(str(hooked.folder)):
        unsent = [new_message("resp", "agent", f"r{number}", 2e9, "x", SENT) for number in range(100)]
        MessageFile(str(hooked.folder), OUTBOX, SENT).change(lambda _: unsent)
    hooked.after("one more")
    assert hooked.said() == [f"r{number}" for number in range(100)]
    hooked.outbox.write_bytes(rules.encode([{**one, "sent": True} for one in unsent]))
    hooked.after("and one")
    assert hooked.said() == ["one more", "and one"]


def test_stop_is_told_with_its_exact_sentence(project: HookedProject) -> None:
    project.write("Stop")
    assert project.context() == rules.STOP_SENTENCE


def test_a_sprint_brings_task_after_task_with_a_report_between(project: HookedProject) -> None:
    project.write("/sprint start\n- write a\n- write b")
    assert "Task 1 of 2: write a" in project.context()
    again = project.after("a is written")
    assert again["decision"] == project.hooks.decision
    assert again["reason"].startswith("Task 2 of 2: write b")
    assert project.after("b is written") == {}
    assert project.said() == ["a is written", "✅ 1/2 done. Next: write b", "b is written", "🏁 Sprint done: 2/2."]
    assert project.after("something else") == {}


def test_stop_during_a_turn_ends_the_sprint_with_that_turn(project: HookedProject) -> None:
    project.write("/sprint start\n- a\n- b\n- c")
    project.context()
    project.write("stop please")
    assert project.after("did a") == {}
    assert project.said()[-1] == "⛔ Sprint stopped at 1/3."
    assert project.context() == "", "a STOP that was obeyed is not told to the next turn"


def test_a_message_in_a_sprint_reaches_the_next_turn(project: HookedProject) -> None:
    project.write("/sprint start\n- a\n- b")
    project.context()
    project.write("use tabs")
    reason = project.after("did a")["reason"]
    told = project.context() if project.hooks.before_each else reason
    assert told.endswith("WhatsApp messages:\nuse tabs")
    assert project.context() == ""


def test_what_a_foreign_writer_overwrites_is_put_back(hooked: HookedProject) -> None:
    stale = hooked.outbox.read_bytes() if hooked.outbox.exists() else rules.encode([])
    hooked.after("first")
    hooked.outbox.write_bytes(stale)
    hooked.after("second")
    assert hooked.said() == ["first", "second"]


def test_what_was_read_is_not_told_again_when_a_foreign_writer_says_it_is_unread(hooked: HookedProject) -> None:
    hooked.write("once")
    stale = hooked.inbox.read_bytes()
    assert hooked.context()
    hooked.inbox.write_bytes(stale)
    assert hooked.context() == ""
    assert [one["read"] for one in read(hooked.inbox)] == [True]


def test_a_message_that_comes_between_our_read_and_our_write_is_kept(hooked: HookedProject) -> None:
    hooked.write("first")

    def interrupted(messages: list[rules.Message]) -> list[rules.Message]:
        if len(messages) == 1:
            hooked.write("second")
        return rules.marked(messages, [rules.key(messages[0])], READ)

    with locked(str(hooked.folder)):
        MessageFile(str(hooked.folder), hooked.inbox.name, READ).change(interrupted)
    assert [(one["text"], one["read"]) for one in read(hooked.inbox)] == [("first", True), ("second", False)]


def test_what_a_killed_writer_had_displaced_comes_back(hooked: HookedProject) -> None:
    hooked.write("first")
    displaced = rules.encode([*read(hooked.inbox), new_message("msg", "user", "second", 2e9, "k", READ)])
    hooked.inbox.with_name("wa_inbox.json.77-abcdef.tmp").write_bytes(displaced)
    assert hooked.context() == "WhatsApp messages:\nfirst\nsecond"
    assert hooked.context() == ""
    assert len(read(hooked.inbox)) == 2


def test_two_writers_with_the_lock_lose_nothing(hooked: HookedProject) -> None:
    def add(name: str) -> None:
        for number in range(25):
            one = new_message("resp", "agent", f"{name}{number}", 2e9, f"{name}{number}", SENT)
            added = partial(rules.merged, second=[one], done=SENT)
            with locked(str(hooked.folder)):
                MessageFile(str(hooked.folder), OUTBOX, SENT).change(added)

    writers = [threading.Thread(target=add, args=(name,)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(hooked.said()) == sorted(f"{name}{number}" for name in "ab" for number in range(25))


def test_a_link_in_the_repository_leads_no_hook_elsewhere(hooked: HookedProject, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("thesis.tex", "resp_1_ab.txt"):
        (elsewhere / name).write_text("years of work")
        aged(elsewhere / name)
    (hooked.folder / "wa_texts").symlink_to(elsewhere)
    hooked.after("a long story. " * 100)
    assert sorted(path.name for path in elsewhere.iterdir()) == ["resp_1_ab.txt", "thesis.tex"]
    assert len(read(hooked.outbox)) == 1


def test_a_folder_that_is_a_link_is_left_alone(hooked: HookedProject, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    hooked.folder.rename(elsewhere)
    hooked.folder.symlink_to(elsewhere)
    hooked.after("said")
    assert hooked.before() == {}
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("name", ["wa_inbox.json", "wa_outbox.json", "wa_bridge.json"])
def test_a_pipe_holds_up_no_hook(hooked: HookedProject, name: str) -> None:
    os.mkfifo(hooked.folder / name)
    assert hooked.before() == {}
    hooked.after("said")
