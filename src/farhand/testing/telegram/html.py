"""Reads HTML as Telegram reads it: the text people see, its entities in UTF-16 units, or Telegram's refusal."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NoReturn

from farhand.testing.telegram.errors import bad_request

ENTITY_OF_TAG = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "tg-emoji": "custom_emoji",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
}
NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
MOST_ENTITIES = 100
SPACE = " \t\r\n\0\v"
CHARACTER_REFERENCE = re.compile(r"&(?:#(?P<hex>x[0-9a-fA-F]+)|#(?P<decimal>[0-9]+)|(?P<name>[a-zA-Z]+));?")
# The part of a domain after its last dot decides whether Telegram keeps a link at all.
HOST = re.compile(
    r"(?:(?P<scheme>https?|ftp|tonsite)://)?(?:[^/?#@\s]*@)?"
    r"(?P<host>[^/?#:@\s]+)(?::(?P<port>\d{1,5}))?(?:[/?#].*)?\Z",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Entity:
    """One stretch of formatted text; offset and length count UTF-16 units."""

    kind: str
    offset: int
    length: int
    argument: str = ""

    @property
    def end(self) -> int:
        return self.offset + self.length

    def as_json(self) -> dict[str, object]:
        payload: dict[str, object] = {"type": self.kind, "offset": self.offset, "length": self.length}
        field = {"text_link": "url", "pre": "language", "custom_emoji": "custom_emoji_id"}.get(self.kind)
        if field and self.argument:
            payload[field] = self.argument
        return payload


@dataclass(slots=True)
class OpenTag:
    """A start tag that waits for its end."""

    name: str
    argument: str
    offset: int
    begins: int


def utf16_length(text: str) -> int:
    """How long Telegram holds a text to be."""
    return len(text) + sum(1 for character in text if character > "\uffff")


def fail(what: str) -> NoReturn:
    raise bad_request(f"can't parse entities: {what}")


def checked_link(url: str) -> str:
    """The link as Telegram keeps it, or nothing when it would drop it without a word."""
    url = url.strip()
    if url.startswith(("tg://", "ton://", "mailto:", "tel:")):
        return url
    found = HOST.match(url)
    if not found or any(character.isspace() for character in url):
        return ""
    labels = found["host"].rstrip(".").split(".")
    if len(labels) < 2 or not all(labels) or (found["port"] and int(found["port"]) > 65535):
        return ""
    if not (labels[-1].isdigit() and len(labels) == 4) and (len(labels[-1]) < 2 or labels[-1].isdigit()):
        return ""
    return url if found["scheme"] else f"http://{url}"


class HtmlReader:
    """One pass over one text, as the server of Telegram makes it."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.shown: list[str] = []
        self.units = 0
        self.open: list[OpenTag] = []
        self.entities: list[Entity] = []

    def byte_offset(self, position: int) -> int:
        return len(self.source[:position].encode("utf-8", "surrogatepass"))

    def peek(self) -> str:
        return self.source[self.at] if self.at < len(self.source) else "\0"

    def ended(self) -> bool:
        return self.at >= len(self.source)

    def skip_space(self) -> None:
        while not self.ended() and self.peek() in SPACE:
            self.at += 1

    def put(self, character: str) -> None:
        self.shown.append(character)
        self.units += utf16_length(character)

    def read(self) -> tuple[str, list[Entity]]:
        while not self.ended():
            character = self.peek()
            if character == "<":
                self.read_tag()
            elif character == "&" and (decoded := self.read_reference()):
                self.put(decoded)
            else:
                self.put(character)
                self.at += 1
        if self.open:
            fail(f'Can\'t find end tag corresponding to start tag "{self.open[-1].name}"')
        return "".join(self.shown), self.entities

    def read_reference(self) -> str:
        found = CHARACTER_REFERENCE.match(self.source, self.at)
        if not found:
            return ""
        if found["name"]:
            decoded = NAMED.get(found["name"], "")
        else:
            code = int(found["hex"][1:], 16) if found["hex"] else int(found["decimal"])
            known = 0 < code < 0x10FFFF and not 0xD800 <= code < 0xE000 and found.end() - found.start() < 12
            decoded = chr(code) if known else ""
        if decoded:
            self.at = found.end()
        return decoded

    def read_tag(self) -> None:
        begins = self.at
        self.at += 1
        if self.peek() == "/" and not self.ended():
            self.read_end(begins)
        else:
            self.read_start(begins)
        self.at += 1

    def read_start(self, begins: int) -> None:
        while self.peek() not in SPACE and self.peek() != ">":
            self.at += 1
        if self.ended():
            fail(f"Unclosed start tag at byte offset {self.byte_offset(begins)}")
        name = self.source[begins + 1 : self.at].lower()
        if name not in ENTITY_OF_TAG:
            fail(f'Unsupported start tag "{name}" at byte offset {self.byte_offset(begins)}')
        argument = ""
        while self.peek() != ">":
            self.skip_space()
            if self.peek() == ">":
                break
            argument = self.read_attribute(name, begins) or argument
        if name == "span" and argument != "spoiler":
            fail(f'Tag "span" must have class "tg-spoiler" at byte offset {self.byte_offset(begins)}')
        self.open.append(OpenTag(name, argument, self.units, len(self.shown)))

    def read_attribute(self, tag: str, begins: int) -> str:
        starts = self.at
        while self.peek() not in SPACE and self.peek() not in "=>/\"'":
            self.at += 1
        attribute = self.source[starts : self.at]
        if not attribute:
            if self.ended():
                fail(f"Unclosed start tag at byte offset {self.byte_offset(begins)}")
            fail(f'Empty attribute name in the tag "{tag}" at byte offset {self.byte_offset(begins)}')
        self.skip_space()
        value = ""
        if self.peek() == "=" and not self.ended():
            self.at += 1
            self.skip_space()
            if self.ended():
                fail(f'Unclosed start tag "{tag}" at byte offset {self.byte_offset(begins)}')
            value = self.read_value()
        elif not (tag == "blockquote" and attribute == "expandable"):
            fail(
                f'Expected equal sign in declaration of an attribute of the tag "{tag}" '
                f"at byte offset {self.byte_offset(begins)}"
            )
        if self.ended():
            fail(f"Unclosed start tag at byte offset {self.byte_offset(begins)}")
        return self.argument_of(tag, attribute, value)

    def read_value(self) -> str:
        quote = self.peek()
        if quote not in "\"'":
            starts = self.at
            while not self.ended() and ((self.peek().isascii() and self.peek().isalnum()) or self.peek() in ".-"):
                self.at += 1
            if self.peek() not in SPACE and self.peek() != ">":
                fail(f"Unexpected end of name token at byte offset {self.byte_offset(starts)}")
            return self.source[starts : self.at].lower()
        self.at += 1
        value: list[str] = []
        while not self.ended() and self.peek() != quote:
            if self.peek() == "&" and (decoded := self.read_reference()):
                value.append(decoded)
            else:
                value.append(self.peek())
                self.at += 1
        self.at += 1
        return "".join(value)

    @staticmethod
    def argument_of(tag: str, attribute: str, value: str) -> str:
        match tag, attribute:
            case ("a", "href") | ("tg-emoji", "emoji-id"):
                return value
            case ("code", "class") if value.startswith("language-"):
                return value.removeprefix("language-")
            case ("span", "class") if value.startswith("tg-"):
                return value.removeprefix("tg-")
            case ("blockquote", "expandable"):
                return "expandable"
            case _:
                return ""

    def read_end(self, begins: int) -> None:
        if not self.open:
            fail(f"Unexpected end tag at byte offset {self.byte_offset(begins)}")
        while self.peek() not in SPACE and self.peek() != ">":
            self.at += 1
        name = self.source[begins + 2 : self.at]
        self.skip_space()
        if self.peek() != ">" or self.ended():
            fail(f"Unclosed end tag at byte offset {self.byte_offset(begins)}")
        tag = self.open[-1]
        if name and name != tag.name:
            fail(
                f"Unmatched end tag at byte offset {self.byte_offset(begins)}, "
                f'expected "</{tag.name}>", found "</{name}>"'
            )
        if self.units > tag.offset:
            self.close(tag)
        self.open.pop()

    def close(self, tag: OpenTag) -> None:
        entity = Entity(ENTITY_OF_TAG[tag.name], tag.offset, self.units - tag.offset, tag.argument)
        last = self.entities[-1] if self.entities else None
        same_place = last is not None and (last.offset, last.length) == (entity.offset, entity.length)
        match entity.kind:
            case "text_link":
                url = checked_link(tag.argument or "".join(self.shown[tag.begins :]))
                if url:
                    self.entities.append(replace(entity, argument=url))
            case "pre" if last is not None and same_place and last.kind == "code" and last.argument:
                self.entities[-1] = replace(last, kind="pre")
            case "code" if last is not None and same_place and last.kind == "pre" and entity.argument:
                self.entities[-1] = replace(last, argument=entity.argument)
            case "custom_emoji" if not entity.argument.isdigit():
                fail("Invalid custom emoji identifier specified")
            case "blockquote" if entity.argument:
                self.entities.append(replace(entity, kind="expandable_blockquote", argument=""))
            case _:
                self.entities.append(entity)


def settled(entities: list[Entity]) -> list[Entity]:
    """What is left when Telegram has applied its rules of nesting: nothing within code, no quote within a quote."""
    kept: list[Entity] = []
    ordered = sorted(entities, key=lambda entity: (entity.offset, -entity.length, entity.kind not in {"pre", "code"}))
    for entity in ordered:
        around = [one for one in kept if one.offset <= entity.offset and entity.end <= one.end]
        if any(one.kind in {"pre", "code"} for one in around):
            continue
        if entity.kind in {"pre", "code"}:
            kept = [one for one in kept if one not in around or "blockquote" in one.kind or one.length > entity.length]
        if "blockquote" in entity.kind and any("blockquote" in one.kind for one in around):
            continue
        if any(one.kind == entity.kind for one in around):
            continue
        kept.append(replace(entity, argument="") if entity.kind == "code" else entity)
    return kept[:MOST_ENTITIES]


def trimmed(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """The text without the space around it, as Telegram stores it, its entities moved along."""
    text = "".join(character for character in text if character >= " " or character in "\n\t")
    ended = text.rstrip(" \t\n\u00a0")
    begun = ended.lstrip(" \t\n\u00a0")
    shift, last = utf16_length(ended) - utf16_length(begun), utf16_length(begun)
    moved: list[Entity] = []
    for entity in entities:
        start, end = max(0, entity.offset - shift), min(last, entity.end - shift)
        if end > start:
            moved.append(replace(entity, offset=start, length=end - start))
    return begun, moved


def read_html(source: str) -> tuple[str, list[Entity]]:
    """The text as people see it and its entities; raises the refusal that Telegram would answer with."""
    text, entities = HtmlReader(source.replace("\r", "")).read()
    return trimmed(text, settled(entities))
