"""What an agent says is told as it says it: files that it names are a matter of the channels, the same for everyone."""

from __future__ import annotations

import msgspec

from farhand.drivers.claude.headless.state import ClaudeStreamState
from farhand.drivers.claude.headless.translate import translate_stream
from farhand.model.facts import Said


def test_a_tag_that_is_streamed_piece_by_piece_is_said_once_and_whole() -> None:
    text = "see [[image:/tmp/a.png]] there [x] and a[0]"
    state, facts = ClaudeStreamState(running=True, turn="t"), []
    start = {"type": "stream_event", "event": {"type": "content_block_start"}}
    pieces = [
        {"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"text": letter}}} for letter in text
    ]
    whole = {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}
    for record in [start, *pieces, whole]:
        heard, state = translate_stream(msgspec.json.encode(record), state)
        facts += [one.fact for one in heard]
    assert "".join(fact.text for fact in facts if isinstance(fact, Said)) == text
