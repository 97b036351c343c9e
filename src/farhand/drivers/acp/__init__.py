"""Any agent that speaks the Agent Client Protocol as a worker; which agent is a TOML file."""
