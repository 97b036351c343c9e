"""OpenCode as a command a turn: `opencode run --format json`."""
