"""`farhand hook test`: runs the installed hook as an agent's session would, and sees its message arrive at the node."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import anyio

from farhand.cli.options import new_id, with_hub
from farhand.client.door import SocketHub
from farhand.config.settings import Settings, read_settings
from farhand.hooks.install import interpreter
from farhand.model.errors import NodeError, SettingMissing
from farhand.model.facts import Responded

PATIENCE_SECONDS = 15.0


def try_hook(arguments: argparse.Namespace, module: ModuleType, program: Path) -> int:
    """Sends a test message to the manager's chat by the very road that answers take."""
    if not program.exists():
        raise SettingMissing(f"There is no {program}.", hints=("farhand hook install",))
    settings = read_settings(node=arguments.node, environ=dict(os.environ))
    worker = with_hub(arguments, lambda hub: _try(hub, settings, module, program, arguments.worker))
    sys.stdout.write(f"The hook reaches node '{settings.node}': the test message went to {worker}'s chat.\n")
    return 0


async def _try(hub: SocketHub, settings: Settings, module: ModuleType, program: Path, wanted: str) -> str:
    status = await hub.status()
    names = [one["name"] for one in status["workers"]]
    worker = wanted or status["focus"] or next(iter(names), "")
    if worker not in names:
        problem = f"Nobody called '{worker}' is on the team." if worker else "Nobody is on the team."
        raise SettingMissing(problem, hints=("a hook speaks for a worker: farhand hire <name>",))
    if not (settings.sessions / worker / "chat_id").exists():
        raise SettingMissing("No chat is known yet.", hints=("write to the bot once, then try again",))
    text = f"Test message of the Stop hook ({new_id()[:8]})."
    address = settings.bridge_url(int(status["port"]))
    with tempfile.TemporaryDirectory() as folder:
        transcript = Path(folder) / "transcript.jsonl"
        transcript.write_text(module.sample_transcript("farhand hook test", text), "utf-8")
        await _run(program, session_variables(settings, worker, address), transcript)
    with anyio.move_on_after(PATIENCE_SECONDS):
        async for event in hub.watch(after=int(status["seq"])):
            if isinstance(event.fact, Responded) and text in event.fact.text:
                return worker
    raise NodeError(f"The hook ran, and nothing arrived at {address} within {PATIENCE_SECONDS:g} s.")


def session_variables(settings: Settings, worker: str, address: str) -> dict[str, str]:
    """What a session carries that runs outside of tmux, and no more."""
    return {
        **{name: value for name, value in os.environ.items() if name == "PATH"},
        "TMUX_PREFIX": settings.tmux_prefix,
        "SESSIONS_DIR": str(settings.sessions),
        "BRIDGE_URL": address,
        "BRIDGE_SESSION": worker,
    }


async def _run(program: Path, environment: Mapping[str, str], transcript: Path) -> None:
    payload = f'{{"hook_event_name":"Stop","transcript_path":"{transcript}"}}'.encode()
    command = [interpreter(), "-I", "-S", str(program)]
    await anyio.run_process(command, input=payload, env=environment, check=False, stderr=subprocess.DEVNULL)
