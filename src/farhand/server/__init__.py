"""Where others reach this node: one 0600 unix socket and one HTTP listener, and who may call what."""
