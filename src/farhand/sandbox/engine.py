"""Finds what can run sandboxes on this machine, and runs its small commands."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from farhand.model.container import PROBES, ContainerEngine, engine_problem
from farhand.model.errors import DriverError, ProgramMissing
from farhand.model.sandbox import SandboxEngine

SECONDS = 30.0
# The code of a program that hangs or cannot be started.
NOT_RUN = 127
PROBE_TRIES = 3
PROBE_PAUSE_SECONDS = 0.1
# In this order: who has Docker running wants it; bubblewrap has no image and no limits.
ORDER = (SandboxEngine.DOCKER, SandboxEngine.PODMAN, SandboxEngine.BWRAP)
HINTS = ("install Docker or podman, or: sudo apt install bubblewrap", "or run without --sandbox")


@dataclass(frozen=True)
class EngineReply:
    """What a program said."""

    code: int
    text: str


def call(words: Sequence[str], environment: Mapping[str, str]) -> EngineReply:
    """Runs a small command of an engine; one that hangs is as good as one that is not there."""
    try:
        done = subprocess.run(
            [*words],
            env={**environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return EngineReply(NOT_RUN, str(error))
    output = done.stdout if done.returncode == 0 else done.stderr or done.stdout
    return EngineReply(done.returncode, output.decode(errors="replace").strip())


def find_engine(wanted: SandboxEngine, environment: Mapping[str, str]) -> ContainerEngine:
    """The engine that was asked for, or the first that runs; raises ProgramMissing with what to do."""
    tried: list[str] = []
    hints: list[str] = []
    for kind in ORDER if wanted is SandboxEngine.AUTO else (wanted,):
        program = shutil.which(kind.value, path=environment.get("PATH"))
        if program is None:
            continue
        said = _probed([program, *PROBES[kind]], environment)
        if said.code == 0:
            return engine_of(kind, program, said.text)
        problem, hint = engine_problem(kind, said.text)
        tried.append(problem)
        hints += [hint] if hint else []
    name = "neither docker, podman nor bwrap" if wanted is SandboxEngine.AUTO else f"no {wanted}"
    what = "; ".join(tried) or f"{name} is installed"
    raise ProgramMissing(f"Workers cannot be sandboxed: {what}.", hints=(*hints, *HINTS))


def _probed(words: Sequence[str], environment: Mapping[str, str]) -> EngineReply:
    """What the engine's probe says: what somebody else mounts or takes away at that moment may make one fail.

    One that hung is not waited for again."""
    said = call(words, environment)
    for _ in range(PROBE_TRIES - 1):
        if said.code in (0, NOT_RUN):
            break
        time.sleep(PROBE_PAUSE_SECONDS)
        said = call(words, environment)
    return said


def engine_of(kind: SandboxEngine, program: str, said: str) -> ContainerEngine:
    """The engine, as its probe described it."""
    if kind is SandboxEngine.PODMAN:
        # Before version 5 it knows no `host-gateway`.
        return ContainerEngine(kind, program, rootless=said == "true", host_address=outward_address())
    return ContainerEngine(kind, program)


def outward_address() -> str:
    """This machine's address towards others; nothing is sent for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def need_image(engine: ContainerEngine, image: str, environment: Mapping[str, str]) -> None:
    """Raises DriverError with what to do where the image is not there: nothing is fetched unasked."""
    words = [engine.program, "image", "inspect", image]
    said = call(words, environment)
    if said.code and not _is_absent(said.text):
        # It may fail while another one takes a container away.
        said = call(words, environment)
    if said.code and _is_absent(said.text):
        raise DriverError(
            f"There is no image '{image}' for sandboxed workers: build it with `farhand sandbox build`, or fetch it "
            f"with `{engine.kind} pull {image}`."
        )
    if said.code:
        raise DriverError(f"{engine.kind} does not say whether the image '{image}' is there: {said.text}")


def _is_absent(said: str) -> bool:
    return any(words in said.lower() for words in ("image not known", "no such image", "no such object"))


def remove(engine: ContainerEngine, names: Sequence[str], environment: Mapping[str, str]) -> None:
    """Removes these containers, whatever runs in them; those that are gone already are no error."""
    if names:
        call([engine.program, "rm", "--force", *names], environment)


def labelled(engine: ContainerEngine, label: str, environment: Mapping[str, str]) -> list[str]:
    """The containers with that label, running or not."""
    said = call([engine.program, "ps", "--all", "--quiet", "--no-trunc", f"--filter=label={label}"], environment)
    return said.text.split() if said.code == 0 else []


def worker_of(engine: ContainerEngine, name: str, environment: Mapping[str, str]) -> str:
    """Whose container it is, from its label; its own name when that is not told."""
    wanted = '{{index .Config.Labels "farhand.hiring"}}'
    said = call([engine.program, "container", "inspect", f"--format={wanted}", name], environment)
    hiring = said.text.rpartition("/")[2] if said.code == 0 else ""
    return hiring.rpartition("-")[0] or name[:12]


def user_ids() -> tuple[int, int]:
    """Whom agents are inside, too: files belong to the same user on both sides."""
    return os.geteuid(), os.getegid()
