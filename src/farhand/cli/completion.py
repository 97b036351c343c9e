"""`farhand completion`: prints what a shell needs to complete commands, flags and what flags take, made from the
parsers themselves."""

import argparse
import sys
from collections.abc import Iterable
from importlib import import_module

from farhand import manifests
from farhand.cli.flags import command_parser
from farhand.cli.global_flags import GLOBAL_FLAGS
from farhand.drivers.acp.schema import catalogue
from farhand.model.compat import HOME_FOLDER
from farhand.model.reach import ReachMode

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `completion` takes."""
    parser.add_argument("shell", choices=SHELLS, help="for which shell: bash, zsh or fish")


def run(arguments: argparse.Namespace) -> int:
    """Prints the script."""
    from farhand.cli.main import COMMANDS

    actions = {name: actions_of(name) for name in COMMANDS}
    words = {name: words_of(some) for name, some in actions.items()}
    values = values_of(action for some in actions.values() for action in some)
    match arguments.shell:
        case "fish":
            sys.stdout.write(fish(COMMANDS, words, values))
        case "zsh":
            sys.stdout.write("autoload -U +X bashcompinit && bashcompinit\n" + bash(words, values))
        case _:
            sys.stdout.write(bash(words, values))
    return 0


def actions_of(name: str) -> list[argparse.Action]:
    """What a command takes, flags of every command included."""
    return command_parser(f"farhand {name}", "", import_module(f"farhand.cli.{name}"))._actions


def words_of(actions: Iterable[argparse.Action]) -> list[str]:
    """The flags among them, and the words that the command can be given."""
    actions = list(actions)
    flags = [flag for action in actions for flag in action.option_strings if flag.startswith("--")]
    choices = [str(one) for action in actions if not action.option_strings for one in action.choices or ()]
    return sorted(set(choices)) + sorted(set(flags))


def values_of(actions: Iterable[argparse.Action]) -> dict[str, list[str]]:
    """What each flag takes that takes something; nothing where that can be anything."""
    values: dict[str, dict[str, None]] = {}
    for action in actions:
        for flag in action.option_strings if action.nargs != 0 else ():
            values.setdefault(flag, {}).update(dict.fromkeys(str(one) for one in action.choices or ()))
    drivers = [str(manifests.manifest(manifests.DRIVERS, name).get("backend", "")) for name in manifests.packages()]
    agents = dict.fromkeys(sorted(filter(None, {*drivers, *(one.backend for one in catalogue())})))
    known = {"--backend": agents, "--adapter": agents, "--reach": dict.fromkeys(one.value for one in ReachMode)}
    return {flag: [*known.get(flag, some)] for flag, some in sorted(values.items())}


def bash(words: dict[str, list[str]], values: dict[str, list[str]]) -> str:
    """For bash, and for zsh with its bash completion: commands first, then what the command takes; nodes for --node."""
    cases = "\n".join(f'    {name}) found="{" ".join(one)}" ;;' for name, one in words.items())
    taken = "\n".join(f'    {flag}) found="{" ".join(some)}" ;;' for flag, some in values.items())
    everywhere = " ".join(sorted(flag.names[-1] for flag in GLOBAL_FLAGS))
    return f"""# Completion for farhand: eval "$(farhand completion bash)"
_farhand() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="" found one
  if [ "$before" = --node ] || [ "$before" = -n ]; then
    found="$(command ls "${{FARHAND_HOME:-$HOME/{HOME_FOLDER}}}/nodes" 2>/dev/null)"
    COMPREPLY=($(compgen -W "$found" -- "$word"))
    return
  fi
  if [ "$before" = --env-file ] || [ "$before" = --dir ] || [ "$before" = --settings ]; then
    COMPREPLY=($(compgen -f -- "$word"))
    return
  fi
  case "$before" in
{taken}
    *) found=- ;;
  esac
  if [ "$found" != - ]; then
    COMPREPLY=($(compgen -W "$found" -- "$word"))
    return
  fi
  for one in "${{COMP_WORDS[@]:1:$((COMP_CWORD-1))}}"; do
    case "$one" in -*) ;; *) case " {" ".join(words)} " in *" $one "*) command="$one"; break ;; esac ;; esac
  done
  case "$command" in
{cases}
    *) found="{" ".join(words)} help {everywhere}" ;;
  esac
  COMPREPLY=($(compgen -W "$found" -- "$word"))
}}
complete -F _farhand farhand
"""


def fish(commands: dict[str, str], words: dict[str, list[str]], values: dict[str, list[str]]) -> str:
    """For fish, with the help line of each command."""
    lines = ["# Completion for farhand: farhand completion fish | source", "complete -c farhand -f"]
    for name, about in commands.items():
        told = about.replace("'", "\\'")
        lines.append(f"complete -c farhand -n __fish_use_subcommand -a {name} -d '{told}'")
    lines += [_fish_flag("", flag.names[-1], values) for flag in GLOBAL_FLAGS]
    for name, found in words.items():
        seen = f"-n '__fish_seen_subcommand_from {name}' "
        lines += [
            _fish_flag(seen, word, values) if word.startswith("-") else f"complete -c farhand {seen}-a {word}"
            for word in found
        ]
    return "\n".join(lines) + "\n"


def _fish_flag(seen: str, flag: str, values: dict[str, list[str]]) -> str:
    some = values.get(flag)
    value = "" if some is None else f" -x -a '{' '.join(some)}'" if some else " -r"
    return f"complete -c farhand {seen}-l {flag.lstrip('-')}{value}"
