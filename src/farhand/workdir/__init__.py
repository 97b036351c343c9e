"""Looks into the folders that workers work in."""
