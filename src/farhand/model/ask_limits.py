"""How long a question waits for a person, and how many of one worker wait at once, where no setting says otherwise."""

from typing import Final

ASK_SECONDS: Final = 3600.0
OPEN_ASKS: Final = 20
