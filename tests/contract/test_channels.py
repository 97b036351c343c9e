"""Channels keep the same promises, whatever their surface is."""

from pathlib import Path

import pytest
from tests.house.pager_house import pager_channels, read_screen

from farhand.app import Channels
from farhand.model.channel_ports import ChannelContext
from farhand.model.history import TurnEntry
from farhand.testing import ledger
from farhand.testing.contracts.channel import ChannelContract, Shown
from farhand.testing.house import settings_in
from farhand.testing.ledger import LedgerChannel
from farhand.testing.wire_phone import Transport, WirePhone


class TestLedger(ChannelContract):
    @pytest.fixture
    def channels(self, tmp_path: Path) -> Channels:
        return lambda context: [LedgerChannel(context, tmp_path / "sent")]

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Shown:
        async def read() -> list[str]:
            return [line.text for line in ledger.read(tmp_path / "sent")]

        return read


class WireChannel:
    """The phone app's side of the live wire, for as long as its node runs."""

    name = "wire"

    def __init__(self, context: ChannelContext, phone: WirePhone, key: Path) -> None:
        self._context = context
        self._phone = phone
        self._key = key

    async def run(self) -> None:
        self._phone.move(self._context.port, self._key.read_text())
        await self._phone.run()


@pytest.mark.parametrize("transport", ["socket", "stream"])
class TestLiveWire(ChannelContract):
    """A device on the live wire: it keeps what it folded while the node is away."""

    @pytest.fixture
    def phone(self, transport: Transport) -> WirePhone:
        return WirePhone(0, "", transport)

    @pytest.fixture
    def channels(self, tmp_path: Path, phone: WirePhone) -> Channels:
        return lambda context: [WireChannel(context, phone, settings_in(tmp_path).key)]

    @pytest.fixture
    def shown(self, phone: WirePhone) -> Shown:
        async def read() -> list[str]:
            entries = [entry for seen in phone.view.conversations.values() for entry in seen.entries]
            return [entry.view.text for entry in entries if isinstance(entry, TurnEntry)]

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
