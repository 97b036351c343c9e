"""Codex without a terminal: JSON-RPC with its app-server, in a holder."""
