"""What a policy decision costs: for a tool, and for a shell line of 200 characters, among 500 rules."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any

RULES = 500
ROUNDS = 400
Row = dict[str, Any]


def rows(rounds: int = ROUNDS) -> list[Row]:
    """Both figures, each beside the least that such a decision could cost."""
    from farhand.sdk.policies import Judge, Surroundings
    from farhand.sdk.policies.defaults import default_rules
    from farhand.sdk.policies.shell import taken_apart

    judge = Judge([*_rules(), *default_rules()])
    around = Surroundings(cwd=Path.cwd())
    calls = [_tool_call(number) for number in range(rounds)]
    lines = [_shell_call(number) for number in range(rounds)]
    tool = _median(lambda number: judge.decide(calls[number], around), rounds)

    def shell(number: int) -> None:
        # No line is known from before: what it is made of is taken apart anew.
        taken_apart.cache_clear()
        judge.decide(lines[number], around)

    def parse(number: int) -> None:
        taken_apart.cache_clear()
        taken_apart(lines[number].arguments["command"])

    names = {f"tool {number}" for number in range(RULES)}
    look = _median(lambda number: f"tool {number}" in names, rounds)
    return [
        _row("a decision on a tool, 500 rules, p50", tool, "a look into a set", look, 50),
        _row(
            "a decision on a shell line of 200 characters, 500 rules, p50",
            _median(shell, rounds),
            "taking it apart",
            _median(parse, rounds),
            1000,
        ),
    ]


def _rules() -> list[Any]:
    from farhand.sdk.policies import allow, deny

    third = RULES // 3
    return [
        *(allow("run_shell_command", prefix=f"program{number} run") for number in range(third)),
        *(deny("write_file", arguments=f'"file_path":"secret{number}/') for number in range(third)),
        *(allow(f"tool{number}") for number in range(RULES - 2 * third)),
    ]


def _tool_call(number: int) -> Any:
    from farhand.sdk.protocols import ToolCall

    # The tool with the most rules that look at its arguments.
    return ToolCall("1", "write_file", {"file_path": f"src/file{number}.py", "content": "x" * 200})


def _shell_call(number: int) -> Any:
    from farhand.sdk.protocols import ToolCall

    line = (
        f"cd src/{number:03d} && program{number % 100} run --with 'some words' | grep -n \"a pattern\" | head -n 20; "
        "if [ -f a.txt ]; then cat a.txt; fi && git log --oneline -n 5 && FOO=1 sudo program1 run $(which program2)"
    )
    return ToolCall("1", "run_shell_command", {"command": line[:200].ljust(200, "x") if len(line) < 200 else line})


def _median(action: Any, rounds: int) -> float:
    taken = []
    for number in range(rounds):
        began = time.perf_counter()
        action(number)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1_000_000


def _row(name: str, value: float, floor_name: str, floor: float, limit: float) -> Row:
    return {
        "name": name,
        "value": round(value, 1),
        "unit": "µs",
        "floor_name": floor_name,
        "floor": round(floor, 1),
        "ratio": round(value / floor, 1),
        "limit": limit,
        "absolute": True,
    }


if __name__ == "__main__":
    for each in rows():
        print(json.dumps(each, ensure_ascii=False))
