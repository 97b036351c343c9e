"""Makes plain text of an HTML page: what is to be read, with its links; no scripts, no styles. Pure."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SILENT = {"script", "style", "noscript", "template", "svg", "head", "iframe"}
_BLOCKS = {"p", "div", "section", "article", "br", "tr", "table", "ul", "ol", "pre", "blockquote", "header", "footer"}
_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_VOID = {"br", "hr", "img", "meta", "link", "input", "area", "source", "wbr"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title = ""
        self._silent = 0
        self._in_title = False
        self._links: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = True
        if tag in _SILENT:
            self._silent += 1
        elif tag in _HEADINGS:
            self.pieces.append(f"\n\n{_HEADINGS[tag]}")
        elif tag == "li":
            self.pieces.append("\n- ")
        elif tag in _BLOCKS:
            self.pieces.append("\n")
        elif tag == "a":
            self._links.append(dict(attrs).get("href"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag in _HEADINGS or (tag in _BLOCKS and tag not in _VOID):
            self.pieces.append("\n")
        elif tag == "a" and self._links:
            address = self._links.pop()
            if address and address.startswith(("http://", "https://")):
                self.pieces.append(f" ({address})")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._silent:
            self.pieces.append(data)


def page_text(html: str) -> str:
    """The text of a page, its title first."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    text = "".join(reader.pieces)
    text = re.sub(r"[ \t\f\v\xa0]+", " ", text)
    text = re.sub(r" ?\n ?", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    title = " ".join(reader.title.split())
    return f"{title}\n\n{text}".strip() if title else text
