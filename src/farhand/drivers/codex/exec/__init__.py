"""Codex as a process a turn: `codex exec --json` behind the line protocol."""
