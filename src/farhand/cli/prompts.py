"""Questions to the person at the terminal; where nobody can be asked, what is usual is taken."""

import getpass
import sys
from collections.abc import Mapping


class Prompts:
    """Asks, or takes what is usual when `asks` is False."""

    def __init__(self, *, asks: bool) -> None:
        self.asks = asks

    def line(self, question: str, usual: str) -> str:
        """A line of text."""
        if not self.asks:
            return usual
        sys.stdout.write(f"{question} [{usual}]: ")
        sys.stdout.flush()
        return self._read() or usual

    def choice(self, question: str, choices: Mapping[str, str], usual: str) -> str:
        """One of these, by its number or its name; behind each stands what it means."""
        if not self.asks:
            return usual
        numbers = {str(number): one for number, one in enumerate(choices, 1)}
        width = max(map(len, choices))
        sys.stdout.write(f"{question}\n")
        for number, one in numbers.items():
            sys.stdout.write(f"   {number}) {one:<{width}}  {choices[one]}".rstrip() + "\n")
        while True:
            said = self.line(f"   1-{len(choices)}", usual)
            if said in choices or said in numbers:
                return numbers.get(said, said)
            sys.stdout.write(f"   A number from 1 to {len(choices)}, or one of: {', '.join(choices)}\n")

    def yes(self, question: str) -> bool:
        """Yes or no; no where nobody can be asked."""
        while self.asks:
            said = self.line(f"{question} y/n", "n").lower()
            if said in ("y", "yes", "n", "no"):
                return said.startswith("y")
            sys.stdout.write("   y or n, please\n")
        return False

    def secret(self, question: str) -> str:
        """A line that is not shown while it is typed."""
        return getpass.getpass(question).strip()

    def _read(self) -> str:
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt
        return line.strip()
