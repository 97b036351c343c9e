"""Whom the HTTP clients of the chats trust: the world's certificates, read once a process, for that takes 20 ms."""

import ssl
from functools import cache


@cache
def trusted() -> ssl.SSLContext:
    """One context for every client, as httpx makes it for each."""
    import httpx

    return httpx.create_ssl_context()
