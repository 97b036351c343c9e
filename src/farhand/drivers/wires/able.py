"""What every agent CLI can do here; a driver adds what is its own."""

from farhand.model.ports import Can

USUAL = Can(interrupt=True, images=True, files=True, sessions=True)
