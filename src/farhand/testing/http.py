"""HTTP clients for tests."""

from typing import Any

import httpx2

from farhand.testing.clock import SAFETY_SECONDS


def local_client(**options: Any) -> httpx2.AsyncClient:
    """A client that speaks plain HTTP to this machine: it has no proxy, and need not read the world's certificates."""
    return httpx2.AsyncClient(**{"verify": False, "trust_env": False, "timeout": SAFETY_SECONDS, **options})
