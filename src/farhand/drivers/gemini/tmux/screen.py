"""Reads the Gemini CLI's screen: input box, mode, dialogs. Pure: for liveness and keys, never for content."""

from __future__ import annotations

from farhand.drivers.wires.tmux.screen import begins, newest_block, plain
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.words import Word

HINTS = ("Type your message or @path/to/file", "Type your shell command")
ANSWER = "✦ "
# Below what is said stands what the CLI does, and for how long.
_STATUS = lazy_pattern(r"\? for shortcuts\s*$|\(esc to cancel|^ [\u2800-\u28ff]")
_AT_WORK = lazy_pattern(r"^\s*Executing Hook|\(esc to cancel|^ [\u2800-\u28ff]")
# While it starts it keeps what is typed, shows that below, and submits it later.
_KEPT = lazy_pattern(r"[Pp]rompts will be queued\.|^\s*Queued \(press ")
_RULE = lazy_pattern(r"^[─━]{20,}\s*$")
# Below the box: which of how many commands is chosen. It has more of its own than its list shows at once.
_LISTED = lazy_pattern(r"^\s*\(\d+/\d+\)\s*$")
_BOX = lazy_pattern(r"^ [>*!](?: |$)")
_OPTION = lazy_pattern(r"^[●○>]?\s*(\d+)\.\s+(.+?)\s*$")
# A message that is longer is shown as a token, and arrives whole all the same.
_TOKEN = lazy_pattern(r"^\[Pasted Text: ")
_HIDDEN = lazy_pattern(r"^\.\.\. .*(?:hidden|more).*\.\.\.|lines hidden|Press Ctrl\+O|^▲|^▼")
_BOXED = lazy_pattern(r"^│ │.*│ │$")
_NUMBERED = lazy_pattern(r"^\d*\s*[+-]?\s*")
# Of several calls that wait, the dialog says which one it is about.
_COUNTER = lazy_pattern(r"^(.*?)\s*\b(\d+ of \d+)$")


class Dialog(Word):
    """A question on the screen: what it is about, and which key gives which answer."""

    header: str
    body: tuple[str, ...]
    question: str
    options: dict[str, str]
    # Everything above the options.
    words: tuple[str, ...] = ()
    # Whether there are more of them than it shows.
    hides: bool = False
    # Which of several it is, as in "1 of 2"; '' when it is the only one.
    counter: str = ""

    def key(self, label: str) -> str:
        """The digit of the option that begins so; '' when there is none."""
        return next((digit for digit, words in self.options.items() if words.startswith(label)), "")


def written(dialog: Dialog) -> str:
    """What it says, without its frame."""
    return "\n".join([*dialog.words, "", *(f"{key}. {words}" for key, words in dialog.options.items())])


def gives_up(dialog: Dialog) -> str:
    """The key that stops in the dialog about a model that cannot be had (a limit, high demand); '' in any other."""
    offers = dialog.key("Keep trying") or dialog.key("Switch to")
    return dialog.key("Stop") if offers else ""


def read_box(screen: str) -> str | None:
    """What stands in the input box; '' when only its hint does, None when there is no box."""
    lines = plain(screen).splitlines()
    rule = next((number for number in range(len(lines) - 1, -1, -1) if _RULE.match(lines[number])), None)
    if rule is None:
        return None
    start = next((number for number in range(rule + 1, len(lines)) if _BOX.match(lines[number])), None)
    if start is None or start - rule > 4:
        return None
    typed = [lines[start][3:]]
    for line in lines[start + 1 :]:
        if line.startswith(("▀", " workspace (", " ~", " /")) or not line.strip():
            break
        typed.append(line.strip())
    text = "\n".join(typed).strip()
    return "" if text in HINTS else text


def read_prompt(screen: str) -> str | None:
    """What stands in the input box while it takes a prompt; None when it takes shell commands, or is not there."""
    lines = plain(screen).splitlines()
    rule = next((number for number in range(len(lines) - 1, -1, -1) if _RULE.match(lines[number])), 0)
    return None if any(line.startswith(" !") for line in lines[rule:]) else read_box(screen)


def holds(box: str, text: str) -> bool:
    """Whether the box begins with this text, or with the token of a long one."""
    return begins(box, text) or bool(_TOKEN.match(box))


def says(screen: str, words: str) -> bool:
    """Whether the line above the box begins so: it names the mode first, and then how to leave it."""
    lines = plain(screen).splitlines()
    rule = next((number for number in range(len(lines) - 1, -1, -1) if _RULE.match(lines[number])), None)
    line = "" if rule is None else "".join(lines[rule + 1 : rule + 2])
    return line.strip().lower().startswith(words.lower())


def answer_on(screen: str) -> str:
    """What the CLI shows of the model's newest message; '' when a person, or a tool, came after it."""
    lines = plain(screen).splitlines()
    rule = next((number for number in range(len(lines) - 1, -1, -1) if _RULE.match(lines[number])), len(lines))
    return newest_block((line for line in lines[:rule] if not _STATUS.search(line)), ANSWER)


def is_at_work(screen: str) -> bool:
    """Whether the CLI says that it works, or that it keeps what was typed until it has started."""
    lines = plain(screen).splitlines()
    rule = next((number for number in range(len(lines) - 1, -1, -1) if _RULE.match(lines[number])), len(lines))
    above = [line for line in lines[:rule] if line.strip()]
    said = [number for number, line in enumerate(above) if line.lstrip().startswith(("> ", ANSWER))]
    newest = above[said[-1] :] if said else above
    return any(_AT_WORK.search(line) for line in above[-2:]) or any(_KEPT.search(line) for line in newest)


def has_started(screen: str) -> bool:
    """Whether it shows its name or a conversation above the box: until then it keeps whatever is submitted."""
    lines = plain(screen).splitlines()
    rule = next((number for number in range(len(lines) - 1, -1, -1) if _RULE.match(lines[number])), 0)
    return any(line.strip() and not _STATUS.search(line) for line in lines[:rule])


def offers_commands(screen: str) -> bool:
    """Whether it lists its commands below the box: before they are loaded, a command is a prompt to it."""
    return any(_LISTED.match(line) for line in plain(screen).splitlines())


def status_of(title: str) -> str:
    """Idle, busy or waiting, as the window's title says; '' when it says nothing."""
    marks = {"◇": "idle", "✦": "busy", "✋": "waiting", "⏲": "busy"}
    return marks.get(title.strip()[:1], "")


def read_dialog(screen: str) -> Dialog | None:
    """The dialog at the end of the screen, if one is open."""
    lines = [line.strip() for line in plain(screen).splitlines()]
    end = next((number for number in range(len(lines) - 1, -1, -1) if lines[number].startswith("╰")), None)
    if end is None or read_box(screen) is not None:
        return None
    start = end
    while start > 0 and lines[start - 1].startswith("│"):
        start -= 1
    inner = [_inside(line) for line in lines[start:end]]
    first, options = _options(inner)
    if len(options) < 2:
        return None
    words, counter = _counted([line for line in inner[:first] if line])
    header = words[0] if words and words[0].startswith("?") else ""
    question = words[-1] if words else ""
    # What will run stands in a box of its own; other lines may be somebody's hook that speaks.
    boxed = [inside for line, inside in zip(lines[start:end], inner, strict=True) if _BOXED.match(line) and inside]
    body = tuple(boxed or words[1:-1])
    hides = bool({"▲", "▼"} & set(inner))
    return Dialog(
        header=header,
        body=body,
        question=question,
        options=options,
        words=tuple(words[: -1 if hides else None]),
        hides=hides,
        counter=counter,
    )


def _counted(words: list[str]) -> tuple[list[str], str]:
    """The words without the number at the end of their first line, and the number."""
    found = _COUNTER.match(words[0]) if words else None
    return ([found[1], *words[1:]], found[2]) if found else (words, "")


def comes_after(counter: str, other: str) -> bool:
    """Whether this call stands behind that one in the same row of calls."""
    (here, row), (there, other_row) = _place(counter), _place(other)
    return bool(row) and row == other_row and here > there


def comes_next(counter: str, before: str) -> bool:
    """Whether no call can come before this one any more: it is the only one, the first, or the one after that."""
    (here, row), (there, other_row) = _place(counter), _place(before)
    return here <= 1 or (row == other_row and here == there + 1)


def _place(counter: str) -> tuple[int, int]:
    """Where in which row of calls; (0, 0) when there is only one."""
    here, _, row = counter.partition(" of ")
    return (int(here), int(row)) if row else (0, 0)


def _options(lines: list[str]) -> tuple[int, dict[str, str]]:
    """The options, and where they begin. They come last: what looks like one above them is part of the question."""
    found: dict[str, str] = {}
    first = len(lines)
    for number in range(len(lines) - 1, -1, -1):
        option = _OPTION.match(lines[number])
        if option is None:
            continue
        if "1" in found or (found and str(int(option[1]) + 1) not in found):
            break
        found[option[1]] = option[2]
        first = number
    return first, dict(reversed(found.items()))


def _inside(line: str) -> str:
    """A line of a box without its borders, which may be two."""
    text = line.strip()
    for _ in range(2):
        text = text.removeprefix("│").removesuffix("│").strip()
    return "" if set(text) <= set("╭╮╰╯─│▄▀ ") else text


def shows(dialog: Dialog, whole: str) -> bool:
    """Whether the dialog shows this command: all of it, or a part, where it says that it hides the rest."""
    hidden = any(_HIDDEN.search(line) for line in dialog.body)
    shown = bare("".join(line for line in dialog.body if not _HIDDEN.search(line)))
    return bool(shown) and (shown in bare(whole) if hidden else shown == bare(whole))


def shows_of(dialog: Dialog, whole: str) -> bool:
    """Whether every line that the dialog shows of a difference is in it, whatever the number before it."""
    text = bare(whole)
    return all(
        bare(_NUMBERED.sub("", line)) in text for line in dialog.body if not _HIDDEN.search(line) and line.strip("═ ")
    )


def bare(text: str) -> str:
    return "".join(text.split())
