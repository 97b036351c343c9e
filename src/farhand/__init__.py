"""Farhand lets one person run a team of coding agents from a phone."""

__version__ = "0.1.0"
