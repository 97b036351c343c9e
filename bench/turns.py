"""Runs two commands in turns in a process that does nothing else, and prints how long each took.

A node answers from a process of its own: measured inside it, each run would wait for its interpreter too.
"""

import json
import subprocess
import sys
import time


def main() -> None:
    """Reads {first, second, environment, payload, rounds} and prints the seconds of both."""
    asked = json.load(sys.stdin)
    commands, payload = (asked["first"], asked["second"]), asked["payload"].encode()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(asked["rounds"]):
        for command, taken in zip(commands, times, strict=True):
            started = time.perf_counter()
            subprocess.run(command, input=payload, env=asked["environment"], capture_output=True, check=False)
            taken.append(time.perf_counter() - started)
    json.dump(times, sys.stdout)


if __name__ == "__main__":
    main()
