"""Claude Code: the interactive CLI in tmux, or headless over stream-json."""
