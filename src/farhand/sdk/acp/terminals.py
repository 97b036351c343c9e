"""The terminals that an ACP client offers to its agent: commands in a folder, their output kept up to a limit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from farhand.sdk.acp.rpc import INVALID_PARAMS, METHOD_NOT_FOUND, Params, RpcError
from farhand.sdk.json_shapes import is_list, is_object
from farhand.sdk.shell_process import RunningCommand

OUTPUT_LIMIT_BYTES = 1024 * 1024


class LocalTerminals:
    """Runs the agent's commands in a folder. None of them outlives it."""

    def __init__(self, cwd: str | Path, env: Mapping[str, str] | None = None) -> None:
        self._cwd = Path(cwd)
        self._env = dict(os.environ if env is None else env)
        self._running: dict[str, tuple[RunningCommand, int]] = {}
        self._count = 0

    async def call(self, method: str, params: Params) -> Any:
        """Answers one `terminal/…` request."""
        if method == "terminal/create":
            return self._create(params)
        name = str(params.get("terminalId", ""))
        if name not in self._running:
            raise RpcError(INVALID_PARAMS, f"There is no terminal '{name}'.")
        command, limit = self._running[name]
        match method:
            case "terminal/output":
                return _output(command, limit)
            case "terminal/wait_for_exit":
                await command.wait()
                return _exit(command)
            case "terminal/kill":
                await command.kill()
                return {}
            case "terminal/release":
                await self._release(name)
                return {}
            case _:
                raise RpcError(METHOD_NOT_FOUND, f"This client has no '{method}'.")

    def _create(self, params: Params) -> Params:
        program: Any = params.get("command")
        arguments: Any = params.get("args") or []
        if not isinstance(program, str) or not is_list(arguments):
            raise RpcError(INVALID_PARAMS, "A command is needed, and its arguments as a list.")
        # A command without arguments may be a whole shell line; some agents send it so.
        argv = [program, *map(str, arguments)] if arguments else ["bash", "-c", program]
        added = {str(each["name"]): str(each["value"]) for each in params.get("env") or () if is_object(each)}
        try:
            command = RunningCommand(argv, cwd=str(params.get("cwd") or self._cwd), env={**self._env, **added}, text="")
        except OSError as error:
            raise RpcError(INVALID_PARAMS, f"{program} cannot be started: {error.strerror}.") from error
        self._count += 1
        limit = params.get("outputByteLimit")
        wanted = limit if isinstance(limit, int) and 0 < limit < OUTPUT_LIMIT_BYTES else OUTPUT_LIMIT_BYTES
        self._running[f"terminal-{self._count}"] = (command, wanted)
        return {"terminalId": f"terminal-{self._count}"}

    async def _release(self, name: str) -> None:
        command, _ = self._running.pop(name)
        await command.kill()
        command.end_leftovers()

    async def close(self) -> None:
        """Ends all that still runs."""
        for name in tuple(self._running):
            await self._release(name)


def _output(command: RunningCommand, limit: int) -> Params:
    raw = command.output.text().encode()
    # What is cut off is cut at the beginning, between characters.
    kept = raw[-limit:].decode(errors="ignore")
    ended = {"exitStatus": _exit(command)} if command.finished else {}
    return {"output": kept, "truncated": len(raw) > limit, **ended}


def _exit(command: RunningCommand) -> Params:
    code = command.result().exit_code
    return {"exitCode": code, "signal": None} if code >= 0 else {"exitCode": None, "signal": str(-code)}
