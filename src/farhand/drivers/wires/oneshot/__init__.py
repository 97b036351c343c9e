"""Agent CLIs that are called once for a message: what each one's call looks like, and the durable runner."""
