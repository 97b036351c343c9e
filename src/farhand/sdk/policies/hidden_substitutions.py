"""Finds commands that a shell would run where the parser saw nothing but text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

# What a shell reads once more: quotes in it do not keep a substitution from being run.
_READ_AGAIN = frozenset({"expansion", "arithmetic_expansion", "heredoc_body", "subscript"})
# Where single quotes are kept as they stand; arithmetic and tests are not among them.
_KEEPS_QUOTES = frozenset(
    "command command_name variable_assignment array declaration_command file_redirect herestring_redirect"
    " for_statement case_statement case_item".split()
)
_SUBSTITUTION = re.compile(rb"`|\$\(|\$\{[\s|]")
_OF_PROCESS = re.compile(rb"[<>]\(")
# ${name@P} runs what is in the value of the variable; ${name:=value} sets what arithmetic reads again.
_RUNS_VALUE = re.compile(rb"@[pP]\s*}|^\$\{!?\w+(?:\[[^\]]*\])?:?=")
_QUOTED_END = re.compile(rb"(['\"])(\w+)\1")


def may_hide_a_command(node: Node) -> bool:
    """Whether a shell may run something in a node's own text. What nodes below it hold is told of those."""
    text = node.text or b""
    if not _might_hold(text):
        return False
    if node.type == "expansion" and _RUNS_VALUE.search(text):
        return True
    own = b" ".join(_own_texts(node, text))
    if not _might_hold(own):
        return False
    around = _read_again_by(node)
    if around is None:
        is_text = node.type == "comment" or (node.type == "raw_string" and _keeps_quotes(node))
        return bool(_SUBSTITUTION.search(own)) and not is_text
    if around.type == "heredoc_body":
        return bool(_SUBSTITUTION.search(own)) and not _is_kept_document(around)
    # An escape in $'…' may stand for any character.
    return bool(_SUBSTITUTION.search(own) or _OF_PROCESS.search(own)) or node.type == "ansi_c_string"


def _might_hold(text: bytes) -> bool:
    return b"$" in text or b"`" in text or b"(" in text


def _own_texts(node: Node, text: bytes) -> Iterator[bytes]:
    start, at = node.start_byte, 0
    for child in node.children:
        yield text[at : child.start_byte - start]
        at = child.end_byte - start
    yield text[at:]


def _read_again_by(node: Node) -> Node | None:
    above: Node | None = node
    while above is not None and above.type not in _READ_AGAIN:
        above = above.parent
    return above


def _keeps_quotes(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type == "concatenation":
        above = above.parent
    return above is not None and above.type in _KEEPS_QUOTES


def _is_kept_document(body: Node) -> bool:
    """Whether it is the one here-document of the line, with its end in quotes: a shell leaves it as it is."""
    redirect = body.parent
    start = next((one for one in redirect.children if one.type == "heredoc_start"), None) if redirect else None
    quoted = _QUOTED_END.fullmatch((start.text if start else None) or b"")
    root = body
    while root.parent is not None:
        root = root.parent
    if quoted is None or (root.text or b"").count(b"<<") != 1 or body.named_children:
        return False
    return all(line.strip() != quoted[2] for line in (body.text or b"").splitlines())
