"""Words for people and prompts for agents. Pure."""
