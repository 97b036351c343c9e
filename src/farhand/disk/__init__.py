"""Files and processes for every room: follow, watch, write whole or not at all, end. Imports `model/` alone."""
