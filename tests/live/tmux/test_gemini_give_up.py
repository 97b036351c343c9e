"""The look for a model that cannot be had, over a real tmux, beside somebody who types."""

from __future__ import annotations

import anyio
import pytest

from farhand.drivers.gemini.tmux.keyboard import GeminiKeyboard
from farhand.drivers.wires.tmux import Pane, Tmux

pytestmark = pytest.mark.anyio


async def test_a_look_waits_for_nobody_who_types(tmux: Tmux, typist: Pane) -> None:
    keyboard = GeminiKeyboard(tmux, typist)
    async with tmux.typing_lock(typist):
        with anyio.fail_after(240):
            await keyboard.give_up()
    await keyboard.give_up()
