"""Where processes are born: the holder, and the environment that a child is given."""
