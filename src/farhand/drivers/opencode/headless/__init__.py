"""OpenCode over the HTTP API of the node's one server."""
