"""What the link of a bridged agent remembers between looks; it travels in the cursor."""

from farhand.model.words import Word

# So many answers are known to be told: a kill between telling and marking repeats none of them.
MOST_KEYS = 200


class BridgeCursor(Word):
    """Which answers were told, which message the agent is known to have read, and which process that was."""

    told: tuple[str, ...] = ()
    seen: str = ""
    # Its number and when it was started; empty where nobody can tell.
    reader: str = ""

    @property
    def newest(self) -> tuple[str, ...]:
        """Those that are still worth knowing."""
        return self.told[-MOST_KEYS:]
