"""A worker's own key, made from the node's key and the hiring: it is stored nowhere, and ends with the worker."""

from __future__ import annotations

import base64
import hashlib
import hmac

from farhand.model.lazy_pattern import lazy_pattern

# What a worker's programs find it under, and whose they are.
KEY_VARIABLE = "FARHAND_WORKER_KEY"
NAME_VARIABLE = "FARHAND_WORKER"
# Where a guarded route finds the worker whose key a request had, and whether it had the node's own.
SCOPE_WORKER = "farhand.worker"
SCOPE_NODE_KEY = "farhand.node_key"
# What workers' programs speak as: they cannot use up the ids of whoever has the node's key.
VIA_WORKERS = "response"
# What whoever has the node's key speaks as, and gives no name.
VIA_KEY = "http"
# The name under which a hiring's agent is held: its wire may add a word of its own, and each life has a number.
_HELD = lazy_pattern(r"(?P<hiring>(?P<worker>[a-z0-9-]+)-[0-9]+)(-turns)?\.[0-9]+")


def worker_key(node_key: str, hiring: str) -> str:
    """The key of that hiring: nobody can make another one's from it."""
    made = hmac.digest(node_key.encode(), f"worker {hiring}".encode(), hashlib.sha256)
    return f"{hiring}.{base64.urlsafe_b64encode(made).decode().rstrip('=')}"


def hiring_of(given: str, node_key: str) -> str:
    """The hiring that the key is of; empty for what is no such key."""
    hiring, dot, _ = given.rpartition(".")
    is_it = bool(dot and node_key) and hmac.compare_digest(given.encode(), worker_key(node_key, hiring).encode())
    return hiring if is_it else ""


def held_variables(name: str, node_key: str) -> dict[str, str]:
    """What a held agent of that name gets beside its environment; nothing for one that several workers share."""
    held = _HELD.fullmatch(name)
    return {KEY_VARIABLE: worker_key(node_key, held["hiring"]), NAME_VARIABLE: held["worker"]} if held else {}
