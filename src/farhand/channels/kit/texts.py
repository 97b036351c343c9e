"""The sentences of the bot, exact to the character: people and programs know them by heart. Pure."""

import time
from collections.abc import Collection
from datetime import UTC, datetime

from farhand.channels.kit import overview, queue_texts
from farhand.model import bridge, commands
from farhand.model.channel_ports import Manager
from farhand.model.commands import Command
from farhand.model.compat import PRODUCT
from farhand.model.errors import BadName, NoFocus, Offline, Refused, UnknownWorker
from farhand.model.facts import Hired
from farhand.model.present import Present, Worker
from farhand.model.quiet import settings_words
from farhand.model.sandbox import WORKSPACE, SandboxView
from farhand.model.slash import Surface, help_lines, help_of
from farhand.model.words import Mode, Word

EMPTY_TEAM = "No team members yet. Add someone with /hire <name>."
NOBODY_ASSIGNED = "No one assigned."
NO_FOCUS = "Needs decision - No focused worker. Use /focus <name> first."
NO_PROGRESS = "No one assigned. Who should I talk to? Use /team or /focus <name>."
LOST_FOCUS = "Can't find them. Check /team for who's available."
NO_IMAGE = "Needs decision - Could not download image. Try again or send as file."
NO_FILE = "Needs decision - Could not download file. Try again."
ONLINE = "I'm online and ready."
WHAT = "This is Farhand: coding agents at work on your own machine, run from this chat."
NO_WORKERS = "No workers yet. Hire your first long-lived worker with /hire <name>."
NOT_HEARD = (
    "I cannot listen to recordings: nothing is set up for that at the node, so nobody got this. Write it, please; your "
    "keyboard can take dictation."
)
REWORDED = "Reworded; it still waits."
OFFLINE = "Going offline briefly. Your team stays the same."


class About(Word):
    """What the bot may tell of its node; the secrets are cut short before they get here."""

    version: str = ""
    token: str = ""
    admin: str = ""
    webhook_secret: str = ""
    storage: str = ""
    # Backends whose agents run in tmux.
    terminals: frozenset[str] = frozenset()
    # How all workers are sandboxed, if they are.
    sandbox: SandboxView | None = None


def redacted(secret: str) -> str:
    """Enough of a secret to know it by."""
    if not secret:
        return "(not set)"
    return "***" if len(secret) <= 8 else f"{secret[:4]}...{secret[-4:]}"


def is_working(worker: Worker) -> bool:
    """Whether the worker is at something, which its turn decides; what waits for an agent that is gone is not done."""
    return worker.turn is not None or (bool(worker.queue) and not worker.is_offline)


def until_words(until: float | None) -> str:
    """When a limit ends, as a phrase; nothing when nobody knows."""
    return f"; it resets on {datetime.fromtimestamp(until, UTC):%d %B at %H:%M} UTC" if until else ""


def team(present: Present) -> str:
    """`/team`."""
    if not present.workers:
        return EMPTY_TEAM
    workers = present.workers.values()
    lines = [f"- {one.name} ({', '.join(_statuses(one, present.focus))}){_absent(one)}" for one in workers]
    more = [overview.details(one) for one in workers]
    return "\n".join(["Your team:", f"Focused: {present.focus or '(none)'}", "Workers:", *lines, "", *more])


def _statuses(worker: Worker, focus: str) -> list[str]:
    state = "working" if is_working(worker) else "available"
    if worker.resumes_at is not None and worker.turn is None:
        waiting = f", {len(worker.queue)} waiting" if worker.queue else ""
        state = f"limited until {datetime.fromtimestamp(worker.resumes_at, UTC):%H:%M} UTC{waiting}"
    return [*(["focused"] if worker.name == focus else []), state, f"backend={worker.backend}"]


def _absent(worker: Worker) -> str:
    """That a worker's agent is not there, beside what the template says of it."""
    if worker.online:
        return ""
    return f" – offline: /relaunch {worker.name} tries to start it" if worker.is_offline else " – starting"


def progress(present: Present, terminals: Collection[str], at: float, of: str = "") -> str:
    """`/progress`, of the focused worker or of another that is named."""
    if not (of or present.focus):
        return NO_PROGRESS
    worker = present.workers.get(of or present.focus)
    if worker is None:
        return queue_texts.cannot_find(of) if of else LOST_FOCUS
    focused = worker.name == present.focus
    in_tmux = worker.kind in terminals
    ready = worker.online and not worker.ending and not worker.relaunching
    lines = [
        f"Progress for {'focused ' if focused else ''}worker: {worker.name}",
        f"Focused: {_yes(focused)}",
        f"Working: {_yes(is_working(worker))}",
        f"Backend: {worker.backend}",
        f"Online: {_yes(worker.online)}",
        f"Ready: {_yes(ready)}",
    ]
    if in_tmux and worker.is_offline:
        lines.append("Needs attention: worker app is not running. Use /relaunch.")
    if worker.limited and worker.is_limited(at):
        lines.append(f"Needs attention: usage limit reached{until_words(worker.limited.until)}.")
        if worker.queue:
            lines.append(f"{len(worker.queue)} waiting; /retry tries now.")
    lines.append(f"Mode: {'tmux' if in_tmux else f'{worker.backend} exec (stateless)'}")
    return "\n".join([*lines, "", overview.details(worker)])


def _yes(true: bool) -> str:
    return "yes" if true else "no"


def settings(present: Present, about: About) -> str:
    """`/settings`."""
    return "\n".join(
        [
            f"{PRODUCT} v{about.version}",
            "They'll stay on your team.",
            "",
            f"Bot token: {about.token}",
            f"Admin: {about.admin or '(auto-learn)'}",
            f"Webhook verification: {about.webhook_secret or '(disabled)'}",
            f"Team storage: {about.storage}",
            "",
            "Team state",
            f"Focused worker: {present.focus or '(none)'}",
            f"Workers: {', '.join(present.workers) or '(none)'}",
            "",
            *sandbox_lines(about.sandbox),
        ]
    )


def sandbox_lines(sandbox: SandboxView | None) -> list[str]:
    """What `/settings` says of the node's sandbox."""
    if sandbox is None:
        return ["Sandbox: disabled (direct execution)", "Workers run with full system access."]
    extra = ["Extra mounts:", *(f"  {mount.shown}" for mount in sandbox.mounts)] if sandbox.mounts else []
    return [
        "Sandbox: enabled (Docker isolation)",
        f"Image: {sandbox.image}",
        f"Default mount: {sandbox.home} → {WORKSPACE}",
        *extra,
        "",
        "Note: Workers run in containers with access",
        "only to mounted directories. System paths",
        "outside mounts are not accessible.",
    ]


def online(present: Present, sandbox: SandboxView | None = None) -> str:
    """What is said when the node is there."""
    lines = [ONLINE]
    if present.workers:
        lines.append(f"Team: {', '.join(present.workers)}")
    if present.focus:
        lines.append(f"Focused: {present.focus}")
    if not present.workers:
        lines.append(NO_WORKERS)
    if sandbox is not None:
        lines.append(f"Sandbox: {sandbox.home} → {WORKSPACE}")
    return "\n".join(lines)


_UNASKED = {
    Mode.DEFAULT: "asks before it acts",
    Mode.AUTO_EDIT: "edits files without asking, and asks for the rest",
    Mode.PLAN: "reads and plans, and changes nothing",
    Mode.YOLO: "acts WITHOUT ASKING: it runs commands and changes files by itself",
}


def hired_how(worker: str, fact: Hired) -> str:
    """How somebody works from now on: where, what they do unasked, and how to change that; and who is spoken to."""
    # A conversation that is taken up says so itself.
    whom = "" if fact.aside or fact.session else f"\nWhat you write goes to {worker} now."
    if fact.backend == bridge.BACKEND:
        return f"{worker} sits at its own desk, in {fact.directory}: what it may do unasked is decided there.{whom}"
    return f"{unasked(worker, fact.mode, fact.directory)}{whom}"


def unasked(worker: str, mode: Mode, directory: str) -> str:
    """What somebody does unasked, where, and how to change that."""
    other = Mode.AUTO_EDIT if mode is Mode.DEFAULT else Mode.DEFAULT
    return (
        f"{worker.capitalize()} {_UNASKED[mode]} (mode {mode}).\n"
        f"Folder: {directory}\n"
        f"Change it with a button, or type /mode {worker} {other}"
    )


def new_manager(manager: Manager) -> str:
    """What is said when somebody became the manager: here, at the terminal and in the log."""
    return f"{manager.title} is the manager of this node now. The terminal can change that: farhand manager --help"


def what_this_is(present: Present, *, agents: bool) -> str:
    """What the answer to `/start` and the first greeting add: what this is, and what to do next.

    `agents`: buttons that hire stand below it."""
    if present.focus:
        then = f"What you write goes to {present.focus}: write as you would to a colleague."
    elif present.workers:
        then = "/focus <name> chooses whom you talk to: write as you would to a colleague."
    else:
        hire = "Tap an agent below to hire it. Then" if agents else "Once somebody is hired,"
        then = f"{hire} write to it as you would to a colleague."
    return "\n".join([WHAT, then, "/commands shows what else can be typed."])


def first_words(manager: Manager) -> str:
    """What the first greeting adds for whoever has just become the manager: that they are."""
    return (
        f"{manager.title}, you are the manager of this node now: nobody else is obeyed here. The terminal can change "
        "that: farhand manager --help"
    )


def former(manager: Manager) -> str:
    """What the one who was the manager reads."""
    now = manager.title if manager.chat else "nobody"
    return f"You are no longer the manager of this node: {now} is. If that was not you, look at the machine it runs on."


def help_text(surface: Surface, command: str = "", worker: str = "") -> str:
    """What can be typed there and what the focused worker can do, or all about one command."""
    if command:
        return help_of(surface, command) or f"No command is called '{command}'; /commands lists them."
    return (
        "A text goes to the focused worker, @name to another, @all to everybody who is online. A question is answered"
        " by its buttons, a number, yes or no, or the words of a choice.\n"
        f"\n{help_lines(surface)}\n\n/commands <command> tells more.{f'{chr(10)}{worker}' if worker else ''}"
    )


def nobody_focused(present: Present, *, needs_focus: bool) -> str:
    """Why a message without a name found nobody."""
    if needs_focus:
        return NO_FOCUS
    if not present.workers:
        return EMPTY_TEAM
    return f"No one assigned. Your team: {', '.join(present.workers)}\nWho should I talk to?"


def offline(worker: str) -> str:
    """Why a message was not sent."""
    return f"{worker.capitalize()} is offline. Try /relaunch.\nYour message was not kept: send it again then."


def done(command: Command, worker: str, before: Present | None = None) -> str:
    """The answer to a command that facts will not answer by themselves; `before` is the present that it met."""
    name = worker.capitalize()
    match command:
        case commands.Focus():
            return f"Now talking to {name}."
        case commands.Relaunch():
            return f"Bringing {name} back online..."
        case commands.Interrupt(withdraw=withdraw):
            said = queue_texts.stopped(before.workers.get(worker) if before else None, worker, withdraw=withdraw)
            return f"{paused(worker)}\n{said}" if withdraw else said
        case commands.Retry():
            return f"{name} tries again."
        case commands.Tune(mode=mode, model=model, effort=effort):
            wanted = {"mode": mode, "model": model, "effort": effort}
            asked = " ".join(f"{what}={value}" for what, value in wanted.items() if value is not None)
            return f"{name} is asked to change: {asked}."
        case commands.Sprint():
            return f"{name} begins its sprint. STOP ends it after the turn that runs, STOP NOW at once."
        case commands.AddTasks():
            return "Added to the sprint."
        case commands.SkipTask():
            return f"{name} goes on with the next task."
        case commands.Halt(now=now):
            return f"{name} halts {'now' if now else 'after what it is at'}."
        case commands.Review():
            return f"{name}'s work is being judged."
        case commands.SendFindings():
            return f"Sent back to {name}."
        case commands.CancelReview():
            return "The review is cancelled."
        case commands.SetAttention(settings=settings):
            return settings_words(settings, time.time())
        case commands.Withdraw():
            return queue_texts.taken_back(command, before)
        case commands.Reword():
            return REWORDED
        case _:
            return ""


def paused(worker: str) -> str:
    """How the answer to `/pause` begins."""
    return f"{worker.capitalize()} is paused. I'll pick up where we left off."


def nothing_to_pause(worker: str) -> str:
    """The answer to `/pause` while nothing runs."""
    return f"{paused(worker)}\nNothing was running, and nothing waits."


def refused(command: Command, error: Refused) -> str:
    """Why a command was not obeyed."""
    match command:
        case commands.Hire(session=session, worker=name) if session or not name:
            return error.text
        case commands.End(worker=name, hand_back=True):
            return f'Could not hand "{name}" back. {error.text}'
        case commands.Hire(worker=name):
            return error.text if isinstance(error, BadName) else f'Could not hire "{name}". {error.text}'
        case commands.End(worker=name):
            return f'Could not offboard "{name}". {error.text}'
        case commands.Focus(worker=name):
            return f'Could not focus "{name}". {error.text}'
        case commands.Relaunch() | commands.Interrupt() if isinstance(error, NoFocus):
            return NOBODY_ASSIGNED
        case commands.Relaunch(worker=name):
            return f'Could not relaunch "{name}". {error.text}'
        case commands.Say(worker=name) if isinstance(error, UnknownWorker):
            return queue_texts.cannot_find(name)
        case commands.Say(worker=name) if isinstance(error, Offline):
            return offline(name)
        case commands.Say(worker=name):
            return f"Could not send to {name.capitalize()}. Try /relaunch."
        case _:
            return error.text
