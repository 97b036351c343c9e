"""What the Gemini CLI writes down, read as it comes: messages, their calls, their results. Pure."""

from __future__ import annotations

import hashlib
import re

import msgspec

from farhand.drivers.wires.foreign_json import Fields
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.words import Usage

CONTEXTS = ("<session_context>", "<hook_context>")
GEMINI_WINDOW = 1_048_576
GEMMA_WINDOW = 256_000
OVER = frozenset(("success", "error", "cancelled"))
_WRAPPED = lazy_pattern(r"^<untrusted_context>\n?(.*?)\n?</untrusted_context>$", re.DOTALL)
_GROUP = lazy_pattern(r"\n?Process Group PGID: \d+$")


def parts(content: object) -> list[Fields]:
    """The parts of a content, which is a string, one part, or a list of both."""
    items = content if isinstance(content, list) else [content]
    return [Fields({"text": item}) if isinstance(item, str) else Fields(item) for item in items if item]


def words(content: object) -> str:
    """The text of a content, without what the CLI and its hooks put around it."""
    if isinstance(content, str):
        return "" if content.startswith(CONTEXTS) else content
    texts = [part.text("text") for part in parts(content) if not part.flag("thought")]
    return "".join(text for text in texts if not text.startswith(CONTEXTS))


def is_context(content: object) -> bool:
    """Whether this is how the CLI opens a conversation, which nobody said."""
    first = content[0] if isinstance(content, list) and content else content
    text = first.get("text") if isinstance(first, dict) else first
    return isinstance(text, str) and text.startswith(CONTEXTS[0])


def responses(content: object) -> list[Fields]:
    """The results of tools in a content."""
    found = [part.fields("functionResponse") for part in parts(content)]
    return [one for one in found if one]


def result_text(call: Fields) -> str:
    """What a call gave back."""
    result = call.any("result")
    if isinstance(result, str):
        return unwrapped(result)
    return "\n".join(text for text in map(response_text, responses(result)) if text)


def response_text(response: Fields) -> str:
    """What one result says."""
    answer = response.fields("response")
    return unwrapped(answer.text("output") or answer.text("error") or answer.text("result"))


def unwrapped(text: str) -> str:
    """A tool's output without what the CLI writes around it for the model."""
    inner = _WRAPPED.match(text.strip())
    if inner is None:
        return text
    plain = _GROUP.sub("", inner.group(1)).removeprefix("Output: ")
    return "" if plain == "(empty)" else plain


def usage_of(message: Fields) -> Usage | None:
    """What a message of the model took."""
    tokens = message.fields("tokens")
    if not tokens:
        return None
    return Usage(input_tokens=tokens.whole("input"), output_tokens=tokens.whole("output") + tokens.whole("thoughts"))


def context_window(model: str) -> int:
    """How many tokens a conversation with that model may have, as the CLI reckons."""
    return GEMMA_WINDOW if model.startswith("gemma-") else GEMINI_WINDOW


def digest(tool: str, arguments: object) -> str:
    """Names exactly what will run: another command, or the same with one more space, has another digest."""
    return hashlib.sha256(msgspec.json.encode([tool, arguments], order="deterministic")).hexdigest()
