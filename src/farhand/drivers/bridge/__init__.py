"""An agent that somebody started by hand, reached through two files and its CLI's hooks."""
