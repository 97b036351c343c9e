"""The node's side of hooks: the endpoint that they reach, the spool that they leave reports in, asks that wait."""
