"""The Agent Client Protocol as a wire: a relay in a holder owns the connection, and speaks the line protocol."""
