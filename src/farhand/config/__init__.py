"""Settings from flags, environment and files, read once and handed down."""
