"""Drivers: what runs each backend, and the wires by which bytes reach it."""
