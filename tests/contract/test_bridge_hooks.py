"""The file bridge's hooks as a CLI runs them: exit 0, one JSON object, nothing lost, whatever the files look like."""

from __future__ import annotations

import json
import os
import shlex
import stat
import threading
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from tests.contract.bridge_hooks import HookedProject, read

from farhand.bridge.hook import files, rules
from farhand.bridge.hook.files import FolderLock, MessageFile
from farhand.bridge.hook.rules import INBOX, OUTBOX, READ, SENT, new_message
from farhand.bridge.project import ProjectFiles

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


def test_a_malformed_outbox_is_set_aside_and_told(project: HookedProject) -> None:
    project.outbox.write_text("{")
    aged(project.outbox)
    project.after("here I am")
    (aside,) = project.folder.glob("wa_outbox.json.malformed-*")
    assert aside.read_text() == "{"
    assert project.said() == ["here I am", f"⚠ wa_outbox.json made no sense and was set aside: {aside}"]


def test_a_file_that_is_written_anew_while_it_is_set_aside_is_kept(
    hooked: HookedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooked.inbox.write_text("{")
    aged(hooked.inbox)
    read_regular = files.read_regular

    def read_and_written(path: str, folder: int | None = None) -> tuple[bytes, float]:
        found = read_regular(path, folder)
        if found[0] == b"{" and path == str(hooked.inbox):
            hooked.inbox.unlink()
            hooked.write("in time")
        return found

    monkeypatch.setattr(files, "read_regular", read_and_written)
    ProjectFiles(hooked.folder).look()
    assert hooked.context() == "WhatsApp messages:\nin time"
    assert not list(hooked.folder.glob("*.malformed-*"))


def test_a_file_that_somebody_still_writes_is_left_alone(hooked: HookedProject) -> None:
    hooked.inbox.write_text('{"messages": [')
    # However slow this machine is, it was written a moment ago.
    os.utime(hooked.inbox, (time.time() + 3600,) * 2)
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
    with FolderLock(str(hooked.folder)):
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


def check_a_write_in_between_is_kept(hooked: HookedProject) -> None:
    """Somebody else writes between our read and our write."""
    hooked.write("first")

    def interrupted(messages: list[rules.BridgeMessage]) -> list[rules.BridgeMessage]:
        if len(messages) == 1:
            hooked.write("second")
        return rules.marked(messages, [rules.key(messages[0])], READ)

    with FolderLock(str(hooked.folder)):
        MessageFile(str(hooked.folder), hooked.inbox.name, READ).change(interrupted)
    assert [(one["text"], one["read"]) for one in read(hooked.inbox)] == [("first", True), ("second", False)]


def test_a_message_that_comes_between_our_read_and_our_write_is_kept(hooked: HookedProject) -> None:
    check_a_write_in_between_is_kept(hooked)


def test_what_a_killed_writer_had_displaced_comes_back(hooked: HookedProject) -> None:
    hooked.write("first")
    displaced = rules.encode([*read(hooked.inbox), new_message("msg", "user", "second", 2e9, "k", READ)])
    hooked.inbox.with_name("wa_inbox.json.77-abcdef.tmp").write_bytes(displaced)
    assert hooked.context() == "WhatsApp messages:\nfirst\nsecond"
    assert hooked.context() == ""
    assert len(read(hooked.inbox)) == 2


def test_a_writer_that_read_while_a_message_was_displaced_does_not_undo_it(hooked: HookedProject) -> None:
    """Displaced for a moment, put back, and then overwritten by somebody who had read in that moment."""
    hooked.write("first")
    seen_by_the_other: list[rules.BridgeMessage] = []

    def interrupted(messages: list[rules.BridgeMessage]) -> list[rules.BridgeMessage]:
        if len(messages) == 1:
            hooked.write("second")
        else:
            seen_by_the_other[:] = read(hooked.inbox)
        return rules.marked(messages, [rules.key(messages[0])], READ)

    with FolderLock(str(hooked.folder)):
        MessageFile(str(hooked.folder), hooked.inbox.name, READ).change(interrupted)
    third = new_message("msg", "user", "third", 1_800_000_000.0, "t", READ)
    assert [one["text"] for one in seen_by_the_other] == ["first"]
    hooked.inbox.write_bytes(rules.encode([*seen_by_the_other, third]))
    assert sorted(hooked.context().splitlines()[1:]) == ["second", "third"]
    assert hooked.context() == ""
    assert not list(hooked.folder.glob(f"{INBOX}.*.tmp"))


def test_a_message_of_the_node_outlives_a_writer_that_had_not_seen_it(hooked: HookedProject) -> None:
    hooked.write("first")
    seen_by_the_other = hooked.inbox.read_bytes()
    project = ProjectFiles(hooked.folder)
    project.put("n1", "second")
    project.put("n2", "third")
    hooked.inbox.write_bytes(seen_by_the_other)
    assert project.take_back("n2")
    assert hooked.context() == "WhatsApp messages:\nfirst\nsecond"
    assert hooked.context() == ""


def test_a_message_of_the_node_is_not_the_hundred_and_first(hooked: HookedProject) -> None:
    now = time.time()
    old = [{**new_message("msg", "user", f"old {n}", now, str(n), READ), READ: True} for n in range(100)]
    hooked.inbox.write_bytes(rules.encode(old))
    project = ProjectFiles(hooked.folder)
    project.put("n1", "new")
    assert [one["text"] for one in read(hooked.inbox)] == ["new"]
    # Neither when others have filled it up meanwhile, and it is put there once more, or taken back.
    hooked.inbox.write_bytes(rules.encode([*old, *read(hooked.inbox)]))
    project.put("n1", "new")
    assert [one["text"] for one in read(hooked.inbox)] == ["new"]
    hooked.inbox.write_bytes(rules.encode([*old, old[0] | {"id": "other"}, *read(hooked.inbox)]))
    assert project.take_back("n1")
    assert read(hooked.inbox) == []


def test_what_was_displaced_half_written_is_kept_until_it_is_whole(hooked: HookedProject) -> None:
    """Somebody writes into the file itself, without a rename, and is at it when ours takes its place."""
    hooked.write("first")
    whole = rules.encode([*read(hooked.inbox), new_message("msg", "user", "second", 2e9, "k", READ)])
    with ExitStack() as writing:

        def interrupted(messages: list[rules.BridgeMessage]) -> list[rules.BridgeMessage]:
            file = writing.enter_context(hooked.inbox.open("r+b"))
            file.write(whole[: len(whole) // 2])
            file.truncate()
            file.flush()
            writing.callback(file.flush)
            writing.callback(file.write, whole[len(whole) // 2 :])
            return rules.marked(messages, [rules.key(messages[0])], READ)

        with FolderLock(str(hooked.folder)):
            MessageFile(str(hooked.folder), hooked.inbox.name, READ).change(interrupted)
    assert hooked.context() == "WhatsApp messages:\nsecond"


@pytest.mark.parametrize(
    "nonsense", ["{", "[1,", '{"messages": "', "nothing", '{"messages": 1}', '{"a": 1} b', '"\\u12"']
)
def test_an_inbox_that_makes_no_sense_is_set_aside_by_the_hook_and_told(hooked: HookedProject, nonsense: str) -> None:
    """In a process of its own, as the agent runs it: what reads JSON there is not all of what tests have loaded."""
    hooked.inbox.write_text(nonsense)
    os.utime(hooked.inbox, (1_000_000_000, 1_000_000_000))
    assert hooked.before() == {}
    assert "wa_inbox.json made no sense and was set aside" in hooked.said()[0]
    (aside,) = hooked.folder.glob("wa_inbox.json.malformed-*")
    assert aside.read_text() == nonsense
    hooked.write("now it does")
    assert hooked.context() == "WhatsApp messages:\nnow it does"


@pytest.mark.parametrize("payload", [b"{", b"", b"\xff", b'{"prompt_response": "half'])
def test_a_payload_that_makes_no_sense_disturbs_nobody(hooked: HookedProject, payload: bytes) -> None:
    done = hooked.run(hooked.commands[1], payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}\n", b"")


def test_where_files_cannot_change_places_a_foreign_write_is_merged_all_the_same(
    hooked: HookedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File systems without the exchange: what came after our read is read again before the rename."""
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    check_a_write_in_between_is_kept(hooked)


def test_what_a_foreign_reader_read_and_pruned_does_not_come_back(hooked: HookedProject) -> None:
    """Kept beside as unread by the node; a script in the place of our hooks reads it, and forgets it an hour later."""
    project = ProjectFiles(hooked.folder)
    project.put("n1", "once")
    hooked.inbox.write_bytes(rules.encode(rules.marked(read(hooked.inbox), [rules.key(read(hooked.inbox)[0])], READ)))
    assert project.look().inbox == {"n1": True}
    hooked.inbox.write_bytes(rules.encode([]))
    project.put("n2", "next")
    assert [one["text"] for one in read(hooked.inbox)] == ["next"]


def test_an_answer_of_a_foreign_script_outlives_its_own_next_write(hooked: HookedProject) -> None:
    """It wrote B while the node marked A; it read in the moment without B, and writes C."""
    a, b, c = (new_message("resp", "agent", text, time.time(), text, SENT) for text in "abc")
    hooked.outbox.write_bytes(rules.encode([a]))
    seen_by_the_other: list[rules.BridgeMessage] = []

    def interrupted(messages: list[rules.BridgeMessage]) -> list[rules.BridgeMessage]:
        if len(messages) == 1:
            hooked.outbox.write_bytes(rules.encode([a, b]))
        else:
            seen_by_the_other[:] = read(hooked.outbox)
        return rules.marked(messages, [rules.key(a)], SENT)

    with FolderLock(str(hooked.folder)):
        MessageFile(str(hooked.folder), OUTBOX, SENT).change(interrupted)
    hooked.outbox.write_bytes(rules.encode([*seen_by_the_other, c]))
    project = ProjectFiles(hooked.folder)
    assert sorted(one.text for one in project.look().answers) == ["b", "c"]
    project.mark_sent((rules.key(b), rules.key(c)))
    assert project.look().answers == ()
    assert not list(hooked.folder.glob(f"{OUTBOX}.*.tmp"))


def test_what_was_sent_and_pruned_at_once_is_not_put_back(hooked: HookedProject) -> None:
    """A full outbox loses all that is sent, and what was among it is known to be sent all the same."""
    hooked.after("first")
    now = time.time()
    others = [new_message("resp", "agent", f"other {n}", now, str(n), SENT) for n in range(99)]
    hooked.outbox.write_bytes(rules.encode([{**one, SENT: True} for one in (*others, *read(hooked.outbox))]))
    hooked.after("second")
    hooked.after("third")
    assert [one["text"] for one in read(hooked.outbox) if not one["sent"]] == ["second", "third"]
    assert len(read(hooked.outbox)) <= 100


def test_two_writers_with_the_lock_lose_nothing(hooked: HookedProject) -> None:
    def add(name: str) -> None:
        for number in range(25):
            one = new_message("resp", "agent", f"{name}{number}", 2e9, f"{name}{number}", SENT)
            added = partial(rules.merged, second=[one], done=SENT)
            with FolderLock(str(hooked.folder)):
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


def test_a_python_with_other_insides_does_the_same(project: HookedProject) -> None:
    """Without the parts of `json` that are in C."""
    program = (
        "import sys, runpy; sys.modules['_json'] = None; del sys.argv[0]; runpy.run_path(sys.argv[0], None, '__main__')"
    )
    project.write("grüß 🦊")
    words = shlex.split(project.commands[0].removesuffix(" || true"))
    words[3:3] = ["-c", program]
    told = json.loads(project.run(shlex.join(words), b"{}").stdout)
    assert told["hookSpecificOutput"]["additionalContext"] == "WhatsApp messages:\ngrüß 🦊"


SLOW = ("json", "re", "typing", "contextlib", "collections", "functools", "enum", "ctypes")


def test_a_usual_turn_loads_nothing_slow(project: HookedProject) -> None:
    """What a hook loads is what it costs: an interpreter's start, and little more."""
    project.write("Run /startup", "and be quick")
    project.after("before that")
    for command, payload in zip(project.commands, (b"{}", b'{"last_assistant_message": "word"}'), strict=True):
        done = project.run(command.replace(" -S ", " -S -X importtime ", 1), payload)
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
        assert "farhand.bridge.hook.files" in loaded
        assert not loaded.intersection(SLOW)
    assert [one["read"] for one in read(project.inbox)] == [True, True]
