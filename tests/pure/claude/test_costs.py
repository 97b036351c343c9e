"""What Claude Code tells its status line becomes the cost of the turn that it was spent on."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import run

import pytest

from farhand.drivers.claude.launch import CALM, ClaudePaths, has_own, session_settings
from farhand.drivers.claude.tmux.state import ClaudeState, began, end_turn
from farhand.drivers.claude.tmux.status import status_line
from farhand.drivers.claude.tmux.translate import translate_cost
from farhand.model.facts import TurnEnded, Used
from farhand.model.words import HowEnded, Usage, UsageWindow

IDLE = ClaudeState(session="s")


def told(total: object, prompt: str = "p1", session: str = "s") -> bytes:
    """As the CLI says it."""
    return json.dumps({"session_id": session, "prompt_id": prompt, "cost": {"total_cost_usd": total}}).encode()


def spent(state: ClaudeState, payload: bytes) -> tuple[float | None, ClaudeState]:
    heard, state = translate_cost(payload, state)
    costs = [one.fact.usage.cost_dollars for one in heard if isinstance(one.fact, Used)]
    assert len(costs) == len(heard) <= 1
    return (costs[0] if costs else None), state


def test_each_turn_has_its_own_part_of_the_sum() -> None:
    state = began(IDLE, "t1", "p1")
    first, state = spent(state, told(0.25))
    more, state = spent(state, told(0.5))
    _, state = end_turn(state, "p1", HowEnded.COMPLETED)
    second, state = spent(began(state, "t2", "p2"), told(0.75, "p2"))
    assert (first, more, second) == (0.25, 0.5, 0.25)


def test_the_end_of_a_turn_has_its_cost_beside_its_tokens() -> None:
    _, state = translate_cost(told(0.25), began(IDLE, "t1", "p1"))
    ended, _ = end_turn(state, "p1", HowEnded.COMPLETED)
    assert [one.fact for one in ended] == [TurnEnded(how=HowEnded.COMPLETED, usage=Usage(cost_dollars=0.25))]


def test_the_windows_of_a_subscription_are_told_beside_the_cost() -> None:
    payload = json.loads(told(0.25))
    payload["rate_limits"] = {
        "five_hour": {"used_percentage": 23.5, "resets_at": 1738425600},
        "seven_day": {"used_percentage": 41.2, "resets_at": 1738857600},
    }
    heard, _ = translate_cost(json.dumps(payload).encode(), began(IDLE, "t1", "p1"))
    windows = (
        UsageWindow(name="5h", used_percent=23.5, resets_at=1738425600),
        UsageWindow(name="7d", used_percent=41.2, resets_at=1738857600),
    )
    assert [one.fact for one in heard] == [Used(usage=Usage(cost_dollars=0.25, windows=windows))]


def test_a_sum_that_comes_after_the_end_is_told_of_that_turn() -> None:
    _, state = end_turn(began(IDLE, "t1", "p1"), "p1", HowEnded.COMPLETED)
    heard, _ = translate_cost(told(0.25), state)
    assert [one.turn for one in heard] == ["t1"]


def test_what_a_session_had_cost_before_is_nobodys() -> None:
    before, state = spent(IDLE, told(3.0, ""))
    first, _ = spent(began(state, "t1", "p1"), told(3.5))
    assert (before, first) == (None, 0.5)


def test_an_agent_that_counts_from_nothing_again_costs_what_it_says() -> None:
    _, state = spent(began(IDLE, "t1", "p1"), told(3.0))
    again, _ = spent(began(state, "t2", "p2"), told(0.5, "p2"))
    assert again == 0.5


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"[]", b"{}", told("much"), told(None), told(1.0, session="another"), told(True)]
)
def test_what_makes_no_sense_changes_nothing(payload: bytes) -> None:
    state = began(IDLE, "t1", "p1")
    assert translate_cost(payload, state) == ([], state)


def test_the_status_line_leaves_what_it_is_told_and_says_nothing(tmp_path: Path) -> None:
    place = tmp_path / "it's here" / "status.json"
    place.parent.mkdir()
    done = run(["sh", "-c", status_line(place)["command"]], input=told(1.0), capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert place.read_bytes() == told(1.0)
    assert [one.name for one in place.parent.iterdir()] == ["status.json"]


@pytest.mark.parametrize(
    "where", ["home/settings.json", "work/.claude/settings.json", "work/.claude/settings.local.json"]
)
def test_a_persons_own_status_line_is_seen(tmp_path: Path, where: str) -> None:
    places = ClaudePaths(tmp_path / "home", tmp_path / "home/.claude.json")
    assert not has_own("statusLine", places, tmp_path / "work")
    file = tmp_path / where
    file.parent.mkdir(parents=True)
    file.write_text('{"statusLine": {"type": "command", "command": "true"}}')
    assert has_own("statusLine", places, tmp_path / "work")
    file.write_text("{")
    assert not has_own("statusLine", places, tmp_path / "work")


def test_a_worker_draws_no_animations_unless_the_person_chose_otherwise() -> None:
    assert session_settings({})[CALM] is True
    assert CALM not in session_settings({}, calm=False)
