"""Whether nobody has signed in to Codex, asked of Codex itself."""

from __future__ import annotations

from collections.abc import Mapping

import anyio

from farhand.drivers.codex.launch import may_ask_to_sign_in

STATUS = ("login", "status")
SAYS_SO = b"not logged in"
PATIENCE_SECONDS = 10.0


async def is_signed_out(program: str, environment: Mapping[str, str]) -> bool:
    """Whether Codex says so; it is asked only where no key of its own provider is seen. One that does not answer is
    taken at its screen."""
    if not may_ask_to_sign_in(environment):
        return False
    with anyio.move_on_after(PATIENCE_SECONDS):
        try:
            said = await anyio.run_process([program, *STATUS], check=False, env=dict(environment))
        except OSError:
            return False
        return SAYS_SO in (said.stdout + said.stderr).lower()
    return False
