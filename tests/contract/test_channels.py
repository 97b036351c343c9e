"""Channels keep the same promises, whatever their surface is."""

from pathlib import Path

import pytest

from farhand.app import Channels
from farhand.testing import ledger
from farhand.testing.contracts.channel import ChannelContract, Shown
from farhand.testing.ledger import LedgerChannel


class TestLedger(ChannelContract):
    @pytest.fixture
    def channels(self, tmp_path: Path) -> Channels:
        return lambda parts: [LedgerChannel(parts.hub, parts.outbox, parts.clock, tmp_path / "sent")]

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Shown:
        async def read() -> list[str]:
            return [line.text for line in ledger.read(tmp_path / "sent")]

        return read
