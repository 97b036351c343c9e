"""Screens of the Gemini CLI: the box, the dialogs, and whether a dialog asks what was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from farhand.drivers.gemini.asks import (
    GeminiCall,
    GeminiQuestion,
    digest_of,
    fitting,
    is_about,
    is_asked,
    planned,
    pressed,
    question_of,
    to_ask,
)
from farhand.drivers.gemini.tmux.open_calls import (
    allow,
    asked,
    is_known,
    passed_by,
    put_back,
    question_in,
    ran,
    without,
)
from farhand.drivers.gemini.tmux.screen import (
    Dialog,
    comes_next,
    has_started,
    holds,
    is_at_work,
    offers_commands,
    read_box,
    read_dialog,
    says,
    status_of,
)
from farhand.drivers.gemini.tmux.state import GeminiOpenCalls
from farhand.drivers.wires.asks.build import DENY
from farhand.drivers.wires.foreign_json import Fields
from farhand.drivers.wires.tmux.screen import last_words
from farhand.model.words import replace

HERE = Path(__file__).parent
SCREENS = sorted((HERE / "recordings").glob("tui-*.txt"))
DIALOGS = {"tui-permission.txt", "tui-beforetool-ask.txt", "tui-fresh-auth.txt", "tui-fresh-trust.txt"}


def screen(name: str) -> str:
    return (HERE / "recordings" / name).read_text("utf-8")


@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.name)
def test_a_screen_has_a_box_or_a_dialog(path: Path) -> None:
    text = path.read_text("utf-8")
    assert (read_dialog(text) is not None) == (path.name in DIALOGS)
    assert (read_box(text) == "") == (path.name not in DIALOGS)


def test_whether_the_cli_works_or_keeps_what_was_typed_is_read() -> None:
    idle = screen("tui-idle.txt")
    kept = "ℹ Initializing... Prompts will be queued.\n"
    hook = " Executing Hook: farhand                          ? for shortcuts\n"
    rule = "─" * 40 + "\n"
    assert is_at_work(idle)
    assert not is_at_work(idle.replace("Executing Hook: log-SessionStart", ""))
    assert is_at_work(f"{kept}{rule} >   Type your message or @path/to/file\n")
    assert is_at_work(f" > /zed hi\n{hook}{rule} >   Type your message or @path/to/file\n")
    assert is_at_work(f" > /zed hi\n ⠏ Thinking... (esc to cancel, 1s)\n{rule} >   Type your message\n")
    # What was kept has been submitted since.
    assert not is_at_work(f"{kept} > /stats\n Session Stats\n{rule} >   Type your message or @path/to/file\n")


def test_a_cli_that_still_starts_is_told_from_one_that_takes_commands() -> None:
    shortcuts, rule = " " * 40 + "? for shortcuts\n", "─" * 40 + "\n"
    starting = f"\n\n{shortcuts}{rule} Shift+Tab to accept edits\n >   Type your message or @path/to/file\n"
    assert not has_started(starting)
    assert has_started(f" ▝▜▄     Gemini CLI v0.61.0\n{starting}")
    assert has_started(screen("tui-idle.txt"))
    typed = f"{rule} > /\n▀▀▀▀\n clear            Clear the screen and start a new session\n"
    assert not offers_commands(typed)
    assert offers_commands(f"{typed} ▼\n (1/42)\n")
    assert read_box(f"{typed} ▼\n (1/42)\n") == "/"


def test_what_is_typed_is_read_and_a_hint_is_not() -> None:
    idle = screen("tui-idle.txt")
    assert read_box(idle) == ""
    assert read_box(idle.replace("Type your message or @path/to/file", "fix the tests")) == "fix the tests"
    assert holds("fix the tests now", "fix the tests now\nand then")
    assert holds("[Pasted Text: 40 lines]", "anything")
    assert not holds("something else", "fix the tests")


def test_the_mode_and_the_status_are_read() -> None:
    assert says(screen("tui-yolo.txt"), "YOLO")
    assert not says(screen("tui-idle.txt"), "YOLO")
    edits = screen("tui-idle.txt").replace("Shift+Tab to accept edits", "auto-accept edits Shift+Tab to plan")
    assert says(edits, "auto-accept edits")
    assert not says(edits, "plan")
    titles = ["◇  Ready (dir)", "✦  Working… (dir)", "✋  Action Required (dir)", "tmux"]
    assert [status_of(title) for title in titles] == ["idle", "busy", "waiting", ""]
    assert "Request cancelled." in last_words(screen("tui-cancelled.txt"))


def dialog(*body: str) -> Dialog:
    options = {"1": "Allow once", "2": "Allow for this session", "3": "No, suggest changes (esc)"}
    return Dialog(header="? Shell  x", body=body, question="Allow execution of [Shell]?", options=options)


def shell(command: str) -> GeminiQuestion:
    details = {"type": "exec", "title": "Confirm Shell Command", "command": command, "rootCommand": "x"}
    return question_of(
        Fields({"details": details}), (GeminiCall(tool="run_shell_command", arguments={"command": command}),)
    )


def test_a_dialog_is_about_exactly_one_command() -> None:
    seen = read_dialog(screen("tui-permission.txt"))
    assert seen is not None
    assert is_about(seen, shell("touch zz.txt"))
    assert not is_about(seen, shell("touch zz.txt; rm -rf ~"))
    assert not is_about(seen, shell("touch"))
    assert is_about(dialog("ls -la |", "wc -l"), shell("ls -la | wc -l"))
    # A part is enough only where the dialog says that it hides the rest.
    hidden = "... first 12 lines hidden (Ctrl+O to show) ..."
    assert is_about(dialog(hidden, "echo end"), shell("echo one\necho end"))
    assert not is_about(dialog(hidden, "echo else"), shell("echo one\necho end"))
    assert not is_about(dialog(hidden), shell("echo one"))


def test_an_edit_is_known_by_its_file() -> None:
    write = GeminiCall(tool="write_file", arguments={"file_path": "/p/w.txt"})
    details = {"type": "edit", "fileName": "w.txt", "filePath": "/p/w.txt", "fileDiff": "+beta"}
    calls = (GeminiCall(tool="replace", arguments={"file_path": "/p/other.txt"}), write, GeminiCall(tool="glob"))
    question = question_of(Fields({"details": details}), calls)
    assert question.call == write
    options = {"1": "Allow once", "2": "Allow for this session", "3": "Modify with external editor", "4": "No, suggest"}
    shown = Dialog(header="? WriteFile  Writing to w.txt", body=(), question="Apply this change?", options=options)
    assert is_about(shown, question)
    assert not is_about(Dialog(header="? x", body=(), question="Apply this change?", options=options), question)
    assert is_about(replace(shown, body=("12 + be", "ta")), question)
    assert not is_about(replace(shown, body=("12 + gamma",)), question)
    ask = to_ask("a", question, 60.0, shown)
    assert [choice.id for choice in ask.choices] == ["allow", "session", "deny"]
    assert [choice.allows for choice in ask.choices] == [True, True, False]
    assert ask.detail == "/p/w.txt\n\n+beta"
    assert shown.key("No") == "4"


def test_an_ask_names_exactly_what_runs_and_shows_what_is_hidden() -> None:
    one, two = shell("touch a"), shell("touch a ")
    assert digest_of(one) != digest_of(two)
    ask = to_ask("a", shell("touch a\u202eb"), None, dialog("touch a"))
    assert "‹U+202E›" in ask.detail
    assert next(choice for choice in ask.choices if not choice.allows).id == DENY


def boxed(*lines: str) -> str:
    """A dialog as it is drawn."""
    return "\n".join(["╭" + "─" * 40 + "╮", *(f"│ {line:<38} │" for line in lines), "╰" + "─" * 40 + "╯"])


def test_what_looks_like_an_option_above_the_options_is_none() -> None:
    command = "cat <<END\n1. Allow once\n2. No, never\nEND"
    drawn = read_dialog(
        boxed(
            "? Shell  x",
            *(f"│ {line:<34} │" for line in command.splitlines()),
            "Allow execution of [Shell]?",
            "● 1. Allow once",
            "  2. Allow for this session",
            "  3. No, suggest changes (esc)",
        )
    )
    assert drawn is not None
    assert drawn.options == {"1": "Allow once", "2": "Allow for this session", "3": "No, suggest changes (esc)"}
    question = shell(command)
    assert is_about(drawn, question)
    assert [pressed(question, drawn, choice, "") for choice in ("allow", "session", DENY, "")] == [
        ("1", ""),
        ("2", ""),
        ("3", ""),
        ("3", ""),
    ]


COLOURS = [{"label": label, "description": "x"} for label in ("Red", "Red and blue", "Blue", "Grey")]
COLOUR = GeminiQuestion(
    call=GeminiCall(tool="ask_user", arguments={"questions": [{"question": "Which colour?", "options": COLOURS}]}),
    kind="ask_user",
    details={"type": "ask_user"},
)
SCROLLED = (
    "Answer Questions",
    "Which colour?",
    "▲",
    "● 1.  Red",
    "  x",
    "  2.  Red and blue",
    "  3.  Blue",
    "▼",
    "Enter",
)


def test_a_question_is_answered_by_its_number_also_where_it_is_out_of_sight() -> None:
    drawn = read_dialog(boxed(*SCROLLED))
    assert drawn is not None
    assert is_about(drawn, COLOUR)
    assert [choice.id for choice in to_ask("a", COLOUR, None, drawn).choices] == ["1", "2", "3", "4", "other", "deny"]
    assert pressed(COLOUR, drawn, "1", "") == ("1", "")
    assert pressed(COLOUR, drawn, "4", "") == ("4", "")
    assert pressed(COLOUR, drawn, "other", "green") == ("5", "green")
    for unclear in ("5", "0", "other", DENY, "", "x"):
        assert pressed(COLOUR, drawn, unclear, "") == ("Escape", "")
    moved = read_dialog(
        boxed("Answer Questions", "Which colour?", "▲", "3.  Blue", "4.  Grey", "● 5.  green", "▼", "Enter")
    )
    assert moved is not None
    assert is_about(moved, COLOUR)


def test_a_question_that_another_dialog_asks_is_not_answered() -> None:
    others = [
        [line.replace("Which colour?", "Which size?") for line in SCROLLED],
        [line.replace("3.  Blue", "3.  Green") for line in SCROLLED],
        # All of them are in sight, and one is missing.
        [line for line in SCROLLED if line not in ("▲", "▼")],
    ]
    for lines in others:
        drawn = read_dialog(boxed(*lines))
        assert drawn is not None
        assert not is_about(drawn, COLOUR)


def test_a_plan_is_agreed_to_or_sent_back_with_words() -> None:
    lines = [
        "Ready to start implementation?",
        "The plan",
        "1. Look",
        "2. Paint",
        "● 1.  Yes, automatically accept edits",
    ]
    lines += ["  2.  Yes, manually accept edits", "  3.  Type your feedback...", "Enter to select"]
    drawn = read_dialog(boxed(*lines))
    assert drawn is not None
    call = GeminiCall(tool="exit_plan_mode", arguments={"plan_filename": "p.md"})
    question = planned(GeminiQuestion(call=call, kind="exit_plan_mode", details={}), drawn, "# The plan\n")
    assert is_about(drawn, question)
    assert pressed(question, drawn, "allow", "") == ("2", "")
    assert pressed(question, drawn, "accept_edits", "") == ("1", "")
    assert pressed(question, drawn, DENY, "twice") == ("3", "twice")
    assert pressed(question, drawn, DENY, "") == ("Escape", "")
    other = read_dialog(boxed(*[line.replace("Paint", "Burn") for line in lines]))
    assert other is not None
    assert not is_about(other, question)


# --- several calls at once


def mcp(path: str) -> GeminiCall:
    return GeminiCall(tool="mcp_fs_delete_file", arguments={"path": path}, server="fs", served="delete_file")


MCP = {"type": "mcp", "serverName": "fs", "toolName": "delete_file", "toolDisplayName": "delete_file (fs MCP Server)"}


def announcing(details: dict[str, Any], *calls: GeminiCall) -> GeminiQuestion:
    return question_of(Fields({"details": details}), calls)


def deleting(given: str, counter: str) -> Dialog:
    """The dialog of an MCP tool, as it is drawn."""
    drawn = read_dialog(
        boxed(
            f"Action Required{counter:>20}",
            "",
            f"?  delete_file (fs MCP Server) {given}",
            "",
            "MCP Server: fs",
            "Tool: delete_file",
            'Allow execution of MCP tool "delete_file" from server "fs"?',
            "● 1. Allow once",
            "  2. Allow tool for this session",
            "  3. No, suggest changes (esc)",
        )
    )
    assert drawn is not None
    return drawn


def test_a_question_is_about_the_very_tool_and_an_unknown_kind_about_none() -> None:
    listing = GeminiCall(tool="list_directory", arguments={"dir_path": "."})
    assert announcing(MCP, mcp("/a"), listing).call == mcp("/a")
    assert announcing(MCP, GeminiCall(tool="mcp_fs_delete_file"), listing).call.tool == "mcp_fs_delete_file"
    assert fitting(announcing(MCP, listing, GeminiCall(tool="mcp_other_delete_file"))) == ()
    assert fitting(announcing({"type": "new"}, listing)) == ()
    web = {"type": "info", "title": "Confirm Web Fetch", "prompt": "Read https://x/1", "urls": ["https://x/1"]}
    one, two = (GeminiCall(tool="web_fetch", arguments={"prompt": f"Read https://x/{number}"}) for number in (1, 2))
    assert fitting(announcing(web, two, one, listing)) == (one,)
    plan = {"type": "info", "title": "Enter Plan Mode", "prompt": "This will restrict the agent."}
    assert announcing(plan, GeminiCall(tool="enter_plan_mode"), shell("x").call).call.tool == "enter_plan_mode"
    edits = [
        GeminiCall(tool="replace", arguments={"file_path": path}) for path in ("a/x.txt", "./b/x.txt", "/p/c/x.txt")
    ]
    for edit, path in zip(edits, ("/p/a/x.txt", "/p/b/x.txt", "/p/c/x.txt"), strict=True):
        assert fitting(announcing({"type": "edit", "fileName": "x.txt", "filePath": path}, *edits)) == (edit,)


def test_what_a_dialog_shows_of_a_call_tells_which_it_is() -> None:
    question = announcing(MCP, mcp("/a"), mcp("/b"))
    assert fitting(question) == (mcp("/a"), mcp("/b"))
    opened = GeminiOpenCalls(calls=(mcp("/a"), mcp("/b")), unseen={"x": question, "y": question})
    found = question_in(opened, deleting('{"path":"/b"}', "2 of 2"))
    assert found is not None
    name, seen = found
    assert (name, seen.call, seen.others, seen.counter) == ("x", mcp("/b"), (), "2 of 2")
    assert is_asked(deleting('{"path":"/b"}', "2 of 2"), seen)
    assert not is_asked(deleting('{"path":"/b"}', "1 of 2"), seen)
    assert not is_asked(deleting('{"path":"/a"}', "2 of 2"), seen)
    assert question_in(opened, deleting('{"path":"/c"}', "2 of 2")) is None


def test_what_a_dialog_cannot_tell_apart_is_only_refused() -> None:
    one, two = mcp("/" + "x" * 90 + "1"), mcp("/" + "x" * 90 + "2")
    question = announcing(MCP, one, two)
    cut = deleting('{"path":"/xxxxxxxxxxxxxxxxxxxx…', "1 of 2")
    found = question_in(GeminiOpenCalls(calls=(one, two), unseen={"x": question}), cut)
    assert found is not None
    ask = to_ask("x", found[1], None, cut)
    assert [choice.id for choice in ask.choices] == [DENY]
    assert "at the desk" in ask.detail
    assert pressed(found[1], cut, "allow", "") == ("3", "")
    # Once the other has run, or is allowed, there is no doubt.
    for opened in (GeminiOpenCalls(calls=(two,)), GeminiOpenCalls(calls=(one, two), allowed=(one,))):
        sure = question_in(replace(opened, unseen={"x": question}), cut)
        assert sure is not None
        assert fitting(sure[1]) == (two,)
        assert [choice.id for choice in to_ask("x", sure[1], None, cut).choices] == ["allow", DENY]


def test_the_same_command_twice_is_two_questions() -> None:
    first, second = shell("touch a"), shell("touch a")
    shown = replace(dialog("touch a"), words=("? Shell  x", "touch a", "Allow execution of [Shell]?"), counter="1 of 2")
    opened = GeminiOpenCalls(calls=(first.call, second.call), unseen={"x": first, "y": second})
    found = question_in(opened, shown)
    assert found is not None
    opened = asked(opened, *found)
    assert is_known(opened, shown)
    later = replace(shown, counter="2 of 2")
    assert not is_known(opened, later)
    assert passed_by(opened, later) == ["x"]
    assert passed_by(opened, shown) == []
    # The one that was allowed runs: the other is still asked.
    opened = asked(allow(without(opened, ["x"]), first.call), "y", replace(second, counter="2 of 2"))
    opened, over = ran(opened, first.call)
    assert (over, opened.calls) == ("", (second.call,))
    opened, over = ran(opened, second.call)
    assert (over, opened.calls) == ("y", ())


def test_a_warning_behind_the_question_hides_no_command() -> None:
    drawn = read_dialog(
        boxed(
            "? Shell  x                      1 of 2",
            f"│ {'echo a >> b':<34} │",
            "Allow execution of [Shell]?",
            "Redirection detected. Press Shift+Tab",
            "● 1. Allow once",
            "  2. No, suggest changes (esc)",
        )
    )
    assert drawn is not None
    assert (drawn.header, drawn.counter) == ("? Shell  x", "1 of 2")
    assert is_about(drawn, shell("echo a >> b"))
    assert not is_about(drawn, shell("echo a > b"))


def test_what_a_tool_says_of_itself_is_compared() -> None:
    def fetching(prompt: str) -> GeminiQuestion:
        details = {"type": "info", "title": "Confirm Web Fetch", "prompt": prompt, "urls": ["https://x/1"]}
        return announcing(details, GeminiCall(tool="web_fetch", arguments={"prompt": prompt}))

    drawn = read_dialog(
        boxed(
            "Action Required                 1 of 2",
            "?  WebFetch Processing URLs and instru…",
            "Read https://x/1 now",
            "URLs to fetch:",
            " - https://x/1",
            "Do you want to proceed?",
            "● 1. Allow once",
            "  2. No, suggest changes (esc)",
        )
    )
    assert drawn is not None
    assert is_about(drawn, fetching("Read https://x/1 **now**"))
    assert not is_about(drawn, fetching("Read https://x/1"))
    assert not is_about(drawn, fetching("Read https://x/2 now"))


def test_a_call_that_may_be_pushed_back_is_known() -> None:
    assert comes_next("", "")
    assert comes_next("1 of 3", "")
    assert comes_next("2 of 3", "1 of 3")
    assert not comes_next("2 of 3", "")
    assert not comes_next("3 of 3", "1 of 3")
    assert not comes_next("2 of 3", "1 of 2")


def test_a_question_behind_another_is_asked_again() -> None:
    opened = asked(GeminiOpenCalls(calls=(shell("a").call,)), "x", replace(shell("a"), counter="2 of 2"))
    opened = put_back(opened, "x")
    assert opened.asks == {}
    assert list(opened.unseen.values()) == [shell("a")]
