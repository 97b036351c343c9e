"""Channels keep the same promises, whatever their surface is."""

from pathlib import Path

import pytest
from tests.house.pager_house import pager_channels, read_screen

from farhand.app import Channels
from farhand.testing import ledger
from farhand.testing.contracts.channel import ChannelContract, Shown
from farhand.testing.ledger import LedgerChannel


class TestLedger(ChannelContract):
    @pytest.fixture
    def channels(self, tmp_path: Path) -> Channels:
        return lambda context: [LedgerChannel(context, tmp_path / "sent")]

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Shown:
        async def read() -> list[str]:
            return [line.text for line in ledger.read(tmp_path / "sent")]

        return read


class TestToyChat(ChannelContract):
    """A chat that is one folder, made of nothing but the kit."""

    @pytest.fixture
    def channels(self, tmp_path: Path) -> Channels:
        return pager_channels(tmp_path, PAGER_OWNER="mo")

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Shown:
        async def read() -> list[str]:
            return [line.text for line in read_screen(tmp_path) if not line.silent]

        return read
