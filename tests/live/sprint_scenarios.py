"""A sprint that every agent's CLI must bring to its end: a verifier that fails twice, three kills, a usage limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import anyio
from tests.house.reviewing import git
from tests.live.phone_scenarios import SECOND, PhoneModel

from farhand.client.door import SocketHub
from farhand.model.facts import Limited, SprintEnded, TurnEnded, TurnStarted
from farhand.model.names import origin
from farhand.model.sprint import HowSprintEnded
from farhand.model.words import HowEnded
from farhand.testing.cli_env import CliEnv
from farhand.testing.phone import SECONDS, Phone

TASKS = tuple(f"zz-task-{letter}" for letter in "abcdef")
# The third and the fourth check fail: two rounds of the third task.
VERIFIER = """echo checked >> ../checks
wc -l < ../checks > work.txt
case $(wc -l < ../checks) in 3|4) echo the tests fail; exit 1;; esac
"""
ROUNDS = (1, 1, 3, 1, 1, 1)
ANSWERS = ("did a", SECOND, "first try of c", "second try of c", "did c", "did d", SECOND, "did f")


class SprintModel(PhoneModel, Protocol):
    """The fake model behind the agent, which can also be at its limit."""

    def limits(self, marker: str, text: str) -> None:
        """The model is at its usage limit first, and says that the next time."""
        ...


async def a_sprint_outlives_three_kills_and_a_usage_limit(phone: Phone, model: SprintModel) -> None:
    go_on = _script(model)
    _prepare(phone.cli_env)
    listed = "\n".join(f"- {task}" for task in TASKS)
    await phone.manager.says(f'/sprint start --verify "sh ../verify"\n{listed}')
    await model.asked(TASKS[1])
    await phone.kill()
    go_on[0]()
    await phone.start()
    limited = await phone.reads("ann has reached its usage limit")
    await phone.kill()
    await phone.start()
    await phone.manager.taps(limited, "Try now")
    await model.asked(TASKS[4])
    await phone.kill()
    await phone.start()
    go_on[1]()
    await phone.hears("ann's sprint is done")
    await _check(phone)


def _script(model: SprintModel) -> tuple[Callable[[], None], Callable[[], None]]:
    model.says(TASKS[0], "did a")
    first = model.pauses(TASKS[1])
    for text in ("first try of c", "second try of c", "did c"):
        model.says(TASKS[2], text)
    model.limits(TASKS[3], "did d")
    second = model.pauses(TASKS[4])
    model.says(TASKS[5], "did f")
    return first, second


def _prepare(cli_env: CliEnv) -> None:
    (cli_env.folder / "verify").write_text(VERIFIER)
    git(cli_env.project, "init", "-q")
    git(cli_env.project, "config", "user.name", "Ada")
    git(cli_env.project, "config", "user.email", "ada@example.org")


async def _check(phone: Phone) -> None:
    """Every task once, its reports in order, and a summary that says so."""
    ended, started, ends = await _sprint(phone.cli_env.folder / "farhand" / "nodes" / "test" / "hub.sock")
    assert (ended.how, ended.sprint.failures) == (HowSprintEnded.DONE, 2)
    assert [(one.task, one.done, one.rounds) for one in ended.sprint.outcomes] == [
        (task, True, rounds) for task, rounds in zip(TASKS, ROUNDS, strict=True)
    ]
    wanted = [f"sprint:{ended.sprint.id}:{n}.{r + 1}" for n, rounds in enumerate(ROUNDS) for r in range(rounds)]
    # The turn that the limit stopped is begun again, under a name of its own.
    parked = wanted.index(f"sprint:{ended.sprint.id}:3.1")
    assert [origin(message) for message in started] == [*wanted[:parked], wanted[parked], *wanted[parked:]]
    assert ends == [HowEnded.COMPLETED] * parked + [HowEnded.PARKED] + [HowEnded.COMPLETED] * (len(wanted) - parked)
    checks = (phone.cli_env.folder / "checks").read_text().split()
    assert len(checks) == len(wanted), "each turn is checked once"
    commits = [one.commit for one in ended.sprint.outcomes]
    assert git(phone.cli_env.project, "log", "--reverse", "--format=%H %s").splitlines() == [
        f"{commit} {task}" for commit, task in zip(commits, TASKS, strict=True)
    ]
    shown = [one.text for one in await phone.manager.sees(bool, seconds=SECONDS) if not one.deleted and one.from_bot]
    assert _reports(shown) == list(ANSWERS)
    (summary,) = {text for text in shown if "sprint is done" in text}
    assert "6/6 · tests ✗ 2" in summary
    assert f"✅ {TASKS[2]} (3 rounds) · {commits[2][:8]}" in summary


def _reports(shown: list[str]) -> list[str]:
    """What the agent answered, in order; what a kill made Telegram hear twice in a row is one report."""
    told = [next((one for one in dict.fromkeys(ANSWERS) if one in text), "") for text in shown]
    told = [one for one in told if one]
    return [one for place, one in enumerate(told) if place == 0 or told[place - 1] != one]


async def _sprint(door: Path) -> tuple[SprintEnded, list[str], list[HowEnded]]:
    """Its end, the messages of its turns as they began, and how these ended."""
    started: list[str] = []
    ends: list[HowEnded] = []
    limits = 0
    with anyio.fail_after(SECONDS):
        async with SocketHub(door) as hub:
            async for event in hub.watch(after=0):
                match event.fact:
                    case TurnStarted(message=message) if message and message.startswith("sprint:"):
                        started.append(message)
                    case TurnEnded(how=how) if started:
                        ends.append(how)
                    case Limited():
                        limits += 1
                    case SprintEnded() as ended:
                        assert limits == 1
                        return ended, started, ends
                    case _:
                        pass
    raise AssertionError("the journal came to an end")
