"""What the demo agent says and draws, and how it understands what is wanted. Pure."""

import json
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from farhand.model.welcome import welcomed

LONG_ANSWER = 14_000
GREETINGS = {"hello", "hi", "hey", "hallo", "help", "start", "commands"}
SHOWS = {"stream", "think", "tool", "ask", "choose", "image", "fail", "long", "slow", "plan", "questions", "diff"}

# What the demo objects to in a line that was added, and how much.
DOUBTS = (
    (r"approve|ignore (all|the|previous)|dear reviewer", "P0", "This speaks to the reviewer."),
    (r"\beval\(|password\s*=", "P1", "This should not be shipped."),
    (r"\b(TODO|FIXME|XXX)\b", "P2", "Something is left to do here."),
)
SUMMARIES = {"approve": "Nothing stands in its way.", "changes": "Some of it should not be shipped."}

HELP = """Hello! I am the demo. I run on your own machine, I need no key, and I never call anyone. \
Say one of these words, and I show you what working with an agent feels like:

- stream: a short story, word by word
- think: my thoughts before the answer
- tool: I look into my folder, for real
- ask: I ask before I do something, and you decide
- choose: a question with several answers
- questions: a questionnaire, two parts at once
- plan: I show you a plan before I begin
- diff: I change a small program; in the phone app tap *Files and changes* and comment on its lines
- image: I paint you a picture
- fail: something goes wrong
- long: an answer of 14,000 characters
- slow: ten seconds of work, to try the stop button

In the phone app I have a terminal, too. Anything else I think about, and give it back to you."""

READY = "I am ready. Say help, and I show you what I can do."

STORY = """There was a lighthouse keeper who had read every book in the tower twice. So she began to write letters \
to the ships instead.

She blinked them with the lamp, one letter a night. "Good evening," said the first. "How is the sea where you are?" \
The ships, who are polite, blinked back.

After a year she knew forty captains, three of them well. And when the great storm came, and the charts were wrong, \
forty ships knew exactly where the light was, because a friend lived there.

That is all. It came to you word by word, as I would write code for you."""

THOUGHT = """The manager wants to see me think. Shall I pretend to find it hard? No: be honest, be brief, \
and put the conclusion where a thumb can reach it."""

AFTER_THINKING = "I have thought about it: a thought is only worth something when the answer is shorter. This one is."

NOTE = "Somebody allowed the demo agent to write this. It was very pleased.\n"

DRINK_QUESTION = "It is a long day. What shall I bring you?"
DRINKS = {
    "coffee": ("Coffee", "Coffee it is. Strong enough to hold the spoon upright."),
    "tea": ("Tea", "Tea. Four minutes, and not one second more."),
    "cocoa": ("Cocoa", "Cocoa! With the marshmallows, or we need not bother."),
    "nothing": ("Nothing, thank you", "Nothing, then. I shall hover nearby, helpfully."),
}


def wanted(text: str) -> str:
    """Which show a message asks for: its first word, or none."""
    if welcomed(text):
        return "ready"
    first = re.match(r"\W*([a-z]+)", text.lower())
    word = first.group(1) if first else ""
    if not word or word in GREETINGS:
        return "help"
    return word if word in SHOWS and len(text.split()) <= 3 else ""


def verdict(text: str) -> str:
    """What the demo says of a change that it shall judge; empty for any other message."""
    mark = re.search(r"^----- BEGIN DATA ([0-9a-f]{8,64}) -----$", text, re.MULTILINE)
    if mark is None:
        return ""
    data = text.partition(mark[0])[2].partition(f"----- END DATA {mark[1]} -----")[0]
    found = [
        {"severity": severity, "path": path, "line": line, "title": title}
        for path, line, added in added_lines(data)
        for pattern, severity, title in DOUBTS
        if re.search(pattern, added, re.IGNORECASE)
    ]
    said = "changes" if any(one["severity"] in ("P0", "P1") for one in found) else "approve"
    told = {"review": mark[1], "verdict": said, "confidence": 0.5, "summary": SUMMARIES[said], "findings": found[:20]}
    return f"I have read it line by line.\n\n{json.dumps(told)}"


def added_lines(patch: str) -> Iterator[tuple[str, int, str]]:
    """Every line that a patch adds: its file, its number there, and what it says."""
    path, line = "", 0
    for row in patch.splitlines():
        if row.startswith("+++ "):
            path = row[4:].removeprefix("b/")
        elif place := re.match(r"@@ -\S+ \+(\d+)", row):
            line = int(place[1])
        elif row.startswith("+"):
            yield path, line, row[1:]
            line += 1
        elif row.startswith(" "):
            line += 1


def pieces(text: str) -> Iterator[str]:
    """Words with the blank behind them, so that the pieces put together are the text."""
    return (found.group() for found in re.finditer(r"\s*\S+\s*", text))


def echo(text: str) -> str:
    """A thoughtful answer to anything."""
    said = " ".join(text.split())
    shown = said if len(said) <= 300 else said[:299] + "…"
    count = len(said.split())
    thought = "Brief, and to the point." if count <= 3 else f"I have turned all {count} words over, twice."
    return f"You said: “{shown}” {thought} A real agent would set to work now; say help to see what I can do."


def counted(names: Sequence[str]) -> str:
    """What was found in the folder, in a sentence."""
    if not names:
        return "My folder is empty. There is something restful about that."
    if len(names) == 1:
        return f"There is one thing in my folder, {names[0]}. I look after it."
    return f"There are {len(names)} things in my folder; the first of them is {names[0]}."


def advice(note: str) -> str:
    """What a person wrote beside the choice, acknowledged."""
    return f" And you said: “{note}”. I shall remember it until I forget." if note else ""


def received(path: Path) -> str:
    """That a file came, and how large it is."""
    try:
        size = path.stat().st_size
    except OSError:
        return f"You sent me {path.name}, but I cannot find it. "
    return f"Thank you for {path.name}, all {size:,} bytes of it. I have put it where I can look at it. "


def long_answer() -> Iterator[str]:
    """An answer of exactly that many characters, in numbered paragraphs: nothing can get lost unseen."""
    sentence = "This paragraph is here so that a long answer can be seen to arrive whole and in order."
    left, number = LONG_ANSWER, 1
    while left > 0:
        paragraph = f"{number}. {sentence} {sentence}\n\n"[:left]
        yield paragraph
        left -= len(paragraph)
        number += 1


# --- the picture

WIDTH, HEIGHT = 320, 180
SUN = (160, 112)
SUN_RADIUS = 34
HORIZON = 118
Colour = tuple[int, int, int]


def sunrise() -> bytes:
    """The whole picture, as the bytes of a PNG file."""
    rows = b"".join(
        b"\0" + b"".join(bytes(colour_at(across, down)) for across in range(WIDTH)) for down in range(HEIGHT)
    )
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def chunk(name: bytes, data: bytes) -> bytes:
    """One part of a PNG file: its length, its name, its data, its checksum."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def colour_at(across: int, down: int) -> Colour:
    """Sky, sun or sea."""
    distance = ((across - SUN[0]) ** 2 + (down - SUN[1]) ** 2) ** 0.5
    if down >= HORIZON:
        glitter = abs(across - SUN[0]) < 6 + (down - HORIZON) // 2 and (across * 7 + down * 13) % 5 < 2
        return (255, 196, 120) if glitter else blend((38, 84, 124), (16, 42, 67), (down - HORIZON) / (HEIGHT - HORIZON))
    if distance <= SUN_RADIUS:
        return (255, 226, 138)
    sky = blend((64, 78, 140), (255, 150, 100), down / HORIZON)
    return blend((255, 206, 128), sky, min(1.0, (distance - SUN_RADIUS) / 60))


def blend(first: Colour, second: Colour, share: float) -> Colour:
    """Some of the one and some of the other."""
    red, green, blue = (round(one + (two - one) * share) for one, two in zip(first, second, strict=True))
    return red, green, blue
