"""Claude Code without a terminal: stream-json both ways, in a holder."""
