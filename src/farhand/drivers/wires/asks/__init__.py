"""Asks, whichever agent raises them: how they are worded, and partial answers that outlive a kill."""
