"""Claude Code in a tmux pane: typed to, followed by its hooks and its transcript."""
