"""The pager as a surface of the kit: every send is a line in its file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread
import msgspec
from tests.house.toy_channels.pager.words import PagerLine, render

from farhand.channels.kit.card import Card
from farhand.channels.kit.outbound import lost_message
from farhand.channels.kit.surface import NotFetched, SentFile
from farhand.model.store_ports import Parcel, Waiting


class PagerSurface:
    name = "pager"
    title = "Pager"
    outbox = "pager"

    def __init__(self, file: Path) -> None:
        self._file = file

    def render(self, card: Card, chat: str) -> Sequence[Parcel]:
        return render(card, chat)

    async def send(self, waiting: Waiting) -> str:
        await anyio.to_thread.run_sync(self._append, waiting.parcel.body)
        return waiting.parcel.key

    def _append(self, line: bytes) -> None:
        with self._file.open("ab") as file:
            file.write(line + b"\n")

    def counts(self, parcel: Parcel) -> bool:
        return True

    def failure(self, waiting: Waiting, why: str) -> str:
        return lost_message(msgspec.json.decode(waiting.parcel.body, type=PagerLine).text, waiting, why)

    async def send_now(self, chat: str, text: str) -> None:
        await anyio.to_thread.run_sync(self._append, msgspec.json.encode(PagerLine(chat=chat, slot=text, text=text)))

    async def show_typing(self, chat: str) -> None:
        """A pager shows no such thing."""

    async def answer_tap(self, tap: str, text: str) -> None:
        """Its keys say nothing."""

    async def download(self, file: SentFile) -> bytes:
        raise NotFetched("A pager has no files.")
