"""Finds out in which folder a command would run: a request for permission does not say, the tool call does."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio
import msgspec

from farhand.drivers.opencode.headless.api import OpenCodeApi, OpenCodeApiError
from farhand.drivers.opencode.schema import OpenCodeEvent, OpenCodePermission, read

ASKED: Final = "permission.asked"
# The request may be told of before its call; each time is waited a little for that.
TRIES = 40
TRY_AGAIN_SECONDS = 0.05
UNKNOWN: Final = "(a folder that OpenCode does not tell)"


async def with_folder(api: OpenCodeApi, wanted: OpenCodePermission, directory: str) -> OpenCodePermission:
    """The request with the folder that its command names, where that is not the worker's own."""
    if wanted.permission != "bash" or wanted.tool is None:
        return wanted
    folder = await _folder(api, wanted, directory)
    given = {name: value for name, value in wanted.metadata.items() if name != "workdir"}
    return msgspec.structs.replace(wanted, metadata={**given, **({"workdir": folder} if folder != directory else {})})


async def _folder(api: OpenCodeApi, wanted: OpenCodePermission, directory: str) -> str:
    if wanted.tool is None:
        return directory
    for _ in range(TRIES):
        try:
            called = await api.call_input(wanted.sessionID, wanted.tool.messageID, wanted.tool.callID)
        except OpenCodeApiError:
            return UNKNOWN
        if called is not None:
            return named_folder(called, directory)
        await anyio.sleep(TRY_AGAIN_SECONDS)
    return UNKNOWN


def named_folder(called: Mapping[str, object], directory: str) -> str:
    """Where the call says that its command runs; the worker's folder where it says nothing."""
    named = called.get("workdir")
    return os.path.normpath(Path(directory, named)) if isinstance(named, str) and named else directory


async def events_with_folders(api: OpenCodeApi, events: list[bytes], directory: str) -> list[bytes]:
    """The events; each request for permission with its folder."""
    return [await _event(api, one, directory) if ASKED.encode() in one else one for one in events]


async def _event(api: OpenCodeApi, data: bytes, directory: str) -> bytes:
    event = read(data, OpenCodeEvent)
    wanted = read(event.properties, OpenCodePermission) if event is not None and event.type == ASKED else None
    if wanted is None:
        return data
    return msgspec.json.encode({"type": ASKED, "properties": await with_folder(api, wanted, directory)})
