"""Codex in a tmux pane: typed to, followed by its hooks and its rollout."""
