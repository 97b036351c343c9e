"""Spec 2, commands and routing: what a text asks for, without a node."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spec.promises import promise

from farhand.channels.telegram.replies import menu
from farhand.core.decide import decide
from farhand.core.hire_policy import HirePolicy
from farhand.model import commands
from farhand.model.errors import BadName
from farhand.model.facts import Hired
from farhand.model.grammar import read, read_reply
from farhand.model.present import Present, Worker
from farhand.model.slash import INTERACTIVE
from farhand.model.slash_argument import find_worker
from farhand.model.wishes import InfoRequest, Tell, Wrong
from farhand.model.words import Mode, Sender
from farhand.model.worker_names import RESERVED, worker_name

BACKENDS = ("claude", "codex", "gemini", "opencode", "nosuch")


def is_free(name: str) -> bool:
    return name not in RESERVED


def team(*names: str, focus: str = "", backend: str = "claude") -> Present:
    workers = {name: Worker(name=name, since=1, backend=backend, directory="/", online=True) for name in names}
    return Present(workers=workers, focus=focus)


def wish(text: str, present: Present | None = None) -> Any:
    return read("i", text, present or team("ann", "back-end", focus="ann"))


@promise("commands.10", "updates.2")
@pytest.mark.parametrize("text", ["/team", "/TEAM", "/team@my_bot", "/Team@my_bot", "/team  ", "/team\nnow"])
def test_a_command_is_read_whatever_its_case_and_the_bots_name_behind_it(text: str) -> None:
    assert wish(text) == InfoRequest(id="i", about="team")


@promise("updates.2")
def test_the_argument_follows_the_first_white_space() -> None:
    assert wish("/focus\tann") == commands.Focus(id="i", worker="ann")
    assert wish("/learn\nbad  habits\nof mine").text.startswith("What did you learn about bad  habits\nof mine today?")


@promise("commands.14", "texts.12")
@pytest.mark.parametrize(
    "name",
    "mcp help config model compact cost doctor init login logout memory permissions pr review terminal vim "
    "approved-tools listen".split(),
)
def test_interactive_commands_are_blocked(name: str) -> None:
    told = wish(f"/{name}")
    assert isinstance(told, Wrong)
    # The second line says what does it here.
    assert told.why.splitlines()[0] == f"/{name} is interactive and not supported here."
    assert len(told.why.splitlines()) == 2
    assert wish(f"/{name.upper()}@my_bot with words") == told
    assert name in INTERACTIVE


@promise("commands.15")
@pytest.mark.parametrize(
    ("given", "kept"), [("Ann", "ann"), ("Back-End", "back-end"), ("a_b!c", "abc"), ("x 9", "x9"), ("Zoë", "zo")]
)
def test_names_are_lower_case_letters_digits_and_hyphens(given: str, kept: str) -> None:
    assert worker_name(given) == kept


@promise("commands.16")
@pytest.mark.parametrize("name", "team focus progress learn pause relaunch settings hire end all start help".split())
def test_names_of_commands_are_reserved(name: str) -> None:
    with pytest.raises(BadName) as refused:
        worker_name(name.upper())
    assert refused.value.text == f'Cannot use "{name}" - reserved command. Choose another name.'


@promise("commands.12", "commands.13", "routing.15", "updates.3")
@pytest.mark.parametrize("name", ["back-end", "back_end", "Back-End@my_bot", "BACK_END@my_bot"])
def test_a_workers_name_is_a_command(name: str) -> None:
    assert wish(f"/{name}") == commands.Focus(id="i", worker="back-end")
    assert wish(f"/{name} do it") == Tell(id="i", text="do it", worker="back-end", focus=True)


@promise("routing.6")
def test_unknown_commands_are_for_the_focused_worker() -> None:
    assert wish("/clear all of it") == Tell(id="i", text="/clear all of it", needs_focus=True)


@promise("routing.8", "routing.9", "updates.4")
def test_mentions() -> None:
    assert wish("@all stand up") == Tell(id="i", text="stand up", everybody=True)
    assert wish("@Back-End\nstand up") == Tell(id="i", text="stand up", worker="back-end")
    assert wish("@nobody stand up") == Tell(id="i", text="stand up", worker="nobody")
    for text in ("@types/node is broken", "@ann", "@all", "@ ann hi", "ann: hi"):
        assert wish(text) == Tell(id="i", text=text)


@promise("routing.10", "routing.11", "routing.12", "updates.5")
def test_replies_go_back_with_their_context() -> None:
    present = team("ann", "bob", focus="bob")
    block = "Manager reply:\ndo it\n\nContext (your previous message):\nShall I?\nReally?"
    told = read_reply("i", "do it", "ann:\nShall I?\nReally?", present)
    assert told == Tell(id="i", text=block, worker="ann", needs_focus=True)
    other = read_reply("i", "do it", "note: Shall I?", present)
    assert other == Tell(
        id="i", text="Manager reply:\ndo it\n\nContext (your previous message):\nnote: Shall I?", needs_focus=True
    )


@promise("backend.8", "backend.9", "backend.10", "backend.11")
@pytest.mark.parametrize(
    ("text", "name", "backend"),
    [
        ("alice", "alice", "claude"),
        ("alice --backend codex", "alice", "codex"),
        ("alice --backend=gemini", "alice", "gemini"),
        ("--backend codex alice", "alice", "codex"),
        ("alice —backend codex", "alice", "codex"),
        ("alice --codex", "alice", "codex"),
        ("codex-alice", "codex-alice", "codex"),
        ("gemini-bob", "gemini-bob", "gemini"),
        ("codex", "codex", "codex"),
        ("codex in /shop", "codex", "codex"),
        ("alice codex in /shop", "alice", "codex"),
        ("codex --backend claude", "codex", "claude"),
        ("codex-alice --backend claude", "codex-alice", "claude"),
        ("codexalice", "codexalice", "claude"),
        ("alice --backend nosuch", "alice", "nosuch"),
    ],
)
def test_hire_in_all_its_forms(text: str, name: str, backend: str) -> None:
    (hired, *_) = decide(Present(), wish(f"/hire {text}"), Sender(via="test"), HirePolicy(BACKENDS, "/", Mode.DEFAULT))
    assert isinstance(hired.fact, Hired)
    assert (hired.worker, hired.fact.backend) == (name, backend)


@promise("texts.8", "texts.9", "texts.10")
@pytest.mark.parametrize(
    ("text", "usage"),
    [
        ("/hire", "Usage: /hire <name>"),
        ("/hire --codex", "Usage: /hire <name>"),
        ("/hire ann --backend", "Usage: /hire <name>"),
        ("/end", "Offboarding is permanent. Usage: /end <name>"),
        ("/focus", "Usage: /focus <name>"),
    ],
)
def test_usage(text: str, usage: str) -> None:
    assert wish(text) == Wrong(id="i", why=usage)


@promise("backend.11")
def test_a_backends_prefix_is_part_of_the_name_and_may_be_left_out_when_speaking() -> None:
    present = team("codex-alice", backend="codex")
    assert [find_worker(name, present) for name in ("codex-alice", "alice", "codex_alice")] == ["codex-alice"] * 3
    # Hired before there was a backend of that name: it is called what it was called.
    old = team("kimi-bob")
    assert find_worker("kimi-bob", old) == "kimi-bob"
    assert find_worker("bob", old) == ""


@promise("texts.11", "commands.4")
def test_learn() -> None:
    tail = "Problem: <what went wrong or was inefficient>\nFix: <the better approach>\nWhy: <root cause or insight>"
    about = "What did you learn about tests today? Please answer in Problem / Fix / Why format:\n"
    assert wish("/learn tests") == Tell(id="i", text=about + tail, needs_focus=True)
    plain = "What did you learn today? Please answer in Problem / Fix / Why format:\n"
    assert wish("/learn") == Tell(id="i", text=plain + tail, needs_focus=True)


@promise("commands.11")
@given(st.sets(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?", fullmatch=True).filter(is_free), max_size=120))
def test_no_name_can_cost_the_menu(names: set[str]) -> None:
    entries = menu(team(*names))
    assert len(entries) <= 100
    assert len({name for name, _ in entries}) == len(entries)
    for name, text in entries:
        assert 1 <= len(name) <= 32
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_")
        assert 1 <= len(text) <= 256


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    for start in ("", "/", "@", "/hire ", "/end ", "/tune ", "/edit ", "/adopt ", "/mode "):
        read("i", start + text, team("ann"))


@promise("commands.10")
@pytest.mark.parametrize(
    ("text", "passed"),
    [("/deploy@my_bot now", "/deploy now"), ("/Deploy@my_bot", "/Deploy"), ("/deploy a@b.c", "/deploy a@b.c")],
)
def test_the_bots_name_does_not_reach_an_agent(text: str, passed: str) -> None:
    assert wish(text) == Tell(id="i", text=passed, needs_focus=True)


@promise("commands.14")
@pytest.mark.parametrize("name", sorted(INTERACTIVE))
def test_no_worker_takes_a_blocked_command_over(name: str) -> None:
    """Nor one of an older team, which may have such a name."""
    blocked = wish(f"/{name} hello", team(name))
    assert isinstance(blocked, Wrong)
    assert blocked.why.startswith(f"/{name} is interactive and not supported here.")
    assert wish(f"@{name} hello", team(name)) == Tell(id="i", text="hello", worker=name)
    with pytest.raises(BadName, match="reserved command"):
        worker_name(name)
