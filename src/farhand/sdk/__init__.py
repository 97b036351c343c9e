"""The agent SDK: an agent in a few lines, its sessions, tools and hooks. Names are imported when first used."""
