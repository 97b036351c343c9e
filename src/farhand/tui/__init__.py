"""The terminal app: one live conversation or a team's, on the whole screen."""
