"""Draws a chat of the fake Telegram as a phone shows it: a page of HTML, and a picture of it where Chromium is there.

`python -m farhand.testing.telegram.picture ADDRESS TOKEN CHAT page.html` draws a chat; a name that ends with `.png` is
a picture. `python -m farhand.testing.telegram.picture --transcript ADDRESS TOKEN CHAT` prints it as text instead."""

from __future__ import annotations

import argparse
import html
import itertools
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from farhand.testing.telegram.client import FakeTelegram, drawn
from farhand.testing.telegram.words import ShownMessage

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, ROW, CHARACTERS = 430, 21, 46
TAGS = {"bold": "b", "italic": "i", "code": "code", "pre": "pre", "underline": "u", "strikethrough": "s"}
STYLE = """
body { margin: 0; padding: 8px; background: #d3dfe8; font: 15px/1.35 'DejaVu Sans', sans-serif; width: 414px }
.one { max-width: 84%; margin: 3px 0; padding: 6px 9px; border-radius: 12px; background: #fff; width: fit-content;
  white-space: pre-wrap; overflow-wrap: anywhere }
.mine { margin-left: auto; background: #e1f7cb }
.gone { opacity: .35; text-decoration: line-through }
.quote { border-left: 3px solid #3a8ed0; padding-left: 6px; color: #3a6f9c; font-size: 12px; white-space: nowrap;
  overflow: hidden; text-overflow: ellipsis }
.marks { color: #7b8a96; font-size: 11px; text-align: right }
.row { display: flex; gap: 4px; max-width: 84%; margin: 2px 0 }
.row span { flex: 1; padding: 5px; border-radius: 8px; background: #7d99ae; color: #fff; font-size: 13px;
  text-align: center }
pre, code { font: 13px 'DejaVu Sans Mono', monospace; background: #eef1f4; margin: 0; white-space: pre-wrap }
blockquote { margin: 0; border-left: 3px solid #9ab; padding-left: 6px }
"""


def page(messages: Sequence[ShownMessage], *, deleted: bool = False) -> str:
    """The chat as a page; what was deleted is left out, or shown crossed out."""
    known = {one.message_id: one for one in messages}
    shown = "".join(_bubble(one, known) for one in messages if deleted or not one.deleted)
    return f"<!doctype html><meta charset='utf-8'><style>{STYLE}</style>{shown}"


def _bubble(message: ShownMessage, known: dict[int, ShownMessage]) -> str:
    kinds = " ".join(
        ["one", *(["mine"] if not message.from_bot else []), *(["gone"] if message.deleted else [])],
    )
    quoted = known.get(message.reply_to or 0)
    quote = f"<div class=quote>{html.escape(quoted.text.splitlines()[0][:60])}</div>" if quoted and quoted.text else ""
    text = with_entities(message.text, message.entities) or f"▣ {html.escape(message.document or 'photo')}"
    marks = " ".join(
        [
            "buzz" if message.buzzed else "",
            "edited" if message.versions else "",
            "".join(message.reactions),
            f"topic {message.thread}" if message.thread else "",
            f"#{message.message_id}",
        ]
    )
    rows = "".join(
        f"<div class=row>{''.join(f'<span>{html.escape(button.text)}</span>' for button in row)}</div>"
        for row in message.buttons
    )
    return f"<div class='{kinds}'>{quote}{text}<div class=marks>{marks}</div></div>{rows}"


def with_entities(text: str, entities: Sequence[dict[str, Any]]) -> str:
    """The text as HTML with its entities, whose places are counted in UTF-16 as Telegram counts them."""
    units = text.encode("utf-16-le")
    opens: dict[int, list[str]] = {}
    closes: dict[int, list[str]] = {}
    for one in sorted(entities, key=lambda entity: (entity["offset"], -entity["length"])):
        tag = TAGS.get(one["type"], "blockquote" if "quote" in one["type"] else "span")
        opens.setdefault(one["offset"], []).append(f"<{tag}>")
        closes.setdefault(one["offset"] + one["length"], []).insert(0, f"</{tag}>")
    places = sorted({0, len(units) // 2, *opens, *closes})
    pieces = [
        "".join([*closes.get(start, ()), *opens.get(start, ())])
        + html.escape(units[start * 2 : end * 2].decode("utf-16-le", errors="replace"))
        for start, end in itertools.pairwise(places)
    ]
    return "".join([*pieces, *closes.get(places[-1], ())])


def height(messages: Sequence[ShownMessage]) -> int:
    """About how many pixels high the page is."""
    rows = sum(
        sum(1 + len(line) // CHARACTERS for line in one.text.splitlines()) + 2 + 2 * len(one.buttons)
        for one in messages
        if not one.deleted
    )
    return 60 + rows * ROW


def save(messages: Sequence[ShownMessage], path: Path) -> None:
    """Writes the page, or takes a picture of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".png":
        path.write_text(page(messages), "utf-8")
        return
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"A picture needs one of {', '.join(BROWSERS)}; a name that ends with .html needs none.")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(page(messages), "utf-8")
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/profile",
        ]
        size = f"--window-size={WIDTH},{height(messages)}"
        profile = f"--user-data-dir={folder}/profile"
        command = [browser, *flags, profile, size, f"--screenshot={path.absolute()}", source.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


async def look(address: str, token: str, chat: int) -> tuple[ShownMessage, ...]:
    """The messages of a chat at a fake Telegram that runs."""
    async with FakeTelegram(address) as telegram:
        return await telegram.bot(token).messages(chat)


def main() -> None:
    """Draws a chat."""
    reader = argparse.ArgumentParser(prog="python -m farhand.testing.telegram.picture", description=__doc__)
    reader.add_argument("address")
    reader.add_argument("token")
    reader.add_argument("chat", type=int)
    reader.add_argument("to", type=Path, nargs="?")
    reader.add_argument("--transcript", action="store_true", help="print the chat as text")
    given = reader.parse_args()
    messages = anyio.run(look, given.address, given.token, given.chat)
    if given.transcript or given.to is None:
        sys.stdout.write(drawn(messages) + "\n")
    else:
        save(messages, given.to)


if __name__ == "__main__":
    main()
