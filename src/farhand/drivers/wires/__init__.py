"""Wires: the ways to reach a process, shared by the drivers that need them."""
