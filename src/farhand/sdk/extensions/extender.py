"""Adds the instructions of extensions to those of the agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from farhand.sdk.protocols import SessionContext, Tool


class ExtensionInstructions:
    """The instructions of all extensions, in their order."""

    def __init__(self, instructions: Sequence[Any]) -> None:
        self._instructions = [each for each in instructions if each is not None]

    async def tools(self, context: SessionContext) -> Sequence[Tool]:  # noqa: ARG002
        """None: the session has them from the extensions themselves."""
        return ()

    async def instructions(self, context: SessionContext) -> str:
        """Their texts, one after the other."""
        from farhand.sdk.loop import evaluated

        return "\n\n".join([await evaluated(each, context) for each in self._instructions])

    async def close(self) -> None:
        """Nothing is held open."""
