"""The rules of attention with a clock and people at devices, moved by short sentences: for tables of situations."""

from dataclasses import dataclass, field

from farhand.model import attention_rules as rules
from farhand.model.attention import AttentionKind, AttentionSettings
from farhand.model.attention_rules import AttentionState, Buzz, Matter, Situation

# Midnight in UTC.
START = 1_800_057_600.0
TELEGRAM, WHATSAPP = "telegram", "whatsapp"
PHONE = "phone"


@dataclass
class World:
    """The rules, a clock, and who is there."""

    settings: AttentionSettings = field(default_factory=AttentionSettings)
    app: bool = True
    chats: tuple[str, ...] = (TELEGRAM,)
    state: AttentionState = field(default_factory=AttentionState)
    now: float = START
    # The worker that each device has on its screen.
    screens: dict[str, str] = field(default_factory=dict)
    buzzed: list[tuple[float, Buzz]] = field(default_factory=list)

    def around(self) -> Situation:
        return Situation(
            now=self.now, looked_at=frozenset(self.screens.values()) - {""}, app=self.app, chats=self.chats
        )

    def told(self, moved: tuple[AttentionState, tuple[Buzz, ...]]) -> None:
        self.state, buzzes = moved
        self.buzzed += [(self.now, one) for one in buzzes]

    def pass_to(self, minute: float) -> None:
        """Lets the time pass, as the node does: it wakes when something is due."""
        until = START + minute * 60
        for _ in range(10_000):
            due = rules.next_due(self.state)
            if due is None or due > until:
                break
            self.now = max(self.now, due)
            self.told(rules.wake(self.state, self.settings, self.around()))
        self.now = until

    def do(self, what: str) -> None:
        verb, _, about = what.partition(" ")
        about, _, device = about.partition(" on ")
        worker, _, via = about.partition(" via ")
        match verb:
            case "ask" | "finished" | "failed":
                key = f"{verb}:{worker}"
                kind = AttentionKind(verb)
                self.take(Matter(key=key, kind=kind, at=self.now, worker=worker.split("/")[0], via=via))
            case "answer":
                self.state, _ = rules.settle(self.state, f"ask:{worker}")
            case "looks":
                self.screens[device or PHONE] = worker
                self.state = rules.seen(self.state, self.now)
                self.state = rules.looked(self.state, self.settings, self.around())
            case "leaves":
                self.screens = {one: at for one, at in self.screens.items() if (one, at) != (device or PHONE, worker)}
                self.state = rules.looked(self.state, self.settings, self.around())
            case "desk":
                self.state = rules.seen(self.state, self.now, desk=True)
            case _:
                raise AssertionError(what)

    def take(self, matter: Matter) -> None:
        self.told(rules.take(self.state, matter, self.settings, self.around()))

    def heard(self) -> list[tuple[float, str, str]]:
        """When, where and what: `ask:ann`, or `+2` for two more told as one."""
        return [
            ((at - START) / 60, one.place, one.matters[0].key + (f"+{len(one.matters) - 1}" if one.matters[1:] else ""))
            for at, one in self.buzzed
        ]


@dataclass(frozen=True)
class Row:
    """A situation: what happens at which minute, and who is buzzed at which."""

    name: str
    steps: tuple[tuple[float, str], ...]
    expected: tuple[tuple[float, str, str], ...]
    settings: AttentionSettings = field(default_factory=AttentionSettings)
    app: bool = True
    chats: tuple[str, ...] = (TELEGRAM,)
    until: float = 1000
