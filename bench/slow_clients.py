"""Thousands of connections that send their request a byte at a time, as a program of its own; its figures as JSON.

Run as `python -m bench.slow_clients PORT COUNT`; it ends when its input does."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from dataclasses import asdict, dataclass

# Each address is one caller: none may have more than its share.
ADDRESSES = tuple(f"127.1.{number // 250}.{number % 250 + 1}" for number in range(100))
# A connection that was cut is opened again after this long, and each sends another byte so often.
AGAIN_SECONDS = 5.0
BYTE_SECONDS = 3.0
START = b"POST /response HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


@dataclass
class Held:
    """How the attack went."""

    opened: int = 0
    cut: int = 0
    failed: int = 0
    now: int = 0
    most: int = 0


async def hold(port: int, number: int, held: Held) -> None:
    """One connection after the other from one address, each held as long as it is let."""
    address = ADDRESSES[number % len(ADDRESSES)]
    await asyncio.sleep(number / 1000)
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
        except OSError:
            held.failed += 1
            await asyncio.sleep(AGAIN_SECONDS)
            continue
        held.opened += 1
        held.now += 1
        held.most = max(held.most, held.now)
        await trickle(reader, writer)
        held.now -= 1
        held.cut += 1
        await asyncio.sleep(AGAIN_SECONDS)


async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Sends the beginning of a request, then a byte now and then, until it is cut off."""
    try:
        writer.write(START)
        while not reader.at_eof():
            try:
                async with asyncio.timeout(BYTE_SECONDS):
                    await reader.read(1)
            except TimeoutError:
                writer.write(b"x")
    except OSError:
        pass
    finally:
        writer.close()


async def main(port: int, count: int) -> None:
    """Holds them until the input ends."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + 200)), hard))
    held = Held()
    tasks = [asyncio.create_task(hold(port, number, held)) for number in range(count)]
    await asyncio.to_thread(sys.stdin.buffer.read)
    print(json.dumps(asdict(held)), flush=True)
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
