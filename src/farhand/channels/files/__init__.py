"""The plain side of a node: a folder and a pipe for every worker, and small HTTP routes for their programs."""
