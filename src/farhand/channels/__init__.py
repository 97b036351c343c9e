"""Where people speak."""
