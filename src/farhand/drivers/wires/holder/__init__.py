"""Agents that run in a holder: their lives, and links that speak JSON lines to them."""
