"""Ends what a test's nodes leave alive: agents outlive their node by design, and must not outlive the test."""

from __future__ import annotations

from pathlib import Path

from farhand.sandbox.holders import LocalHolders


async def end_agents(folder: Path) -> None:
    """Ends every agent that a node below this folder has started."""
    for place in list(folder.glob("**/holders")):  # noqa: ASYNC240 - a few folders
        holders = LocalHolders(place)
        for name in await holders.names():
            await holders.forget(name)
