"""Files for every room: follow them, watch folders, write whole or not at all. Imports `model/` alone."""
