"""`farhand completion`: prints what a shell needs to complete commands and flags, made from the parsers themselves."""

import argparse
import sys
from importlib import import_module

from farhand.cli.flags import command_parser
from farhand.cli.global_flags import GLOBAL_FLAGS
from farhand.model.compat import HOME_FOLDER

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `completion` takes."""
    parser.add_argument("shell", choices=SHELLS, help="for which shell: bash, zsh or fish")


def run(arguments: argparse.Namespace) -> int:
    """Prints the script."""
    from farhand.cli.main import COMMANDS

    words = {name: words_of(name) for name in COMMANDS}
    match arguments.shell:
        case "fish":
            sys.stdout.write(fish(COMMANDS, words))
        case "zsh":
            sys.stdout.write("autoload -U +X bashcompinit && bashcompinit\n" + bash(words))
        case _:
            sys.stdout.write(bash(words))
    return 0


def words_of(name: str) -> list[str]:
    """The flags of a command, those of all commands, and the words that it can be given."""
    parser = command_parser(f"farhand {name}", "", import_module(f"farhand.cli.{name}"))
    flags = [flag for action in parser._actions for flag in action.option_strings if flag.startswith("--")]
    choices = [str(one) for action in parser._actions if not action.option_strings for one in action.choices or ()]
    return sorted(set(choices)) + sorted(set(flags))


def bash(words: dict[str, list[str]]) -> str:
    """For bash, and for zsh with its bash completion: commands first, then what the command takes; nodes for --node."""
    cases = "\n".join(f'    {name}) found="{" ".join(one)}" ;;' for name, one in words.items())
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


def fish(commands: dict[str, str], words: dict[str, list[str]]) -> str:
    """For fish, with the help line of each command."""
    lines = ["# Completion for farhand: farhand completion fish | source", "complete -c farhand -f"]
    for name, about in commands.items():
        told = about.replace("'", "\\'")
        lines.append(f"complete -c farhand -n __fish_use_subcommand -a {name} -d '{told}'")
    lines += [_fish_flag("", flag.names[-1]) for flag in GLOBAL_FLAGS]
    for name, found in words.items():
        seen = f"-n '__fish_seen_subcommand_from {name}' "
        lines += [
            _fish_flag(seen, word) if word.startswith("-") else f"complete -c farhand {seen}-a {word}" for word in found
        ]
    return "\n".join(lines) + "\n"


def _fish_flag(seen: str, flag: str) -> str:
    value = " -r" if flag.lstrip("-") in {one.names[-1].lstrip("-") for one in GLOBAL_FLAGS if one.value} else ""
    return f"complete -c farhand {seen}-l {flag.lstrip('-')}{value}"
