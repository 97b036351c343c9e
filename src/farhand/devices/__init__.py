"""Which devices may speak to the node: pairing by one-time codes, keys, revocation."""
