"""Codex: headless over its app-server, one process a turn with `exec --json`, or the interactive CLI in tmux."""
