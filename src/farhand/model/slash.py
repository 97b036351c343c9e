"""The one table of slash commands: what each is called, takes, tells and becomes, on every surface. Pure.

To add a command, add an entry here; one that sends a new word to the hub needs the word (`model/commands.py`) and its
decision (`core/decide.py`), too."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from farhand.model import commands
from farhand.model import slash_argument as read
from farhand.model.quiet import USAGE as QUIET_USAGE
from farhand.model.slash_argument import Reader
from farhand.model.slash_hire import ANYWAY, read_adopt, read_hire
from farhand.model.slash_review import REVIEW_FLAGS, REVIEW_USAGE, read_review
from farhand.model.slash_sprint import SPRINT_FLAGS, read_sprint
from farhand.model.words import Mode

CHAT, TERMINAL = "chat", "terminal"
TEAM, WORK, QUEUE, HERE = "The team", "Their work", "Messages that wait", "This conversation"
GROUPS = (TEAM, WORK, QUEUE, HERE)
MODES = ", ".join(Mode)
HIRE_FLAGS = (
    "[<backend>] [--mode <mode> | --ask | --plan | --yolo] [--model <model>] [--effort <effort>] [--dir <folder>] "
    "[--tmux | --headless] [--sandbox | --no-sandbox] [--agent <module:name>] [--bridge <folder>]"
)


@dataclass(frozen=True)
class Slash:
    """One slash command."""

    name: str
    # What stands behind the name, and the flags that may be added.
    usage: str
    help: str
    # How its argument becomes a wish; raises BadInput.
    read: Reader
    group: str = TEAM
    flags: str = ""
    aliases: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = (CHAT, TERMINAL)
    # Whether a chat with a menu of commands offers it there.
    menu: bool = False
    # The command of `farhand` that does the same.
    cli: str = ""
    # The sentence for an argument that cannot be read, where `Usage: …` is not enough.
    wrong_usage: str = ""

    @property
    def synopsis(self) -> str:
        """The command as it is typed, without flags."""
        return f"/{self.name} {self.usage}".rstrip()

    @property
    def usage_error(self) -> str:
        """The sentence for an argument that cannot be read."""
        return self.wrong_usage or f"Usage: {self.synopsis}"


SLASHES: tuple[Slash, ...] = (
    Slash("team", "", "Show who is on the team and what they do", read.about("team"), menu=True),
    Slash(
        "focus", "<name>", "Choose whom to talk to from now on", read.to_named(commands.Focus), menu=True, cli="focus"
    ),
    Slash("progress", "[name]", "Show how a worker stands", read.about_worker("progress"), WORK, menu=True),
    Slash("learn", "[topic]", "Ask the focused worker what it learned", read.read_learn, WORK, menu=True),
    Slash(
        "pause",
        "[name]",
        "Stop the running turn, and take back what waits",
        read.to_focused(partial(commands.Interrupt, withdraw=True)),
        WORK,
        aliases=("stop", "interrupt"),
        menu=True,
        cli="interrupt",
    ),
    Slash(
        "relaunch",
        "[name]",
        "Restart an agent that is offline or stuck",
        read.to_focused(commands.Relaunch),
        WORK,
        menu=True,
        cli="relaunch",
    ),
    Slash("settings", "", "Show how the node is set", read.about("settings"), HERE, surfaces=(CHAT,), menu=True),
    Slash("hire", "<name>", "Take a worker on", read_hire, flags=HIRE_FLAGS, menu=True, cli="hire"),
    Slash(
        "end",
        "<name>",
        "Let a worker go",
        read.to_named(commands.End),
        aliases=("fire",),
        menu=True,
        cli="end",
        wrong_usage="Offboarding is permanent. Usage: /end <name>",
    ),
    Slash(
        "tune",
        "[name] [mode=<mode>] [model=<model>] [effort=<effort>]",
        f"Show or change a worker's mode ({MODES}), model and effort",
        read.or_about("mode", read.read_tune),
        WORK,
        menu=True,
        cli="tune",
    ),
    Slash(
        "mode",
        "[name] <mode>",
        f"Show or change what a worker may do unasked ({MODES})",
        read.or_about("mode", read.read_mode),
        WORK,
        menu=True,
    ),
    Slash("model", "[name] <model>", "Show or change a worker's model", read.or_about("mode", read.read_model), WORK),
    Slash(
        "effort",
        "[name] <effort>",
        "Show or change how hard a worker thinks",
        read.or_about("mode", read.read_effort),
        WORK,
        menu=True,
    ),
    Slash(
        "retry",
        "[name]",
        "Say again what failed, or go on although a usage limit may still hold",
        read.to_focused(commands.Retry),
        WORK,
        menu=True,
        cli="retry",
    ),
    Slash(
        "sprint",
        "[name] <start, status, stop, skip or add>",
        "Let a worker do a list of tasks by itself",
        read_sprint,
        WORK,
        flags=SPRINT_FLAGS,
        menu=True,
        cli="sprint",
        wrong_usage="Usage: /sprint [name] <start, status, stop, skip or add>; the tasks stand below it, one a line.",
    ),
    Slash(
        "review",
        REVIEW_USAGE,
        "Have a worker's work judged by another agent",
        read_review,
        WORK,
        flags=REVIEW_FLAGS,
        surfaces=(TERMINAL,),
        cli="review",
    ),
    # Chats must refuse the name that agents have a command of their own for.
    Slash(
        "verdict",
        REVIEW_USAGE,
        "Have a worker's work judged by another agent",
        read_review,
        WORK,
        flags=REVIEW_FLAGS,
        surfaces=(CHAT,),
        menu=True,
    ),
    Slash(
        "queue",
        "[name]",
        "Show the messages that wait, with their numbers",
        read.about_worker("queue"),
        QUEUE,
        menu=True,
    ),
    Slash(
        "inbox",
        "",
        "Show what waits for you: questions, the oldest first, and workers that need you",
        read.about("inbox"),
        menu=True,
        cli="inbox",
    ),
    Slash(
        "quiet",
        "[when, or what]",
        "Show or change what may buzz, and when",
        read.read_quiet,
        HERE,
        menu=True,
        cli="quiet",
        wrong_usage=QUIET_USAGE,
    ),
    Slash(
        "digest",
        "",
        "Show what happened while you were away",
        read.about("digest"),
        surfaces=(CHAT,),
        menu=True,
        cli="digest",
    ),
    Slash(
        "history",
        "[name] [number]",
        "Show what was said and answered last",
        read.read_history,
        WORK,
        menu=True,
    ),
    Slash(
        "usage", "", "Show what each worker has used and cost", read.about("usage"), WORK, aliases=("cost",), menu=True
    ),
    Slash(
        "now",
        "[name] <n>",
        "Put a message that waits into the running turn, where the agent can",
        read.or_about("queue", read.read_now),
        QUEUE,
        menu=True,
    ),
    Slash(
        "edit",
        "[name] <n> <message>",
        "Say a message that waits otherwise",
        read.or_about("queue", read.read_edit),
        QUEUE,
        menu=True,
    ),
    Slash(
        "drop",
        "[name] <n>",
        "Take a message that waits back",
        read.or_about("queue", read.read_drop),
        QUEUE,
        menu=True,
    ),
    Slash(
        "sessions",
        "[backend] [folder]",
        "List the conversations that agents have on the node's machine",
        read.read_sessions,
        menu=True,
        cli="sessions",
    ),
    Slash(
        "adopt",
        "<backend> <session> [name]",
        "Take such a conversation up as a worker",
        read_adopt,
        menu=True,
        flags=f"{HIRE_FLAGS.partition('] ')[2]} [{ANYWAY}]",
        cli="adopt",
        wrong_usage="Usage: /adopt <backend> <session> [name]; /sessions lists them.",
    ),
    Slash(
        "handback",
        "<name>",
        "End a worker and tell how to go on with its conversation at the desk",
        read.to_named(partial(commands.End, hand_back=True)),
        menu=True,
        cli="handback",
    ),
    Slash(
        "devices",
        "[revoke <id>]",
        "List the devices that are paired, revoke one",
        read.read_devices,
        HERE,
        surfaces=(CHAT,),
        menu=True,
        cli="devices",
    ),
    Slash(
        "commands",
        "[command]",
        "Show what can be typed here, or what a command does",
        read.about_worker("help"),
        HERE,
        aliases=("help", "?"),
        menu=True,
    ),
    Slash("start", "", "Show that the node is there, and who is on the team", read.about("start"), HERE),
    Slash("quit", "", "Leave", read.read_quit, HERE, aliases=("exit",), surfaces=(TERMINAL,)),
)

# Commands of agents that need a keyboard: chats refuse them in these words, whatever the table has.
INTERACTIVE = frozenset(
    (
        "mcp help config model compact cost doctor init login logout memory permissions pr review terminal vim "
        "approved-tools listen"
    ).split()
)


# What does here what such a command does at a keyboard.
_AT_THE_DESK = "It needs a keyboard: /handback <name> gives the conversation to the desk."
_IN_WORDS = "Ask the worker for it in your own words."
INSTEAD: Mapping[str, str] = {
    "help": "Here it is /commands.",
    "config": "Here it is /settings for the node, /mode for the worker.",
    "model": "Here it is /tune model=<model>; /tune shows which one it is.",
    "cost": "Here it is /usage.",
    "permissions": "Here it is /mode <mode>.",
    "approved-tools": "Here it is /mode <mode>.",
    "memory": "Here it is /learn, which asks the worker what it learned.",
    "doctor": "Here it is /progress; /relaunch restarts the agent.",
    "login": "Sign in at the desk, then /relaunch.",
    "logout": "Sign out at the desk.",
    "compact": "The agent does it by itself when it must.",
    "review": "Here it is /verdict, which has another agent judge the work.",
    **dict.fromkeys(("init", "pr"), _IN_WORDS),
    **dict.fromkeys(("mcp", "terminal", "vim", "listen"), _AT_THE_DESK),
}


# Of those, what a tap can do: what the button says, and the command that it types.
OFFERS: Mapping[str, tuple[str, str]] = {
    "help": ("Show help", "commands"),
    "config": ("Show settings", "settings"),
    "model": ("Choose a model", "tune"),
    "cost": ("What it cost", "usage"),
    **dict.fromkeys(("permissions", "approved-tools"), ("Choose its mode", "mode")),
    "memory": ("Ask what it learned", "learn"),
    "doctor": ("How it stands", "progress"),
    "login": ("Restart the agent", "relaunch"),
}
# The commands that a button may type.
TYPED_BY_BUTTONS = frozenset({"quiet", "focus", "history", *(command for _, command in OFFERS.values())})


def interactive(name: str) -> str:
    """Why a command of an agent is not obeyed on a surface that blocks it, and what to type instead."""
    return f"/{name} is interactive and not supported here.\n{INSTEAD.get(name, _AT_THE_DESK)}"


@dataclass(frozen=True)
class Surface:
    """What a place where people type does with what is typed there."""

    name: str
    # Names that are refused as interactive.
    blocked: frozenset[str] = frozenset()
    # Whether a command or a name that nobody knows is text for the focused worker; else it is refused.
    passes_on: bool = False
    table: tuple[Slash, ...] = SLASHES

    def find(self, name: str) -> Slash | None:
        """The command that is called so here."""
        found = (one for one in self.table if self.name in one.surfaces)
        return next((one for one in found if name == one.name or name in one.aliases), None)

    def offered(self) -> Iterator[Slash]:
        """The commands that work here."""
        return (one for one in self.table if self.name in one.surfaces and one.name not in self.blocked)


def chat(table: tuple[Slash, ...] = SLASHES) -> Surface:
    """A chat that speaks as spec 2 has it: Telegram."""
    return Surface(CHAT, INTERACTIVE, passes_on=True, table=table)


def open_chat(table: tuple[Slash, ...] = SLASHES) -> Surface:
    """A chat of which no spec says what it refuses: of agents' own commands, those that nothing here does as well."""
    done_here = names(one for one in table if CHAT in one.surfaces)
    return Surface(CHAT, INTERACTIVE - done_here, passes_on=True, table=table)


def terminal(table: tuple[Slash, ...] = SLASHES) -> Surface:
    """The conversation in a terminal."""
    return Surface(TERMINAL, table=table)


def names(table: Iterable[Slash] = SLASHES) -> frozenset[str]:
    """Every name and alias of the table."""
    return frozenset(name for one in table for name in (one.name, *one.aliases))


def menu(surface: Surface) -> list[tuple[str, str]]:
    """The names and help lines that a chat's menu of commands offers."""
    return [(one.name, one.help) for one in surface.offered() if one.menu]


def grouped(surface: Surface) -> Iterator[tuple[str, list[Slash]]]:
    """What can be typed there, by group."""
    offered = list(surface.offered())
    for group in (*GROUPS, *dict.fromkeys(one.group for one in offered if one.group not in GROUPS)):
        if members := [one for one in offered if one.group == group]:
            yield group, members


def help_lines(surface: Surface) -> str:
    """What can be typed there, a line each, by group; an empty line between groups, so that the eye finds them."""
    return "\n\n".join(
        "\n".join((f"{group}:", *(f"/{one.name} – {one.help}" for one in members)))
        for group, members in grouped(surface)
    )


def help_names(surface: Surface) -> str:
    """What can be typed there, a line a group: for a screen that has few."""
    return "\n".join(f"{group}: {', '.join(one.synopsis for one in members)}" for group, members in grouped(surface))


def help_of(surface: Surface, name: str) -> str:
    """All about one command; empty when there is none of that name."""
    one = surface.find(name.removeprefix("/").lower())
    if one is None:
        return ""
    also = f"Also {', '.join(f'/{alias}' for alias in one.aliases if alias not in surface.blocked)}."
    parts = [one.synopsis, one.help + ".", one.flags, also if one.aliases and also != "Also ." else ""]
    return "\n".join(part for part in parts if part)
