"""How `/hire` and `/adopt` are read: names, and the flags of a hiring. Pure."""

from farhand.model import bridge, commands, sandbox
from farhand.model.errors import BadInput
from farhand.model.present import AGENT, AGENT_BACKEND, WIRE
from farhand.model.slash_argument import SlashArgument, mode_named
from farhand.model.wishes import Wish
from farhand.model.words import Mode, Word, replace

ANYWAY = "--anyway"
# As one would say it: `/hire ann in shop`.
_INTO = frozenset({"in", "into"})
_VALUED = frozenset(("adapter", "backend", "mode", "model", "effort", "dir", "directory", "wire", "bridge", AGENT))


class HireFlags(Word):
    """What the flags of a hiring say."""

    backend: str = ""
    mode: Mode | None = None
    model: str = ""
    effort: str = ""
    directory: str = ""
    wire: str = ""
    agent: str = ""
    sandbox: str = ""
    anyway: bool = False


def read_hire(argument: SlashArgument) -> Wish:
    """`<name> [backend] [in <folder>]` and flags; without a backend the node decides, by the name or its default."""
    names, flags = _flags(argument)
    if len(names) > 2 and names[-2].lower() in _INTO and not flags.directory:
        names, flags = names[:-2], replace(flags, directory=names[-1])
    if not 1 <= len(names) <= 2 or flags.anyway or (len(names) == 2 and flags.backend):
        raise argument.wrong()
    return _hire(argument, flags, worker=names[0], backend=flags.backend or "".join(names[1:]).lower())


def read_adopt(argument: SlashArgument) -> Wish:
    """`<backend> <session> [name]`, with `--anyway` and the flags of `/hire`."""
    names, flags = _flags(argument)
    if not 2 <= len(names) <= 3 or flags.backend:
        raise argument.wrong()
    named = replace(_hire(argument, flags, worker="".join(names[2:]), backend=names[0].lower()), session=names[1])
    return replace(named, anyway=flags.anyway)


def _hire(argument: SlashArgument, flags: HireFlags, *, worker: str, backend: str) -> commands.Hire:
    if flags.agent and backend not in ("", AGENT_BACKEND):
        raise BadInput(f"An agent of your own is a {AGENT_BACKEND} worker, and no {backend} one.")
    options = {WIRE: flags.wire, AGENT: flags.agent, sandbox.OPTION: flags.sandbox}
    return commands.Hire(
        id=argument.id,
        worker=worker,
        backend=backend or (AGENT_BACKEND if flags.agent else ""),
        mode=flags.mode,
        model=flags.model,
        effort=flags.effort,
        directory=flags.directory,
        options={name: value for name, value in options.items() if value},
    )


def _flags(argument: SlashArgument) -> tuple[list[str], HireFlags]:
    """The names, and what the flags say; a flag that is none of ours names a backend."""
    names: list[str] = []
    flags = HireFlags()
    left = iter(argument.words())
    for word in left:
        if not word.startswith("-"):
            names.append(word)
            continue
        option, equals, value = word.lstrip("-").partition("=")
        option = option.lower()
        if option in _VALUED:
            value = value if equals else next(left, "")
            if not value or value.startswith("-"):
                raise argument.wrong()
        flags = _with_flag(flags, option, value)
    return names, flags


def _with_flag(flags: HireFlags, option: str, value: str) -> HireFlags:
    match option:
        case "backend" | "adapter":
            return replace(flags, backend=value.lower())
        case "mode":
            return replace(flags, mode=mode_named(value))
        case "model":
            return replace(flags, model=value)
        case "effort":
            return replace(flags, effort=value.lower())
        case "dir" | "directory":
            return replace(flags, directory=value)
        case "bridge":
            return replace(flags, backend=bridge.BACKEND, directory=value)
        case "ask":
            return replace(flags, mode=Mode.DEFAULT)
        case "plan" | "yolo" | "auto-edit" | "auto_edit":
            return replace(flags, mode=Mode(option.replace("-", "_")))
        case "wire":
            return replace(flags, wire=value)
        case "agent":
            return replace(flags, agent=value)
        case "tmux" | "headless":
            return replace(flags, wire=option)
        case "sandbox" | "no-sandbox":
            return replace(flags, sandbox=sandbox.ON if option == "sandbox" else sandbox.OFF)
        case "anyway":
            return replace(flags, anyway=True)
        case _:
            return replace(flags, backend=option)
