"""Runs the task of one module a few times and prints what it took; stands on the standard library alone."""

import asyncio
import importlib
import json
import os
import statistics
import sys
import time
from pathlib import Path

BROKEN = "def add(a, b):\n    return a - b\n"


def memory_kilobytes():
    """The most that this process and what it started have held."""
    status = (Path(f"/proc/{each}/status") for each in [os.getpid(), *below(os.getpid())])
    lines = [line for path in status if path.exists() for line in path.read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def below(process):
    """The processes that a process started, and theirs."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        for child in path.read_text().split():
            found += [int(child), *below(int(child))]
    return found


def read():
    """The file that is repaired."""
    return Path("calc.py").read_text()


def write(text):
    """The file as it was."""
    Path("calc.py").write_text(text)


async def main(module, rounds):
    """Each round does the whole task; the first one also loads what was left for later."""
    taken, first = [], []
    most = 0
    for number in range(rounds):
        write(BROKEN)
        moments = []

        def heard(moments=moments):
            nonlocal most
            moments.append(time.perf_counter())
            most = max(most, memory_kilobytes()) if len(moments) == 1 else most

        began = time.perf_counter()
        text = await module.task(f"round {number}: repair calc.py", heard)
        taken.append(time.perf_counter() - began)
        first.append(moments[0] - began)
        assert "Done" in text, text
        assert "a + b" in read(), read()
    most = max(most, memory_kilobytes())
    return {"first": lower(first[1:]), "cold": first[0], "task": lower(taken[1:]), "memory": most}


def lower(taken):
    """The lower quartile: on a busy machine the others say more about it than about an SDK."""
    return statistics.quantiles(taken, n=4)[0]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    started = time.perf_counter()
    loaded = importlib.import_module(sys.argv[1])
    imported = time.perf_counter() - started
    print(json.dumps({"import": imported, **asyncio.run(main(loaded, int(sys.argv[2])))}))
