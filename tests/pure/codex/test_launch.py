"""How Codex is started: quiet, with what its settings name, and with hooks that are trusted by their digest."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from farhand.drivers.codex import launch
from farhand.drivers.codex.launch import CodexHook
from farhand.drivers.codex.limits import limit, readable, reset
from farhand.model.present import Worker
from farhand.model.words import Mode

WORKER = Worker(name="ann", since=1, backend="codex", directory="/home/dev/a b", session="01a1-x")
NOON = 1_794_830_400.0


def given(words: list[str]) -> dict[str, Any]:
    """The settings on a command line, as Codex reads them."""
    found: dict[str, Any] = {}
    for word in [value for flag, value in pairwise(words) if flag == "-c"]:
        parsed = tomllib.loads(word if word.split("=", 1)[1] != "never" else 'approval_policy="never"')
        for name, value in parsed.items():
            found[name] = {**found[name], **value} if isinstance(found.get(name), dict) else value
    return found


def test_a_hook_is_trusted_by_the_digest_that_codex_itself_would_keep() -> None:
    hook = CodexHook("Stop", "/bin/true x", 10)
    assert hook.digest == "sha256:7fdfe43b61eccf413abae68c7a0f0af74f7183ebfde4fd803b08a372fd32c59a"
    assert CodexHook("PermissionRequest", "x", 1).name == "permission_request"


def test_the_interactive_codex_has_four_hooks_and_every_one_is_trusted() -> None:
    hooks = launch.session_hooks("/usr/bin/python3", Path("/a 'b'/hook"), 600.0)
    words = launch.terminal_line("codex", WORKER, "/home/dev", hooks, resume="01a1-x")
    settings = given(words)
    assert words[-2:] == ["resume", "01a1-x"]
    assert "--no-daemon" in words
    assert set(settings["hooks"]) == {"SessionStart", "UserPromptSubmit", "Stop", "PermissionRequest", "state"}
    assert settings["hooks"]["PermissionRequest"][0]["hooks"][0]["timeout"] == 660
    assert len(settings["hooks"]["state"]) == 4
    assert settings["projects"] == {"/home/dev": {"trust_level": "trusted"}}
    assert settings["analytics"] == {"enabled": False}


@pytest.mark.parametrize(
    ("mode", "headless", "terminal"),
    [
        (Mode.DEFAULT, ("untrusted", "workspace-write"), ("on-request", "read-only")),
        (Mode.AUTO_EDIT, ("on-request", "workspace-write"), ("on-request", "workspace-write")),
        (Mode.PLAN, ("on-request", "read-only"), ("on-request", "read-only")),
        (Mode.YOLO, ("never", "danger-full-access"), ("never", "danger-full-access")),
    ],
)
def test_a_mode_is_a_policy_and_a_sandbox(mode: Mode, headless: tuple[str, str], terminal: tuple[str, str]) -> None:
    assert launch.policy(mode) == headless
    assert launch.policy(mode, interactive=True) == terminal


def test_a_turn_that_cannot_ask_only_reads_unless_it_may_do_all() -> None:
    quiet = launch.turn_line("codex", "/home/dev", Mode.DEFAULT, "", "")
    assert 'sandbox_mode="read-only"' in quiet
    assert quiet[-2:] == ["--", "-"]
    free = launch.turn_line("codex", "/home/dev", Mode.YOLO, "m", "01a1-x", ["/a.png"])
    assert free[:3] == ["codex", "exec", "resume"]
    assert "--dangerously-bypass-approvals-and-sandbox" in free
    assert free[-7:] == ["-m", "m", "-i", "/a.png", "--", "01a1-x", "-"]


def test_what_its_settings_name_reaches_it_and_no_other_secret(tmp_path: Path) -> None:
    provider = '[model_providers.x]\nenv_key = "MY_KEY"\nenv_http_headers = {"X-A" = "MY_HEADER"}\n'
    (tmp_path / "config.toml").write_text(provider)
    own = {"CODEX_HOME": str(tmp_path), "MY_KEY": "k", "MY_HEADER": "h", "OTHER_KEY": "o", "OPENAI_API_KEY": "p"}
    assert set(launch.agent_variables(own)) == {"CODEX_HOME", "MY_KEY", "MY_HEADER", "OPENAI_API_KEY"}
    (tmp_path / "config.toml").write_text("not [ toml")
    assert set(launch.agent_variables(own)) == {"CODEX_HOME", "OPENAI_API_KEY"}


def test_the_way_back_to_the_desk() -> None:
    assert launch.resume_command(WORKER, {}) == "cd '/home/dev/a b' && codex resume 01a1-x"
    assert launch.resume_command(WORKER, {"CODEX_HOME": "/c d"}).endswith("&& CODEX_HOME='/c d' codex resume 01a1-x")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("You’ve hit your usage limit. Try again in 2 days 3 hours 5 minutes.", 183_900.0),
        ("You’ve hit your usage limit. Try again in 30 seconds.", 30.0),
        ("You’ve hit your usage limit.", None),
        ("You’ve hit your usage limit; try again at 13:77 PM.", None),
    ],
)
def test_a_limit_ends_when_it_says_so(text: str, seconds: float | None) -> None:
    assert reset(text, NOON) == (None if seconds is None else NOON + seconds)


def test_a_limit_is_known_by_its_kind_or_by_its_words() -> None:
    assert limit("no more", "usageLimitExceeded", None, NOON) is not None
    assert limit("no more", "usage_limit_exceeded", NOON + 5, NOON) is not None
    assert limit("You've hit your usage limit.", "", None, NOON) is not None
    assert limit("no more", "badRequest", None, NOON) is None
    assert readable('{"error":{"message":"not now"}}') == "not now"
    assert readable("{broken") == "{broken"
