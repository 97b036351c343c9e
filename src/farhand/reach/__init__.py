"""Keeps a way to the node open from outside: cloudflared, Tailscale, or none."""
