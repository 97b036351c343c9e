"""The table of flags that every command takes; imports next to nothing, so that help is quick."""

from __future__ import annotations

# Not typing's own: help would wait for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class GlobalFlag:
    """One flag: its names, where its value goes, what it takes, and its line of help."""

    def __init__(self, names: str, about: str, value: str = "", *, many: bool = False) -> None:
        self.names = tuple(names.split())
        self.dest = self.names[-1].lstrip("-").replace("-", "_")
        self.value = value
        self.many = many
        self.about = about

    @property
    def default(self) -> object:
        """What it is when nobody gives it."""
        return None if self.value else False


GLOBAL_FLAGS = (
    GlobalFlag("-n --node", "the node that is meant (else NODE_NAME, else the one that runs, else prod)", "NAME"),
    GlobalFlag("--all", "every node (stop, status)"),
    GlobalFlag("-p --port", "the port of the node's HTTP listener (run, restart)", "PORT"),
    GlobalFlag("--no-tunnel", "no tunnel and no webhook: Telegram is polled (run, restart)"),
    GlobalFlag("--tunnel-url", "use this public address (run, restart)", "URL"),
    GlobalFlag("--reach", "the way in: auto, tailscale, cloudflared or none (run, restart)", "WAY"),
    GlobalFlag("--headless", "ask nothing"),
    GlobalFlag("-q --quiet", "errors only"),
    GlobalFlag("-v --verbose", "more about what happens"),
    GlobalFlag("--json", "JSON for programs"),
    GlobalFlag("--no-color", "no colours"),
    GlobalFlag("--env-file", "read variables from this file first", "PATH"),
    GlobalFlag("--sandbox", "workers run in containers (run, restart)"),
    GlobalFlag("--no-sandbox", "workers run as they are, whatever SANDBOX_ENABLED says (run, restart)"),
    GlobalFlag("--sandbox-image", "the image of their containers (run, restart)", "IMAGE"),
    GlobalFlag("--mount", "a folder that is inside, too (run, restart)", "PATH", many=True),
    GlobalFlag("--mount-ro", "the same, read-only (run, restart)", "PATH", many=True),
    GlobalFlag("-f --force", "ask nothing before something is ended or overwritten"),
)


class UnknownFlag(Exception):
    """A flag before the command that nobody knows, or that lacks its value; and those that are like it."""

    def __init__(self, text: str, meant: str = "") -> None:
        super().__init__(text)
        self.meant = meant


def nearest(word: str, known: Iterable[str]) -> str:
    """What was meant by a word that is written wrong; empty where nothing is like it."""
    # Loaded here: it costs as much as all the rest of a command's start.
    import difflib

    return "".join(difflib.get_close_matches(word, list(known), 1, 0.7))


def split(given: list[str]) -> tuple[list[str], list[str]]:
    """The flags before the command's name, and the rest that begins with it; raises UnknownFlag."""
    takes_value = {name: bool(flag.value) for flag in GLOBAL_FLAGS for name in flag.names}
    place = 0
    while place < len(given) and given[place].startswith("-") and given[place] not in ENDS:
        name, equals, _ = given[place].partition("=")
        if name not in takes_value or (equals and not takes_value[name]):
            raise UnknownFlag(f"Unknown flag: {name}", nearest(name, takes_value))
        place += 1
        if takes_value[name] and not equals:
            place += 1
            if place > len(given):
                raise UnknownFlag(f"{name} needs a value")
    return given[:place], given[place:]


# Flags that are commands of their own.
ENDS = ("-h", "--help", "-V", "--version")


def env_files(before: list[str], rest: list[str]) -> list[str]:
    """The files that are to be read before anything else, wherever they are named."""
    found, words = [], [*before, *(rest[: rest.index("--")] if "--" in rest else rest)]
    for place, word in enumerate(words):
        if word == "--env-file" and place + 1 < len(words):
            found.append(words[place + 1])
        elif word.startswith("--env-file="):
            found.append(word.partition("=")[2])
    return found
