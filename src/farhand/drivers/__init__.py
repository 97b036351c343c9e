<<<<<<< HEAD
"""Drivers: what runs each backend, and the wires by which bytes reach it."""
=======
"""What runs the agents: one folder a backend, and the wires that reach a process."""
>>>>>>> main
