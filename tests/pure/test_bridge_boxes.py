"""Which screens of the CLIs show an empty input box, into which a bridged agent is woken."""

from __future__ import annotations

from pathlib import Path

import pytest

from farhand.drivers.wires.hooks.bridge import box_on
from farhand.manifests import bridge_hooks

HERE = Path(__file__).parent
HOOKS = bridge_hooks()
RULE = "─" * 40


def screen(backend: str, name: str) -> str:
    shown = (HERE / backend / "recordings" / name).read_text("utf-8")
    # The recording has no colours: Codex shows its hint faint.
    return shown.replace("Ask Codex to do anything", "\x1b[2mAsk Codex to do anything\x1b[0m")


def box(backend: str, shown: str) -> str | None:
    """What is read off that screen of that CLI, when all are known."""
    return box_on(shown, HOOKS[backend].before, HOOKS.values())


@pytest.mark.parametrize("backend", sorted(HOOKS))
def test_an_idle_screen_has_an_empty_box_and_a_dialog_has_none(backend: str) -> None:
    assert box(backend, screen(backend, "tui-idle.txt")) == ""
    assert box(backend, screen(backend, "tui-permission.txt")) is None
    assert box(backend, "$ ls\n$ \n") is None


@pytest.mark.parametrize("backend", sorted(HOOKS))
def test_a_cli_that_has_not_told_its_event_is_read_all_the_same(backend: str) -> None:
    assert box_on(screen(backend, "tui-idle.txt"), "", HOOKS.values()) == ""
    assert box_on(screen(backend, "tui-permission.txt"), "", HOOKS.values()) is None
    assert box_on(screen(backend, "tui-idle.txt"), "", ()) is None


def test_what_is_typed_is_seen() -> None:
    gemini = screen("gemini", "tui-idle.txt").replace("Type your message or @path/to/file", "fix the tests")
    assert box("gemini", gemini) == "fix the tests"
    assert box("claude", f"● answer\n{RULE}\n❯ fix the tests\n{RULE}\n  ? for shortcuts\n") == "fix the tests"
    assert box("codex", "• answer\n\n› fix the tests\n\n  gpt-5 · /work\n") == "fix the tests"


def test_a_box_for_shell_commands_takes_no_prompt() -> None:
    shell = screen("gemini", "tui-idle.txt").replace("Type your message or @path/to/file", "Type your shell command")
    assert box("gemini", shell.replace(" >   Type", " !   Type")) is None
    assert box("claude", f"● answer\n{RULE}\n!\n{RULE}\n  ! for bash mode\n") is None
