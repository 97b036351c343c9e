"""The Agent Client Protocol, both sides: an SDK agent as a server, and any ACP agent reached by a client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farhand.sdk.acp.client import AcpClient, AcpSession
    from farhand.sdk.acp.files import LocalFiles
    from farhand.sdk.acp.rpc import PeerGone, RpcError
    from farhand.sdk.acp.server import AcpServer
    from farhand.sdk.acp.server import AcpServer as GeminiCliAcpServer
    from farhand.sdk.acp.streams import ByteStream, spawn
    from farhand.sdk.acp.terminals import LocalTerminals
    from farhand.sdk.acp.words import AcpPermission, AcpTurnEnded, choose

_HOMES = {
    "AcpClient": "client",
    "AcpServer": "server",
    "AcpSession": "client",
    "ByteStream": "streams",
    "AcpTurnEnded": "words",
    "LocalFiles": "files",
    "LocalTerminals": "terminals",
    "PeerGone": "rpc",
    "AcpPermission": "words",
    "RpcError": "rpc",
    "choose": "words",
    "spawn": "streams",
}

__all__ = [
    "AcpClient",
    "AcpPermission",
    "AcpServer",
    "AcpSession",
    "AcpTurnEnded",
    "ByteStream",
    "GeminiCliAcpServer",
    "LocalFiles",
    "LocalTerminals",
    "PeerGone",
    "RpcError",
    "choose",
    "spawn",
]


def __getattr__(name: str) -> Any:
    real = "AcpServer" if name == "GeminiCliAcpServer" else name
    if real not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"farhand.sdk.acp.{_HOMES[real]}"), real)
