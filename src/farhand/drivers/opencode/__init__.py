"""OpenCode: over its own HTTP server, as one command a turn, and in tmux."""
