"""The same Hub from outside the node: over its unix socket, or over HTTP."""
