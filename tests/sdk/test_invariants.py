"""What holds for any input: nothing a hook, a model or a file says can break the pure parts of the SDK."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from farhand.sdk.dotenv import parse_dotenv
from farhand.sdk.hooks.answers import HookRun, clean, read_answer
from farhand.sdk.hooks.merge import fed_forward, merged
from farhand.sdk.hooks.words import WORDS, input_of
from farhand.sdk.ignore import IgnoreRules
from farhand.sdk.output import Collected, LineAssembler
from farhand.sdk.protocols import HookOutcome, ShellResult
from farhand.sdk.tools.convert import BadArgument, convert
from farhand.sdk.tools.overflow import cut
from farhand.sdk.tools.pagetext import page_text
from farhand.sdk.tools.patterns import expand_braces, glob_matcher
from farhand.sdk.tools.replace_text import NoMatch, replaced

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
SPECIFIC = st.dictionaries(
    st.sampled_from(
        [
            "additionalContext",
            "tool_input",
            "llm_request",
            "llm_response",
            "toolConfig",
            "tailToolCallRequest",
            "clearContext",
        ]
    ),
    JSON | st.dictionaries(st.sampled_from(["mode", "allowedFunctionNames", "candidates", "name", "args"]), JSON),
)
ANSWER = st.fixed_dictionaries(
    {},
    optional={
        "continue": JSON,
        "stopReason": JSON,
        "decision": st.sampled_from(["deny", "block", "ask", "allow", "approve", "DENY", ""]) | JSON,
        "reason": JSON,
        "systemMessage": JSON,
        "suppressOutput": JSON,
        "hookSpecificOutput": SPECIFIC | JSON,
        "novelty": JSON,
    },
)
EVENTS = st.sampled_from(sorted(WORDS))


@given(EVENTS, st.lists(ANSWER, max_size=4))
@example("BeforeToolSelection", [{"hookSpecificOutput": {"toolConfig": {"mode": []}}}])
@example("AfterModel", [{"hookSpecificOutput": {"llm_response": {"candidates": [{"content": 5}]}}}])
@example("AfterTool", [{"hookSpecificOutput": {"tailToolCallRequest": {"name": []}}}])
def test_any_answers_of_hooks_merge(event: str, answers: list[dict[str, Any]]) -> None:
    fields = {"tool_input": {"a": 1}, "prompt": "p", "llm_request": {}}
    results = [HookRun(f"hook {index}", clean(answer)) for index, answer in enumerate(answers)]
    outcome = merged(event, results, fields)
    assert isinstance(outcome, HookOutcome)
    assert outcome.decision in (None, "allow", "ask", "deny")
    assert "<" not in (outcome.additional_context or "")
    json.dumps(outcome.modified)
    if event == "BeforeTool":
        refused = any(str(answer.get("decision")).lower() in ("deny", "block") for answer in answers)
        assert (outcome.decision == "deny") == refused
    payload = dict(fields)
    for result in results:
        payload = fed_forward(event, payload, result)


@given(EVENTS, st.lists(st.booleans(), min_size=1, max_size=4))
def test_one_failure_is_enough_to_stop_a_tool(event: str, failed: list[bool]) -> None:
    results = [HookRun("h", failure="it broke") if each else HookRun("h", {"decision": "allow"}) for each in failed]
    outcome = merged(event, results, {})
    assert (outcome.decision == "deny") == (event == "BeforeTool" and any(failed))


@given(st.integers(-20, 130), st.text() | ANSWER.map(json.dumps), st.text(), st.booleans(), st.booleans())
def test_any_end_of_a_command_is_read(code: int, stdout: str, stderr: str, late: bool, flooded: bool) -> None:
    result = ShellResult(code, stdout + stderr, stdout, stderr, timed_out=late)
    ran = read_answer("h", result, timeout_seconds=1, overflowed=flooded)
    if late or code < 0 or flooded:
        assert ran.failure
    elif code > 1:
        assert ran.output is not None
        assert ran.output["decision"] == "deny"
        assert ran.output["reason"]


@given(EVENTS, st.dictionaries(st.sampled_from(["session_id", "cwd", "tool_name", "tool_input", "prompt", "x"]), JSON))
def test_any_payload_is_told_or_refused_with_a_sentence(event: str, payload: dict[str, Any]) -> None:
    try:
        input_of(event, payload)
    except ValueError as error:
        assert str(error).startswith(event)  # noqa: PT017


@given(JSON)
def test_any_json_is_converted_or_refused_with_a_sentence(value: Any) -> None:
    for kind in (int, list[str], dict[str, int], tuple[int, str], int | None, set[str]):
        try:
            convert(kind, value, "argument")
        except BadArgument as error:
            assert "argument" in str(error)  # noqa: PT017


@given(st.lists(st.binary(max_size=300), max_size=30), st.integers(0, 500))
def test_collected_output_is_bounded_and_keeps_both_ends(chunks: list[bytes], limit: int) -> None:
    collected = Collected(limit)
    for chunk in chunks:
        collected.add(chunk)
    whole = b"".join(chunks)
    assert collected.total == len(whole)
    kept = bytes(collected._head) + b"".join(collected._tail)
    assert len(kept) <= limit
    assert collected.overflowed == (len(whole) > limit)
    if not collected.overflowed:
        assert kept == whole
    else:
        assert whole.startswith(bytes(collected._head))
        assert whole.endswith(b"".join(collected._tail))


@given(st.text(alphabet="aä\n€", max_size=200), st.integers(1, 7))
def test_lines_do_not_depend_on_the_chunks(text: str, size: int) -> None:
    data = text.encode()
    assembler = LineAssembler()
    lines = [line for start in range(0, len(data), size) for line in assembler.feed(data[start : start + size])]
    lines += assembler.feed(b"", last=True)
    assert "\n".join(lines) == text.removesuffix("\n")


@given(st.text(), st.text(min_size=1), st.text(), st.booleans())
def test_replacing_changes_what_it_says_or_nothing(text: str, old: str, new: str, multiple: bool) -> None:
    try:
        result, count = replaced(text, old, new, allow_multiple=multiple)
    except NoMatch:
        return
    assert count >= 1
    assert multiple or count == 1
    assert isinstance(result, str)


@given(st.text(max_size=500), st.integers(1, 100))
def test_a_cut_text_keeps_its_ends(text: str, limit: int) -> None:
    shortened = cut(text, limit, "/kept")
    if len(text) <= limit:
        assert shortened == text
    else:
        assert shortened.startswith(text[: limit // 5])
        assert shortened.endswith(text[-(limit - limit // 5) :])
        assert "/kept" in shortened


@given(st.text(max_size=300))
def test_any_page_and_any_dotenv_and_any_pattern_are_read(text: str) -> None:
    page_text(text)
    parse_dotenv(text)
    expand_braces(text)
    glob_matcher(text).match("some/path.py")


PATHS = [
    "a.py",
    "b.log",
    "keep.log",
    "build/x",
    "src/build/x",
    "src/a.py",
    "src/deep/b.log",
    "src/deep/keep.log",
    "d/e/f",
]


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.sampled_from(
            [
                "*.log",
                "!keep.log",
                "/build/",
                "build/",
                "src/*",
                "!src/deep/",
                "**/deep",
                "d/",
                "/a.py",
                "#c",
                "",
                "f",
                "d/**/f",
                "[ab].py",
            ]
        ),
        max_size=5,
    ),
    st.sampled_from(["", "*.py", "!b.log", "deep/keep.log"]),
)
def test_ignoring_agrees_with_git(tmp_path_factory: pytest.TempPathFactory, rules: list[str], inner: str) -> None:
    root = tmp_path_factory.mktemp("repository")
    git(root, "init", "-q")
    for name in PATHS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / ".gitignore").write_text("\n".join(rules))
    (root / "src" / ".gitignore").write_text(inner)
    ignored = set(git(root, "check-ignore", "--no-index", *PATHS).split())
    ours = IgnoreRules(root)
    assert {name for name in PATHS if ours.ignores(root / name)} == ignored


def git(root: Path, *arguments: str) -> str:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    ended = subprocess.run(
        ["git", *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert ended.returncode in (0, 1), ended.stderr
    return ended.stdout
