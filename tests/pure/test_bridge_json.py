"""JSON as the bridge's hooks read and write it: the same as the standard library's, without loading that."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand.bridge.hook import quick_json, rules

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
MESSAGES = st.lists(st.dictionaries(st.text(), VALUES))


@given(VALUES)
def test_what_is_written_is_what_the_standard_library_writes(value: object) -> None:
    assert quick_json.dumps(value) == json.dumps(value)
    assert quick_json.dumps(value, ascii_only=False) == json.dumps(value, ensure_ascii=False)


@given(VALUES, st.sampled_from(["", " ", "\n\t\r "]))
def test_what_others_wrote_is_read(value: object, around: str) -> None:
    assert quick_json.loads(around + json.dumps(value, indent=2) + around) == value


@given(MESSAGES)
def test_a_file_of_messages_reads_back_and_has_a_line_for_each_field(messages: list[rules.BridgeMessage]) -> None:
    data = rules.encode(messages)
    assert json.loads(data)["messages"] == json.loads(json.dumps(messages).encode("utf-8", "replace"))
    flat: list[rules.BridgeMessage] = [{"id": "a", "read": False}, {"id": "b"}]
    assert rules.encode(flat).decode() == json.dumps({"messages": flat}, indent=2) + "\n"


@pytest.mark.parametrize("text", ["", " ", "{", "[1,", '{"a" 1}', "1 2", "nope", '"\n"', "{} {}", "\ufeff{}"])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        json.loads(text)
    with pytest.raises(ValueError):  # noqa: PT011
        quick_json.loads(text)
