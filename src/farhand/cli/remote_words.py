"""What stands behind `farhand remote --`: which agent, and those of its flags that a hiring has a word for. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from farhand.model.words import Mode, Word

MODEL_FLAGS = ("-m", "--model")


class AgentWords(Word):
    """A command line of an agent's CLI, read: what is not known here is the CLI's own business."""

    program: str
    model: str = ""
    mode: Mode | None = None
    arguments: tuple[str, ...] = ()


def read_words(words: Sequence[str], modes: Mapping[str, str]) -> AgentWords:
    """`modes` has the CLI's own flags for our modes: `--approval-mode plan`, `--yolo`."""
    program, rest = words[0], list(words[1:])
    model, mode, others = "", None, list[str]()
    while rest and rest[0] != "--":
        word, following = rest[0], rest[1:2]
        flag = " ".join([word, *following]) if " ".join([word, *following]) in modes else word.replace("=", " ", 1)
        name, equals, value = word.partition("=")
        if flag in modes:
            mode = Mode(modes[flag])
            taken = 2 if " " in flag and "=" not in word else 1
        elif name in MODEL_FLAGS and (equals or following):
            model = value if equals else following[0]
            taken = 1 if equals else 2
        else:
            others.append(word)
            taken = 1
        del rest[:taken]
    return AgentWords(program=program, model=model, mode=mode, arguments=(*others, *rest))
