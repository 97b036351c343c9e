<<<<<<< HEAD
"""Wires: the ways to reach a process, shared by the drivers that need them."""
=======
"""Ways to reach a process."""
>>>>>>> main
