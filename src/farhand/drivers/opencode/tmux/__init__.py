"""OpenCode in a tmux pane, over the same HTTP API."""
