"""Ways to reach a process."""
