"""The command `farhand` from a process that has it loaded: each command is a fork of it, with a home of its own.

Loading is nine tenths of what a short command costs. What starts a node, or is killed, is started as a person does."""

from __future__ import annotations

import atexit
import contextlib
import gc
import itertools
import json
import os
import subprocess
import sys
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("answer", "devices", "events", "hire", "inbox", "pair", "quiet", "review", "say", "sprint")
LOADED = ("anyio._backends._asyncio", *(f"farhand.cli.{name}" for name in ("agent_flag", "call_command", *COMMANDS)))


class LoadedFarhand:
    """Its process, which ends when nobody can ask it any more."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.loaded_farhand"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        self._numbers = itertools.count()

    def run(self, *words: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end, as subprocess.run would."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        number = next(self._numbers)
        asked = {"number": number, "words": words, "folder": str(folder), "environment": environment}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        # A test that gave up on a command leaves its answer unread.
        answers = (json.loads(line) for line in self._process.stdout)
        told = next(answer for answer in answers if answer["number"] == number)
        return subprocess.CompletedProcess(words, told["code"], told["stdout"], told["stderr"])

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@cache
def loaded_farhand() -> LoadedFarhand:
    """The one of this test worker."""
    made = LoadedFarhand()
    atexit.register(made.close)
    return made


def serve() -> None:
    """Runs what is asked for, one after the other."""
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        with TemporaryDirectory() as told:
            child = os.fork()
            if child == 0:
                become(asked, Path(told))
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            answer: dict[str, Any] = {name: (Path(told) / name).read_text("utf-8") for name in ("stdout", "stderr")}
        print(json.dumps({"number": asked["number"], "code": code, **answer}), flush=True)


def become(asked: dict[str, Any], told: Path) -> None:
    """This process is the command from now on."""
    from farhand.cli.main import main

    code = 1
    try:
        for target, name, how in (
            (0, os.devnull, os.O_RDONLY),
            (1, told / "stdout", os.O_WRONLY | os.O_CREAT),
            (2, told / "stderr", os.O_WRONLY | os.O_CREAT),
        ):
            os.dup2(os.open(name, how, 0o600), target)
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["folder"])
        sys.argv[1:] = asked["words"]
        try:
            code = main(asked["words"])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except Exception:
            traceback.print_exc()
            raise
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
