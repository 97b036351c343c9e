"""What runs the agents: one folder a backend, and the wires that reach a process."""
