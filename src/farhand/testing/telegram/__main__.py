"""Runs the fake Telegram as its own process: `python -m farhand.testing.telegram --port 0` prints its address."""

from __future__ import annotations

import argparse
import contextlib
import os
import stat
import sys

import anyio

from farhand.testing.telegram.server import Telegram, serving
from farhand.testing.telegram.world import World


async def run(port: int, tokens: list[str]) -> None:
    telegram = Telegram()
    for token in tokens:
        telegram.worlds[token] = World(token, "farhand_bot")
    async with serving(telegram, port=port) as address:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        # A test that started it holds its input open; when the test is gone, there is nothing left to do.
        if stat.S_ISFIFO(os.fstat(0).st_mode):
            await anyio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)
        else:
            await anyio.sleep_forever()


def main() -> None:
    reader = argparse.ArgumentParser(prog="python -m farhand.testing.telegram", description=__doc__)
    reader.add_argument("--port", type=int, default=0)
    reader.add_argument("--token", action="append", default=[], help="a bot that is there from the start")
    given = reader.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        anyio.run(run, given.port, given.token)


if __name__ == "__main__":
    main()
