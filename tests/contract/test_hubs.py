"""The hub of this node, the hub over its socket and the hub over HTTP keep the same promises."""

from collections.abc import AsyncIterator

import pytest

from farhand.client.door import SocketHub
from farhand.client.http import HttpHub
from farhand.model.ports import Hub
from farhand.testing.contracts.hub import HubContract
from farhand.testing.house import House


class TestLocalHub(HubContract):
    @pytest.fixture
    def hub(self, house: House) -> Hub:
        return house.hub


class TestSocketHub(HubContract):
    @pytest.fixture
    async def hub(self, house: House) -> AsyncIterator[Hub]:
        async with SocketHub(house.node.settings.door) as opened:
            yield opened


class TestHttpHub(HubContract):
    @pytest.fixture
    async def hub(self, house: House) -> AsyncIterator[Hub]:
        key = house.node.settings.key.read_text()
        async with HttpHub(f"http://127.0.0.1:{house.node.port}", key) as opened:
            yield opened
