"""An agent that somebody started by hand, reached through two JSON files and its CLI's own hooks."""
