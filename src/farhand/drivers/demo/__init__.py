"""The demo backend: an agent without a key and without a network, to try everything with."""
