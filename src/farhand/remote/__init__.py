"""Remote control of a live conversation: its log, the sources behind it, and HTTP in front of it."""
