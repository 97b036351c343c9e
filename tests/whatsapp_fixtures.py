"""A fake WhatsApp for every test that wants one."""

from collections.abc import AsyncIterator

import pytest

from farhand.testing.whatsapp import FakeWhatsApp, fake_whatsapp


@pytest.fixture
async def whatsapp() -> AsyncIterator[FakeWhatsApp]:
    """A WhatsApp with one business number."""
    async with fake_whatsapp() as fake:
        yield fake
