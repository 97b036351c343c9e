"""How the process of one turn is stopped: gently, and for certain if it does not go; none is left behind."""

import asyncio
import signal
from asyncio.subprocess import Process


def stop(process: Process | None, grace_seconds: float) -> None:
    """Interrupts it, and kills it when it is still there after that time."""
    if process is not None and process.returncode is None:
        process.send_signal(signal.SIGINT)
        asyncio.get_running_loop().call_later(grace_seconds, _kill, process)


def _kill(process: Process) -> None:
    if process.returncode is None:
        process.kill()


async def end(process: Process | None) -> None:
    """Kills it, if it still runs, and waits until it is gone."""
    if process is not None and process.returncode is None:
        process.kill()
        await process.wait()
