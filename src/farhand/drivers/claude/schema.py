"""What Claude Code writes, read field by field: a field that is missing or of another kind costs that field only."""

from __future__ import annotations

from farhand.drivers.wires.foreign_json import Fields


def blocks(message: Fields) -> list[Fields]:
    """The content blocks of a message; a bare string is one text block."""
    content = message.any("content")
    if isinstance(content, str):
        return [Fields({"type": "text", "text": content})]
    return message.list("content")


def plain_text(content: object) -> str:
    """The text of a tool's result, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    items = content if isinstance(content, list) else []
    texts = [item["text"] for item in items if isinstance(item, dict) and isinstance(item.get("text"), str)]
    return "\n".join(texts)


def input_of(usage: Fields) -> int:
    """How many tokens the model read in one call, cached ones included."""
    cached = usage.whole("cache_read_input_tokens") + usage.whole("cache_creation_input_tokens")
    return usage.whole("input_tokens") + cached
