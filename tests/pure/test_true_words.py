"""What the command line says at the end: nothing that is not so."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from farhand.cli import run as running_command
from farhand.cli.app_link import NO_WAY_IN
from farhand.cli.check_result import ABSENT, BAD, GOOD, WARNING, CheckResult
from farhand.cli.doctor import summary
from farhand.cli.flags import command_parser
from farhand.cli.restart import with_flags
from farhand.config.settings import read_settings
from farhand.run import farewell


@pytest.mark.parametrize(
    ("states", "told"),
    [
        ((GOOD, ABSENT), "all is well."),
        ((GOOD, WARNING, WARNING), "nothing is broken; 2 worth a look (⚠)."),
        ((BAD, WARNING), "1 to be put right."),
    ],
)
def test_not_all_is_well_while_something_is_worth_a_look(states: tuple[str, ...], told: str) -> None:
    assert summary([CheckResult("one", state, "said") for state in states]) == told


@pytest.mark.parametrize(
    ("has_team", "ends", "by_signal", "told"),
    [
        (False, False, False, "Node 'dev' stops."),
        (False, True, False, "Node 'dev' stops."),
        (True, True, False, "Node 'dev' stops. Its agents end, too."),
        (True, False, False, "Node 'dev' stops. Its agents live on; the next run finds them."),
        # `farhand stop` ends them after it.
        (True, False, True, "Node 'dev' stops."),
    ],
)
def test_the_last_line_promises_no_agent_that_is_about_to_end(
    *, has_team: bool, ends: bool, by_signal: bool, told: str
) -> None:
    settings = replace(read_settings(node="dev", environ={"HOME": "/nowhere"}), ends_workers=ends)
    assert farewell(settings, has_team=has_team, by_signal=by_signal) == told


def restarted(*words: str, before: tuple[str, ...]) -> argparse.Namespace:
    given = command_parser("farhand restart", "", running_command).parse_args(list(words))
    return with_flags(given, before, detached=False)


def test_a_way_in_that_is_asked_for_now_puts_an_earlier_no_tunnel_aside() -> None:
    assert restarted(before=("--no-tunnel",)).no_tunnel
    assert not restarted("--reach", "auto", before=("--no-tunnel", "--demo")).no_tunnel


def test_what_a_node_without_a_way_in_says_to_run_opens_one() -> None:
    sentence = NO_WAY_IN.format(node="demo")
    words = sentence.partition("farhand restart ")[2].partition(" (")[0].split()
    merged = restarted(*words, before=("--no-tunnel", "--demo", "--no-telegram"))
    assert (merged.node, merged.reach, merged.no_tunnel, merged.no_telegram) == ("demo", "cloudflared", False, True)
    assert "make run REACH=cloudflared" in sentence
    assert "--reach $(REACH)" in (Path(__file__).resolve().parents[2] / "Makefile").read_text("utf-8")
