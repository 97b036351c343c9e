"""Decisions and lifetimes: the only place where a command becomes a fact."""
